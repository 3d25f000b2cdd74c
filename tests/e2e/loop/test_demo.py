"""The README's first command, for real: real vLLM, real Prometheus, a real router, the daemon in `act`."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from demo.install import CACHE
from demo.place import ROOT, DemoError
from demo.stage import programs

pytestmark = [pytest.mark.real_engine, pytest.mark.timeout(480)]


def played(scenario: str) -> tuple[int, Mapping[str, Any]]:
    try:
        programs(CACHE)
    except DemoError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "demo", "--scenario", scenario, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=460, check=False)
    summary: dict[str, Any] = json.loads(done.stdout)
    Path(ROOT, ".demo", f"{scenario}.json").write_text(done.stdout)
    return done.returncode, summary


def test_a_breach_is_answered_verified_and_given_back_without_one_failed_request() -> None:
    code, summary = played("scale")

    assert (code, summary["not_observed"]) == (0, [])
    assert summary["measured"]["verdict"] == "helped"
    assert summary["requests"]["failed"] == summary["requests"]["lost"] == 0
