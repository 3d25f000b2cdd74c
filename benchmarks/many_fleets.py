"""A world of many fleets: their series in a real Prometheus, their documents, and a backend that knows their replicas."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autopilot.domain.operations import Cordon, SetReplicas, Tell, Uncordon
from autopilot.domain.workloads import FleetRef, Observation, Replica, ReplicaState, Workload
from autopilot.policy.book import Book, Entry
from autopilot.policy.values import Fleet, Pool
from tests.support.openmetrics import TTFT_EDGES
from tests.support.policies import CHAT, closed_loop

SCRAPE = timedelta(seconds=15)
REPLICAS_MOST = 100
SINCE = 1_790_006_400  # on a boundary of two hours: one block
SPAN = 300  # seconds of history
BEGINS = datetime.fromtimestamp(SINCE + 180, UTC)  # the first tick: every window is full
TICKS_MOST = 24  # of 5 s each, until the history ends
POLICY = closed_loop(maximum=REPLICAS_MOST)
ENGINE = 'engine="0",model_name="tiny"'
FAST = 8  # the first edge that no first token is over


@dataclass(frozen=True, slots=True)
class ManyFleets:
    """`fleets` fleets of `replicas` replicas each, under the shipped kind of policy: two alerts, a ladder each, both directions."""

    fleets: int
    replicas: int

    def book(self) -> Book:
        """Their documents."""
        return Book(tuple(Entry(_fleet(number), POLICY) for number in range(self.fleets)))

    def load(self, folder: Path, promtool: str) -> None:
        """Five minutes of the base set's series, into a server's data folder: busy fleets, all of them well."""
        text = folder / "history.txt"
        with text.open("w", encoding="ascii") as file:
            for number in range(self.fleets):
                for replica in range(self.replicas):
                    file.writelines(_scrapes(f"fleet-{number}", f"fleet-{number}-{replica}"))
            file.write("# EOF\n")
        command = [promtool, "tsdb", "create-blocks-from", "openmetrics", "--quiet", str(text), str(folder / "data")]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
        text.unlink()


class KnownReplicas:
    """Port `Backend` for them: everything that was asked for serves. What is seen is seen at no cost."""

    def __init__(self, world: ManyFleets) -> None:
        self._seen = {entry.fleet.ref: _workload(entry.fleet.ref.name, world.replicas) for entry in world.book().entries}

    def observe(self, fleet: FleetRef) -> Observation:
        """What is there."""
        return self._seen[fleet]

    def set_replicas(self, fleet: FleetRef, effect: SetReplicas) -> None:
        """Take a count: the fleet has it at once."""
        self._seen[fleet] = _workload(fleet.name, effect.count)

    def cordon(self, fleet: FleetRef, effect: Cordon) -> None:
        """Leave the replicas in traffic."""

    def uncordon(self, fleet: FleetRef, effect: Uncordon) -> None:
        """Leave the replicas in traffic."""

    def tell(self, message: Tell) -> None:
        """Leave people in peace: it is the notifier as well."""


def _fleet(number: int) -> Fleet:
    name = f"fleet-{number}"
    return replace(
        CHAT,
        ref=FleetRef("llm", name),
        backend="known",
        identity=(("namespace", "llm"), ("fleet", name)),
        replica_label="pod",
        pools=(Pool("main", minimum=1, maximum=REPLICAS_MOST),),
    )


def _workload(name: str, replicas: int) -> Workload:
    return Workload(
        desired=replicas,
        version=str(replicas),
        template="t",
        replicas=tuple(
            Replica(f"{name}-{number}", ReplicaState.SERVING, "t", timedelta(hours=1), load_seconds=60.0) for number in range(replicas)
        ),
    )


def _scrapes(fleet: str, pod: str) -> Iterator[str]:
    target = f'namespace="llm",fleet="{fleet}",pod="{pod}"'
    labels = f"{ENGINE},{target}"
    yield _series("up", target, base=1)
    yield _series("vllm:num_requests_running", labels, base=8)
    yield _series("vllm:num_requests_waiting", labels)
    for reason in ("stop", "length", "abort", "error", "repetition"):
        yield _series("vllm:request_success_total", f'{labels},finished_reason="{reason}"', rate=2 if reason == "stop" else 0)
    yield _series("vllm:iteration_tokens_total_count", labels, rate=30)
    for index, edge in enumerate([*map(str, TTFT_EDGES), "+Inf"]):
        yield _series("vllm:time_to_first_token_seconds_bucket", f'{labels},le="{edge}"', rate=2 * min(1.0, index / FAST))
    yield _series("vllm:time_to_first_token_seconds_sum", labels, rate=0.1)


def _series(name: str, labels: str, *, rate: float = 0, base: float = 0) -> str:
    step = int(SCRAPE.total_seconds())
    return "".join(f"{name}{{{labels}}} {base + rate * second:g} {SINCE + second}\n" for second in range(0, SPAN + 1, step))
