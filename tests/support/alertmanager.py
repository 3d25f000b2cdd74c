"""Real Alertmanagers for tests: peers that gossip, on free loopback ports."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from autopilot.adapters.http import HttpClient, HttpError
from tests.support.prometheus import free_port
from tests.support.waiting import eventually

ROUTING = """
route: {receiver: autopilot, group_by: ["..."], group_wait: 1s, group_interval: 1s, repeat_interval: 5s}
receivers:
  - name: autopilot
    webhook_configs:
      - {url: "HOOK", send_resolved: true, http_config: {authorization: {credentials: TOKEN}}}
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """One of them."""

    port: int
    gossip: int

    @property
    def address(self) -> str:
        """As Prometheus wants it."""
        return f"127.0.0.1:{self.port}"


def alertmanager_binary() -> str:
    """Debian's, or the one in PROMETHEUS_BIN_DIR. Skips the test where there is none."""
    folder = os.environ.get("PROMETHEUS_BIN_DIR")
    found = shutil.which("prometheus-alertmanager") or (shutil.which("alertmanager", path=folder) if folder else None)
    if found is None:
        pytest.skip("no alertmanager, neither on the PATH nor in PROMETHEUS_BIN_DIR")
    return found


def peers(count: int) -> tuple[Peer, ...]:
    """Ports for so many."""
    return tuple(Peer(free_port(), free_port()) for _ in range(count))


@contextmanager
def cluster(members: Sequence[Peer], *, hook: str, token: str) -> Iterator[None]:
    """All of them running inside `with`, each posting to `hook`."""
    binary = alertmanager_binary()
    with ExitStack() as running:
        for peer in members:
            others = [one for one in members if one != peer]
            running.enter_context(_one(binary, peer, others, ROUTING.replace("HOOK", hook).replace("TOKEN", token)))
        assert eventually(lambda: all(_ready(peer) for peer in members), within=30)
        yield


@contextmanager
def _one(binary: str, peer: Peer, others: Sequence[Peer], config: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory(prefix="alertmanager-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "alertmanager.yml"
        file.write_text(config)
        command = [
            binary,
            f"--config.file={file}",
            f"--storage.path={folder}/data",
            f"--web.listen-address={peer.address}",
            f"--cluster.listen-address=127.0.0.1:{peer.gossip}",
            "--cluster.advertise-address=127.0.0.1:" + str(peer.gossip),
            *(f"--cluster.peer=127.0.0.1:{other.gossip}" for other in others),
        ]
        with (Path(folder) / "log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _ready(peer: Peer) -> bool:
    try:
        return HttpClient().request("GET", f"http://{peer.address}/-/ready", deadline_seconds=2).status == 200
    except HttpError:
        return False
