"""One Prometheus for the stories that leave it alone, the stories side by side, and a scan that nothing outlives them."""

import os
import secrets
from collections.abc import Iterator

import pytest

from tests.integration.daemon.side_by_side import Ground, SideBySide, scraper
from tests.support.daemons import TOKEN, carriers
from tests.support.prometheus import any_binaries
from tests.support.waiting import eventually


@pytest.fixture(scope="session", autouse=True)
def _nothing_remains() -> Iterator[None]:
    token = secrets.token_hex(16)
    os.environ[TOKEN] = token
    yield
    del os.environ[TOKEN]
    eventually(lambda: not carriers(token), within=10)
    assert not carriers(token)


@pytest.fixture(scope="session")
def ground(_nothing_remains: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    targets = tmp_path_factory.mktemp("targets")
    with scraper(any_binaries(), targets) as prometheus:
        yield Ground(prometheus, targets, lambda: tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def stories(ground: Ground, request: pytest.FixtureRequest) -> Iterator[SideBySide]:
    side_by_side = SideBySide(ground, request.session.items)
    yield side_by_side
    side_by_side.close()
