"""The daemon as a process: started, asked over its own doors, stopped, killed; and the scan that nothing outlives a test."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autopilot.adapters.http import HttpClient, HttpError, Response
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
RUN = (sys.executable, "-m", "autopilot.cli", "run", "--config", "autopilot.yaml")
STARTS_WITHIN = 40.0  # seconds; alone it takes two
GLANCE = 0.1  # seconds
TOKEN = "STORY_TOKEN"  # noqa: S105 - the name of a variable that every process of a test run inherits
_METRIC = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


@dataclass
class DaemonProcess:
    """One life of a daemon after the other, in a folder that holds its autopilot.yaml."""

    folder: Path
    http: HttpClient = field(default_factory=HttpClient)
    lives: int = 0
    _process: "subprocess.Popen[bytes] | None" = None
    _port: int = 0

    def start(self, command: Sequence[str] = RUN) -> None:
        """Start it and wait until its doors are open. Raises RuntimeError with what it said when it ends before."""
        self.launch(command)
        if not comes(lambda: self._listens() or self.code is not None, within=STARTS_WITHIN) or self.code is not None:
            message = f"the daemon did not start: {self.code} {self.said()[-2000:]} {self.complaints()[-2000:]}"
            raise RuntimeError(message)

    def launch(self, command: Sequence[str] = RUN) -> None:
        """Start it and wait for nothing."""
        self.lives += 1
        self._port = 0
        env = {name: value for name, value in os.environ.items() if not name.startswith("AUTOPILOT_")}
        with self._log("out").open("wb") as out, self._log("err").open("wb") as err:
            self._process = subprocess.Popen(
                command, cwd=self.folder, env={**env, "PYTHONPATH": str(ROOT)}, stdout=out, stderr=err, start_new_session=True
            )

    @property
    def pid(self) -> int:
        """Of the life that was started last."""
        assert self._process is not None
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def ends(self, *, within: float) -> int | None:
        """The exit code once it has ended, None when it has not in time."""
        comes(lambda: self.code is not None, within=within)
        return self.code

    def signal(self, number: signal.Signals) -> None:
        """Signal this process and none of its children: they are to outlive it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """As a power cut or an OOM killer would."""
        if self._process is not None:
            self.signal(signal.SIGKILL)
            self._process.wait()

    def stop(self, *, within: float = 30.0) -> int | None:
        """SIGTERM, and the exit code."""
        self.signal(signal.SIGTERM)
        return self.ends(within=within)

    def get(self, path: str) -> Response:
        """One of its doors. Raises HttpError."""
        return self.http.request("GET", f"http://127.0.0.1:{self._port}{path}", deadline_seconds=5)

    def json(self, path: str) -> Any:
        """What a door answers; an empty object while it does not."""
        try:
            return json.loads(self.get(path).body)
        except HttpError:
            return {}

    def fleet(self, name: str) -> Mapping[str, Any]:
        """A fleet's status, empty until there is one."""
        fleets = self.json("/api/v1/status").get("fleets", [])
        return next((fleet for fleet in fleets if fleet["fleet"].endswith(f"/{name}")), {})

    def alert(self, name: str) -> Mapping[str, Any]:
        """The first alert of a fleet, empty until there is one."""
        return next(iter(self.fleet(name).get("alerts", [])), {})

    def metric(self, name: str, **labels: str) -> float | None:
        """One sample of its own metrics, None where there is none."""
        try:
            text = self.get("/metrics").body.decode()
        except HttpError:
            return None
        wanted = {f'{label}="{value}"' for label, value in labels.items()}
        found = (value for metric, pairs, value in _METRIC.findall(text) if metric == name and wanted <= set(pairs.split(",")))
        return next((float(value) for value in found), None)

    def story(self) -> list[str]:
        """The sentences that it tells of every fleet since its start."""
        return [f"{line['event']}: {line['text']}" for line in self.json("/api/v1/story?limit=2000").get("lines", [])]

    def events(self) -> list[Mapping[str, Any]]:
        """Its log."""
        return list(_json_lines(self.said()))

    def said(self) -> str:
        """Standard output of the life that was started last."""
        return self._log("out").read_text(errors="replace")

    def complaints(self) -> str:
        """Standard error of the life that was started last."""
        return self._log("err").read_text(errors="replace")

    def _listens(self) -> bool:
        self._port = next((int(event["port"]) for event in self.events() if event.get("event") == "listening"), 0)
        return self._port > 0

    def _log(self, stream: str) -> Path:
        return self.folder / f"daemon-{self.lives}.{stream}"


def carriers(token: str) -> dict[int, str]:
    """Every running process whose environment carries the token, and its command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            if f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return found


def pause(seconds: float) -> None:
    """Let an outage last: the one thing that has no condition to wait for."""
    threading.Event().wait(seconds)


def comes(predicate: Callable[[], object], *, within: float) -> bool:
    """As `eventually`, looking ten times a second: each look asks another process."""
    return eventually(predicate, within=within, glance=GLANCE)


def _json_lines(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        with suppress(ValueError):
            yield json.loads(line)
