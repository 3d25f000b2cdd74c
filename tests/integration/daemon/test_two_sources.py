"""One of two sources goes wrong in every way it can; the other's fleet notices nothing (R-2, R-3, R-4)."""

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest

from autopilot.domain.operations import SetReplicas
from tests.integration.daemon.side_by_side import Ground, SideBySide, scraper
from tests.integration.daemon.sites import Plan, Site
from tests.support.daemons import comes, pause
from tests.support.exporters import BUSY, CALM, QUIET
from tests.support.odd_servers import Behaviour, OddServer, answering, flooding, head, truncating
from tests.support.prometheus import PrometheusServer, any_binaries

INTERVAL = 1.0
WATCHED = 3.0  # seconds of each trouble: longer than the stableFor of the fleet that would shrink

GOOD = Plan("good")
ODD = Plan("odd", source="odd", minimum=2, stable_for="2s")
PARTIAL = b',"warnings":["a store did not answer"]}'

TAKES = 80

pytestmark = pytest.mark.timeout(300)


class Proxy:
    """Stands before a Prometheus and does to its answers what it is told."""

    def __init__(self, upstream_port: int) -> None:
        self.upstream_port = upstream_port
        self.trouble: Behaviour = self.passing

    def __call__(self, connection: socket.socket, request: bytes, ending: threading.Event) -> None:
        self.trouble(connection, request, ending)

    def passing(self, connection: socket.socket, request: bytes, _: threading.Event) -> None:
        connection.sendall(self._answer(request))

    def incomplete(self, connection: socket.socket, request: bytes, _: threading.Event) -> None:
        """As Thanos answers when one of its stores does not: all is well, and there are warnings."""
        body = self._answer(request).partition(b"\r\n\r\n")[2].strip()
        warned = body[:-1] + PARTIAL
        connection.sendall(head(200, {"Content-Length": str(len(warned))}) + warned)

    def _answer(self, request: bytes) -> bytes:
        header, _, body = request.partition(b"\r\n\r\n")
        lines = [line for line in header.split(b"\r\n") if not line.lower().startswith((b"connection:", b"accept-encoding:"))]
        asked = b"\r\n".join([*lines, b"Connection: close", b"", body])
        with socket.create_connection(("127.0.0.1", self.upstream_port), timeout=5.0) as upstream:
            upstream.sendall(asked)
            return b"".join(iter(lambda: upstream.recv(65536), b""))


TROUBLES: Mapping[str, Behaviour] = {
    "a-login-page": answering(200, b"<html><body>Please log in</body></html>", {"Content-Type": "text/html"}),
    "starting": answering(503, b"Service Unavailable"),
    "too-many-requests": answering(429, b"slow down", {"Retry-After": "3600"}),
    "a-bad-gateway": answering(502, b"<html><h1>502 Bad Gateway</h1></html>"),
    "an-error-in-a-200": answering(200, b'{"status":"error","errorType":"internal","error":"no"}'),
    "half-an-answer": truncating(b'{"status":"success","data":{"resultType":"vector","result":[', missing=400),
}
FLOODS: Mapping[str, Behaviour] = {
    "a-body-too-large": flooding(100 * 2**20),
    "a-body-without-end": flooding(100 * 2**20, chunked=True),
}
WAYS = ("frozen", *TROUBLES, *FLOODS)
REASONS = {"frozen": {"late"}}
IN_TIME_OR_LATE = {"query_failed", "late"}  # on a busy machine the deadline of half a second may come before the answer


@dataclass(frozen=True)
class Seen:
    """What the daemon made of one trouble. `apart`: the odd source's fleet was blind and the other's not, in one tick.

    `gaps` are what it said of the odd source's fleet.
    """

    apart: bool
    gaps: frozenset[str]
    failures: int
    desired: int


@dataclass(frozen=True)
class TwoSources:
    """The whole story. `late_ticks` took longer than the interval while it was frozen; `good` and `odd` are the counts that were set."""

    seen: Mapping[str, Seen]
    good: list[SetReplicas]
    odd: list[SetReplicas]
    grown_while_frozen: bool
    late_ticks: float
    sees_again: bool
    shrunk_on_partial: bool
    grown_on_partial: bool
    rss_growth: float


def two_sources(ground: Ground) -> TwoSources:
    with scraper(any_binaries(), ground.targets) as server, OddServer(proxy := Proxy(server.port)) as odd:
        with ground.site(GOOD, ODD, sources={"default": ground.prometheus.url, "odd": odd.url}) as site:
            site.daemon.start()
            assert comes(lambda: site.knows("good", serving=1) and site.knows("odd", serving=2), within=40)
            site.rewrite(replace(ODD, minimum=1))
            frozen, grown, late = _frozen(site, server)
            assert comes(lambda: site.knows("good", serving=2), within=40)  # a replica that is not scraped yet is a gap of its own
            seen = {name: _troubled(site, proxy, trouble) for name, trouble in TROUBLES.items()}
            memory = _memory(site)
            seen |= {name: _troubled(site, proxy, flood) for name, flood in FLOODS.items()}
            growth = _memory(site) - memory
            sees_again = _sees(site)
            partial = _partly(site, proxy)
            changes = {name: [one for one in site.effects(name) if isinstance(one, SetReplicas)] for name in ("good", "odd")}
        return TwoSources({"frozen": frozen, **seen}, changes["good"], changes["odd"], grown, late, sees_again, *partial, growth)


def _frozen(site: Site, server: PrometheusServer) -> tuple[Seen, bool, float]:
    """Frozen while the other source's fleet breaches: that one is to grow all the same. Also how many ticks were late."""
    site.play(QUIET, "odd")
    late = _late_ticks(site)
    with server.frozen():
        site.play(BUSY, "good")
        grown = site.grows("good", to=2)
        seen = _watched(site)
        late = _late_ticks(site) - late
        for fleet in ("good", "odd"):
            site.play(CALM, fleet)  # before it thaws: what is seen to be idle may shrink
    return seen, grown, late


def _troubled(site: Site, proxy: Proxy, trouble: Behaviour) -> Seen:
    site.play(CALM, "odd")
    assert _sees(site)
    proxy.trouble = trouble
    site.play(QUIET, "odd")
    seen = _watched(site)
    site.play(CALM, "odd")
    proxy.trouble = proxy.passing
    return seen


def _watched(site: Site) -> Seen:
    apart = comes(lambda: _blind(site) == {"odd": True, "good": False}, within=5 * INTERVAL)
    pause(WATCHED)
    status = site.daemon.json("/api/v1/status")
    gaps = frozenset(gap.split(": ")[1].split(" - ")[0] for gap in site.daemon.fleet("odd")["gaps"])
    return Seen(apart, gaps, len(status["daemon"]["failures"]), site.record("odd").desired)


def _blind(site: Site) -> dict[str, bool]:
    """Which fleets are blind, as of one tick."""
    fleets = site.daemon.json("/api/v1/status")["fleets"]
    return {fleet["fleet"].removeprefix("llm/"): fleet["alerts"][0]["blind"] for fleet in fleets}


def _partly(site: Site, proxy: Proxy) -> tuple[bool, bool]:
    """Whether partial data let the fleet shrink, and whether it let it grow."""
    proxy.trouble = proxy.incomplete
    site.play(QUIET, "odd")
    pause(WATCHED + 4.0)
    shrunk = site.record("odd").desired < 2
    site.rewrite(replace(ODD, minimum=1, maximum=3))
    site.play(BUSY, "odd")
    return shrunk, site.grows("odd", to=3)


def _sees(site: Site) -> bool:
    return comes(lambda: site.daemon.metric("autopilot_slo_blind", fleet="odd") == 0.0, within=20)


def _memory(site: Site) -> float:
    return site.daemon.metric("process_resident_memory_bytes") or 0.0


def _late_ticks(site: Site) -> float:
    name = "autopilot_tick_duration_seconds"
    total, inside = site.daemon.metric(f"{name}_count"), site.daemon.metric(f"{name}_bucket", le="1.0")
    assert total is not None
    assert inside is not None
    return total - inside


STORIES: tuple[Callable[[Ground], TwoSources], ...] = (two_sources,)


@pytest.fixture
def story(stories: SideBySide) -> TwoSources:
    return stories.told(two_sources)


@pytest.mark.parametrize("way", WAYS)
def test_a_source_that_goes_wrong_blinds_its_own_fleet_alone(story: TwoSources, way: str) -> None:
    seen = story.seen[way]

    assert seen.apart
    assert seen.failures > 0
    assert seen.desired == 2


@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_known_has_its_reason(story: TwoSources, way: str) -> None:
    gaps = story.seen[way].gaps

    assert gaps
    assert gaps <= REASONS.get(way, IN_TIME_OR_LATE)


def test_every_tick_ends_inside_its_interval_while_a_source_is_frozen(story: TwoSources) -> None:
    assert story.late_ticks == 0


def test_a_fleet_grows_while_the_other_source_is_frozen(story: TwoSources) -> None:
    assert story.grown_while_frozen


def test_a_body_without_end_is_not_kept(story: TwoSources) -> None:
    assert story.rss_growth < 50 * 2**20


def test_a_source_that_is_well_again_is_believed_again(story: TwoSources) -> None:
    assert story.sees_again


def test_partial_data_adds_capacity_and_never_takes_any(story: TwoSources) -> None:
    assert not story.shrunk_on_partial
    assert story.grown_on_partial
