"""Taking replicas away, at every edge: none stays out of traffic for nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.domain.memory import Memory, Pause, Removal
from autopilot.domain.operations import Cordon, OutcomeKind, SetReplicas, Uncordon
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import Mode, Modes, Verb
from autopilot.domain.workloads import Unobserved
from autopilot.policy.values import Policy
from tests.support.policies import closed_loop, only
from tests.unit.control.ticks import BAD, CALM, TICK, UNKNOWN, Ticking, called_back, draining, fleet_of, proven, telling

DRAINING = fleet_of("css")


def two_at_least() -> Policy:
    return only(closed_loop(minimum=2), "queued")


def returning(*victims: str) -> Memory:
    return replace(proven(), removal=Removal(victims, proven().now, returning=True))


def test_a_drained_replica_is_removed_after_two_scrapes() -> None:
    ticking = draining().tick(DRAINING)

    assert ticking.effects == [SetReplicas(2, 3, "1", ("r1",))]


def test_the_last_step_of_a_removal_ends_it() -> None:
    ticking = draining().tick(DRAINING).came_out().tick(fleet_of("ss", version=2))

    assert ticking.memory.removal is None
    assert ticking.memory.foreign == ()


@pytest.mark.parametrize(
    "change",
    [
        {"policy": None},
        {"policy": replace(two_at_least(), scaling=None)},
        {"policy": replace(two_at_least(), scaling=replace(two_at_least().scaling, scale_in=None))},  # type: ignore[type-var]
        {"policy": replace(two_at_least(), modes=Modes(Mode.ADVISE))},
        {"policy": only(closed_loop(minimum=3), "queued")},
        {"pause": Pause(timedelta(days=1), "a release", "people", (Verb.SCALE_IN,))},
        {"storm": True},
        {"restarted": True},
    ],
    ids=["no policy", "no scaling", "no scale-in", "advise", "a higher minimum", "a pause", "a storm", "a restart"],
)
def test_a_removal_that_may_not_go_on_puts_its_victim_back(change: dict[str, object]) -> None:
    ticking = draining()
    ticking.policy = change.get("policy", ticking.policy)  # type: ignore[assignment]
    if "pause" in change:
        ticking.memory = replace(ticking.memory, pauses=(change["pause"],))  # type: ignore[arg-type]
    ticking.tick(DRAINING, storm="storm" in change, restarted="restarted" in change)

    assert called_back(ticking)


def test_another_hand_that_adds_replicas_calls_a_removal_back() -> None:
    ticking = draining().tick(fleet_of("csss", version=2))

    assert called_back(ticking)


def test_a_victim_that_came_back_ends_the_removal() -> None:
    ticking = draining().tick(DRAINING, restarted=True).came_out().tick(fleet_of("sss"))

    assert ticking.memory.removal is None


def test_a_restart_is_not_forgotten_while_the_backend_cannot_be_asked() -> None:
    ticking = draining().tick(Unobserved(), restarted=True).ticks(3, Unobserved()).tick(DRAINING)

    assert called_back(ticking)


@pytest.mark.parametrize("waiting", [UNKNOWN, BAD], ids=["blind", "a symptom"])
def test_nothing_is_removed_on_a_tick_that_is(waiting: float | None) -> None:
    ticking = draining()
    effects = [effect for _ in range(20) for effect in ticking.tick(DRAINING, waiting).effects]

    assert not [effect for effect in effects if isinstance(effect, SetReplicas) and effect.count < effect.before]


def test_nothing_is_removed_on_a_tick_whose_data_has_gaps() -> None:
    ticking = draining()
    effects = [
        effect for _ in range(20) for effect in ticking.tick(DRAINING, readings=telling(DRAINING, waiting=CALM, mute=("r2",))).effects
    ]

    assert not [effect for effect in effects if isinstance(effect, SetReplicas)]


def test_a_replica_that_does_not_drain_in_time_goes_back_to_traffic() -> None:
    ticking = draining()
    busy = telling(DRAINING, waiting=CALM, running=1.0)
    back = [called_back(ticking.tick(DRAINING, readings=busy)) for _ in range(25)]

    assert back == [False] * 23 + [True, False]


def test_victims_that_are_gone_are_neither_removed_nor_called_back() -> None:
    without = replace(DRAINING, desired=2, version="2", replicas=DRAINING.replicas[1:])
    ticking = draining().tick(without).tick(without)

    assert ticking.memory.removal is None
    assert ticking.effects == []


def test_only_those_that_are_still_there_are_called_back() -> None:
    ticking = Ticking(policy=two_at_least(), memory=returning("r1", "gone")).tick(DRAINING)

    assert ticking.effects == [Uncordon(("r1",))]


def test_a_refused_call_back_is_tried_once_a_minute_for_ever_and_people_are_told_once() -> None:
    ticking = Ticking(policy=replace(two_at_least(), receivers=("oncall",)), memory=returning("r1"))
    tries, told = 0, 0
    for _ in range(12 * 60):
        ticking.tick(DRAINING)
        tries += called_back(ticking)
        told += len(ticking.told)
        ticking.came_out(OutcomeKind.REFUSED, f"forbidden at {ticking.now}")

    assert 50 <= tries <= 60
    assert told == 1
    assert Reason.DENIED in ticking.reasons(Verb.SCALE_IN)


@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.REFUSED, OutcomeKind.CONFLICT])
def test_a_cordon_that_did_not_come_out_is_undone(kind: OutcomeKind) -> None:
    ticking = Ticking(policy=two_at_least(), memory=proven(stable=timedelta(hours=1))).tick(fleet_of("sss")).came_out(kind).tick(DRAINING)

    assert called_back(ticking)


def test_a_refused_cordon_is_tried_no_more_than_once_a_minute() -> None:
    ticking = Ticking(policy=two_at_least(), memory=proven(stable=timedelta(hours=1)))
    tries = 0
    for _ in range(12 * 30):
        ticking.tick(fleet_of("sss"))
        tries += any(isinstance(effect, Cordon) for effect in ticking.effects)
        back = (
            OutcomeKind.REFUSED
            if any(isinstance(intent.operation.effect, Cordon) for intent in ticking.memory.intents)
            else OutcomeKind.DONE
        )
        ticking.came_out(back, "forbidden")

    assert 10 <= tries <= 30


def test_a_refused_removal_puts_its_victim_back() -> None:
    ticking = draining().tick(DRAINING).came_out(OutcomeKind.REFUSED, "forbidden").tick(DRAINING)

    assert called_back(ticking)


def test_a_conflict_at_the_last_step_is_planned_afresh() -> None:
    ticking = draining().tick(DRAINING).came_out(OutcomeKind.CONFLICT).tick(fleet_of("css", version=5))

    assert ticking.effects == [SetReplicas(2, 3, "5", ("r1",))]


def test_a_replica_that_was_taken_out_before_the_memory_was_lost_goes_back_to_traffic() -> None:
    ticking = Ticking(policy=two_at_least()).tick(DRAINING)

    assert ticking.effects == [Uncordon(("r1",))]


def test_a_replica_that_is_already_leaving_is_left_alone() -> None:
    ticking = Ticking(policy=two_at_least()).tick(fleet_of("css", desired=2))

    assert not called_back(ticking)


def test_in_advise_nothing_is_put_back_that_we_did_not_take_out() -> None:
    ticking = Ticking(policy=replace(two_at_least(), modes=Modes(Mode.ADVISE))).tick(DRAINING)

    assert ticking.effects == []


def test_where_traffic_cannot_be_cut_first_an_idle_replica_is_removed_at_once() -> None:
    ticking = Ticking(policy=two_at_least(), memory=proven(stable=timedelta(hours=1))).tick(fleet_of("sss", can_cordon=False))

    assert ticking.effects == [SetReplicas(2, 3, "1", ("r1",))]
    assert ticking.memory.removal is None


def test_where_traffic_cannot_be_cut_first_a_busy_fleet_is_left_alone() -> None:
    there = fleet_of("sss", can_cordon=False)
    busy = telling(there, waiting=CALM, running=0.5)
    ticking = Ticking(policy=two_at_least(), memory=proven(stable=timedelta(hours=1))).tick(there, readings=busy)

    assert ticking.effects == []
    assert Reason.NO_DRAIN in ticking.reasons(Verb.SCALE_IN)


def test_a_removal_waits_for_no_longer_than_its_own_last_operation() -> None:
    ticking = draining().tick(DRAINING).ticks(100, DRAINING)

    assert ticking.effects == []
    assert Reason.OPERATION_RUNNING in ticking.reasons(Verb.SCALE_IN)
    assert ticking.now > TICK
