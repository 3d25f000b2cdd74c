"""What every model of a file shares, and the small words that files are made of."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.json_schema import GenerateJsonSchema

from autopilot.actions.ratio import Ratio
from autopilot.actions.spec import camel
from autopilot.policy.units import format_duration

GROUP = "autopilot.dev"
API_VERSION = f"{GROUP}/v1alpha1"
MOST_REPLICAS = 10_000  # more is a slip of the keyboard

NAME = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"  # as Kubernetes names objects
WORD = r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
LABEL_NAME = r"^[a-zA-Z_][a-zA-Z0-9_]*$"  # as Prometheus names labels
FLEET_NAME = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"

Name = Annotated[str, StringConstraints(pattern=NAME, max_length=253)]
Word = Annotated[str, StringConstraints(pattern=WORD, max_length=253)]
LabelName = Annotated[str, StringConstraints(pattern=LABEL_NAME, max_length=253)]
FleetName = Annotated[str, StringConstraints(pattern=FLEET_NAME, max_length=507)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Labels = dict[Text, str]
Count = Annotated[int, Field(strict=True, ge=0, le=MOST_REPLICAS)]
Positive = Annotated[int, Field(strict=True, ge=1, le=MOST_REPLICAS)]
Whole = Annotated[int, Field(strict=True, ge=1, le=2**53)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
PositiveNumber = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Quantile = Annotated[Ratio, Field(gt=0, lt=1)]


class Shape(BaseModel):
    """A mapping in a file: frozen, camelCase keys, unknown ones refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=camel, populate_by_name=True, use_attribute_docstrings=True)


class Metadata(Shape):
    """What a document is called."""

    name: Name
    namespace: Name = "default"
    labels: Labels = Field(default_factory=dict)


class SchemaOfFiles(GenerateJsonSchema):
    """JSON Schema whose defaults are spelt as files spell them."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the generator's own signature
        """No titles: they repeat the keys."""
        return False

    def encode_default(self, dft: Any) -> Any:
        """A duration as `90s`, not as ISO 8601."""
        return format_duration(dft) if hasattr(dft, "total_seconds") else super().encode_default(dft)
