"""One Prometheus for the stories that leave it alone, a fresh site for each of them, and a scan that nothing outlives them."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.daemon.sites import Plan, Site, cleaned
from tests.support.daemons import TOKEN, carriers
from tests.support.prometheus import Binaries, PrometheusServer, any_binaries, binaries
from tests.support.tiny_disk import tiny_disk
from tests.support.waiting import eventually

__all__ = ["binaries", "tiny_disk"]

SCRAPING = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: vllm
    file_sd_configs: [{files: ["FOLDER/targets/*.json"], refresh_interval: 1s}]
"""
PROMPT = ("--scrape.discovery-reload-interval=1s",)  # a new replica is scraped within 6 s and not within 10

MakeSite = Callable[..., Site]


@pytest.fixture(scope="session", autouse=True)
def _nothing_remains() -> Iterator[None]:
    token = secrets.token_hex(16)
    os.environ[TOKEN] = token
    yield
    del os.environ[TOKEN]
    eventually(lambda: not carriers(token), within=10)
    assert not carriers(token)


def scraper(binaries: Binaries) -> PrometheusServer:
    server = PrometheusServer(binaries, config=SCRAPING, flags=PROMPT)
    (server.folder / "targets").mkdir()
    return server


@pytest.fixture(scope="session")
def prometheus(_nothing_remains: None) -> Iterator[PrometheusServer]:
    with scraper(any_binaries()) as server:
        yield server


@pytest.fixture
def make_site(prometheus: PrometheusServer, tmp_path: Path) -> Iterator[MakeSite]:
    """Sites on the shared Prometheus."""
    with ExitStack() as ending:

        def make(*plans: Plan, name: str = "site", state: str = "state/state.sqlite") -> Site:
            folder = tmp_path / f"{tmp_path.name}-{name}"
            folder.mkdir()
            site = Site(folder, {"default": prometheus.url}, prometheus.folder / "targets", plans or (Plan(),), state)
            return ending.enter_context(cleaned(site))

        yield make
