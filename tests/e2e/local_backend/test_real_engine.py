"""One real vLLM server and one real router under the local backend: two starts, a few minutes.

The engine is `.cache/engine` (demo/install.py), or the Python that AUTOPILOT_ENGINE names.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from autopilot.adapters.local import LocalTimes, WarmUp
from autopilot.adapters.local.processes import alive, send
from autopilot.domain.workloads import ReplicaState
from autopilot.fleet.engine import EngineSpec
from tests.contract.backend.rig import CHAT, Rig, cleaned, holders
from tests.support import routers
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[3]
ENGINE = Path(os.environ.get("AUTOPILOT_ENGINE", ROOT / ".cache" / "engine" / "bin" / "python"))
LAUNCH = (str(ENGINE), "-m", "vllm.entrypoints.openai.api_server")
LOAD = 240.0  # seconds; 28 to 54 on two free cores
ENVIRONMENT = {
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}

pytestmark = [
    pytest.mark.real_engine,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not ENGINE.exists(), reason="no engine is installed: demo/install.py makes one"),
    pytest.mark.skipif(routers.real() is None, reason="vllm-router is not installed"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    command = [str(ENGINE), str(ROOT / "demo" / "model.py"), str(folder), "--step-seconds", "0.02", "--token-seconds", "0.0001"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture
def rig(tmp_path: Path, model: Path) -> Iterator[Rig]:
    real = Rig(tmp_path, LAUNCH, (str(routers.real()),), LocalTimes())
    args = {"enforce-eager": True, "max-model-len": 1024, "max-num-seqs": 4, "shutdown-timeout": 10, "disable-log-requests": True}
    engine = EngineSpec(str(model), ("demo",), args, ENVIRONMENT, "0.32.0")
    real.fleet = replace(real.fleet, engine=engine, warm_up=WarmUp(requests=4, prompt_tokens=(64,)))
    with cleaned(real) as clean:
        clean.start()
        yield clean


def test_a_real_engine_serves_outlives_its_daemon_and_leaves_no_orphan(rig: Rig) -> None:
    rig.ask(1)
    assert eventually(lambda: rig.states() == {"chat-1": ReplicaState.SERVING}, within=LOAD), rig.workload()
    body = json.dumps({"model": "demo", "prompt": "a replica", "max_tokens": 8}).encode()
    answer = rig.http.request("POST", f"{rig.backend.router_url(CHAT)}/v1/completions", body=body, deadline_seconds=30)
    assert json.loads(answer.body)["usage"]["completion_tokens"] > 0
    before = holders(rig.folder)

    rig.backend.close()
    rig.start()

    assert rig.states() == {"chat-1": ReplicaState.SERVING}
    assert holders(rig.folder) == before
    assert rig.backend.take_down(CHAT, within=timedelta(seconds=60))
    assert not [each for each in before if alive(each)]


def test_the_engine_core_of_a_killed_real_server_does_not_survive_it(rig: Rig) -> None:
    rig.ask(1)
    assert eventually(lambda: rig.states() == {"chat-1": ReplicaState.SERVING}, within=LOAD), rig.workload()
    router = rig.router_record.process
    engine = holders(rig.folder) - {router}
    assert len(engine) > 1

    send(rig.process("chat-1"), signal.SIGKILL)

    assert eventually(lambda: not [each for each in engine if alive(each)], within=15)
    assert rig.backend.take_down(CHAT, within=timedelta(seconds=60))
