"""The rooms and their doors hold in the tree, and each contract of `.importlinter` catches what it is there for."""

import configparser
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

PLANTED = [
    ("pure", "autopilot/domain/planted.py", "import time"),
    ("pure", "autopilot/control/planted.py", "from random import random"),
    ("pure", "autopilot/policy/planted.py", "import structlog"),
    ("pure", "autopilot/catalog/planted.py", "import autopilot.adapters.http"),
    ("pure", "autopilot/fleet/planted.py", "def late() -> None:\n    import subprocess"),
    ("simulation", "autopilot/simulation/planted.py", "import threading"),
    ("values", "autopilot/domain/planted.py", "from pydantic import BaseModel"),
    ("domain", "autopilot/domain/planted.py", "from autopilot.ports import Clock"),
    ("domain", "autopilot/domain/planted.py", "import autopilot.actions.scale"),
    ("ports", "autopilot/ports.py", "from autopilot.policy.values import Fleet"),
    ("storeys", "autopilot/actions/planted.py", "from autopilot.policy import values"),
    ("storeys", "autopilot/control/planted.py", "import autopilot.adapters.clock"),
    ("storeys", "autopilot/catalog/planted.py", "from autopilot.actions import spec"),
    ("storeys", "autopilot/adapters/planted.py", "import autopilot.simulation"),
    ("storeys", "autopilot/policy/planted.py", "import autopilot.daemon"),
    ("rim", "autopilot/adapters/planted.py", "from autopilot.control import codec"),
    ("sight", "autopilot/control/planted.py", "from autopilot.ports import Source"),
    ("doctor", "autopilot/doctor/planted.py", "from autopilot.adapters.http import HttpClient"),
    ("demo", "demo/planted.py", "import autopilot.domain.signals"),
    ("product", "autopilot/adapters/planted.py", "import demo"),
    ("product", "autopilot/adapters/planted.py", "import vllm"),
    ("http", "autopilot/adapters/planted.py", "import requests"),
    ("http", "autopilot/adapters/local/planted.py", "from urllib3 import PoolManager"),
    ("prometheus", "autopilot/daemon/planted.py", "from prometheus_api_client import PrometheusConnect"),
    ("scheduler", "autopilot/daemon/planted.py", "from apscheduler.schedulers.background import BackgroundScheduler"),
    ("sqlite", "autopilot/daemon/planted.py", "import sqlite3"),
    ("yaml", "autopilot/policy/planted.py", "from ruamel.yaml import YAML"),
    ("kubernetes", "autopilot/adapters/planted.py", "from kubernetes import client"),
    ("web", "autopilot/adapters/planted.py", "from fastapi import FastAPI"),
    ("web", "autopilot/adapters/planted.py", "import uvicorn"),
    ("terminal", "autopilot/daemon/planted.py", "from rich.table import Table"),
    ("clock", "autopilot/daemon/planted.py", "from time import perf_counter"),
]

CLOCK_READS = [
    "import time\n\nNOW = time.time()\n",
    "from time import monotonic\n\nNOW = monotonic()\n",
    "from datetime import UTC, datetime\n\nNOW = datetime.now(UTC)\n",
    "import datetime as dt\n\nTODAY = dt.date.today()\n",
]


def lint_imports(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "lint-imports"), "--no-cache", "--no-logo", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def banned_reads(path: Path) -> list[str]:
    """The rules that ruff finds broken, with the project's own settings."""
    command = [
        str(BIN / "ruff"),
        "check",
        "--no-cache",
        "--select=TID251",
        "--output-format=json",
        f"--config={ROOT / 'pyproject.toml'}",
        str(path),
    ]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return [problem["code"] for problem in json.loads(found.stdout)]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tree again, to plant violations in."""
    for package in ("autopilot", "demo"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


def test_the_rooms_hold_in_the_tree() -> None:
    outcome = lint_imports(ROOT)

    assert outcome.returncode == 0, outcome.stdout


@pytest.mark.parametrize(("contract", "file", "line"), PLANTED, ids=[f"{contract}: {line}" for contract, _, line in PLANTED])
def test_a_planted_violation_is_caught(contract: str, file: str, line: str, copy: Path) -> None:
    with (copy / file).open("a") as planted:
        planted.write(f"\n{line}\n")
    outcome = lint_imports(copy, f"--contract={contract}")

    assert outcome.returncode == 1, outcome.stdout
    assert "0 kept, 1 broken" in outcome.stdout  # a mistake in the file of contracts exits with 1 as well


def test_every_contract_has_a_violation_planted() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    names = {section.rpartition(":")[2] for section in contracts.sections() if ":contract:" in section}

    assert {contract for contract, _, _ in PLANTED} == names


def test_the_simulator_may_be_given_randomness(copy: Path) -> None:
    (copy / "autopilot/simulation/planted.py").write_text("from random import Random\n")

    assert lint_imports(copy).returncode == 0


def test_no_clock_is_read_outside_its_adapter() -> None:
    assert banned_reads(ROOT / "autopilot") == []


@pytest.mark.parametrize("source", CLOCK_READS, ids=["time", "monotonic", "datetime-now", "today-by-another-name"])
def test_a_planted_clock_read_is_caught(source: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(source)

    assert banned_reads(planted) == ["TID251"]
