"""A fleet in plain figures."""

from dataclasses import replace

import pytest

from autopilot.control.audit import Record
from autopilot.control.status import Quantile, describe, quantile_of, summarize
from autopilot.domain.decisions import Act, Hold
from autopilot.domain.operations import Operation, SetReplicas
from autopilot.domain.reasons import Reason
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Unknown
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import Observation, Unobserved
from tests.support.policies import CHAT
from tests.unit.control.ticks import BAD, CALM, UNKNOWN, Ticking, fleet_of, proven

INF = float("inf")


def last(ticking: Ticking) -> Record:
    assert ticking.last is not None
    decisions, wanted = ticking.last.decisions, ticking.last.wanted
    return Record(CHAT.ref, "", ticking.memory, ticking.seen, None, decisions, wanted, ticking.memory)


def after(there: Observation, waiting: float | None, *, ticks: int = 3) -> Ticking:
    return Ticking(memory=proven()).ticks(ticks, there, waiting)


@pytest.mark.parametrize(
    ("reading", "quantile", "expected"),
    [
        (Distribution((1.0, 2.0, INF), (300.0, 300.0, 300.0)), 0.5, Quantile(0.5, 0.5, "measured", 300.0)),
        (Distribution((1.0, 2.0, INF), (30.0, 30.0, 30.0)), 0.5, Quantile(0.5, 0.5, "sparse", 30.0)),
        (Distribution((1.0, 2.0, INF), (0.0, 0.0, 300.0)), 0.5, Quantile(0.5, 2.0, "measured", 300.0, at_least=True)),
        (Distribution((1.0, INF), (0.0, 0.0)), 0.5, Quantile(0.5, None, "idle")),
        (Idle(), 0.5, Quantile(0.5, None, "idle")),
        (Unknown(Gap.STALE), 0.5, Quantile(0.5, None, "unknown")),
        (Measured(1.0), 0.5, Quantile(0.5, None, "unknown")),
    ],
    ids=["measured", "sparse", "over the top edge", "none", "idle", "unknown", "no histogram"],
)
def test_a_quantile_is_shown_with_how_far_it_can_be_trusted(reading: Reading, quantile: float, expected: Quantile) -> None:
    assert quantile_of(reading, quantile) == expected


def test_what_is_there_is_counted() -> None:
    status = summarize(last(after(fleet_of("sspf"), CALM, ticks=1)), Ticking().policy)

    assert (status.desired, status.serving, status.observed) == (4, 2, True)
    assert [one.state for one in status.replicas] == ["serving", "serving", "starting", "failed"]
    assert [one.running for one in status.replicas] == [0.0, 0.0, None, None]


def test_what_cannot_be_seen_has_no_figures() -> None:
    status = summarize(last(after(Unobserved(), UNKNOWN)), Ticking().policy)

    assert (status.observed, status.desired, status.serving, status.in_flight, status.replicas) == (False, None, None, None, ())


def test_an_alert_is_shown_with_how_long_it_has_been_active() -> None:
    alert = summarize(last(after(fleet_of("ss"), BAD)), Ticking().policy).alerts[0]

    assert (alert.name, alert.state, alert.active_seconds, alert.for_seconds, alert.blind) == ("queued", "firing", 10.0, 10.0, False)


def test_an_alert_that_cannot_see_says_so() -> None:
    alert = summarize(last(after(fleet_of("ss"), BAD).tick(fleet_of("ss"), UNKNOWN)), Ticking().policy).alerts[0]

    assert (alert.state, alert.blind) == ("firing", True)


def test_a_fleet_without_a_policy_has_a_status_too() -> None:
    ticking = after(fleet_of("ss"), CALM)
    ticking.policy = None
    status = summarize(last(ticking.tick(fleet_of("ss"))), None)

    assert (status.policy, status.alerts, status.remediation) == ("", (), None)
    assert status.decisions == ("scaleOut: hold (no_policy)",)


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Hold(Verb.SCALE_IN, Reason.EVERY, "10s of 60s"), "scaleIn: hold (every): 10s of 60s"),
        (Hold(Verb.SCALE_IN, Reason.SYMPTOM), "scaleIn: hold (symptom)"),
        (Act(Operation("1", CHAT.ref, Verb.SCALE_OUT, SetReplicas(3, 2, "1")), "why"), "scaleOut: set_replicas: why"),
    ],
)
def test_a_decision_is_a_line(decision: Act | Hold, words: str) -> None:
    assert describe(decision) == words


def test_gaps_are_named_once() -> None:
    ticking = after(fleet_of("ss"), CALM)
    gap = replace(ticking.seen.readings.entries[-1], reading=Unknown(Gap.STALE, "old"))
    ticking.tick(fleet_of("ss"), readings=replace(ticking.seen.readings, entries=(gap, gap)))

    assert summarize(last(ticking), ticking.policy).gaps == (f"{gap.signal}: stale - old",)
