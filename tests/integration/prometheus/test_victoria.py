"""VictoriaMetrics (Debian's package, or in VICTORIA_METRICS_BIN) in Prometheus's place."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.http import HttpClient, HttpError, HttpOptions
from autopilot.adapters.prometheus import PrometheusSource
from tests.support.prometheus import PrometheusServer, any_binaries, free_port
from tests.support.waiting import eventually

BINARY = os.environ.get("VICTORIA_METRICS_BIN") or shutil.which("victoria-metrics") or ""
STEP, COUNT = 5, 60  # seconds between samples, and how many: five minutes
QUERIES = {
    "gauge": 'sum(vllm:num_requests_running{fleet="chat"})',
    "average": 'sum(avg_over_time(vllm:num_requests_waiting{fleet="chat"}[1m]))',
    "rate": 'sum(rate(vllm:request_success_total{fleet="chat"}[1m]))',
    "buckets": 'sum by (le) (increase(vllm:time_to_first_token_seconds_bucket{fleet="chat"}[1m]))',
    "scalar": "vector(1)",
}


def exposition(now: int) -> list[tuple[str, float, int]]:
    """One replica, told every five seconds: series, value, Unix time."""
    rows = []
    for index in range(COUNT + 1):
        at = now - (COUNT - index) * STEP
        rows.append(('vllm:num_requests_running{fleet="chat",pod="a"}', 4.0, at))
        rows.append(('vllm:num_requests_waiting{fleet="chat",pod="a"}', float(index % 2), at))
        rows.append(('vllm:request_success_total{fleet="chat",pod="a"}', 10.0 * index, at))
        rows += [
            (f'vllm:time_to_first_token_seconds_bucket{{fleet="chat",pod="a",le="{le}"}}', share * index, at)
            for le, share in (("0.25", 5.0), ("0.5", 8.0), ("+Inf", 10.0))
        ]
    return rows


def told(url: str, now: float) -> dict[str, dict[str, float]]:
    source = PrometheusSource(url)
    return {
        name: {sample.labels.get("le", ""): sample.value for sample in source.instant(query, at=now, deadline_seconds=5).samples}
        for name, query in QUERIES.items()
    }


@pytest.fixture(scope="module")
def now() -> int:
    return int(SystemClock().wall().timestamp())


@pytest.fixture(scope="module")
def victoria(now: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, float]]]:
    """What VictoriaMetrics says."""
    if not BINARY:
        pytest.skip("no victoria-metrics on the PATH, and VICTORIA_METRICS_BIN names none")
    folder, port = tmp_path_factory.mktemp("victoria"), free_port()
    url = f"http://127.0.0.1:{port}"
    arguments = [f"-storageDataPath={folder / 'data'}", f"-httpListenAddr=127.0.0.1:{port}", "-memory.allowedBytes=100MB"]
    with Path(folder / "log").open("wb") as log, subprocess.Popen([BINARY, *arguments], stdout=log, stderr=log) as process:
        try:
            assert eventually(lambda: _answers(url), within=20), (folder / "log").read_text()
            lines = "".join(f"{series} {value} {at * 1000}\n" for series, value, at in exposition(now))
            client = HttpClient(HttpOptions(headers={"Content-Type": "text/plain"}))
            client.request("POST", f"{url}/api/v1/import/prometheus", body=lines.encode(), deadline_seconds=10)
            client.request("GET", f"{url}/internal/force_flush", deadline_seconds=10)
            assert eventually(lambda: bool(told(url, now)["gauge"]), within=20)
            yield told(url, now)
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        return HttpClient().request("GET", f"{url}/health", deadline_seconds=1).status == 200
    except HttpError:
        return False


@pytest.fixture(scope="module")
def prometheus(now: int) -> Iterator[dict[str, dict[str, float]]]:
    """What Prometheus says of the same samples."""
    by_series = sorted(exposition(now), key=lambda row: (row[0].partition("{")[0], row[0], row[2]))
    history = "".join(f"{series} {value} {at}\n" for series, value, at in by_series) + "# EOF\n"
    with PrometheusServer(any_binaries(), history=history) as server:
        yield told(server.url, now)


@pytest.mark.parametrize("name", ["gauge", "scalar"])
def test_values_of_the_present_are_the_same(
    victoria: dict[str, dict[str, float]], prometheus: dict[str, dict[str, float]], name: str
) -> None:
    assert victoria[name] == pytest.approx(prometheus[name])


@pytest.mark.parametrize("name", ["average", "rate", "buckets"])
def test_values_over_a_window_differ_by_no_more_than_one_scrape_of_the_window(
    victoria: dict[str, dict[str, float]], prometheus: dict[str, dict[str, float]], name: str
) -> None:
    assert victoria[name]
    assert victoria[name] == pytest.approx(prometheus[name], rel=STEP / 60 + 0.01)
