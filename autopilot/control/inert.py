"""Alerts that cannot fire because nothing they ask for was ever there: told apart from blind ones, which have seen it once.

What is certain: a source that answered, a replica that has served for long enough to have been scraped, and still no
such series. A fleet scaled to zero proves nothing, and neither does a query that failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from autopilot.control.needs import Asked
from autopilot.control.seen import Seen
from autopilot.domain.alerts import AlertRule
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Condition, Leaf, Not, burn_rates_of, leaves
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.signals import Gap, Unknown
from autopilot.domain.slos import Slo
from autopilot.domain.workloads import Workload

FIRST_SCRAPES = 4  # of silence before it counts: one more than a young replica is forgiven

_NOT_THERE = frozenset({Gap.ABSENT, Gap.NOT_SUPPORTED})
_THERE_AND_BAD = frozenset({Gap.STALE, Gap.NON_FINITE, Gap.MISSHAPEN, Gap.STALLED})


@dataclass(frozen=True)
class Ear:
    """What was heard of one fleet since the process started, under the documents of this hash.

    `silent_since` is when a signal was first missed for certain; one that was heard once is never silent again.
    """

    documents: str = ""
    heard: frozenset[Asked] = frozenset()
    silent_since: Mapping[Asked, LogicalTime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rules:
    """The alerts of a policy, and the SLOs that they may name."""

    alerts: tuple[AlertRule, ...] = ()
    slos: tuple[Slo, ...] = ()

    @property
    def asked(self) -> frozenset[Asked]:
        """Every (signal, window) without which a leaf never says yes. What an SLO counts as bad besides is not among them."""
        conditions = [rule.condition for rule in self.alerts]
        plain = {(leaf.signal, leaf.over) for condition in conditions for leaf in leaves(condition)}
        burning = {self.of(leaf) for condition in conditions for leaf in burn_rates_of(condition)}
        return frozenset(plain | burning)

    def of(self, leaf: BurnRateLeaf) -> Asked:
        """What a burn rate is made of."""
        return next((slo.signal for slo in self.slos if slo.name == leaf.slo), leaf.slo), leaf.over


def listen(ear: Ear, seen: Seen, rules: Rules, *, documents: str) -> Ear:
    """Take one look in. Edited documents begin anew."""
    before = ear if ear.documents == documents else Ear(documents)
    asked = rules.asked
    heard = before.heard | {one for one in asked - before.heard if _heard(one, seen)}
    silent = {one: before.silent_since.get(one, seen.now) for one in asked - heard if one in before.silent_since or _missed(one, seen)}
    return Ear(documents, heard, silent)


def inert_alerts(ear: Ear, seen: Seen, rules: Rules) -> tuple[str, ...]:
    """The alerts that can never say yes as things are, however bad they get."""
    silent = {one for one, since in ear.silent_since.items() if seen.now - since >= _patience(one, seen)}
    return tuple(rule.name for rule in rules.alerts if silent and not _can_fire(rule.condition, silent, rules))


def _patience(asked: Asked, seen: Seen) -> timedelta:
    return max(asked[1] or ZERO, FIRST_SCRAPES * seen.scrape_interval)


def _can_fire(condition: Condition, silent: set[Asked], rules: Rules) -> bool:  # noqa: C901 - one line for each kind of condition
    match condition:
        case Leaf():
            return condition.on_unknown is not None or (condition.signal, condition.over) not in silent
        case All(conditions=parts):
            return all(_can_fire(part, silent, rules) for part in parts)
        case AnyOf(conditions=parts):
            return any(_can_fire(part, silent, rules) for part in parts)
        case Not(condition=part):
            return _can_fire(part, silent, rules)
        case BurnRateLeaf():
            return rules.of(condition) not in silent
        case AlertmanagerLeaf():
            return True  # whether it will ever say yes cannot be told from a look


def _heard(asked: Asked, seen: Seen) -> bool:
    signal, over = asked
    reading = seen.readings.of(signal, over=over)
    return not isinstance(reading, Unknown) or reading.gap in _THERE_AND_BAD


def _missed(asked: Asked, seen: Seen) -> bool:
    """Whether the signal is not there for certain: the series is absent, or no replica is a target at all."""
    settled = _settled(seen)
    if not settled:
        return False
    signal, over = asked
    reading = seen.readings.of(signal, over=over)
    if isinstance(reading, Unknown) and reading.gap in _NOT_THERE:
        return True
    up = [seen.readings.of("up", replica=name) for name in settled]
    return all(isinstance(one, Unknown) and one.gap is Gap.ABSENT for one in up)


def _settled(seen: Seen) -> tuple[str, ...]:
    """The replicas that have served for long enough to have been scraped."""
    if not isinstance(seen.workload, Workload):
        return ()
    first = FIRST_SCRAPES * seen.scrape_interval
    return tuple(one.name for one in seen.workload.serving if one.age - timedelta(seconds=one.load_seconds or 0.0) > first)
