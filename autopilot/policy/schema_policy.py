"""`kind: Policy`: what is to hold for some fleets, and what may be done about it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AwareDatetime, BeforeValidator, Field, model_validator

from autopilot.actions import Diagnose, Notify, Relocate, Retune, Scale
from autopilot.actions.ratio import Ratio
from autopilot.domain.verbs import Mode
from autopilot.policy.problems import Path
from autopilot.policy.schema_conditions import ConditionShape, Shapes, Threshold
from autopilot.policy.shapes import (
    Count,
    Labels,
    Metadata,
    Name,
    Positive,
    PositiveNumber,
    Shape,
    Text,
    Word,
)
from autopilot.policy.units import ShortOrNone, ShortTime, SomeTime


def _moment(value: object) -> object:
    """Take text only: a bare number would be read as Unix time. Raises ValueError."""
    if isinstance(value, str):
        return value
    raise ValueError('write a moment with its offset, such as "2026-12-18T18:00:00+01:00"')


Moment = Annotated[AwareDatetime, BeforeValidator(_moment)]
Told: TypeAlias = Literal["page", "ticket", "handed-over", "harmful"]


class Selector(Shape):
    """Which fleets of the policy's own namespace: by name or by labels."""

    names: tuple[Name, ...] = ()
    match_labels: Labels = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.names) == bool(self.match_labels):
            raise ValueError("write either names: [...] or matchLabels: {...}, with at least one entry")
        return self


class ModesShape(Shape):
    """How far each verb may go: disabled < observe < advise < approve < act."""

    default: Mode = Mode.ADVISE
    scale_out: Mode | None = None
    scale_in: Mode | None = None
    relocate: Mode | None = None
    retune: Mode | None = None
    traffic: Mode | None = None
    diagnose: Mode | None = None
    notify: Mode | None = None


class SloShape(Shape):
    """`objective` of requests have `signal` at or under `threshold`, over `window`."""

    name: Word
    signal: Word
    threshold: Threshold = Field(union_mode="left_to_right")
    objective: Annotated[Ratio, Field(gt=0, lt=1)]
    window: SomeTime = Field(description="28d, say")
    also_bad: tuple[Literal["server_errors", "rejected"], ...] = ()


class WindowShape(Shape):
    """A stretch of wall time: by `cron`, `lasts` and `timeZone`, or `from` and `to`."""

    cron: Text | None = None
    lasts: SomeTime | None = None
    time_zone: Text | None = None
    from_: Moment | None = Field(default=None, alias="from")
    to: Moment | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        recurring = (self.cron, self.lasts, self.time_zone)
        span = (self.from_, self.to)
        if (all(recurring) and not any(span)) or (all(span) and not any(recurring)):
            return self
        raise ValueError("write either cron, lasts and timeZone, or from and to")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if isinstance(self.from_, datetime) and self.to is not None and self.from_ >= self.to:
            raise ValueError("to is not after from, write the later moment under to")
        return self


class BoundShape(Shape):
    """At least `min`, at most `max`, always or while a window is open. Later entries win."""

    min: Count | None = None
    max: Positive | None = None
    during: Word | None = None


class OutShape(Shape):
    """How capacity goes up."""

    start_within: ShortTime | Literal["auto"] = Field(default="auto", union_mode="left_to_right")


class InShape(Shape):
    """How capacity goes down. Without it nothing ever shrinks."""

    stable_for: ShortTime
    every: ShortTime
    drain_within: ShortTime
    by: Positive | None = None


class DemandShape(Shape):
    """A target of one's own: what one replica carries of a signal."""

    signal: Word
    per_replica: PositiveNumber
    over: ShortTime | None = None


class ScalingShape(Shape):
    """The scaling level: how many replicas are wanted now."""

    bounds: tuple[BoundShape, ...] = Field(min_length=1)
    out: OutShape = OutShape()
    in_: InShape | None = Field(default=None, alias="in")
    demand: tuple[DemandShape, ...] = ()
    headroom: Annotated[Ratio, Field(ge=0)] = 0.0


class AlertShape(Shape):
    """What is to be true, for how long, before it fires."""

    name: Word
    severity: Literal["ticket", "page"]
    when: ConditionShape
    for_: ShortOrNone = Field(alias="for")
    keep_firing_for: ShortOrNone = timedelta(0)


class Do(Shape):
    """One verb and its arguments."""

    scale: Scale | None = None
    relocate: Relocate | None = None
    retune: Retune | None = None
    diagnose: Diagnose | None = None
    notify: Notify | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.written) != 1:
            raise ValueError(f"write exactly one verb: {', '.join(type(self).model_fields)}")
        return self

    @property
    def written(self) -> tuple[Scale | Relocate | Retune | Diagnose | Notify, ...]:
        """The verbs that are there: exactly one, once this is checked."""
        every = (self.scale, self.relocate, self.retune, self.diagnose, self.notify)
        return tuple(action for action in every if action is not None)


class VerifyShape(Shape):
    """When a step has helped."""

    within: ShortTime
    held_for: ShortTime | None = None
    when: ConditionShape | None = None


class Cause(Shape):
    """Asks for a cause to be diagnosed before the step is taken."""

    cause: Word


class StepShape(Shape):
    """One rung of a ladder."""

    do: Do
    repeat: Annotated[Positive, Field(le=100)] = 1
    """How often in all."""
    verify: VerifyShape | None = None
    when: Cause | None = None


class RemedyShape(Shape):
    """The ladder that an alert climbs."""

    alert: Word
    steps: tuple[StepShape, ...] = Field(min_length=1, max_length=20)


class ScheduledShape(Shape):
    """An action on a calendar, not on an alert."""

    name: Word
    every: SomeTime
    do: Do


class NotifyShape(Shape):
    """Whom to tell of what, beside the notify steps."""

    on: tuple[Told, ...] = Field(min_length=1)
    receivers: tuple[Text, ...] = Field(min_length=1)


class DisruptionsShape(Shape):
    """At most `max` of relocate, retune and traffic shift `per` that long."""

    max: Count = 3
    per: SomeTime


class FreezeShape(Shape):
    """A window in which nothing disruptive is done."""

    during: Word
    blocks: Literal["disruptive"] = "disruptive"


class LimitsShape(Shape):
    """Limits on changes. They never end a scale-out."""

    disruptions: DisruptionsShape | None = None
    cooldown: ShortOrNone | None = None
    freeze: tuple[FreezeShape, ...] = ()


class OwnSignal(Shape):
    """A series of one's own, in PromQL with $identity and $over."""

    histogram: Text | None = None
    gauge: Text | None = None
    counter: Text | None = None
    unit: Literal["seconds", "ratio", "requests", "per_second", "tokens", "replicas"]
    worse: Literal["higher", "lower"] = "higher"

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(query is not None for query in (self.histogram, self.gauge, self.counter)) != 1:
            raise ValueError("write exactly one of histogram, gauge, counter")
        return self


class PolicySpec(Shape):
    """A policy's `spec`."""

    fleets: Selector
    modes: ModesShape = ModesShape()
    slos: tuple[SloShape, ...] = ()
    windows: dict[Word, WindowShape] = Field(default_factory=dict)
    signals: dict[Word, OwnSignal] = Field(default_factory=dict)
    scaling: ScalingShape | None = None
    alerts: tuple[AlertShape, ...] = ()
    remedies: tuple[RemedyShape, ...] = ()
    schedule: tuple[ScheduledShape, ...] = ()
    notify: NotifyShape | None = None
    limits: LimitsShape = LimitsShape()


class PolicyDocument(Shape):
    """What is to hold for some fleets, and what may be done about it."""

    api_version: Literal["autopilot.dev/v1alpha1"]
    kind: Literal["Policy"]
    metadata: Metadata
    spec: PolicySpec


def steps(spec: PolicySpec) -> Iterator[tuple[Path, StepShape]]:
    """Every step of every remedy, with its path."""
    for index, remedy in enumerate(spec.remedies):
        for number, step in enumerate(remedy.steps):
            yield ("spec", "remedies", index, "steps", number), step


def conditions(spec: PolicySpec) -> Iterator[tuple[Path, Shapes]]:
    """Every condition, with its path."""
    for index, alert in enumerate(spec.alerts):
        yield ("spec", "alerts", index, "when"), alert.when
    for path, step in steps(spec):
        if step.verify is not None and step.verify.when is not None:
            yield (*path, "verify", "when"), step.verify.when
