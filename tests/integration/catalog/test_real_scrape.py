"""Every signal is found in what a real vLLM server shows."""

import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from autopilot.adapters.prometheus import PrometheusSource
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import derive
from autopilot.catalog.queries import Need, Target, plan, windowed
from autopilot.catalog.signals import SIGNALS
from autopilot.domain.quantiles import interpolate
from autopilot.domain.signals import Distribution, Gap, Measured, Readings, Unknown
from autopilot.domain.workloads import FleetRef
from autopilot.fleet.edges import next_edges
from tests.integration.catalog.scenes import MINUTE, NOW, SCRAPE, SINCE
from tests.support.openmetrics import Track, every, openmetrics
from tests.support.prometheus import Binaries, PrometheusServer

SCRAPE_FILE = "vllm-0.32-metrics.prom"
LINE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)\Z")
PAIR = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
FLEET = {"namespace": "llm", "fleet": "real", "pod": "real-0"}
GROWING = ("_total", "_bucket", "_sum", "_count")


@pytest.fixture(scope="module")
def scraped() -> str:
    folder = os.environ.get("AUTOPILOT_TEST_DATA", "")
    path = Path(folder) / SCRAPE_FILE
    if not folder or not path.is_file():
        pytest.skip(f"no {SCRAPE_FILE} in the folder named by AUTOPILOT_TEST_DATA")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def readings(binaries: Binaries, scraped: str) -> Iterator[Readings]:
    needs = frozenset(Need(name, MINUTE if windowed(name) else None) for name in SIGNALS)
    identity = tuple((name, FLEET[name]) for name in ("namespace", "fleet"))
    target = Target(FleetRef("llm", "real"), "default", identity, "pod", timedelta(seconds=SCRAPE), needs, peak_bandwidth=1e12)
    with PrometheusServer(binaries, history=openmetrics(_tracks(scraped))) as server:
        source = PrometheusSource(server.url)
        answers = {query: source.instant(query.promql, at=NOW, deadline_seconds=10.0) for query in plan([target])}
        yield derive([target], answers, {target.fleet: (LiveReplica("real-0", timedelta(hours=1)),)}, NOW)[target.fleet]


@pytest.mark.parametrize("name", sorted(set(SIGNALS) - {"bandwidth_utilization"}))
def test_a_signal_is_found_in_a_real_scrape(readings: Readings, name: str) -> None:
    reading = readings.of(name, over=MINUTE if windowed(name) else None)

    assert isinstance(reading, Distribution if SIGNALS[name].form == "histogram" else Measured)
    assert not getattr(reading, "partial", None)


def test_byte_counters_that_stand_still_under_load_are_not_taken_for_zero(readings: Readings) -> None:
    reading = readings.of("bandwidth_utilization", over=MINUTE)

    assert isinstance(reading, Unknown)
    assert reading.gap is Gap.MISSHAPEN


def test_a_real_histogram_gives_a_plausible_first_token(readings: Readings) -> None:
    reading = readings.of("ttft", over=MINUTE)

    assert isinstance(reading, Distribution)
    assert 0.0 < interpolate(reading, 0.5) < 1.0
    assert reading.mean == pytest.approx(interpolate(reading, 0.5), rel=1.0)


def _tracks(text: str) -> Iterator[Track]:
    """The scrape as if its counters had grown evenly up to it; `up` comes from Prometheus itself."""
    times = every(SCRAPE, since=SINCE, until=NOW)
    yield Track("up", FLEET, [(at, 1.0) for at in times])
    for match in filter(None, map(LINE.match, text.splitlines())):
        name, value = match["name"], float(match["value"])
        grows = name.endswith(GROWING)
        labels = dict(PAIR.findall(match["labels"] or ""))
        yield Track(name, {**labels, **FLEET}, [(at, value * (at - SINCE) / (NOW - SINCE) if grows else value) for at in times])


@pytest.mark.parametrize("signal", ["ttft", "itl", "tpot", "e2e_latency", "queue_time", "prefill_time"])
def test_the_edges_that_vllm_has_by_itself_are_those_that_are_written_out(scraped: str, signal: str) -> None:
    (metric,) = SIGNALS[signal].metrics[:1]
    found = [float(edge) for edge in re.findall(rf'^{metric}_bucket{{.*le="([^"+]+)"', scraped, re.MULTILINE)]

    assert found
    assert [edge for edge in found if next_edges(signal, edge) is not None] == []
    assert next_edges(signal, max(found) + 1) == (max(found), float("inf"))
