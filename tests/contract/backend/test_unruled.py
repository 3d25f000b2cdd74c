"""A fleet whose document was taken away serves on: nothing is started and nothing is killed for it until the document is back."""

import signal

import pytest

from autopilot.adapters.local.processes import alive, send
from autopilot.domain.operations import SetReplicas
from autopilot.domain.workloads import ReplicaState
from autopilot.ports import Refused
from tests.contract.backend.rig import CHAT, PATIENCE, Rig
from tests.support.waiting import eventually

RESTS = 4.0  # seconds in which a dead or stalled replica would have been replaced


def nothing_is_started(rig: Rig) -> bool:
    sequence = rig.record.sequence
    return not eventually(lambda: rig.record.sequence != sequence, within=RESTS)


def test_a_dead_replica_of_a_removed_document_leaves_traffic_and_is_not_replaced(rig: Rig) -> None:
    rig.serve(2)
    rig.backend.leave_all_but(())
    send(rig.process("chat-1"), signal.SIGKILL)
    left = rig.becomes(_2=ReplicaState.SERVING)

    assert left
    assert nothing_is_started(rig)
    assert eventually(lambda: len(rig.workers()) == 1, within=PATIENCE)


def test_a_frozen_replica_of_a_removed_document_is_not_killed(rig: Rig) -> None:
    rig.serve(1)
    process = rig.process("chat-1")
    rig.backend.leave_all_but(())
    send(process, signal.SIGSTOP)

    assert nothing_is_started(rig)
    assert alive(process)
    send(process, signal.SIGCONT)


def test_a_fleet_of_a_removed_document_takes_no_count(rig: Rig) -> None:
    rig.serve(1)
    now = rig.workload()
    rig.backend.leave_all_but(())

    with pytest.raises(Refused):
        rig.backend.set_replicas(CHAT, SetReplicas(2, now.desired, now.version, ()))


def test_a_document_that_is_back_fills_the_places_again(rig: Rig) -> None:
    rig.serve(1)
    rig.backend.leave_all_but(())
    send(rig.process("chat-1"), signal.SIGKILL)
    assert eventually(lambda: rig.states() == {}, within=PATIENCE)

    rig.backend.manage(rig.fleet)

    assert rig.becomes(_2=ReplicaState.SERVING)
