"""Retune: recompute engine arguments from traffic. It has a schema and no hands yet."""

from typing import Annotated, ClassVar

from pydantic import Field

from autopilot.actions.ratio import Ratio
from autopilot.actions.spec import Spec
from autopilot.domain.verbs import Verb


class MaxModelLen(Spec):
    """How the window follows the input length: `quantile` x `factor`, refusing at most `maxRefused` of requests."""

    verb: ClassVar[Verb] = Verb.RETUNE
    quantile: Annotated[Ratio, Field(gt=0, lt=1)] = 0.9
    factor: float = Field(default=1.2, ge=1, le=4, strict=True, allow_inf_nan=False)
    max_refused: Annotated[Ratio, Field(ge=0, le=0.1)] = 0.001


class Retune(Spec):
    """Which argument to retune."""

    verb: ClassVar[Verb] = Verb.RETUNE
    max_model_len: MaxModelLen = Field(alias="max-model-len")
