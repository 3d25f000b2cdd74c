from collections.abc import Sequence
from datetime import timedelta

import pytest

from autopilot.control.inert import Ear, Rules, inert_alerts, listen
from autopilot.control.seen import Seen
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Condition, Not
from autopilot.domain.signals import Entry, Gap, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.slos import Slo
from tests.support.policies import QUEUED, SLOW, STARVED, rule
from tests.unit.control.looks import MINUTE, times
from tests.unit.control.ticks import fleet_of

SECOND = timedelta(seconds=1)
LONG = timedelta(minutes=5)
ABSENT = Unknown(Gap.ABSENT)
FIRST_TOKEN = Slo("first-token", "ttft", 0.5, 0.99, timedelta(days=28), ("rejected",))
BURNING = BurnRateLeaf("first-token", 14.4, MINUTE)
UNHEARD = Unknown(Gap.BELOW_QUORUM)


def seen(ttft: Reading, *, states: str = "s", up: Reading = Measured(1.0), now: timedelta = timedelta()) -> Seen:  # noqa: B008 - a value
    entries = (Entry("ttft", MINUTE, None, ttft), Entry("bandwidth_utilization", MINUTE, None, ABSENT), Entry("up", None, "r1", up))
    return Seen(now, 5 * SECOND, 15 * SECOND, Readings(entries), fleet_of(states))


def after(looks: Sequence[Seen], condition: Condition = SLOW) -> tuple[str, ...]:
    rules = Rules((rule("slow", condition),), (FIRST_TOKEN,))
    ear = Ear()
    for look in looks:
        ear = listen(ear, look, rules, documents="d")
    return inert_alerts(ear, looks[-1], rules)


@pytest.mark.parametrize(
    ("reading", "states", "up", "expected"),
    [
        (ABSENT, "s", Measured(1.0), ("slow",)),
        (UNHEARD, "s", ABSENT, ("slow",)),
        (UNHEARD, "s", Measured(0.0), ()),
        (Unknown(Gap.QUERY_FAILED), "s", Unknown(Gap.QUERY_FAILED), ()),
        (Unknown(Gap.LATE), "s", Measured(1.0), ()),
        (Unknown(Gap.STALE), "s", Measured(1.0), ()),
        (ABSENT, "", Measured(1.0), ()),
        (ABSENT, "p", Measured(1.0), ()),
        (times(10), "s", Measured(1.0), ()),
        (Idle(), "s", Measured(1.0), ()),
    ],
    ids=[
        "the-series-is-absent",
        "no-target-at-all",
        "the-target-is-down",
        "the-source-does-not-answer",
        "the-source-is-late",
        "there-and-stale",
        "scaled-to-zero",
        "still-starting",
        "there",
        "idle",
    ],
)
def test_only_what_was_missed_for_certain_makes_inert(reading: Reading, states: str, up: Reading, expected: tuple[str, ...]) -> None:
    looks = [seen(reading, states=states, up=up), seen(reading, states=states, up=up, now=LONG)]

    assert after(looks) == expected


def test_a_first_miss_is_not_enough() -> None:
    assert after([seen(ABSENT), seen(ABSENT, now=59 * SECOND)]) == ()
    assert after([seen(ABSENT), seen(ABSENT, now=60 * SECOND)]) == ("slow",)


def test_what_was_heard_once_is_blind_and_not_inert() -> None:
    assert after([seen(times(10)), seen(ABSENT, now=LONG), seen(ABSENT, now=2 * LONG)]) == ()


def test_edited_documents_are_listened_to_anew() -> None:
    rules = Rules((rule("slow", SLOW),))
    ear = listen(Ear(), seen(times(10)), rules, documents="old")
    for now in (LONG, 2 * LONG):
        ear = listen(ear, seen(ABSENT, now=now), rules, documents="new")

    assert inert_alerts(ear, seen(ABSENT, now=2 * LONG), rules) == ("slow",)


@pytest.mark.parametrize(
    ("condition", "inert"),
    [
        (STARVED, False),
        (All((SLOW, STARVED)), True),
        (AnyOf((SLOW, AlertmanagerLeaf("x"))), False),
        (All((SLOW, AlertmanagerLeaf("x"))), True),
        (AnyOf((SLOW, STARVED)), False),
        (Not(SLOW), True),
        (AlertmanagerLeaf("x"), False),
        (QUEUED, True),
        (BURNING, True),
        (AnyOf((BURNING, STARVED)), False),
    ],
    ids=[
        "absence-is-allowed",
        "all-needs-both",
        "any-has-another-way",
        "all-of-which-one",
        "any-allowed",
        "not",
        "webhook",
        "never-read",
        "no-histogram-to-burn",
        "another-way-than-burning",
    ],
)
def test_an_alert_is_inert_when_no_way_to_yes_is_left(condition: Condition, inert: bool) -> None:
    assert bool(after([seen(ABSENT), seen(ABSENT, now=LONG)], condition)) is inert


def test_a_burn_rate_on_a_histogram_that_is_there_may_say_yes() -> None:
    assert after([seen(times(10)), seen(times(10), now=LONG)], BURNING) == ()
