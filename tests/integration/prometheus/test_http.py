"""The one HTTP client: deadlines, caps, credentials, and nothing that an environment sneaks in."""

import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.http import BasicAuth, HttpClient, HttpError, HttpFailed, HttpLate, HttpOptions, HttpRefused, HttpTooLarge, Response
from autopilot.adapters.sockets import AddressInfo, Resolver
from tests.support.odd_servers import Behaviour, OddServer, answering, dripping, flooding, head, silent, truncating
from tests.support.prometheus import free_port
from tests.support.tls import Authority
from tests.support.waiting import eventually

GRACE = timedelta(seconds=0.2)
LONG = b"x" * 4096


@pytest.fixture
def greeter() -> Iterator[OddServer]:
    with OddServer(answering(200, b"hello")) as server:
        yield server


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.make(tmp_path_factory.mktemp("tls"))


def get(server: OddServer, options: HttpOptions | None = None, deadline_seconds: float = 5.0) -> Response:
    return HttpClient(options or HttpOptions()).request("GET", f"{server.url}/some/path", deadline_seconds=deadline_seconds)


def header(server: OddServer, name: str) -> str | None:
    """What the newest request said under this name."""
    lines = server.requests[-1].decode().split("\r\n")[1:]
    return next((value.strip() for found, _, value in (line.partition(":") for line in lines) if found.lower() == name.lower()), None)


def secret(folder: Path, text: str) -> Path:
    path = folder / "secret"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("status", [200, 204, 404, 429, 500, 503])
def test_any_status_is_an_answer(status: int) -> None:
    with OddServer(answering(status, b"" if status == 204 else b"body")) as server:
        assert get(server) == Response(status, b"" if status == 204 else b"body")


def test_a_body_is_sent_as_json(greeter: OddServer) -> None:
    HttpClient().request("POST", greeter.url, body=b'{"a": 1}', deadline_seconds=5.0)

    assert header(greeter, "Content-Type") == "application/json"
    assert greeter.requests[0].endswith(b'\r\n\r\n{"a": 1}')


def test_the_options_can_name_another_type_of_body(greeter: OddServer) -> None:
    client = HttpClient(HttpOptions(headers={"Content-Type": "text/plain"}))
    client.request("POST", greeter.url, body=b"words", deadline_seconds=5.0)

    assert header(greeter, "Content-Type") == "text/plain"


def test_a_port_where_nobody_listens_is_refused() -> None:
    with pytest.raises(HttpRefused):
        HttpClient().request("GET", f"http://localhost:{free_port()}/", deadline_seconds=5.0)


@pytest.mark.parametrize(
    "url",
    ["http://", "no-scheme/path", "ftp://127.0.0.1/", "http://127.0.0.1:99999/", "http://[::1", "http://a..b/", "http://name.invalid/"],
)
def test_an_address_that_leads_nowhere_fails(url: str) -> None:
    with pytest.raises(HttpFailed):
        HttpClient().request("GET", url, deadline_seconds=5.0)


@pytest.mark.parametrize(
    "behaviour",
    [
        truncating(b"half", missing=10),
        answering(302, b"", {"Location": "/elsewhere"}),
        answering(307, LONG * 4096, {"Location": "/elsewhere"}),
        lambda connection, _request, _ending: connection.sendall(b"SSH-2.0-server\r\n"),
        lambda _connection, _request, _ending: None,
    ],
    ids=["cut-short", "redirect", "redirect-with-a-long-body", "another-protocol", "hangs-up"],
)
def test_an_answer_that_is_none_fails_after_one_request(behaviour: Behaviour) -> None:
    with OddServer(behaviour) as server:
        with pytest.raises(HttpFailed):
            get(server)

        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        silent,
        dripping(LONG, every_seconds=0.05),
        dripping(head(200, {"X-Long": "x" * 4096}), every_seconds=0.05),
        dripping(head(200, {"Content-Length": "4096"}) + LONG, every_seconds=0.02),
        dripping(b"HTTP/1.1 100 Continue\r\n\r\n" * 100, every_seconds=0.005),
        dripping(LONG, every_seconds=0.45),
    ],
    ids=["silent", "status-line", "headers", "body", "continues", "slow-drops"],
)
def test_every_kind_of_slowness_ends_at_the_deadline(behaviour: Behaviour) -> None:
    clock = SystemClock()
    with OddServer(behaviour) as server, pytest.raises(HttpLate):
        get(server, deadline_seconds=0.6)

    assert clock.running() <= timedelta(seconds=0.6) + GRACE


def test_a_server_that_takes_no_more_of_a_long_body_ends_at_the_deadline() -> None:
    def deaf(_connection: object, _request: bytes, ending: threading.Event) -> None:
        ending.wait()

    clock = SystemClock()
    with OddServer(deaf) as server, HttpClient().session(0.6) as session, pytest.raises(HttpLate):
        session.request("POST", server.url, data=iter([b"x" * 2**24]))  # in chunks, of which the server reads none

    assert clock.running() <= timedelta(seconds=0.6) + GRACE


def test_a_tls_handshake_that_stalls_ends_at_the_deadline() -> None:
    clock = SystemClock()
    with OddServer(silent) as server, pytest.raises(HttpLate):
        HttpClient().request("GET", server.url.replace("http:", "https:"), deadline_seconds=0.6)

    assert clock.running() <= timedelta(seconds=0.6) + GRACE


def test_a_name_server_that_hangs_ends_at_the_deadline_and_holds_one_thread() -> None:
    awake = threading.Event()

    def hanging(_host: str, _port: int) -> list[AddressInfo]:
        awake.wait()
        return []

    client, clock, before = HttpClient(resolver=Resolver(hanging)), SystemClock(), threading.active_count()
    for _ in range(3):
        with pytest.raises(HttpLate):
            client.request("GET", "http://somewhere.example/", deadline_seconds=0.2)
    took, held = clock.running(), threading.active_count() - before
    awake.set()

    assert took <= 3 * (timedelta(seconds=0.2) + GRACE)
    assert held == 1
    assert eventually(lambda: threading.active_count() == before, within=5.0)


def test_a_second_address_is_tried_when_the_first_refuses(greeter: OddServer) -> None:
    def two(_host: str, _port: int) -> list[AddressInfo]:
        return [(2, 1, 6, "", ("127.0.0.1", port)) for port in (free_port(), greeter.port)]

    answer = HttpClient(resolver=Resolver(two)).request("GET", "http://somewhere.example/", deadline_seconds=5.0)

    assert answer.body == b"hello"


@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "chunked"])
def test_a_body_over_the_limit_is_too_large(chunked: bool) -> None:
    with OddServer(flooding(2**20, chunked=chunked)) as server, pytest.raises(HttpTooLarge):
        get(server, HttpOptions(body_limit=2**19))


def test_the_rest_of_a_body_announced_as_too_large_is_not_waited_for() -> None:
    def begin(connection: socket.socket, _: bytes, ending: threading.Event) -> None:
        connection.sendall(head(200, {"Content-Length": str(2**30)}) + b"x" * 2**16)
        ending.wait()

    with OddServer(begin) as server, pytest.raises(HttpTooLarge):
        get(server, HttpOptions(body_limit=2**20))


def test_a_body_of_just_the_limit_is_read() -> None:
    with OddServer(answering(200, LONG)) as server:
        assert get(server, HttpOptions(body_limit=len(LONG))).body == LONG


def test_a_bearer_token_is_read_again_for_every_call(greeter: OddServer, tmp_path: Path) -> None:
    options = HttpOptions(bearer_file=secret(tmp_path, "first\n"))
    client = HttpClient(options)
    client.request("GET", greeter.url, deadline_seconds=5.0)
    before = header(greeter, "Authorization")
    secret(tmp_path, "second\n")
    client.request("GET", greeter.url, deadline_seconds=5.0)

    assert (before, header(greeter, "Authorization")) == ("Bearer first", "Bearer second")


def test_a_password_is_sent_with_its_user(greeter: OddServer, tmp_path: Path) -> None:
    get(greeter, HttpOptions(basic=BasicAuth("ann", secret(tmp_path, "open: sesame"))))

    assert header(greeter, "Authorization") == f"Basic {b64encode(b'ann:open: sesame').decode()}"


@pytest.mark.parametrize("text", ["", "\n", "two\nlines"], ids=["empty", "blank", "two-lines"])
def test_a_secret_that_is_none_fails_before_anything_is_sent(greeter: OddServer, tmp_path: Path, text: str) -> None:
    with pytest.raises(HttpFailed):
        get(greeter, HttpOptions(bearer_file=secret(tmp_path, text)))

    assert greeter.requests == []


def test_a_secret_that_is_missing_fails(greeter: OddServer, tmp_path: Path) -> None:
    with pytest.raises(HttpFailed):
        get(greeter, HttpOptions(bearer_file=tmp_path / "nothing"))


def test_no_error_tells_a_secret(tmp_path: Path) -> None:
    """Tokens of webhooks are in their paths, passwords may be in addresses, and requests quotes both."""
    said: list[str] = []
    behaviours: list[Behaviour] = [answering(302, b"", {"Location": "/x"}), truncating(b"x", missing=1), flooding(2**20), silent]
    options = HttpOptions(bearer_file=secret(tmp_path, "CANARY"), headers={"X-Key": "CANARY"}, body_limit=10)
    for behaviour in behaviours:
        with OddServer(behaviour) as server, pytest.raises(HttpError) as caught:
            HttpClient(options).request("GET", f"http://u:CANARY@127.0.0.1:{server.port}/CANARY?key=CANARY", deadline_seconds=0.3)
        said.append(str(caught.value))
    for url in ("https://user:CANARY@127.0.0.1:1/CANARY", "http://CANARY@name.invalid/CANARY", "CANARY", "http://CA..NARY/CANARY"):
        with pytest.raises(HttpError) as caught:
            HttpClient(options).request("GET", url, deadline_seconds=5.0)
        said.append(str(caught.value))
    said.append(repr(options))

    assert [text for text in said if "CANARY" in text] == []


def test_the_environment_sneaks_nothing_in(greeter: OddServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    answer = get(greeter, HttpOptions(headers={"X-Scope-OrgID": "us"}))

    assert (answer.status, header(greeter, "Authorization"), header(greeter, "X-Scope-OrgID")) == (200, None, "us")


@pytest.mark.parametrize(
    "options",
    [
        lambda: HttpOptions(bearer_file=Path("a"), basic=BasicAuth("b", Path("c"))),
        lambda: HttpOptions(headers={"X-A": "b\r\nX-C: d"}),
        lambda: HttpOptions(body_limit=0),
    ],
    ids=["two-credentials", "line-break-in-a-header", "no-body"],
)
def test_options_that_cannot_be_meant_are_refused(options: type[HttpOptions]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        options()


def test_a_server_of_our_own_authority_is_trusted(authority: Authority) -> None:
    with OddServer(answering(200, b"hello"), authority.server_context()) as server:
        assert get(server, HttpOptions(ca_file=authority.certificate)).body == b"hello"


def test_a_server_of_an_unknown_authority_fails(authority: Authority) -> None:
    with OddServer(answering(200, b"hello"), authority.server_context()) as server, pytest.raises(HttpFailed):
        get(server)


def test_any_certificate_is_believed_where_that_is_asked_for(authority: Authority) -> None:
    with OddServer(answering(200, b"hello"), authority.server_context()) as server:
        assert get(server, HttpOptions(any_certificate=True)).body == b"hello"


def test_a_file_that_is_no_authority_fails(greeter: OddServer, tmp_path: Path) -> None:
    with pytest.raises(HttpFailed):
        HttpClient(HttpOptions(ca_file=secret(tmp_path, "no certificate"))).request("GET", "https://127.0.0.1:1/", deadline_seconds=5.0)


@pytest.mark.parametrize(
    "behaviour", [silent, dripping(head(200, {"Content-Length": "4096"}) + LONG, every_seconds=0.02)], ids=["silent", "dripping"]
)
def test_a_slow_server_under_tls_ends_at_the_deadline(authority: Authority, behaviour: Behaviour) -> None:
    client = HttpClient(HttpOptions(ca_file=authority.certificate))
    clock = SystemClock()
    with OddServer(behaviour, authority.server_context()) as server, pytest.raises(HttpLate):
        client.request("GET", server.url, deadline_seconds=0.6)

    assert clock.running() <= timedelta(seconds=0.6) + GRACE


def test_calls_leave_no_file_and_no_thread_behind(greeter: OddServer) -> None:
    def ours() -> tuple[int, int]:
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    get(greeter)
    eventually(lambda: False, within=0.1)
    before = ours()
    for _ in range(50):
        get(greeter)

    assert eventually(lambda: ours() <= before, within=5.0)
