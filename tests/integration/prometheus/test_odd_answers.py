"""Every odd answer is a typed error with the query, what came and what to do; nothing is tried twice."""

import json
import math
import subprocess
import sys
from datetime import timedelta
from textwrap import dedent

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.domain.samples import Answer, Sample
from autopilot.ports import QueryFailed, QueryLate
from tests.support.odd_servers import Behaviour, OddServer, answering, flooding, truncating

NOON = 1_772_452_800.0
LOGIN = b"<!DOCTYPE html><html><title>Sign in</title><form action=/login></form></html>"
GOOD = json.dumps({"status": "success", "data": {"resultType": "vector", "result": []}}).encode()


def success(kind: str, result: object, **more: object) -> bytes:
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}, **more}).encode()


def error(kind: str, text: str) -> bytes:
    return json.dumps({"status": "error", "errorType": kind, "error": text}).encode()


def ask(server: OddServer, query: str = "up") -> Answer:
    return PrometheusSource(server.url).instant(query, at=NOON, deadline_seconds=5.0)


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(answering(503, b"Service Unavailable"), id="starting"),
        pytest.param(answering(429, b"too many requests"), id="throttled"),
        pytest.param(answering(429, b"later", {"Retry-After": "3600"}), id="throttled-for-an-hour"),
        pytest.param(answering(503, b"later", {"Retry-After": "3600"}), id="away-for-an-hour"),
        pytest.param(answering(500, b"boom"), id="internal-error"),
        pytest.param(answering(502, b"<html><h1>502 Bad Gateway</h1></html>"), id="bad-gateway"),
        pytest.param(answering(500, GOOD), id="success-in-an-error"),
        pytest.param(answering(200, LOGIN), id="login-page"),
        pytest.param(answering(200, error("execution", "it broke")), id="error-in-200"),
        pytest.param(answering(422, error("execution", "many-to-many")), id="cannot-execute"),
        pytest.param(answering(401, b"who are you"), id="unauthorized"),
        pytest.param(answering(302, LOGIN, {"Location": "/login"}), id="redirect"),
        pytest.param(answering(200, GOOD[: len(GOOD) // 2]), id="half-of-the-json"),
        pytest.param(truncating(GOOD, missing=100), id="cut-connection"),
        pytest.param(answering(200, b""), id="empty-body"),
        pytest.param(answering(200, b"\xff\xfe\x00"), id="binary"),
        pytest.param(answering(200, b"null"), id="null"),
        pytest.param(answering(200, b"[" * 100_000), id="deep-json"),
        pytest.param(answering(200, b'{"status":"success"}'), id="no-data"),
        pytest.param(answering(200, success("vector", {"a": 1})), id="result-is-no-list"),
        pytest.param(answering(200, success("vector", [{"metric": {}}])), id="row-without-value"),
        pytest.param(answering(200, success("vector", [{"metric": {}, "value": [NOON]}])), id="half-a-point"),
        pytest.param(answering(200, success("vector", [{"metric": [], "value": [NOON, "1"]}])), id="labels-are-no-object"),
        pytest.param(answering(200, success("vector", [{"metric": {}, "value": [NOON, "many"]}])), id="value-is-no-number"),
        pytest.param(answering(200, success("vector", ["row"])), id="row-is-text"),
        pytest.param(answering(200, success("scalar", ["x"])), id="odd-scalar"),
        pytest.param(answering(200, success("matrix", [])), id="matrix"),
        pytest.param(answering(200, success("string", [NOON, "x"])), id="string"),
        pytest.param(answering(200, success("streams", [])), id="unheard-of"),
        pytest.param(answering(200, success("vector", [{"metric": {}, "histogram": [NOON, {"count": "1"}]}])), id="native-without-sum"),
        pytest.param(
            answering(
                200, success("vector", [{"metric": {}, "histogram": [NOON, {"count": "1", "sum": "2", "buckets": [[0, "1", "2"]]}]}])
            ),
            id="native-with-half-a-bucket",
        ),
    ],
)
def test_an_odd_answer_is_a_failure_after_one_request(behaviour: Behaviour) -> None:
    clock = SystemClock()
    with OddServer(behaviour) as server:
        with pytest.raises(QueryFailed):
            ask(server)

        assert len(server.requests) == 1
        assert clock.running() < timedelta(seconds=5.2)


def test_the_message_is_one_line_that_names_query_status_and_body() -> None:
    with OddServer(answering(502, b"<h1>Bad\n\nGateway</h1>" + b"x" * 1000)) as server, pytest.raises(QueryFailed) as caught:
        ask(server, "sum(up)\n  / 2" + " " * 1000)

    text = str(caught.value)
    assert "\n" not in text
    assert all(part in text for part in ("sum(up) / 2", "502", "<h1>Bad Gateway</h1>"))
    assert "x" * 201 not in text


def test_the_servers_own_timeout_is_late() -> None:
    body = error("timeout", "query timed out in expression evaluation")
    with OddServer(answering(503, body)) as server, pytest.raises(QueryLate):
        ask(server)


def test_a_server_that_is_not_there_fails_and_is_not_late() -> None:
    with OddServer(answering(200, GOOD)) as server:
        url = server.url
    with pytest.raises(QueryFailed) as caught:
        PrometheusSource(url).instant("up", at=NOON, deadline_seconds=5.0)

    assert not isinstance(caught.value, QueryLate)


def test_warnings_are_kept_beside_the_samples() -> None:
    body = success("vector", [{"metric": {"a": "b"}, "value": [NOON, "1"]}], warnings=["store 1 is unreachable"], infos=["a remark"])
    with OddServer(answering(200, body)) as server:
        answer = ask(server)

    assert answer == Answer((Sample({"a": "b"}, 1.0, NOON),), ("store 1 is unreachable",))


@pytest.mark.parametrize(
    ("text", "value"), [("+Inf", math.inf), ("-Inf", -math.inf), ("1e3", 1000.0), ("-0", 0.0)], ids=["plus", "minus", "exponent", "zero"]
)
def test_every_number_of_the_format_is_read(text: str, value: float) -> None:
    with OddServer(answering(200, success("scalar", [NOON, text]))) as server:
        assert ask(server).samples[0].value == value


def test_the_query_travels_in_the_body_with_its_time_and_timeout() -> None:
    with OddServer(answering(200, GOOD)) as server:
        ask(server, 'up{a="b"}')

        first, _, rest = server.requests[0].partition(b"\r\n")
        assert first == b"POST /api/v1/query HTTP/1.1"
        assert rest.endswith(b"query=up%7Ba%3D%22b%22%7D&time=1772452800.000&timeout=5.000&nocache=1")


def test_a_path_prefix_is_kept() -> None:
    with OddServer(answering(200, GOOD)) as server:
        PrometheusSource(f"{server.url}/prometheus/").instant("up", at=NOON, deadline_seconds=5.0)

        assert server.requests[0].startswith(b"POST /prometheus/api/v1/query ")


@pytest.mark.parametrize("body", [LOGIN, GOOD, b""], ids=["login-page", "no-sample", "nothing"])
def test_a_server_that_answers_pages_but_no_query_is_not_ready(body: bytes) -> None:
    with OddServer(answering(200, body)) as server:
        assert not PrometheusSource(server.url).ready()


@pytest.mark.parametrize("status", [500, 503, 302, 401])
def test_a_server_that_says_no_is_not_ready(status: int) -> None:
    with OddServer(answering(status, b"no")) as server:
        assert not PrometheusSource(server.url).ready()


FLOODED = dedent("""
    import sys
    from pathlib import Path
    from autopilot.adapters.prometheus import PrometheusSource
    from autopilot.ports import QueryFailed

    def peak():
        return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")).split()[1])

    before = peak()
    for _ in range(3):
        try:
            PrometheusSource(sys.argv[1]).instant("up", at=0.0, deadline_seconds=20.0)
        except QueryFailed as error:
            print(type(error).__name__)
    print(peak() - before)
""")


@pytest.mark.parametrize(
    "behaviour",
    [flooding(100 * 2**20), flooding(100 * 2**20, chunked=True), flooding(100 * 2**20, status=500)],
    ids=["announced", "chunked", "error-page"],
)
def test_a_body_of_100_mb_fails_without_being_kept(behaviour: Behaviour) -> None:
    """In a process of its own, whose peak of memory nothing else has raised before."""
    with OddServer(behaviour) as server:
        ran = subprocess.run([sys.executable, "-c", FLOODED, server.url], capture_output=True, text=True, check=True, timeout=60)

    *outcomes, growth_kib = ran.stdout.split()
    assert outcomes == ["QueryFailed"] * 3
    assert int(growth_kib) * 1024 < 50_000_000
