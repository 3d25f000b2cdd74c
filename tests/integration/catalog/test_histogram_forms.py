"""The same engines scraped classic, native and half of each: the same values, and none while a job changes its form."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import floor, inf

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import derive
from autopilot.catalog.forms import Form, form_query, forms_in
from autopilot.catalog.queries import Need, Target, plan
from autopilot.domain.quantiles import interpolate, share_above
from autopilot.domain.signals import Distribution, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.workloads import FleetRef
from tests.support.prometheus import PrometheusServer, in_bin_dir
from tests.support.waiting import eventually

TTFT = "vllm:time_to_first_token_seconds"
STEPS = "vllm:iteration_tokens_total"
EDGES = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, inf)
# Observations per second in each bucket, by replica; some buckets stay empty and one lies over the top edge.
HELD = ((0.0, 3.0, 0.0, 0.0, 5.0, 0.0, 1.0), (2.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0))
BORN = 1_700_000_000
WINDOW = timedelta(seconds=6)
CLASSIC, NATIVE, MIXED, CHANGING = "classic", "native", "mixed", "changing"
CLOCK = SystemClock()


def now() -> float:
    return CLOCK.wall().timestamp()


class Engines(BaseHTTPRequestHandler):
    """`/0` and `/1`: what a replica shows is a function of the whole second, so that two scrapes of it are the same samples.

    `/0/live` and `/1/live` leave the time to the server, as vLLM does: it sees at once that a series has ended.
    """

    def do_GET(self) -> None:
        at = floor(now())
        _, number, *live = self.path.split("/")
        stamp = "" if live else f" {at * 1000}"
        text = "".join(f"{line}\n" if line.startswith("#") else f"{line}{stamp}\n" for line in shown(HELD[int(number)], at))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""


def shown(held: Sequence[float], at: int) -> Iterator[str]:
    age = at - BORN
    yield from ("vllm:num_requests_running 2", "vllm:num_requests_waiting 1")
    yield f'vllm:request_success_total{{finished_reason="stop"}} {age * sum(held)}'
    yield f"vllm:prompt_tokens_total {age * 100}"
    yield f"vllm:generation_tokens_total {age * 100}"
    for name in (TTFT, STEPS):
        yield f"# TYPE {name} histogram"
        for index, edge in enumerate(EDGES):
            yield f'{name}_bucket{{le="{"+Inf" if edge == inf else edge}"}} {age * sum(held[: index + 1])}'
        yield f"{name}_sum {age * 4.5}"
        yield f"{name}_count {age * sum(held)}"


def config(port: int, changing: str) -> str:
    forms = {CLASSIC: (CLASSIC, CLASSIC), NATIVE: (NATIVE, NATIVE), MIXED: (CLASSIC, NATIVE), CHANGING: (changing, changing)}
    jobs = [
        f"- {{job_name: {fleet}-{number}, metrics_path: /{number}{'/live' if fleet == CHANGING else ''}, convert_classic_histograms_to_nhcb: {str(form == NATIVE).lower()},"
        f" static_configs: [{{targets: ['127.0.0.1:{port}'], labels: {{fleet: {fleet}, pod: pod-{number}}}}}]}}"
        for fleet, both in forms.items()
        for number, form in enumerate(both)
    ]
    return "\n".join(["global: {scrape_interval: 1s}", "scrape_configs:", *jobs, ""])


@dataclass(frozen=True, slots=True)
class Site:
    """A server that scrapes the engines, and the daemon's look at it."""

    server: PrometheusServer
    port: int

    @property
    def source(self) -> PrometheusSource:
        return PrometheusSource(self.server.url)

    def change(self) -> None:
        (self.server.folder / "prometheus.yml").write_text(config(self.port, NATIVE), encoding="utf-8")
        self.server.reload()

    def look(self, *fleets: str, at: float) -> Mapping[str, Readings]:
        targets = [target(fleet) for fleet in fleets]
        answers = {query: self.source.instant(query.promql, at=at, deadline_seconds=10.0) for query in plan(targets)}
        live = {one.fleet: tuple(LiveReplica(f"pod-{number}", timedelta(hours=1)) for number in range(2)) for one in targets}
        return {ref.name: readings for ref, readings in derive(targets, answers, live, at).items()}

    def reading(self, fleet: str, *, at: float) -> Reading:
        return self.look(fleet, at=at)[fleet].of("ttft", over=WINDOW)


def target(fleet: str) -> Target:
    needs = frozenset({Need("ttft", WINDOW), Need("engine_steps", WINDOW)})
    return Target(FleetRef("llm", fleet), "default", (("fleet", fleet),), "pod", timedelta(seconds=1), needs)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    binaries = in_bin_dir()
    if binaries is None:
        pytest.skip("no prometheus in the folder named by PROMETHEUS_BIN_DIR: native histograms with custom buckets need version 3")
    with ThreadingHTTPServer(("127.0.0.1", 0), Engines) as engines:
        threading.Thread(target=engines.serve_forever, daemon=True).start()
        port = engines.server_address[1]
        with PrometheusServer(binaries, config=config(port, CLASSIC)) as server:
            found = Site(server, port)
            assert eventually(lambda: isinstance(found.reading(MIXED, at=floor(now()) - 1.0), Distribution), within=20.0)
            assert eventually(lambda: whole(found, at=floor(now()) - 1.0), within=20.0)
            yield found
        engines.shutdown()


def whole(site: Site, *, at: float) -> bool:
    """Whether every replica has all the samples of a window."""
    rows = site.source.instant(
        f"count_over_time(vllm:num_requests_running[{WINDOW.seconds}s]) >= {WINDOW.seconds}", at=at, deadline_seconds=5.0
    )
    return len(rows.samples) == 8


def distribution(reading: Reading) -> Distribution:
    assert isinstance(reading, Distribution), reading
    return reading


def test_every_form_gives_the_same_signals(site: Site) -> None:
    readings = site.look(CLASSIC, NATIVE, MIXED, at=floor(now()) - 1.0)
    classic = distribution(readings[CLASSIC].of("ttft", over=WINDOW))

    for name in (NATIVE, MIXED):
        shape = distribution(readings[name].of("ttft", over=WINDOW))
        assert shape.count == pytest.approx(classic.count)
        assert shape.mean == pytest.approx(classic.mean, rel=1e-6)
        for quantile in (0.1, 0.5, 0.9, 0.95, 0.99):
            assert interpolate(shape, quantile) == pytest.approx(interpolate(classic, quantile))
        for threshold in EDGES[:-1]:
            ours, theirs = share_above(shape, threshold), share_above(classic, threshold)
            assert (ours.certainly, ours.possibly) == pytest.approx((theirs.certainly, theirs.possibly))
        steps = readings[name].of("engine_steps", over=WINDOW)
        expected = readings[CLASSIC].of("engine_steps", over=WINDOW)
        assert isinstance(steps, Measured)
        assert isinstance(expected, Measured)
        assert steps.value == pytest.approx(expected.value)
        assert readings[name].of("stalled_replicas") == Measured(0.0)


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.95])
def test_a_quantile_is_that_of_the_servers_own_function_on_the_native_histogram(site: Site, quantile: float) -> None:
    at = floor(now()) - 1.0
    promql = f'histogram_quantile({quantile}, sum(rate({TTFT}{{fleet="native"}}[{WINDOW.seconds}s])))'
    (theirs,) = site.source.instant(promql, at=at, deadline_seconds=5.0).samples

    assert interpolate(distribution(site.reading(NATIVE, at=at)), quantile) == pytest.approx(theirs.value)


def test_a_share_is_that_of_the_servers_own_function_on_the_native_histogram(site: Site) -> None:
    at = floor(now()) - 1.0
    promql = f'1 - histogram_fraction(0, 0.5, sum(rate({TTFT}{{fleet="native"}}[{WINDOW.seconds}s])))'
    (theirs,) = site.source.instant(promql, at=at, deadline_seconds=5.0).samples

    assert share_above(distribution(site.reading(NATIVE, at=at)), 0.5).certain_ratio == pytest.approx(theirs.value)


def test_either_form_takes_as_many_queries() -> None:
    base = Target(FleetRef("llm", NATIVE), "default", (("fleet", NATIVE),), "pod", timedelta(seconds=1))

    assert len(plan([base])) == 14  # as before there was more than one form


@pytest.mark.parametrize(
    ("fleet", "forms"),
    [
        (CLASSIC, {Form.CLASSIC}),
        (NATIVE, {Form.CUSTOM_BUCKETS}),
        (MIXED, {Form.CLASSIC, Form.CUSTOM_BUCKETS}),
        ("nobody", {Form.ABSENT}),
    ],
)
def test_the_form_of_a_histogram_is_told(site: Site, fleet: str, forms: set[Form]) -> None:
    answer = site.source.instant(form_query(f'fleet="{fleet}"', TTFT), at=now(), deadline_seconds=5.0)

    assert forms_in(answer) == forms


def test_a_job_that_changes_its_form_is_never_idle_and_blind_for_two_ticks_at_most(site: Site) -> None:
    site.change()
    begun = floor(now())
    seen: dict[float, Reading] = {}

    def looked() -> bool:
        at = floor(now()) - 1.0
        if at not in seen:
            seen[at] = site.reading(CHANGING, at=at)
        return at >= begun + WINDOW.seconds + 4

    assert eventually(looked, within=40.0)
    blind = sum(isinstance(found, Unknown) for found in seen.values())
    print(f"a change of form: blind for {blind} of {len(seen)} ticks of 1 s")  # noqa: T201 - the figure
    slow = [share_above(found, 1.0) for found in seen.values() if isinstance(found, Distribution)]
    assert not [found for found in seen.values() if isinstance(found, Idle)]
    assert blind <= 2
    assert all(share.certain_ratio > 0.2 for share in slow)  # a third of the requests are slow, throughout
    assert len(slow) >= WINDOW.seconds
    assert forms_in(site.source.instant(form_query('fleet="changing"', TTFT), at=now(), deadline_seconds=5.0)) == {Form.CUSTOM_BUCKETS}
