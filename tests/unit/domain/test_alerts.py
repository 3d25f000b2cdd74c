from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.domain.alerts import Alert, AlertState, advance
from autopilot.domain.conditions import Truth
from autopilot.domain.logical_time import ZERO
from tests.unit.domain.histories import INTERVAL, lived, rule, states


@pytest.mark.parametrize(
    ("hold", "keep", "evaluations", "expected"),
    [
        (0, 0, "nyyn", ".FF."),
        (1, 0, "nyyyn", ".pFF."),
        (3, 0, "yyyyyn", "pppFF."),
        (3, 0, "yyynyyyy", "ppp.pppF"),
        (0, 2, "ynnnn", "FFF.."),
        (0, 1, "ynnn", "FF.."),
        (0, 2, "ynynnn", "FFFFF."),
        (2, 2, "yynnyyynnn", "pp..ppFFF."),
        (2, 2, "yyynynnnyyy", "ppFFFFF.ppF"),
    ],
    ids=[
        "for-zero-fires-at-once",
        "for-counts-from-the-first-yes",
        "fires-when-for-is-reached-not-later",
        "a-no-while-pending-starts-afresh",
        "keep-firing-for-counts-from-the-first-no",
        "keep-firing-for-is-strict",
        "one-yes-clears-the-lingering",
        "pending-never-lingers",
        "firing-again-after-resolving-waits-for-again",
    ],
)
def test_without_gaps_it_is_prometheus_machine(hold: int, keep: int, evaluations: str, expected: str) -> None:
    history = lived(evaluations, under=rule(hold=hold * INTERVAL, keep_firing_for=keep * INTERVAL))

    assert states(history) == expected


@pytest.mark.parametrize(
    ("hold", "keep", "evaluations", "expected"),
    [
        (2, 0, "?????", "....."),
        (2, 0, "yy??yy", "ppppp" + "F"),
        (2, 0, "y?y?y?yyy", "pppppppp" + "F"),
        (2, 0, "yyy???n", "ppFFFF."),
        (0, 2, "yn??nnn", "FFFFFF."),
        (0, 0, "?y", ".F"),
        (2, 0, "yy?nyyy", "ppp.ppF"),
    ],
    ids=[
        "blind-from-the-start-is-inactive",
        "for-stands-still-while-blind",
        "only-time-between-two-known-evaluations-counts",
        "firing-outlives-the-gap-and-resolves-on-a-no",
        "lingering-stands-still-while-blind",
        "for-zero-fires-on-the-first-yes",
        "a-no-after-a-gap-ends-pending",
    ],
)
def test_unknown_keeps_the_state_and_stops_the_clocks(hold: int, keep: int, evaluations: str, expected: str) -> None:
    history = lived(evaluations, under=rule(hold=hold * INTERVAL, keep_firing_for=keep * INTERVAL))

    assert states(history) == expected


def test_an_alert_that_was_never_looked_at_is_blind_and_inactive() -> None:
    alert = Alert("queued")

    assert (alert.state, alert.blind, alert.firing) == (AlertState.INACTIVE, True, False)


def test_what_is_only_undecided_is_not_blind() -> None:
    sparse = replace(advance(Alert("queued"), rule(), Truth.UNKNOWN, now=INTERVAL), undecided=True)

    assert not sparse.blind


def test_being_undecided_does_not_outlive_its_evaluation() -> None:
    sparse = replace(advance(Alert("queued"), rule(), Truth.UNKNOWN, now=INTERVAL), undecided=True)

    assert advance(sparse, rule(), Truth.UNKNOWN, now=2 * INTERVAL).blind


def test_firing_goes_back_to_pending_when_for_grows_past_the_time_it_was_active() -> None:
    firing = lived("yyy", under=rule(hold=2 * INTERVAL))[-1]
    after = advance(firing, rule(hold=10 * INTERVAL), Truth.YES, now=3 * INTERVAL)

    assert (after.state, after.active) == (AlertState.PENDING, 3 * INTERVAL)


def test_the_time_a_state_began_stays_while_the_state_does() -> None:
    history = lived("nyyyy?yn", under=rule(hold=2 * INTERVAL))

    assert [alert.since // INTERVAL for alert in history] == [0, 1, 1, 3, 3, 3, 3, 7]


def test_down_time_counts_for_nothing_because_logical_time_stood_still() -> None:
    before = lived("yy", under=rule(hold=3 * INTERVAL))[-1]
    after = advance(before, rule(hold=3 * INTERVAL), Truth.YES, now=before.evaluated + timedelta(seconds=1))

    assert (after.state, after.active) == (AlertState.PENDING, INTERVAL + timedelta(seconds=1))


def test_a_resolved_alert_starts_with_clean_clocks() -> None:
    resolved = lived("yyn", under=rule(hold=INTERVAL))[-1]

    assert (resolved.state, resolved.active, resolved.lingered) == (AlertState.INACTIVE, ZERO, None)
