"""What one tick costs for many fleets: the questions, the answers, and what is derived from them.

    python -m benchmarks.tick_cost [--fleets 1000] [--replicas 10] [--ticks 3]

A real Prometheus (the one on the PATH, or the one in PROMETHEUS_BIN_DIR) is given three minutes of the base set's
series; loading them takes a minute or two and some 2 GiB of memory for 1,000 fleets of 10.
Figures to hold (design.md §10): under 1 s of CPU, at most 25 queries, under 250 MB resident.
"""

import argparse
import gc
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from autopilot.adapters.prometheus import PrometheusSource
from autopilot.adapters.queries import ask
from autopilot.catalog.answers import Failure
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import derive
from autopilot.catalog.queries import Query, Target, plan
from autopilot.control.cycle import run_all
from autopilot.control.seen import Case, Seen
from autopilot.domain.memory import Memory
from autopilot.domain.samples import Answer
from autopilot.domain.signals import Distribution, Gap, Readings
from autopilot.domain.workloads import FleetRef, Replica, ReplicaState, Workload
from autopilot.policy.values import Pool
from autopilot.ports import QueryFailed
from tests.support.openmetrics import TTFT_EDGES
from tests.support.policies import CHAT, closed_loop
from tests.support.prometheus import PrometheusServer, any_binaries

SCRAPE = 15
REPLICAS_MOST = 100
POLICY = closed_loop(maximum=REPLICAS_MOST)
SINCE = 1_790_006_400  # on a boundary of two hours: one block
SPAN = 180
NOW = float(SINCE + SPAN)
DEADLINE_SECONDS = 60.0  # long: the server's own time is a figure here, not a limit
ENGINE = 'engine="0",model_name="tiny"'


@dataclass(frozen=True, slots=True)
class Cost:
    """What one part of a tick took."""

    cpu_seconds: float
    wall_seconds: float


class Watch:
    """Takes the time of a part, this process's CPU and the wall's."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def read(self) -> Cost:
        """Since the watch was made."""
        return Cost(time.process_time() - self._cpu, time.perf_counter() - self._wall)


def main() -> None:
    """Load, tick, print."""
    parser = argparse.ArgumentParser(description="what one tick costs for many fleets")
    parser.add_argument("--fleets", type=int, default=1000)
    parser.add_argument("--replicas", type=int, default=10)
    parser.add_argument("--ticks", type=int, default=3)
    parser.add_argument(
        "--collect", type=int, default=100_000, help="first threshold of the garbage collector, as the daemon sets it; Python's own is 700"
    )
    asked = parser.parse_args()
    gc.set_threshold(asked.collect)
    binaries = any_binaries()
    server = PrometheusServer(binaries, flags=("--query.max-concurrency=4", "--query.max-samples=200000000"))
    watch = Watch()
    _load(server.folder, binaries.promtool, fleets=asked.fleets, replicas=asked.replicas)
    with server:
        print(f"{asked.fleets} fleets of {asked.replicas}; loaded in {watch.read().wall_seconds:.0f} s")
        source = PrometheusSource(server.url).limited(50 * asked.fleets + asked.fleets * asked.replicas)
        targets = [_target(number) for number in range(asked.fleets)]
        live = {target.fleet: _live(target.fleet.name, asked.replicas) for target in targets}
        memories: dict[FleetRef, Memory] = {}
        for number in range(asked.ticks):
            print(f"tick {number}")
            _tick(source, targets, live, memories, number)
        _each_query(source, plan(targets))


def _tick(
    source: PrometheusSource,
    targets: Sequence[Target],
    live: Mapping[FleetRef, Sequence[LiveReplica]],
    memories: dict[FleetRef, Memory],
    number: int,
) -> None:
    whole, before = Watch(), _server_cpu(source)
    watch = Watch()
    queries = plan(targets)
    _show("plan", watch.read())
    watch = Watch()
    answers = ask({"default": source}, queries, at=NOW, deadline_seconds=DEADLINE_SECONDS)
    _show("ask", watch.read())
    watch = Watch()
    readings = derive(targets, {query: _answer(answer) for query, answer in answers.items()}, live, NOW)
    _show("derive", watch.read())
    watch = Watch()
    cases = [_case(target, readings[target.fleet], memories.get(target.fleet, Memory()), number) for target in targets]
    results = run_all(cases, ())
    memories.update({ref: cycled.memory for ref, (cycled, _) in results.items()})
    _show("decide", watch.read())
    total = whole.read()
    _show("tick", total)
    rows = sum(len(answer.samples) for answer in answers.values() if isinstance(answer, Answer))
    print(f"  {len(queries)} queries, {rows} rows, {sum(len(one.entries) for one in readings.values())} entries")
    print(f"  prometheus: {_server_cpu(source) - before:.2f} CPU s; RSS here {_rss_mib():.0f} MiB now, {_peak_mib():.0f} MiB at most")
    _prove(readings)


def _case(target: Target, readings: Readings, memory: Memory, number: int) -> Case:
    """The fleet under the shipped kind of policy: two alerts, a ladder each, scaling in both directions."""
    fleet = replace(CHAT, ref=target.fleet, pools=(Pool("main", minimum=1, maximum=REPLICAS_MOST),))
    replicas = tuple(Replica(name, ReplicaState.SERVING, "t", timedelta(hours=1), 60.0) for name in readings.by_replica("up"))
    workload = Workload(desired=len(replicas), version="1", template="t", replicas=replicas)
    seen = Seen(
        now=timedelta(seconds=5 * number),
        interval=timedelta(seconds=5),
        scrape_interval=timedelta(seconds=SCRAPE),
        readings=readings,
        workload=workload,
        restarted=number == 0,
    )
    return Case(fleet, POLICY, memory, seen)


def _prove(readings: Mapping[FleetRef, Readings]) -> None:
    """A tick that read nothing would be cheap."""
    heard = sum(isinstance(one.of("ttft", over=timedelta(minutes=1)), Distribution) for one in readings.values())
    if heard != len(readings):
        message = f"only {heard} of {len(readings)} fleets gave a histogram"
        raise RuntimeError(message)


def _each_query(source: PrometheusSource, queries: Sequence[Query]) -> None:
    print("each query alone: the server's CPU s, wall s, CPU s here, rows, text")
    for query in queries:
        before, watch = _server_cpu(source), Watch()
        answer = source.instant(query.promql, at=NOW, deadline_seconds=DEADLINE_SECONDS)
        cost, theirs = watch.read(), _server_cpu(source) - before
        print(f"  {theirs:6.2f} {cost.wall_seconds:6.2f} {cost.cpu_seconds:6.3f} {len(answer.samples):7d}  {query.series.text[:100]}")


def _answer(answer: Answer | QueryFailed) -> Answer | Failure:
    return answer if isinstance(answer, Answer) else Failure(Gap.QUERY_FAILED, str(answer))


def _show(name: str, cost: Cost) -> None:
    print(f"  {name:8} {cost.cpu_seconds:6.3f} CPU s {cost.wall_seconds:6.3f} s")


def _server_cpu(source: PrometheusSource) -> float:
    page = source.http.request("GET", f"{source.url}/metrics", deadline_seconds=5.0).body.decode()
    return float(next(line.split()[1] for line in page.splitlines() if line.startswith("process_cpu_seconds_total ")))


def _rss_mib() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 2**20


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _target(number: int) -> Target:
    name = f"fleet-{number}"
    return Target(FleetRef("llm", name), "default", (("namespace", "llm"), ("fleet", name)), "pod", timedelta(seconds=SCRAPE))


def _live(name: str, replicas: int) -> tuple[LiveReplica, ...]:
    return tuple(LiveReplica(f"{name}-{number}", timedelta(hours=1)) for number in range(replicas))


def _load(folder: Path, promtool: str, *, fleets: int, replicas: int) -> None:
    """Three minutes of the base set's series, into the server's data folder."""
    text = folder / "history.txt"
    with text.open("w", encoding="ascii") as file:
        for number in range(fleets):
            for replica in range(replicas):
                file.writelines(_replica(f"fleet-{number}", f"fleet-{number}-{replica}"))
        file.write("# EOF\n")
    command = [promtool, "tsdb", "create-blocks-from", "openmetrics", "--quiet", str(text), str(folder / "data")]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    text.unlink()


def _replica(fleet: str, pod: str) -> Iterator[str]:
    target = f'namespace="llm",fleet="{fleet}",pod="{pod}"'
    labels = f"{ENGINE},{target}"
    yield _series("up", target, rate=0, base=1)
    yield _series("vllm:num_requests_running", labels, rate=0, base=8)
    yield _series("vllm:num_requests_waiting", labels, rate=0, base=1)
    for reason in ("stop", "length", "abort", "error", "repetition"):
        yield _series("vllm:request_success_total", f'{labels},finished_reason="{reason}"', rate=2 if reason == "stop" else 0)
    yield _series("vllm:iteration_tokens_total_count", labels, rate=30)
    edges = [*map(str, TTFT_EDGES), "+Inf"]
    for index, edge in enumerate(edges):
        yield _series("vllm:time_to_first_token_seconds_bucket", f'{labels},le="{edge}"', rate=2 * (index + 1) / len(edges))
    yield _series("vllm:time_to_first_token_seconds_sum", labels, rate=1)


def _series(name: str, labels: str, *, rate: float, base: float = 0) -> str:
    return "".join(f"{name}{{{labels}}} {base + rate * second:g} {SINCE + second}\n" for second in range(0, SPAN + 1, SCRAPE))


if __name__ == "__main__":
    main()
