from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.backend.rig import Rig, cleaned
from tests.support import routers

ROUTERS = ["stand-in", pytest.param("vllm-router", marks=pytest.mark.skipif(routers.real() is None, reason="vllm-router is not installed"))]


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with cleaned(Rig(tmp_path)) as clean:
        clean.start()
        yield clean


@pytest.fixture(params=ROUTERS)
def routed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    program = routers.PROGRAM if request.param == "stand-in" else (str(routers.real()),)
    with cleaned(Rig(tmp_path, router=program)) as clean:
        clean.start()
        yield clean
