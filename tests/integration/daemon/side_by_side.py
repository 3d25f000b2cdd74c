"""Stories run side by side: most of a story is waiting, and one after the other they would take a quarter of an hour."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pytest

from tests.integration.daemon.sites import Plan, Site, cleaned
from tests.support.prometheus import Binaries, PrometheusServer

AT_ONCE = 4  # on two cores: with more of them Prometheus answers late, and late is blind
SCRAPING = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: vllm
    file_sd_configs: [{files: ["TARGETS/*.json"], refresh_interval: 1s}]
"""
PROMPT = ("--scrape.discovery-reload-interval=1s",)  # a new replica is scraped within 6 s and not within 10

T = TypeVar("T")


@dataclass(frozen=True)
class Ground:
    """What stories stand on. `prometheus` is shared: who wants to do something to one takes another."""

    prometheus: PrometheusServer
    targets: Path
    make_folder: Callable[[], Path]

    @contextmanager
    def site(
        self, *plans: Plan, sources: dict[str, str] | None = None, targets: Path | None = None, state: str = "state/state.sqlite"
    ) -> Iterator[Site]:
        """A daemon's place, gone after it."""
        at = sources or {"default": self.prometheus.url}
        with cleaned(Site(self.make_folder(), at, targets or self.targets, plans or (Plan(),), state)) as site:
            yield site


Story: TypeAlias = Callable[[Ground], Any]


class SideBySide:
    """The stories of all modules that have tests in this run; a module's `TAKES` is how long its longest takes, in seconds."""

    def __init__(self, ground: Ground, items: Iterable[pytest.Item], *, at_once: int = AT_ONCE) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="story")
        modules = dict.fromkeys(item.getparent(pytest.Module) for item in items)
        told = sorted((module.obj for module in modules if module is not None), key=lambda module: -getattr(module, "TAKES", 0))
        found = [story for module in told for story in getattr(module, "STORIES", ())]  # the longest first
        self._told: dict[Story, Future[Any]] = {story: self._pool.submit(story, ground) for story in found}

    def told(self, story: Callable[[Ground], T]) -> T:
        """What came of a story, once it has ended. Raises what it raised."""
        ended: Future[T] = self._told[story]
        return ended.result()

    def close(self) -> None:
        """Begin no other, and wait for those under way."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def scraper(binaries: Binaries, targets: Path) -> PrometheusServer:
    """A Prometheus that scrapes whatever the files of a folder name."""
    return PrometheusServer(binaries, config=SCRAPING.replace("TARGETS", str(targets)), flags=PROMPT)
