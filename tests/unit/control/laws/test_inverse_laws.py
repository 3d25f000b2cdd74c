"""Whatever is done to a simulated fleet can be undone, and doing it twice is doing it once."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.operations import Cordon, SetReplicas, Uncordon
from autopilot.domain.workloads import Workload
from autopilot.simulation.fleet import Scene, SimulatedFleet
from tests.support.policies import CHAT

VICTIMS = st.sets(st.sampled_from([f"replica-{number}" for number in range(1, 6)])).map(lambda names: tuple(sorted(names)))


def fleet(replicas: int) -> SimulatedFleet:
    return SimulatedFleet(Scene(requests=(), replicas=replicas), Random(1))


def outline(world: SimulatedFleet) -> tuple[object, ...]:
    """What is there, whatever its version."""
    there: Workload = world.observe(CHAT.ref)
    return there.desired, tuple((one.name, one.state) for one in there.replicas)


@given(replicas=st.integers(0, 5), victims=VICTIMS)
def test_what_is_taken_out_of_traffic_and_given_back_is_as_before(replicas: int, victims: tuple[str, ...]) -> None:
    world = fleet(replicas)
    before = outline(world)
    for _ in range(2):
        world.cordon(CHAT.ref, Cordon(victims))
    for _ in range(2):
        world.uncordon(CHAT.ref, Uncordon(victims))

    assert outline(world) == before


@given(replicas=st.integers(0, 5), more=st.integers(1, 5))
def test_what_is_added_and_taken_back_is_as_before(replicas: int, more: int) -> None:
    world = fleet(replicas)
    before = outline(world)
    up = world.observe(CHAT.ref)
    world.set_replicas(CHAT.ref, SetReplicas(replicas + more, replicas, up.version))
    down = world.observe(CHAT.ref)
    new = tuple(one.name for one in down.replicas if up.named(one.name) is None)
    world.set_replicas(CHAT.ref, SetReplicas(replicas, replicas + more, down.version, new))

    assert outline(world) == before
