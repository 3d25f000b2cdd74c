"""Traffic: the router's list is the serving replicas, whatever happens to either."""

import json
import signal
from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.local import LocalBackend
from autopilot.adapters.local.processes import alive, send
from autopilot.domain.operations import Cordon, Uncordon
from autopilot.domain.workloads import FleetRef, ReplicaState
from autopilot.ports import Refused
from tests.contract.backend.rig import CHAT, PATIENCE, Rig, holders
from tests.support.waiting import eventually

SERVING, CORDONED = ReplicaState.SERVING, ReplicaState.CORDONED


def _urls(rig: Rig, *names: str) -> set[str]:
    return {rig.replica(name).url for name in names}


def test_serving_replicas_are_in_the_routers_list(routed: Rig) -> None:
    names = routed.serve(2)

    assert eventually(lambda: routed.workers() == _urls(routed, *names), within=PATIENCE)


def test_a_request_to_the_router_is_answered(routed: Rig) -> None:
    routed.serve(1)
    assert eventually(routed.workers, within=PATIENCE)

    url = routed.backend.router_url(CHAT)
    answer = routed.http.request("POST", f"{url}/v1/completions", body=b'{"model": "fake", "prompt": "x"}', deadline_seconds=5)

    assert json.loads(answer.body)["pid"] == routed.process("chat-1").pid


def test_a_cordoned_replica_is_out_of_the_list_when_the_call_returns(routed: Rig) -> None:
    names = routed.serve(2)
    assert eventually(lambda: routed.workers() == _urls(routed, *names), within=PATIENCE)

    routed.backend.cordon(CHAT, Cordon(("chat-1",)))

    assert routed.workers() == _urls(routed, "chat-2")


def test_a_cordoned_replica_stays_out(routed: Rig) -> None:
    routed.serve(2)
    routed.backend.cordon(CHAT, Cordon(("chat-1",)))
    routed.backend.cordon(CHAT, Cordon(("chat-1",)))

    assert not eventually(lambda: routed.workers() >= _urls(routed, "chat-1"), within=1.0)
    assert routed.states() == {"chat-1": CORDONED, "chat-2": SERVING}


def test_an_uncordoned_replica_is_back_when_the_call_returns(routed: Rig) -> None:
    routed.serve(1)
    routed.backend.cordon(CHAT, Cordon(("chat-1",)))

    routed.backend.uncordon(CHAT, Uncordon(("chat-1",)))

    assert routed.workers() == _urls(routed, "chat-1")


def test_a_worker_that_somebody_removed_is_put_back(routed: Rig) -> None:
    routed.serve(1)
    url = routed.replica("chat-1").url
    assert eventually(lambda: routed.workers() == {url}, within=PATIENCE)

    routed.http.request("POST", f"{routed.router_record.url}/remove_worker?url={url}", deadline_seconds=5)

    assert eventually(lambda: routed.workers() == {url}, within=PATIENCE)


def test_a_dead_router_comes_back_on_its_port_with_its_list(routed: Rig) -> None:
    routed.serve(1)
    before = routed.router_record
    assert before.process is not None
    send(before.process, signal.SIGKILL)
    assert eventually(lambda: routed.router_record.process not in {None, before.process}, within=PATIENCE)

    assert eventually(lambda: routed.workers() == _urls(routed, "chat-1"), within=PATIENCE)
    assert routed.router_record.port == before.port


def test_a_restarted_daemon_keeps_the_router(routed: Rig) -> None:
    routed.serve(1)
    before = routed.router_record.process
    routed.backend.close()

    routed.start()

    assert eventually(lambda: routed.workers() == _urls(routed, "chat-1"), within=PATIENCE)
    assert routed.router_record.process == before


def test_take_down_leaves_nothing_running(routed: Rig) -> None:
    routed.serve(2)

    gone = routed.backend.take_down(CHAT, within=timedelta(seconds=PATIENCE))

    assert gone
    assert not [each for each in holders(routed.folder) if alive(each)]
    assert eventually(lambda: routed.targets() == {}, within=PATIENCE)


def test_a_stranger_cannot_be_cordoned(rig: Rig) -> None:
    with pytest.raises(Refused):
        rig.backend.cordon(CHAT, Cordon(("chat-9",)))


def test_a_cordon_outlives_a_restart(rig: Rig) -> None:
    rig.serve(1)
    rig.backend.cordon(CHAT, Cordon(("chat-1",)))
    rig.backend.close()

    rig.start()

    assert rig.states() == {"chat-1": CORDONED}


def test_targets_name_the_replica_and_carry_the_fleets_labels(rig: Rig) -> None:
    rig.serve(1)

    assert eventually(lambda: rig.targets() == {"chat-1": {"fleet": "chat", "instance": "chat-1"}}, within=PATIENCE)


def test_a_replica_that_still_loads_is_no_target(rig: Rig) -> None:
    rig.run({"start-seconds": 3600})
    rig.ask(1)
    assert eventually(lambda: rig.record.replicas and rig.replica("chat-1").process, within=PATIENCE)

    assert rig.targets() == {}


def test_a_draining_replica_stays_a_target(rig: Rig) -> None:
    rig.serve(1)
    assert eventually(lambda: set(rig.targets()) == {"chat-1"}, within=PATIENCE)

    rig.backend.cordon(CHAT, Cordon(("chat-1",)))

    assert not eventually(lambda: rig.targets() == {}, within=0.5)


def test_a_reader_of_the_targets_never_sees_half_a_file(rig: Rig) -> None:
    rig.ask(3)

    torn = eventually(lambda: not isinstance(json.loads((rig.folder / "targets.json").read_text()), list), within=3.0)

    assert not torn


def test_a_fleet_whose_document_is_gone_stays_a_target(rig: Rig) -> None:
    rig.serve(1)
    rig.backend.close()
    (rig.folder / "targets.json").unlink()
    rig.backend = LocalBackend(rig.options, clock=SystemClock(), http=rig.http)

    rig.backend.start([replace(rig.fleet, ref=FleetRef("llm", "code"))])

    assert eventually((rig.folder / "targets.json").exists, within=PATIENCE)
    assert set(rig.targets()) == {"chat-1"}
