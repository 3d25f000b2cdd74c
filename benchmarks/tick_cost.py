"""What one tick of the daemon costs for many fleets. Every door is the real one, but for a backend that costs nothing.

    python -m benchmarks.tick_cost [--fleets 1000] [--replicas 10] [--ticks 15] [--deadline 2.5] [--each]

A real Prometheus (the one in PROMETHEUS_BIN_DIR, or the one on the PATH) is given five minutes of the base set's
series; loading them takes half a minute and some 2 GiB of memory for 1,000 fleets of 10. See benchmarks/README.md.
"""

import argparse
import gc
import logging
import os
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import structlog

from autopilot.adapters.journal import Retention, open_journal
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.adapters.state import open_state
from autopilot.adapters.telemetry import Telemetry
from autopilot.adapters.workers import ActWorkers
from autopilot.catalog.queries import Query, Target, plan
from autopilot.daemon.assembly import CODEC
from autopilot.daemon.documents import PolicyCalendar
from autopilot.daemon.looking import Eyes
from autopilot.daemon.loop import Daemon, Rim, Settings
from autopilot.daemon.process import GC_THRESHOLD
from autopilot.policy.book import Book
from benchmarks.many_fleets import BEGINS, SCRAPE, TICKS_MOST, KnownReplicas, ManyFleets
from benchmarks.metering import Meter, MeteredAnswers, MeteredBoard, MeteredHistory, MeteredStore, most_megabytes, resident_megabytes
from tests.support.clocks import ManualClock
from tests.support.prometheus import PrometheusServer, any_binaries

TICK = timedelta(seconds=5)
QUERIES, CPU_SECONDS, RSS_MEGABYTES = 25, 1.0, 250  # the limits of design.md, section 10
PATIENT_SECONDS = 60.0  # where the server's own time is a figure and not a limit
NAIVE_FLEETS, NAIVE_QUANTILES = 20, (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Ticked:
    """One tick: CPU seconds of this process and of the server, seconds of the wall, and its meter."""

    cpu: float
    server_cpu: float
    wall: float
    meter: Meter


@dataclass(frozen=True, slots=True)
class Written:
    """The documents in force: always the same."""

    written: Book

    def book(self) -> Book:
        """All of them."""
        return self.written


class Bench:
    """A daemon over many fleets, ticked by hand."""

    def __init__(self, world: ManyFleets, source: PrometheusSource, opened: ExitStack) -> None:
        self._source = source
        self._world = world
        self._clock = ManualClock(BEGINS)
        self._folder = Path(opened.enter_context(TemporaryDirectory()))
        self._opened = opened
        self._meter = Meter()

    def ticks(self, count: int, *, deadline: timedelta) -> list[Ticked]:
        """So many ticks, 5 s apart on the daemon's clock and one right after the other on ours."""
        daemon = self._daemon(deadline)
        return [self._tick(daemon, number) for number in range(count)]

    def _tick(self, daemon: Daemon, number: int) -> Ticked:
        self._meter.cpu.clear()
        server, cpu, wall = _server_cpu(self._source), time.process_time(), time.perf_counter()
        daemon.tick()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self._clock.advance(TICK)
        meter = self._meter
        done = Ticked(cpu, _server_cpu(self._source) - server, wall, Meter(dict(meter.cpu), meter.queries, meter.late, meter.histograms))
        print(f"tick {number:2}: {_line(done)}")
        return done

    def _daemon(self, deadline: timedelta) -> Daemon:
        backend = KnownReplicas(self._world)
        state = open_state(self._folder / "state", CODEC)
        journal = open_journal(self._folder / "journal", Retention(), on_failure=print).journal
        self._opened.callback(state.store.close)
        self._opened.callback(journal.close)
        eyes = Eyes({"default": self._source}, {"default": SCRAPE}, {"known": backend}, kept=MeteredAnswers(self._meter))
        rim = Rim(
            clock=self._clock,
            eyes=eyes,
            documents=Written(self._world.book()),
            calendar=PolicyCalendar(),
            store=MeteredStore(state.store, self._meter),
            history=MeteredHistory(journal, self._meter),
            workers=ActWorkers({"known": backend}, backend),
            telemetry=Telemetry(timedelta),
            board=MeteredBoard(self._meter),
            warm_up_with=lambda _, __: None,
            claims=tuple,
        )
        return Daemon(rim, Settings(2 * deadline), memory_lost=False)


def main() -> None:
    """Load, tick, print."""
    asked = _arguments()
    gc.set_threshold(GC_THRESHOLD)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    binaries = any_binaries()
    world = ManyFleets(asked.fleets, asked.replicas)
    server = PrometheusServer(binaries, flags=("--query.max-samples=200000000",))
    began = time.perf_counter()
    world.load(server.folder, binaries.promtool)
    with ExitStack() as opened, server:
        print(f"{asked.fleets} fleets of {asked.replicas}; loaded in {time.perf_counter() - began:.0f} s")
        source = PrometheusSource(server.url)
        ticks = Bench(world, source, opened).ticks(min(asked.ticks, TICKS_MOST), deadline=timedelta(seconds=asked.deadline))
        if asked.each:
            _each_query(source.limited(60 * asked.fleets + asked.fleets * asked.replicas), world)
        _summary(world, ticks, _naive(source, world), version=_version(source))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="what one tick costs for many fleets")
    parser.add_argument("--fleets", type=int, default=1000)
    parser.add_argument("--replicas", type=int, default=10)
    parser.add_argument("--ticks", type=int, default=15, help=f"at most {TICKS_MOST}")
    parser.add_argument("--deadline", type=float, default=TICK.total_seconds() / 2, help="seconds for all queries of a tick")
    parser.add_argument("--each", action="store_true", help="ask each query alone as well")
    return parser.parse_args()


def _line(done: Ticked) -> str:
    meter = done.meter
    parts = {**meter.cpu, "derive, decide, report": done.cpu - sum(meter.cpu.values())}
    shown = ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts.items())
    heard = f"{meter.late} of {meter.queries} answers late, {meter.histograms} histograms"
    return f"{done.cpu:.2f} CPU s ({shown}), {done.wall:.1f} s, {heard}; prometheus {done.server_cpu:.1f} CPU s"


def _naive(source: PrometheusSource, world: ManyFleets) -> Ticked:
    """TTFT asked fleet by fleet and quantile by quantile, of a few fleets: what all of them would cost."""
    fleets = [entry.fleet.ref.name for entry in world.book().entries[:NAIVE_FLEETS]]
    bucket = "vllm:time_to_first_token_seconds_bucket"
    texts = [
        f'histogram_quantile({quantile}, sum by (le) (increase({bucket}{{namespace="llm", fleet="{fleet}"}}[1m])))'
        for fleet in fleets
        for quantile in NAIVE_QUANTILES
    ]
    more = world.fleets / len(fleets)
    return _scaled(_asking(source, texts), more)


def _asking(source: PrometheusSource, texts: Sequence[str]) -> Ticked:
    server, cpu, wall = _server_cpu(source), time.process_time(), time.perf_counter()
    rows = sum(len(source.instant(text, at=BEGINS.timestamp(), deadline_seconds=PATIENT_SECONDS).samples) for text in texts)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Ticked(cpu, _server_cpu(source) - server, wall, Meter(queries=len(texts), histograms=rows))


def _scaled(asked: Ticked, by: float) -> Ticked:
    return Ticked(asked.cpu * by, asked.server_cpu * by, asked.wall * by, Meter(queries=round(asked.meter.queries * by)))


def _each_query(source: PrometheusSource, world: ManyFleets) -> None:
    print("each query alone: the server's CPU s, wall s, CPU s here, rows, text")
    for query in _queries(world):
        asked = _asking(source, [query.promql])
        print(f"  {asked.server_cpu:6.2f} {asked.wall:6.2f} {asked.cpu:6.3f} {asked.meter.histograms:7d}  {query.series.text[:100]}")


def _queries(world: ManyFleets) -> Sequence[Query]:
    fleets = [entry.fleet for entry in world.book().entries]
    return plan([Target(fleet.ref, fleet.source, fleet.identity, fleet.replica_label, SCRAPE) for fleet in fleets])


def _summary(world: ManyFleets, ticks: Sequence[Ticked], naive: Ticked, *, version: str) -> None:
    cpu = [done.cpu for done in ticks]
    whole = sum(done.meter.histograms == world.fleets for done in ticks)
    rows: Sequence[tuple[str, str, str]] = (
        ("queries a tick", f"{max(done.meter.queries for done in ticks)}", f"{QUERIES}"),
        ("CPU s a tick, median", f"{median(cpu):.2f}", f"{CPU_SECONDS}"),
        ("  quietest and dearest tick", f"{min(cpu):.2f} and {max(cpu):.2f}", ""),
        ("RSS, MB", f"{resident_megabytes():.0f}, at most {most_megabytes():.0f}", f"{RSS_MEGABYTES}"),
        ("ticks on which every fleet had its histogram", f"{whole} of {len(ticks)}", "all"),
        ("the server's CPU s a tick, median", f"{median(done.server_cpu for done in ticks):.1f}", ""),
        (f"TTFT alone, asked fleet by fleet, {naive.meter.queries} queries, CPU s", f"{naive.cpu:.1f}", "(x)"),
        ("  and the server's CPU s", f"{naive.server_cpu:.1f}", "(x)"),
    )
    print(f"\n{world.fleets} fleets of {world.replicas}, Prometheus {version}, {platform.machine()}, {os.cpu_count()} cores")
    for name, value, limit in (("", "measured", "limit"), *rows):
        print(f"{name:68} {value:>18} {limit:>8}")
    print(f"(x) extrapolated from {NAIVE_FLEETS} fleets and {len(NAIVE_QUANTILES)} quantiles, one after the other")


def _version(source: PrometheusSource) -> str:
    return _metric(source, lambda line: line.startswith("prometheus_build_info{")).partition(',version="')[2].partition('"')[0]


def _server_cpu(source: PrometheusSource) -> float:
    return float(_metric(source, lambda line: line.startswith("process_cpu_seconds_total ")).split()[1])


def _metric(source: PrometheusSource, wanted: Callable[[str], bool]) -> str:
    page = source.http.request("GET", f"{source.url}/metrics", deadline_seconds=5.0).body.decode()
    return next(line for line in page.splitlines() if wanted(line))


if __name__ == "__main__":
    main()
