import json
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from autopilot.domain.reports import Report, ReportStatus, Taken
from autopilot.ports import Overloaded, StateLost
from autopilot.web import webhook
from autopilot.web.impatient import ImpatientProtocol
from autopilot.web.webhook import MOST_BYTES, Pace
from tests.support.webhooks import alert, message
from tests.unit.web.played import House, house, serving

TOKEN = "one-of-two"  # noqa: S105 - of a test
GOOD = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def inside() -> House:
    made = house()
    made.admits = TOKEN.__eq__
    made.enqueue = Kept().take
    return made


@pytest.fixture
def url(inside: House) -> Iterator[str]:
    with serving(inside) as address:
        yield f"{address}/api/v1/alerts"


class Kept:
    """Everything is fresh, and kept at once."""

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def take(self, reports: Sequence[Report]) -> "Future[Counter[Taken]]":
        self.reports.extend(reports)
        done: Future[Counter[Taken]] = Future()
        done.set_result(Counter({Taken.FRESH: len(reports)}))
        return done


def posted(url: str, body: bytes, headers: Mapping[str, str] = GOOD) -> requests.Response:
    return requests.post(url, data=body, headers=dict(headers), timeout=20)


def test_a_message_is_answered_202_with_what_its_alerts_came_to(inside: House, url: str) -> None:
    answer = posted(url, message(alert("a"), alert("b")))

    assert (answer.status_code, answer.json()) == (202, {"fresh": 2, "closed": 0, "duplicate": 0, "stale": 0})
    assert inside.answers == [202]


def test_an_alert_becomes_a_report_with_its_own_labels_and_sender(inside: House, url: str) -> None:
    kept = Kept()
    inside.enqueue = kept.take
    with serving(inside) as address:
        posted(f"{address}/api/v1/alerts", message(alert("a", fleet="chat")))

    labels = (("alertname", "SlowFirstToken"), ("fleet", "chat"))
    since = datetime(2026, 11, 3, 10, 0, 0, 123456, UTC)
    assert kept.reports == [Report("a", "SlowFirstToken", labels, ReportStatus.FIRING, since, None, "http://alertmanager:9093")]


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer "}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": TOKEN}],
    ids=["none", "empty", "wrong", "basic", "bare"],
)
def test_nobody_comes_in_without_a_token(url: str, headers: dict[str, str]) -> None:
    assert posted(url, message(alert()), headers).status_code == 401


NO_MESSAGES: dict[str, bytes] = {
    "empty": b"",
    "no-json": b"{",
    "html": b"<html>",
    "list": b"[]",
    "null": b"null",
    "not-utf-8": b'{"version": "\xff"}',
    "version-3": message(alert(), version="3"),
    "version-number": message(alert(), version=4),
    "no-alerts": json.dumps({"version": "4"}).encode(),
    "no-name": message({**alert(), "labels": {}}),
    "no-fingerprint": message({**alert(), "fingerprint": ""}),
    "no-time": message({**alert(), "startsAt": "yesterday"}),
    "time-without-zone": message({**alert(), "startsAt": "2026-11-03T10:00:00"}),
    "time-before-all-time": message({**alert(), "startsAt": "0001-01-01T00:00:00+14:00"}),
    "time-after-all-time": message({**alert(), "startsAt": "9999-12-31T23:59:59-14:00"}),
    "end-before-all-time": message({**alert(), "status": "resolved", "endsAt": "0001-01-01T00:00:00+14:00"}),
    "status-of-its-own": message({**alert(), "status": "suppressed"}),
    "labels-too-long": message(alert(long="x" * 9000)),
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("body", NO_MESSAGES.values(), ids=NO_MESSAGES.keys())
def test_what_is_no_message_is_400_and_nothing_is_kept(inside: House, body: bytes) -> None:
    kept = Kept()
    inside.enqueue = kept.take
    with serving(inside) as address:
        status = posted(f"{address}/api/v1/alerts", body).status_code

    assert (status, kept.reports) == (400, [])


@pytest.mark.parametrize("size", [MOST_BYTES + 1, 2 * MOST_BYTES, 5 * 10**6], ids=["just-over", "2-MiB", "5-MB"])
@pytest.mark.parametrize("declared", [True, False], ids=["with-length", "chunked"])
def test_a_body_over_the_cap_is_413(url: str, size: int, *, declared: bool) -> None:
    body: Any = b"x" * size if declared else iter([b"x" * size])

    assert requests.post(url, data=body, headers=GOOD, timeout=20).status_code == 413


def test_ten_thousand_alerts_are_over_the_cap(url: str) -> None:
    assert posted(url, message(*(alert(f"{number:x}") for number in range(10_000)))).status_code == 413


@pytest.mark.parametrize("error", [Overloaded("full"), StateLost("no space")], ids=["overloaded", "disk"])
def test_what_cannot_be_kept_is_503(inside: House, error: Exception) -> None:
    lost: Future[Counter[Taken]] = Future()
    lost.set_exception(error)
    inside.enqueue = lambda _: lost
    with serving(inside) as address:
        answer = posted(f"{address}/api/v1/alerts", message(alert()))

    assert answer.status_code == 503


def test_a_pace_that_is_too_fast_is_503_and_never_429(inside: House) -> None:
    with serving(inside) as address:  # its clock stands still
        url = f"{address}/api/v1/alerts"
        with requests.Session() as session:
            statuses = Counter(session.post(url, data=b"", headers=GOOD, timeout=20).status_code for _ in range(2010))

    assert statuses == {400: 2000, 503: 10}


def test_a_pace_comes_back_with_time() -> None:
    now = [timedelta()]
    pace = Pace(lambda: now[0], per_second=1)
    first = [pace.take() for _ in range(3)]
    now[0] = timedelta(seconds=1)

    assert (first, pace.take(), pace.take()) == ([True, True, False], True, False)


def spoken(url: str, *parts: bytes) -> bytes:
    """What comes back before the line is cut."""
    host, port = url.removeprefix("http://").split("/")[0].split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        for part in parts:
            line.sendall(part)
        heard = b""
        with suppress(ConnectionError):
            while piece := line.recv(4096):
                heard += piece
        return heard


def test_a_body_that_does_not_come_is_408(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "BODY_WITHIN", 0.2)
    head = f"POST /api/v1/alerts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n\r\n".encode()

    assert spoken(url, head, b"{").startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("parts", [(), (b"POST /api/v1/al",)], ids=["nothing", "half-a-head"])
def test_a_head_that_does_not_come_is_cut(url: str, monkeypatch: pytest.MonkeyPatch, parts: tuple[bytes, ...]) -> None:
    monkeypatch.setattr(ImpatientProtocol, "head_within", 0.2)

    assert spoken(url, *parts) == b""


def test_a_second_head_that_does_not_come_is_cut_too(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImpatientProtocol, "head_within", 0.2)
    host, port = url.removeprefix("http://").split("/")[0].split(":")
    with socket.create_connection((host, int(port)), timeout=3) as line:  # uvicorn's own patience with an idle line is 5 s
        line.sendall(b"GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n")
        while not line.recv(4096).endswith(b"}"):
            pass
        line.sendall(b"GET /now")

        assert line.recv(1) == b""
