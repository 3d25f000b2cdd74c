import socket
import threading
from collections.abc import Callable

import pytest
from starlette.types import Receive, Scope, Send

from autopilot.adapters.http import HttpClient, HttpRefused
from autopilot.ports import PortError
from autopilot.web.app import make_app
from autopilot.web.server import CannotListen, WebServer
from tests.support.waiting import eventually
from tests.unit.web.played import house

HOST = "127.0.0.1"


def server(port: int = 0) -> WebServer:
    return WebServer(make_app(house().doors()), HOST, port)


def answered(port: int, path: str = "/readyz") -> int:
    return HttpClient().request("GET", f"http://{HOST}:{port}{path}", deadline_seconds=5).status


def test_it_answers_as_soon_as_it_was_started() -> None:
    web = server()
    web.start()

    assert answered(web.port) == 200
    assert web.stop(within_seconds=5)


def test_a_taken_port_is_an_error_that_names_the_address() -> None:
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotListen) as raised:
            server(port).start()

    assert isinstance(raised.value, PortError)
    assert f"{HOST}:{port}" in str(raised.value)


@pytest.mark.parametrize("host", ["host.invalid", "192.0.2.1"], ids=["no-such-name", "not-ours"])
def test_an_address_that_is_not_ours_is_an_error(host: str) -> None:
    with pytest.raises(CannotListen):
        WebServer(make_app(house().doors()), host, 0).start()


def test_stopping_leaves_no_thread_and_no_listener() -> None:
    before = set(threading.enumerate())
    web = server()
    web.start()
    answered(web.port)  # from a worker thread of the application's

    assert web.stop(within_seconds=5)
    assert eventually(lambda: set(threading.enumerate()) <= before, within=5)
    with pytest.raises(HttpRefused):
        answered(web.port)


def test_stopping_twice_and_without_a_start_is_allowed() -> None:
    web = server()

    assert web.stop(within_seconds=1)
    web.start()
    assert web.stop(within_seconds=5)
    assert web.stop(within_seconds=5)


def test_the_port_is_free_again_after_a_stop() -> None:
    web = server()
    web.start()
    web.stop(within_seconds=5)
    again = server(web.port)
    again.start()

    assert answered(again.port) == 200
    again.stop(within_seconds=5)


@pytest.mark.parametrize("sent", [b"", b"GET /metrics HTTP/1.1\r\nHost: x\r\n"], ids=["silent", "half-a-request"])
def test_a_client_that_says_no_more_does_not_hold_up_the_stop(sent: bytes) -> None:
    web = server()
    web.start()
    with socket.create_connection((HOST, web.port)) as client:
        client.sendall(sent)
        answered(web.port)

        assert web.stop(within_seconds=5)


async def _never(scope: Scope, receive: Receive, send: Send) -> None:
    import asyncio

    await asyncio.Event().wait()


def test_a_request_that_never_ends_is_cut_off_in_time(elapsed: Callable[[], float]) -> None:
    web = WebServer(_never, HOST, 0)
    web.start()
    with socket.create_connection((HOST, web.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")

        assert web.stop(within_seconds=0.5)
        assert elapsed() < 5
