"""A server of every version with one fixed history, for the promises of port `Source`."""

from collections.abc import Iterator

import pytest

from autopilot.adapters.prometheus import PrometheusSource
from tests.support.openmetrics import Snapshot, Track, every, histogram, openmetrics
from tests.support.prometheus import Binaries, PrometheusServer, binaries

__all__ = ["binaries"]  # the fixture, for the tests of this folder

NOON = 1_772_452_800.0  # Unix seconds
HOUR = 3600.0
MANY = 10_000

_SCRAPES = every(15.0, since=NOON - HOUR, until=NOON)
ODD_TEXT = 'a "quoted" \\ line\nbreak, {braces} and ünïcode'
_HISTORY = [
    Track("running", {"fleet": "chat", "pod": "a"}, [(at, 3.0 if at < NOON - 600 else 5.0) for at in _SCRAPES]),
    Track("running", {"fleet": "chat", "pod": "b"}, [(at, 1.0) for at in _SCRAPES]),
    Track("odd", {"text": ODD_TEXT}, [(at, 1.0) for at in _SCRAPES]),
    *histogram("ttft_seconds", {"fleet": "chat"}, [Snapshot(at, [0.2] * 30 + [0.7] * int(at - _SCRAPES[0])) for at in _SCRAPES[-8:]]),
    *(Track("many", {"pod": f"{number:05}"}, [(NOON - 15.0, 1.0)]) for number in range(MANY)),
]


@pytest.fixture(scope="session")
def server(binaries: Binaries) -> Iterator[PrometheusServer]:
    with PrometheusServer(binaries, history=openmetrics(_HISTORY)) as running:
        yield running


@pytest.fixture
def source(server: PrometheusServer) -> PrometheusSource:
    return PrometheusSource(server.url)
