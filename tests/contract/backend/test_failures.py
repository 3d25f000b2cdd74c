"""What is dead, stuck or never comes up, and what is left of it."""

import signal
from dataclasses import replace

import pytest

from autopilot.adapters.http import HttpError
from autopilot.adapters.local.ending import Ending
from autopilot.adapters.local.post import Setbacks
from autopilot.adapters.local.processes import alive, send
from autopilot.adapters.local.record import Phase
from autopilot.domain.operations import Cordon
from autopilot.domain.workloads import ReplicaState
from autopilot.ports import StateInUse
from tests.contract.backend.rig import CHAT, PATIENCE, Rig, holders
from tests.support.waiting import eventually

SERVING, FAILED, UNHEALTHY = ReplicaState.SERVING, ReplicaState.FAILED, ReplicaState.UNHEALTHY


def _engines(rig: Rig) -> int:
    """How many processes of engines run."""
    router = rig.record.router
    return len([each for each in holders(rig.folder) if alive(each) and (router is None or each != router.process)])


def test_a_failed_start_is_told_with_the_end_of_its_log(rig: Rig) -> None:
    rig.run({"crash": "CUDA out of memory"})

    rig.ask(1)

    assert rig.becomes(_1=FAILED)
    assert rig.named("chat-1").message.splitlines()[-1] == "CUDA out of memory"
    assert len(rig.named("chat-1").message.splitlines()) == 21


def test_a_program_that_is_not_there_is_a_failed_start(rig: Rig) -> None:
    rig.backend._options = replace(rig.options, launch=("/nowhere/python",))
    rig.backend._supervisors[CHAT].post.options = rig.backend._options

    rig.ask(1)

    assert rig.becomes(_1=FAILED)


def test_a_start_past_its_deadline_is_given_up(rig: Rig) -> None:
    rig.backend.close()
    rig.times = replace(rig.times, start_unknown=0.5)
    rig.start()
    rig.run({"start-seconds": 3600})

    rig.ask(1)

    assert rig.becomes(_1=FAILED)
    assert eventually(lambda: _engines(rig) == 0, within=PATIENCE)


def test_a_failed_start_is_not_repeated_at_once(rig: Rig) -> None:
    rig.run({"crash": "no"})
    rig.ask(1)
    assert rig.becomes(_1=FAILED)

    assert not eventually(lambda: rig.states() != {"chat-1": FAILED}, within=1.5)


def test_each_rest_after_a_failed_start_is_longer(rig: Rig) -> None:
    rig.backend.close()
    rig.times = replace(rig.times, retry_first=0.2, retry_most=0.4)
    rig.start()
    rig.run({"crash": "no"})
    rig.ask(1)

    assert eventually(lambda: rig.record.sequence >= 3 and rig.record.streak >= 3, within=PATIENCE)
    assert len(rig.record.replicas) == 1


def test_a_failed_replica_can_be_retracted(rig: Rig) -> None:
    rig.run({"crash": "no"})
    rig.ask(1)
    assert rig.becomes(_1=FAILED)

    rig.ask(0, ("chat-1",))

    assert rig.becomes()


def test_a_dead_replica_is_replaced_under_a_new_name(rig: Rig) -> None:
    rig.serve(2)

    send(rig.process("chat-1"), signal.SIGKILL)

    assert rig.becomes(_2=SERVING, _3=SERVING)


def test_replicas_that_die_young_again_and_again_are_not_replaced_at_once(rig: Rig) -> None:
    rig.serve(1)
    rig.control("chat-1", die=True)
    assert rig.becomes(_2=SERVING)

    rig.control("chat-2", die=True)

    assert rig.becomes(_2=FAILED)


def test_orphans_of_a_dead_server_do_not_survive_it(rig: Rig) -> None:
    rig.run({"orphan": True})
    rig.serve(1)
    before = _engines(rig)
    old = holders(rig.folder)

    send(rig.process("chat-1"), signal.SIGKILL)

    assert rig.becomes(_2=SERVING)
    assert (before, _engines(rig)) == (2, 2)
    assert len([each for each in old if alive(each)]) == 1  # the router


def test_orphans_of_a_stopped_server_do_not_survive_it(rig: Rig) -> None:
    rig.run({"orphan": True})
    rig.serve(1)

    rig.ask(0, ("chat-1",))

    assert eventually(lambda: _engines(rig) == 0, within=PATIENCE)


def test_a_server_that_ignores_sigterm_is_killed_after_its_drain(rig: Rig) -> None:
    rig.run({"ignore-sigterm": True})
    rig.serve(1)

    rig.ask(0, ("chat-1",))

    assert eventually(lambda: _engines(rig) == 0, within=PATIENCE)


def test_a_server_with_a_dead_engine_is_out_of_traffic_and_comes_back_when_it_is_well(rig: Rig) -> None:
    rig.backend.close()
    rig.times = replace(rig.times, stall=3600.0)
    rig.start()
    rig.serve(1)
    rig.control("chat-1", health=503)
    assert rig.becomes(_1=UNHEALTHY)
    assert eventually(lambda: rig.workers() == set(), within=PATIENCE)

    rig.control("chat-1", health=200)

    assert rig.becomes(_1=SERVING)


def test_a_server_with_a_dead_engine_is_replaced_in_the_end(rig: Rig) -> None:
    rig.serve(1)

    rig.control("chat-1", health=503)

    assert rig.becomes(_2=SERVING)


def test_a_stalled_engine_that_says_it_is_healthy_is_replaced(rig: Rig) -> None:
    rig.serve(1)

    rig.control("chat-1", stalled=True, waiting=3)

    assert rig.becomes(_2=SERVING)


def test_a_stalled_counter_alone_replaces_nobody_who_answers_a_probe(rig: Rig) -> None:
    rig.serve(1)

    rig.control("chat-1", waiting=3)

    assert not eventually(lambda: rig.states() != {"chat-1": SERVING}, within=3.0)


def test_a_slow_health_check_replaces_nobody_whose_engine_steps(rig: Rig) -> None:
    rig.backend.close()
    rig.times = replace(rig.times, answer=0.2)
    rig.start()
    rig.serve(1)

    rig.control("chat-1", health_seconds=0.5)

    assert not eventually(lambda: rig.states() != {"chat-1": SERVING}, within=3.0)


def test_an_engine_without_statistics_is_not_taken_for_stalled(rig: Rig) -> None:
    rig.serve(1)

    rig.control("chat-1", metrics=False)

    assert not eventually(lambda: rig.states() != {"chat-1": SERVING}, within=2.0)


def test_a_frozen_server_is_replaced(rig: Rig) -> None:
    rig.backend.close()
    rig.times = replace(rig.times, answer=0.2)
    rig.start()
    rig.serve(1)

    send(rig.process("chat-1"), signal.SIGSTOP)

    assert rig.becomes(_2=SERVING)


def test_a_warm_up_that_is_not_answered_keeps_a_replica_out_of_traffic(rig: Rig) -> None:
    rig.run({"start-seconds": 0.5})
    rig.ask(1)
    assert eventually(lambda: rig.record.replicas and rig.replica("chat-1").process, within=PATIENCE)
    assert eventually(lambda: _moody(rig, completions=503), within=PATIENCE)

    assert not eventually(lambda: rig.named("chat-1").state is SERVING, within=1.0)


def _moody(rig: Rig, **mood: object) -> bool:
    try:
        rig.http.request("GET", f"{rig.replica('chat-1').url}/health", deadline_seconds=1)
    except HttpError:
        return False
    rig.control("chat-1", **mood)
    return True


def test_a_server_that_knows_no_completions_serves_unwarmed(rig: Rig) -> None:
    rig.run({"max-model-len": 1})

    rig.serve(1)

    assert rig.named("chat-1").message


def test_a_router_that_is_not_there_does_not_hurt_the_engines(rig: Rig) -> None:
    rig.backend.close()
    rig.router = ("/nowhere/vllm-router",)
    rig.start()
    rig.ask(1)

    assert rig.becomes(_1=ReplicaState.WARMING)
    assert alive(rig.process("chat-1"))


def test_two_backends_cannot_run_one_folder(rig: Rig) -> None:
    second = Rig(rig.folder)

    with pytest.raises(StateInUse):
        second.start()


def test_a_cordoned_victim_is_stopped(rig: Rig) -> None:
    rig.serve(2)
    rig.backend.cordon(CHAT, Cordon(("chat-2",)))

    rig.ask(1, ("chat-2",))

    assert rig.becomes(_1=SERVING)
    assert eventually(lambda: _engines(rig) == 1, within=PATIENCE)


@pytest.mark.parametrize(("listed", "asked_to_end"), [(True, False), (False, True)], ids=["still-in-traffic", "out-of-traffic"])
def test_a_replica_is_asked_to_end_only_once_it_is_out_of_traffic(rig: Rig, *, listed: bool, asked_to_end: bool) -> None:
    rig.serve(1)
    post = rig.backend._supervisors[CHAT].post
    rig.backend.close()
    leaving = replace(rig.replica("chat-1"), phase=Phase.LEAVING)
    post.change(lambda record: record.with_replica(leaving))

    Ending(post, Setbacks(post)).step(leaving, frozenset({leaving.url} if listed else ()), now=post.clock.running())

    assert rig.replica("chat-1").termed is asked_to_end
