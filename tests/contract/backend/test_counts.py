"""The count: compare-and-set, limits, victims, names."""

from dataclasses import replace

import pytest

from autopilot.domain.operations import SetReplicas
from autopilot.domain.workloads import FleetRef, ReplicaState, Unobserved
from autopilot.fleet.template import template_hash
from autopilot.ports import Conflict, Refused
from tests.contract.backend.rig import CHAT, PATIENCE, Rig
from tests.support.waiting import eventually

SERVING, STARTING = ReplicaState.SERVING, ReplicaState.STARTING


def test_an_accepted_count_raises_the_version_by_one(rig: Rig) -> None:
    before = rig.workload()

    rig.ask(1)

    after = rig.workload()
    assert (after.desired, int(after.version)) == (1, int(before.version) + 1)


def test_the_wanted_replicas_come_to_serve(rig: Rig) -> None:
    rig.ask(2)

    assert rig.becomes(_1=SERVING, _2=SERVING)


def test_an_asked_for_replica_is_seen_as_pending_at_once(rig: Rig) -> None:
    rig.run({"start-seconds": 3600})

    rig.ask(2)

    assert rig.states() == {"chat-1": STARTING, "chat-2": STARTING}


def test_the_same_version_is_accepted_once(rig: Rig) -> None:
    effect = SetReplicas(1, 0, rig.workload().version)
    rig.backend.set_replicas(CHAT, effect)

    with pytest.raises(Conflict):
        rig.backend.set_replicas(CHAT, effect)


def test_a_count_from_another_start_is_a_conflict(rig: Rig) -> None:
    with pytest.raises(Conflict):
        rig.backend.set_replicas(CHAT, SetReplicas(3, 2, rig.workload().version))


@pytest.mark.parametrize(
    ("count", "victims"),
    [(5, ()), (2, ("chat-1",)), (0, ()), (0, ("chat-9",)), (0, ("chat-1", "chat-1"))],
    ids=["over-the-limit", "victims-of-a-rise", "nobody-named", "a-stranger-named", "one-named-twice"],
)
def test_what_cannot_be_is_refused(rig: Rig, count: int, victims: tuple[str, ...]) -> None:
    rig.ask(1)

    with pytest.raises(Refused):
        rig.ask(count, victims)


def test_a_refused_count_changes_nothing(rig: Rig) -> None:
    before = rig.workload()

    with pytest.raises(Refused):
        rig.ask(5)

    assert rig.workload() == before


def test_exactly_the_victims_go(rig: Rig) -> None:
    rig.serve(3)

    rig.ask(1, ("chat-1", "chat-3"))

    assert rig.becomes(_2=SERVING)


def test_a_name_is_never_used_again(rig: Rig) -> None:
    rig.serve(1)
    rig.ask(0, ("chat-1",))

    rig.ask(1)

    assert rig.becomes(_2=SERVING)


def test_a_fleet_nobody_knows_is_unobserved(rig: Rig) -> None:
    seen = rig.backend.observe(FleetRef("llm", "other"))

    assert isinstance(seen, Unobserved)


def test_a_fleet_nobody_knows_takes_no_count(rig: Rig) -> None:
    with pytest.raises(Refused):
        rig.backend.set_replicas(FleetRef("llm", "other"), SetReplicas(1, 0, "1"))


def test_more_gpus_than_there_are_are_refused(rig: Rig) -> None:
    rig.backend.close()
    rig.gpus = (0, 1, 2)
    rig.fleet = replace(rig.fleet, gpus_per_replica=2)
    rig.start()

    with pytest.raises(Refused):
        rig.ask(2)


def test_a_replica_sees_its_own_gpus(rig: Rig) -> None:
    rig.backend.close()
    rig.gpus = (4, 5, 6, 7)
    rig.fleet = replace(rig.fleet, gpus_per_replica=2)
    rig.start()

    names = rig.serve(2)

    assert sorted(rig.served(name)["env"]["CUDA_VISIBLE_DEVICES"] for name in names) == ["4,5", "6,7"]


def test_a_replica_waits_for_the_gpus_of_one_that_still_goes(rig: Rig) -> None:
    rig.backend.close()
    rig.gpus = (0,)
    rig.times = replace(rig.times, stop_margin=2.0)
    rig.fleet = replace(rig.fleet, gpus_per_replica=1, engine=replace(rig.fleet.engine, args={"ignore-sigterm": True}))
    rig.start()
    rig.serve(1)
    rig.ask(0, ("chat-1",))

    rig.ask(1)

    assert eventually(lambda: rig.named("chat-2").message.startswith("waits for"), within=PATIENCE)
    assert rig.becomes(_2=SERVING)


def test_start_up_time_is_known_once_a_replica_serves(rig: Rig) -> None:
    rig.run({"start-seconds": 0.5})

    rig.serve(1)

    load_seconds = rig.named("chat-1").load_seconds
    assert load_seconds is not None
    assert load_seconds >= 0.5


def test_bring_up_asks_for_the_minimum(rig: Rig) -> None:
    rig.fleet = replace(rig.fleet, minimum=2)
    rig.backend.manage(rig.fleet)

    rig.backend.bring_up(CHAT)

    assert rig.workload().desired == 2


def test_warm_up_sends_prompts_of_the_asked_length_before_traffic(rig: Rig) -> None:
    rig.serve(1)

    assert rig.served("chat-1")["prompts"] == [512, 512]


def test_warm_up_fits_the_window_of_the_model(rig: Rig) -> None:
    rig.run({"max-model-len": 100})

    rig.serve(1)

    assert max(rig.served("chat-1")["prompts"]) < 100


def test_an_slo_reaches_new_engines_and_changes_none_that_run(rig: Rig) -> None:
    rig.fleet = replace(rig.fleet, engine=replace(rig.fleet.engine, version="0.32.0"), edges=(("ttft", 0.8),))
    rig.backend.manage(rig.fleet)
    rig.serve(1)
    before = rig.workload().template

    rig.backend.manage(replace(rig.fleet, edges=(("ttft", 0.9),)))

    assert rig.workload().template == before == template_hash(rig.fleet.with_edges((("ttft", 0.8),)).engine)
    assert rig.replica("chat-1").template == before
