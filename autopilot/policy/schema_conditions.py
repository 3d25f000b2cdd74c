"""Conditions as files write them: a leaf, or `all`, `any`, `not` of conditions."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from autopilot.policy.problems import Path, quoted
from autopilot.policy.shapes import PositiveNumber, Quantile, Shape, Text, Whole, Word
from autopilot.policy.units import ShortTime, SomeTime

# Which unit is right depends on the signal, so a threshold stays as written until its signal is known.
Threshold: TypeAlias = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True)] | str


def _on_unknown(value: object) -> object:
    """Refuse 1 and 0, which equal true and false. Raises ValueError."""
    if value == "hold" or isinstance(value, bool):
        return value
    raise ValueError(f"{quoted(value)} is not known here, write hold, true or false")


OnUnknown = Annotated[Literal["hold", True, False], BeforeValidator(_on_unknown)]


class SignalLeaf(Shape):
    """A signal against a threshold: `500ms` for times, `60%` for ratios, plain numbers for counts and rates."""

    signal: Word
    above: Threshold | None = Field(default=None, union_mode="left_to_right")
    below: Threshold | None = Field(default=None, union_mode="left_to_right")
    quantile: Quantile | None = None
    """For histograms: which one."""
    per: Literal["fleet", "replica"] = "fleet"
    """`replica`: yes if any replica is."""
    over: ShortTime | None = None
    """The window. Required for everything but gauges; a gauge without one is its newest value."""
    clear: Threshold | None = Field(default=None, union_mode="left_to_right")
    """The level at which a firing alert's leaf ends."""
    min_samples: Whole | None = None
    on_unknown: OnUnknown = "hold"
    """What a missing source is taken for; `hold` stays unknown."""


class AlertmanagerShape(Shape):
    """Yes while the fleet's source shows this alert as firing with the fleet's identity labels; see docs/alertmanager.md."""

    alertmanager: Text


class BurnRateShape(Shape):
    """The error budget of an SLO burns faster than so many times what it allows."""

    slo: Word
    burn_rate_above: PositiveNumber
    over: SomeTime


class AllShape(Shape):
    """No if any is no, else unknown if any is unknown, else yes."""

    all: "tuple[ConditionShape, ...]" = Field(min_length=1, max_length=50)


class AnyShape(Shape):
    """Yes if any is yes, else unknown if any is unknown, else no."""

    any: "tuple[ConditionShape, ...]" = Field(min_length=1, max_length=50)


class NotShape(Shape):
    """Yes and no change places; unknown stays."""

    not_: "ConditionShape" = Field(alias="not")


CONDITION_KEYS = ("signal", "alertmanager", "slo", "all", "any", "not")


def _which(value: object) -> str | None:
    """The tag of the key that says what kind of condition this is; no key of a file looks like a tag."""
    if isinstance(value, Mapping):
        return next((f"<{key}>" for key in CONDITION_KEYS if key in value), None)
    return next((f"<{key}>" for key, shape in _SHAPES.items() if isinstance(value, shape)), None)


ConditionShape: TypeAlias = Annotated[
    Annotated[SignalLeaf, Tag("<signal>")]
    | Annotated[AlertmanagerShape, Tag("<alertmanager>")]
    | Annotated[BurnRateShape, Tag("<slo>")]
    | Annotated[AllShape, Tag("<all>")]
    | Annotated[AnyShape, Tag("<any>")]
    | Annotated[NotShape, Tag("<not>")],
    Discriminator(_which),
]
Shapes: TypeAlias = SignalLeaf | AlertmanagerShape | BurnRateShape | AllShape | AnyShape | NotShape
_SHAPES: dict[str, type[Shape]] = {
    "signal": SignalLeaf,
    "alertmanager": AlertmanagerShape,
    "slo": BurnRateShape,
    "all": AllShape,
    "any": AnyShape,
    "not": NotShape,
}
AllShape.model_rebuild()
AnyShape.model_rebuild()
NotShape.model_rebuild()


def parts(condition: Shapes, path: Path) -> Iterator[tuple[Path, "SignalLeaf | AlertmanagerShape | BurnRateShape"]]:
    """Every leaf with its path, in reading order."""
    match condition:
        case AllShape(all=inner):
            yield from _inner(inner, (*path, "all"))
        case AnyShape(any=inner):
            yield from _inner(inner, (*path, "any"))
        case NotShape(not_=part):
            yield from parts(part, (*path, "not"))
        case SignalLeaf() | AlertmanagerShape() | BurnRateShape():
            yield path, condition


def _inner(conditions: "tuple[Shapes, ...]", path: Path) -> Iterator[tuple[Path, "SignalLeaf | AlertmanagerShape | BurnRateShape"]]:
    for index, part in enumerate(conditions):
        yield from parts(part, (*path, index))
