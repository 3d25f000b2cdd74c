"""The demo's folder, `.demo/`: one run in it at a time, what the run before left behind, and the files of this one."""

from __future__ import annotations

import fcntl
import json
import os
import random
import secrets
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template

from demo import leftovers, pacing
from demo.leftovers import Mark
from demo.scenario import Scenario

ROOT = Path(__file__).parent.parent
TEMPLATES = Path(__file__).parent / "templates"
PORTS = range(29_000, 32_000)  # above those that the local backend takes, below those of outgoing connections


class DemoError(Exception):
    """What was tried, what came of it and what to do, in one line."""


@dataclass(frozen=True)
class Place:
    """Where this run works, and what its processes carry. `root` outlives the run, `run` does not."""

    root: Path
    token: str
    prometheus_port: int
    api_port: int

    @property
    def run(self) -> Path:
        """The run's own folder."""
        return self.root / "run"

    @property
    def logs(self) -> Path:
        """The logs of what the demo starts; engines and routers write under `fleets`."""
        return self.run / "logs"

    @property
    def mark(self) -> Mark:
        """By what all processes of this run are known."""
        return Mark(self.token, self.run)

    @property
    def answers(self) -> Path:
        """What became of each request, one JSON line each."""
        return self.run / "answers.jsonl"

    @property
    def rate(self) -> Path:
        """The rate of the load, in requests/s."""
        return self.run / "rate"

    @property
    def told(self) -> Path:
        """What people were told, one JSON line each."""
        return self.run / "told.jsonl"

    @property
    def model(self) -> Path:
        """The model that was made."""
        return self.run / "model"


class Alone:
    """Holds the demo's folder for as long as this process lives."""

    def __init__(self, root: Path) -> None:
        """Raises DemoError when another demo works there."""
        root.mkdir(parents=True, exist_ok=True)
        self._file = (root / "lock").open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.seek(0)
            holder = self._file.read().strip()
            self.close()
            message = f"another demo works in {root} (process {holder or 'unknown'}): wait for its end or stop it with Ctrl-C"
            raise DemoError(message) from error
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def close(self) -> None:
        """Let go of it."""
        self._file.close()


def clean_up(root: Path) -> Iterator[int]:
    """End what an earlier run left running, yielding how many processes are left, and remove its folder.

    Raises DemoError when something cannot be ended.
    """
    recorded = root / "run" / "run.json"
    if recorded.exists():
        token = str(json.loads(recorded.read_text()).get("token", ""))
        mark = Mark(token, root / "run") if token else None
        if mark is not None:
            yield from leftovers.end(mark)
            if left := leftovers.belonging(mark):
                numbers = ", ".join(str(found.pid) for found in sorted(left, key=lambda found: found.pid))
                raise DemoError(f"an earlier demo left processes that do not end: {numbers}; end them and try again")
    shutil.rmtree(root / "run", ignore_errors=True)


def prepare(root: Path) -> Place:
    """Choose ports and a token, and write the token down before anything is started with it."""
    place = Place(root.resolve(), secrets.token_hex(16), *free_ports(2))
    for folder in (place.logs, place.run / "policies", place.run / "prometheus" / "data"):
        folder.mkdir(parents=True)
    record = {"token": place.token, "demo": os.getpid(), "prometheus_port": place.prometheus_port, "api_port": place.api_port}
    draft = place.run / "run.json.new"
    draft.write_text(json.dumps(record, indent=1) + "\n")
    draft.replace(place.run / "run.json")
    return place


def write_files(place: Place, scenario: Scenario, cache: Path) -> None:
    """Write the daemon's file, the fleet, its policy and Prometheus's file."""
    lock = {"PACED_ENGINE_LOCK": str(place.run / "device.lock")} if scenario.shared_device else {}
    values = {
        "api_port": place.api_port,
        "prometheus_port": place.prometheus_port,
        "engine_python": cache / "engine" / "bin" / "python",
        "router": json.dumps([str(cache / "router" / "bin" / "vllm-router"), *pacing.ROUTER_FLAGS]),
        "model": place.model,
        "executor": pacing.EXECUTOR,
        "max_model_len": pacing.MAX_MODEL_LEN,
        "max_num_seqs": pacing.MAX_NUM_SEQS,
        "kv_cache_bytes": pacing.KV_CACHE_BYTES,
        "shutdown_seconds": pacing.SHUTDOWN_SECONDS,
        "buckets": json.dumps({"time_to_first_token": pacing.TTFT_BUCKETS}),
        "environment": json.dumps({**pacing.ENGINE_ENVIRONMENT, **lock}),
        "prompt_tokens": pacing.PROMPT_CHARS,  # random letters hardly merge into longer tokens
        "slo_ms": round(1000 * pacing.SLO_SECONDS),
    }
    for name, path in (
        ("autopilot.yaml", "autopilot.yaml"),
        ("fleet.yaml", "policies/fleet.yaml"),
        (f"{scenario.name}.yaml", "policies/policy.yaml"),
        ("prometheus.yml", "prometheus/prometheus.yml"),
    ):
        (place.run / path).write_text(Template((TEMPLATES / name).read_text()).substitute(values))


def free_ports(count: int) -> tuple[int, ...]:
    """Loopback ports that nobody listens on. Raises DemoError when there are too few."""
    order = random.sample(PORTS, len(PORTS))  # so that two demos do not go for the same ones
    found: list[int] = []
    while order and len(found) < count:
        port = order.pop()
        if _bindable(port):
            found.append(port)
    if len(found) < count:
        raise DemoError(f"{count} ports of {PORTS.start} to {PORTS.stop - 1} are needed on 127.0.0.1, {len(found)} are free")
    return tuple(found)


def _bindable(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
