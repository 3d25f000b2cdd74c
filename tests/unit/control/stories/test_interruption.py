"""A story cut after any effect and resumed ends as the uncut one, and every decision can be made again."""

from functools import cache

import pytest

from autopilot.control.audit import Documents, Record, replay
from autopilot.control.codec import decode, encode
from autopilot.domain.decisions import Act
from autopilot.domain.operations import Cordon, Operation, SetReplicas, Uncordon
from autopilot.simulation.arrivals import steps
from autopilot.simulation.play import CutAt, Player
from tests.support.policies import closed_loop
from tests.unit.control.stories.scenes import at, player, scene

UP_AND_DOWN = steps((0.0, 2.0), (200.0, 14.0), (900.0, 1.0))
END = 3600.0


def story() -> Player:
    return player(closed_loop(maximum=4), scene(UP_AND_DOWN, seconds=END))


@cache
def uncut() -> Player:
    return story().run(at(END))


def acting_ticks() -> list[int]:
    return [number for number, record in enumerate(uncut().records) if any(isinstance(one, Act) for one in record.decisions)]


ACTING = acting_ticks()


@cache
def play_cut(number: int, cut: CutAt) -> tuple[Player, list[Operation]]:
    """Play to the end, dying on the given tick; with everything that was really carried out."""
    told = story()
    done: list[Operation] = []
    for tick in range(int(END / told.interval.total_seconds())):
        told.world.advance(told.world.now + told.interval)
        told.tick(cut if tick == number else None, on_act=done.append)
    return told, done


def test_the_uncut_story_acts_in_both_directions() -> None:
    effects = [act.operation.effect for record in uncut().records for act in record.decisions if isinstance(act, Act)]

    assert any(isinstance(effect, SetReplicas) and effect.count > effect.before for effect in effects)
    assert any(isinstance(effect, SetReplicas) and effect.count < effect.before for effect in effects)
    assert any(isinstance(effect, Cordon) for effect in effects)


@pytest.mark.parametrize("cut", list(CutAt))
@pytest.mark.parametrize("number", ACTING)
def test_a_story_cut_at_any_act_ends_as_the_uncut_one(number: int, cut: CutAt) -> None:
    resumed, _ = play_cut(number, cut)
    workload = resumed.world.observe(resumed.fleet.ref)

    assert workload.desired == uncut().world.observe(uncut().fleet.ref).desired
    assert len(workload.serving) == workload.desired  # no victim was left out of traffic
    assert resumed.memory.intents == ()
    assert resumed.memory.removal is None
    assert resumed.world.tally.lost == 0


@pytest.mark.parametrize("cut", list(CutAt))
@pytest.mark.parametrize("number", ACTING)
def test_no_change_of_the_count_is_made_twice(number: int, cut: CutAt) -> None:
    _, done = play_cut(number, cut)
    versions = [operation.effect.version for operation in done if isinstance(operation.effect, SetReplicas)]

    assert len(versions) == len(set(versions))


def test_a_removal_that_was_cut_puts_its_victim_back_in_traffic() -> None:
    cordons = [
        number
        for number, record in enumerate(uncut().records)
        if any(isinstance(one, Act) and isinstance(one.operation.effect, Cordon) for one in record.decisions)
    ]

    _, done = play_cut(cordons[0], CutAt.AFTER_ACTING)

    assert any(isinstance(operation.effect, Uncordon) for operation in done)


def test_every_record_replays_to_the_same_decision_also_from_its_json() -> None:
    told = uncut()
    documents = Documents(told.fleet, told.policy)

    replayed = [replay(decode(encode(record, Record), Record), documents).same for record in told.records]

    assert all(replayed)
    assert len(replayed) == int(END / 5)
