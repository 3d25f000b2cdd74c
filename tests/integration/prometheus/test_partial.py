"""A source that says itself that its answers are partial (R-4), and one of several tenants, as the daemon looks through them."""

from datetime import timedelta

from autopilot.daemon.assembly import eyes_of
from autopilot.daemon.looking import WARNING, WARNINGS, Eyes, Sight, look
from autopilot.policy.daemon import DaemonConfig
from tests.support.odd_servers import OddServer, answering
from tests.support.policies import CHAT, closed_loop

SAID = "store 10.0.0.7:10901 did not answer"
PARTIAL = b'{"status": "success", "warnings": ["%s"], "data": {"resultType": "vector", "result": []}}'


def seen(server: OddServer, **source: object) -> Sight:
    config = DaemonConfig.model_validate({"sources": {"default": {"url": server.url, **source}}})
    eyes: Eyes = eyes_of(config, {})
    return look([(CHAT, closed_loop())], eyes, at=1_800_000_000.0, deadline=timedelta(seconds=5))


def test_r_4_what_a_source_says_of_its_partial_answers_is_shown_once() -> None:
    with OddServer(answering(200, PARTIAL % SAID.encode())) as server:
        sight = seen(server)

    assert sight.queries > 1
    assert sight.warnings == (f"default: {SAID}",)


def test_r_4_a_source_with_much_to_say_does_not_flood_the_status() -> None:
    many = b'", "'.join(b"%d %s" % (number, b"x" * 5000) for number in range(100))
    with OddServer(answering(200, PARTIAL % many)) as server:
        sight = seen(server)

    assert len(sight.warnings) == WARNINGS
    assert max(len(text) for text in sight.warnings) <= WARNING + len("default: ")


def test_the_headers_of_a_source_go_with_every_query() -> None:
    with OddServer(answering(200, PARTIAL % b"")) as server:
        seen(server, headers={"X-Scope-OrgID": "team-a"})
        requests = tuple(server.requests)

    assert requests
    assert all(b"X-Scope-OrgID: team-a\r\n" in request for request in requests)
