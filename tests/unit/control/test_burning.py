"""Error budgets in conditions and guards."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.control.guards import objection, objection_to_scheduled
from autopilot.control.judgement import Judgement, Look, judge
from autopilot.control.needs import signals_needed
from autopilot.control.seen import Case, Seen
from autopilot.domain.alerts import AlertRule, Severity
from autopilot.domain.conditions import All, BurnRateLeaf, Condition, Not, Truth
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, Effect
from autopilot.domain.reasons import Reason
from autopilot.domain.signals import Entry, Gap, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.slos import Slo
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import Workload
from tests.support.policies import CHAT, closed_loop, only
from tests.unit.control.looks import NOON, times
from tests.unit.control.ticks import BAD, CALM, START, TICK, Ticking, called_back, draining, fleet_of, proven, telling

HOUR = timedelta(hours=1)
ON_EDGE = Slo("first-token", "ttft", 0.5, 0.99, timedelta(days=28), ("server_errors", "rejected"))
BETWEEN = replace(ON_EDGE, threshold=0.7)
FAST = BurnRateLeaf("first-token", 14.4, HOUR)
YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN
NONE = Measured(0.0, count=0.0)


def hour(ttft: Reading, *, errors: Reading = NONE, refused: Reading = NONE) -> Readings:
    found = {"ttft": ttft, "server_errors": errors, "refused": refused}
    return Readings(tuple(Entry(signal, HOUR, None, reading) for signal, reading in found.items()))


def judged(condition: Condition, readings: Readings, slo: Slo = ON_EDGE) -> Judgement:
    return judge(condition, Look(readings, NOON, slos=(slo,)))


def requests(count: float, *, partial: bool = False) -> Measured:
    return Measured(count / 3600, count=count, partial=partial)


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        (hour(times(0, 850, 150)), Judgement(YES)),
        (hour(times(0, 860, 140)), Judgement(NO)),
        (hour(times(0, 1000), errors=requests(200)), Judgement(YES)),
        (hour(times(0, 1000), refused=requests(200)), Judgement(YES)),
        (hour(times(), refused=requests(200)), Judgement(YES)),
        (hour(Idle(), refused=requests(200)), Judgement(YES)),
        (hour(Idle()), Judgement(NO)),
        (hour(times()), Judgement(UNKNOWN, undecided=True)),
        (hour(Unknown(Gap.LATE)), Judgement(UNKNOWN)),
        (hour(Unknown(Gap.ABSENT), refused=requests(200)), Judgement(UNKNOWN)),
        (hour(times(0, 1000), errors=Unknown(Gap.ABSENT)), Judgement(UNKNOWN, partial=True)),
        (hour(times(0, 500, 500), errors=Unknown(Gap.ABSENT)), Judgement(YES, partial=True)),
        (hour(times(0, 1000, partial=True)), Judgement(UNKNOWN, partial=True)),
        (hour(times(0, 1000), errors=requests(0, partial=True)), Judgement(UNKNOWN, partial=True)),
        (hour(requests(5)), Judgement(UNKNOWN)),
        (Readings(), Judgement(UNKNOWN)),
    ],
    ids=[
        "above",
        "below",
        "failed-requests-are-bad",
        "refused-requests-are-bad",
        "all-shed-is-all-bad",
        "all-shed-at-the-door-of-idle-engines",
        "idle",
        "nobody-was-served",
        "late",
        "refusals-of-an-unknown-number",
        "unknown-errors-never-say-no",
        "unknown-errors-may-say-yes",
        "gaps-never-say-no",
        "gaps-in-the-errors-neither",
        "no-histogram",
        "not-read",
    ],
)
def test_a_budget_burns_faster_than_the_leaf_allows(readings: Readings, expected: Judgement) -> None:
    assert judged(FAST, readings) == expected


@pytest.mark.parametrize(
    ("ttft", "expected"),
    [(times(0, 500, 500), UNKNOWN), (times(0, 500, 100, 400), YES), (times(0, 999, 1), NO)],
    ids=["undecided", "enough-is-certain", "even-so-too-few"],
)
def test_a_threshold_between_two_edges_is_judged_by_what_is_certain(ttft: Reading, expected: Truth) -> None:
    assert judged(FAST, hour(ttft), BETWEEN).truth is expected


def test_not_burning_is_the_other_way_round() -> None:
    assert judged(Not(FAST), hour(times(0, 1000))).truth is YES


def test_both_windows_of_a_pair_must_burn() -> None:
    short = BurnRateLeaf("first-token", 14.4, timedelta(minutes=5))
    calm: dict[str, Reading] = {"ttft": times(0, 100), "server_errors": NONE, "refused": NONE}
    over = Readings(tuple(Entry(signal, short.over, None, reading) for signal, reading in calm.items()))
    readings = Readings((*hour(times(0, 0, 1000)).entries, *over.entries))

    assert judged(All((FAST, short)), readings).truth is NO


def test_everything_a_burn_rate_is_made_of_is_asked_for() -> None:
    quick = BurnRateLeaf("first-token", 14.4, timedelta(minutes=5))
    policy = replace(closed_loop(), slos=(ON_EDGE,), alerts=(AlertRule("burning", Severity.PAGE, All((FAST, quick))),))
    needed = signals_needed(policy)

    assert {(signal, over) for signal in ("ttft", "server_errors", "refused") for over in (HOUR, quick.over, ON_EDGE.window)} <= needed


def case(readings: Readings, slo: Slo = ON_EDGE) -> Case:
    seen = Seen(now=START, interval=TICK, scrape_interval=TICK, readings=readings, workload=fleet_of("ss"))
    return Case(CHAT, replace(closed_loop(), slos=(slo,)), Memory(), seen)


@pytest.mark.parametrize(
    ("readings", "slo", "expected"),
    [
        (hour(times(0, 980, 20)), ON_EDGE, Reason.BUDGET_BURNING),
        (hour(times(0, 990, 10)), ON_EDGE, None),
        (hour(times(0, 8, 2)), ON_EDGE, None),
        (hour(times(0, 980, 20)), BETWEEN, Reason.BUDGET_BURNING),
        (hour(times(0, 1000), refused=requests(50)), ON_EDGE, Reason.BUDGET_BURNING),
        (hour(Unknown(Gap.LATE)), ON_EDGE, Reason.BLIND),
        (hour(Unknown(Gap.ABSENT)), ON_EDGE, None),
        (hour(Idle()), ON_EDGE, None),
    ],
    ids=["burning", "on-budget", "two-slow-are-no-trend", "perhaps", "shedding", "not-told", "never-there", "idle"],
)
def test_an_hour_that_burns_holds_scale_in(readings: Readings, slo: Slo, expected: Reason | None) -> None:
    hold = objection(case(readings, slo), Verb.SCALE_IN)

    assert (None if hold is None else hold.reason) is expected


@pytest.mark.parametrize("verb", [verb for verb in Verb if verb is not Verb.SCALE_IN])
def test_an_hour_that_burns_holds_no_step_of_a_ladder(verb: Verb) -> None:
    assert objection(case(hour(times(0, 0, 1000))), verb) is None


def test_an_hour_that_burns_holds_a_scheduled_retune() -> None:
    hold = objection_to_scheduled(case(hour(times(0, 0, 1000))), Verb.RETUNE)

    assert hold is not None
    assert hold.reason is Reason.BUDGET_BURNING


BURNS = hour(times(0, 500, 500))
CALM_HOUR = hour(times(0, 1000))


def with_hour(there: Workload, readings: Readings, *, waiting: float) -> Readings:
    return Readings((*telling(there, waiting=waiting).entries, *readings.entries))


@pytest.mark.parametrize(
    ("readings", "held", "effects"),
    [(BURNS, [Reason.BUDGET_BURNING], []), (CALM_HOUR, [], [Cordon(("r1",))])],
    ids=["burning", "calm"],
)
def test_a_fleet_shrinks_only_while_its_budget_does_not_burn(readings: Readings, held: list[Reason], effects: list[Effect]) -> None:
    policy = replace(only(closed_loop(minimum=2), "queued"), slos=(ON_EDGE,))
    there = fleet_of("sss")
    ticking = Ticking(policy=policy, memory=proven(stable=HOUR)).tick(there, readings=with_hour(there, readings, waiting=CALM))

    assert ticking.effects == effects
    assert ticking.reasons(Verb.SCALE_IN) == held


def test_a_ladder_takes_its_step_while_the_budget_burns() -> None:
    policy = replace(only(closed_loop(), "queued"), slos=(ON_EDGE,))
    there = fleet_of("ss")
    ticking = Ticking(policy=policy, memory=proven()).ticks(3, there, BAD, readings=with_hour(there, BURNS, waiting=BAD))

    assert ticking.counts == [(2, 5)]


def test_a_victim_goes_back_into_traffic_when_the_budget_begins_to_burn() -> None:
    ticking = draining()
    assert ticking.policy is not None
    ticking.policy = replace(ticking.policy, slos=(ON_EDGE,))
    there = fleet_of("css")
    ticking.tick(there, readings=with_hour(there, BURNS, waiting=CALM))

    assert called_back(ticking)
