"""Who else writes the count."""

from datetime import timedelta

import pytest

from autopilot.control.ownership import notice
from autopilot.control.seen import Settled
from autopilot.domain.memory import ForeignWrite, Memory
from autopilot.domain.operations import Intent, Operation, SetReplicas
from autopilot.domain.verbs import Verb
from tests.support.policies import CHAT, MINUTE
from tests.unit.control.ticks import SECOND, START, fleet_of

OURS = Intent(Operation("llm/chat/1", CHAT.ref, Verb.SCALE_OUT, SetReplicas(3, 2, "1")), START)


def noticed(memory: Memory, states: str, *settled: Settled) -> Memory:
    return notice(memory, fleet_of(states, version=9), settled, now=START)


@pytest.mark.parametrize(
    ("memory", "states", "settled", "writes"),
    [
        (Memory(), "sss", (), 0),
        (Memory(accepted=3), "sss", (), 0),
        (Memory(accepted=2), "sss", (), 1),
        (Memory(accepted=2), "sss", (Settled(OURS, happened=True),), 0),
        (Memory(accepted=2), "s", (Settled(OURS, happened=True),), 1),
        (Memory(accepted=2, intents=(OURS,)), "s", (), 0),
        (Memory(accepted=2), "s", (Settled(OURS, happened=False),), 1),
        (Memory(accepted=2), "ss", (Settled(OURS, happened=False),), 0),
        (Memory(accepted=2), "ssss", (Settled(OURS, happened=False, void=True),), 1),
    ],
    ids=["adoption", "as known", "theirs", "ours", "theirs after ours", "not while ours is open", "lost to theirs", "not made", "void"],
)
def test_a_count_that_is_not_ours_is_somebody_elses(memory: Memory, states: str, settled: tuple[Settled, ...], writes: int) -> None:
    assert len(noticed(memory, states, *settled).foreign) == writes


@pytest.mark.parametrize(("earlier", "contested"), [(1, False), (2, True)], ids=["two writes", "three writes"])
def test_more_than_two_writes_in_ten_minutes_are_a_contest(earlier: int, *, contested: bool) -> None:
    writes = tuple(ForeignWrite(START - number * MINUTE, 1, 2) for number in range(1, earlier + 1))

    assert noticed(Memory(accepted=2, foreign=writes), "sss").contested is contested


@pytest.mark.parametrize(("age", "kept"), [(10 * MINUTE, 1), (10 * MINUTE + SECOND, 0)], ids=["just inside", "over"])
def test_a_write_is_given_way_to_for_ten_minutes(age: timedelta, kept: int) -> None:
    assert len(noticed(Memory(accepted=1, foreign=(ForeignWrite(START - age, 2, 1),)), "s").foreign) == kept


def test_a_contest_outlives_its_writes() -> None:
    assert noticed(Memory(accepted=1, contested=True), "s").contested


@pytest.mark.parametrize(("states", "stays"), [("", True), ("s", False)], ids=["still none", "raised again"])
def test_a_zero_that_another_hand_set_is_remembered_until_the_count_is_raised(states: str, *, stays: bool) -> None:
    assert noticed(noticed(Memory(accepted=2), ""), states).zeroed_elsewhere is stays
