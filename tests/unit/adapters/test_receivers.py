import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from autopilot.adapters.http import HttpOptions
from autopilot.adapters.receivers import Undeliverable, to_file, to_log, to_webhook
from autopilot.domain.operations import Tell
from autopilot.ports import DeliveryFailed
from tests.support.clocks import NOON
from tests.support.tiny_disk import TinyDisk, tiny_disk

__all__ = ["tiny_disk"]

MESSAGE = Tell(("oncall",), "llm/chat:1:page", "TTFT über 1 s", "two lines\nof text")
AS_JSON = {"key": "llm/chat:1:page", "title": "TTFT über 1 s", "text": "two lines\nof text", "told": "2026-03-02T12:00:00+00:00"}


class Inbox(BaseHTTPRequestHandler):
    """Answers with the status that is in the path."""

    taken: list[dict[str, str]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append({"type": self.headers["Content-Type"], "body": body.decode()})
        self.send_response(int(self.path.removeprefix("/")))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    Inbox.taken = []
    with HTTPServer(("127.0.0.1", 0), Inbox) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_file_gets_one_line_per_message(tmp_path: Path) -> None:
    deliver = to_file(tmp_path / "told.jsonl")

    deliver(MESSAGE, NOON)
    deliver(MESSAGE, NOON)

    lines = (tmp_path / "told.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [AS_JSON, AS_JSON]


def test_a_file_that_cannot_be_written_fails(tmp_path: Path) -> None:
    with pytest.raises(DeliveryFailed):
        to_file(tmp_path / "missing" / "told.jsonl")(MESSAGE, NOON)


def test_a_full_disk_fails(tiny_disk: TinyDisk) -> None:
    deliver = to_file(tiny_disk.path / "told.jsonl")
    tiny_disk.fill()

    with pytest.raises(DeliveryFailed):
        deliver(MESSAGE, NOON)


def test_the_log_gets_the_message_and_the_receivers_name() -> None:
    with capture_logs() as logs:
        to_log("oncall")(MESSAGE, NOON)

    assert logs == [{"event": "notification", "log_level": "warning", "receiver": "oncall", **AS_JSON}]


def test_a_webhook_gets_json(server: HTTPServer) -> None:
    to_webhook(f"http://127.0.0.1:{server.server_port}/200", HttpOptions())(MESSAGE, NOON)

    assert [(taken["type"], json.loads(taken["body"])) for taken in Inbox.taken] == [("application/json", AS_JSON)]


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (500, DeliveryFailed),
        (503, DeliveryFailed),
        (429, DeliveryFailed),
        (401, DeliveryFailed),
        (302, DeliveryFailed),
        (400, Undeliverable),
        (413, Undeliverable),
    ],
)
def test_a_webhook_that_does_not_take_it_says_whether_it_ever_will(server: HTTPServer, status: int, failure: type[Exception]) -> None:
    with pytest.raises(DeliveryFailed) as raised:
        to_webhook(f"http://127.0.0.1:{server.server_port}/{status}", HttpOptions())(MESSAGE, NOON)

    assert raised.type is failure


def test_a_webhook_where_nobody_listens_fails(server: HTTPServer) -> None:
    url = f"http://127.0.0.1:{server.server_port}/200"
    server.socket.close()

    with pytest.raises(DeliveryFailed):
        to_webhook(url, HttpOptions())(MESSAGE, NOON)
