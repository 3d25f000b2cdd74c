"""Real Prometheus servers for tests: the one on the PATH and the one in PROMETHEUS_BIN_DIR, on free loopback ports."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.support.waiting import eventually

QUIET = "global: {scrape_interval: 1h}\n"
"""A configuration without a target: the server has what was backfilled, and nothing else."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """Where `prometheus` and `promtool` of one version are."""

    prometheus: str
    promtool: str


def on_path() -> Binaries | None:
    """What the PATH has."""
    return _both(shutil.which("prometheus"), shutil.which("promtool"))


def in_bin_dir() -> Binaries | None:
    """What the folder named by PROMETHEUS_BIN_DIR has."""
    folder = os.environ.get("PROMETHEUS_BIN_DIR")
    return _both(shutil.which("prometheus", path=folder), shutil.which("promtool", path=folder)) if folder else None


@pytest.fixture(scope="session", params=["path", "bin-dir"])
def binaries(request: pytest.FixtureRequest) -> Binaries:
    """Every version that is there, one after the other; import it in a conftest.py."""
    found = on_path() if request.param == "path" else in_bin_dir()
    if found is None:
        where = "on the PATH" if request.param == "path" else "in the folder named by PROMETHEUS_BIN_DIR"
        pytest.skip(f"no prometheus with promtool {where}")
    return found


def any_binaries() -> Binaries:
    """One version, for tests that need a server and no particular one. Skips the test where there is none."""
    found = in_bin_dir() or on_path()
    if found is None:
        pytest.skip("no prometheus with promtool, neither in PROMETHEUS_BIN_DIR nor on the PATH")
    return found


class PrometheusServer:
    """A server that is ready inside `with`, and gone with its data after it.

    `config` is the text of prometheus.yml; `history` is OpenMetrics text with timestamps that is put into the
    data folder before the start. Files that the configuration refers to (file_sd) go into `folder`,
    which `config` may call by the word FOLDER.
    """

    def __init__(self, binaries: Binaries, *, config: str = QUIET, history: str = "", flags: tuple[str, ...] = ()) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._binaries = binaries
        self._config = config
        self._history = history
        self._flags = flags
        self._holder = tempfile.TemporaryDirectory(prefix="prometheus-", ignore_cleanup_errors=True)
        self.folder = Path(self._holder.name)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            if self._history:
                self._backfill()
            (self.folder / "prometheus.yml").write_text(self._config.replace("FOLDER", str(self.folder)), encoding="utf-8")
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        self._holder.cleanup()

    def start(self) -> None:
        """Start it, again after `kill`, on the same port and data; returns when it is ready."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log, start_new_session=True)
        if not eventually(lambda: self._is_ready() or self._has_ended(), within=30.0) or self._has_ended():
            message = f"prometheus did not become ready: {(self.folder / 'log').read_text(errors='replace')[-2000:]}"
            raise RuntimeError(message)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def reload(self) -> None:
        """Read prometheus.yml again."""
        self._signal(signal.SIGHUP)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stopped by SIGSTOP inside `with`: it accepts connections and never answers."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            message = "prometheus is not running"
            raise RuntimeError(message)
        os.killpg(self._process.pid, number)

    def _backfill(self) -> None:
        text = self.folder / "history.txt"
        text.write_text(self._history, encoding="utf-8")
        command = [self._binaries.promtool, "tsdb", "create-blocks-from", "openmetrics", str(text), str(self.folder / "data")]
        made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if made.returncode != 0:
            message = f"promtool did not take the history: {made.stderr[-2000:]}"
            raise RuntimeError(message)

    def _command(self) -> list[str]:
        return [
            self._binaries.prometheus,
            f"--config.file={self.folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.folder / 'data'}",
            "--storage.tsdb.retention.time=100y",  # histories have times of their own
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--log.level=warn",
            *self._flags,
        ]

    def _has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1.0)
        try:
            connection.request("GET", "/-/ready")
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _both(prometheus: str | None, promtool: str | None) -> Binaries | None:
    return None if prometheus is None or promtool is None else Binaries(prometheus, promtool)
