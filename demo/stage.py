"""The processes of a run: started one after the other, watched, and taken down whatever happened.

`rise` and `fall` are generators that yield while they wait, so that the one thread of the demo can draw and can be stopped.
"""
# ruff: noqa: TID251 - waits in real seconds; the product's clock is not its clock

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from demo import leftovers, pacing
from demo.observe import FLEET, get
from demo.place import ROOT, DemoError, Place, write_files
from demo.progress import complaint
from demo.prometheus import find
from demo.scenario import Scenario

MODEL_SECONDS = 120.0  # takes 7 s, nearly all of it imports
PROMETHEUS_SECONDS = 30.0  # up in 2 s
DAEMON_SECONDS = 30.0  # up in 3 s
LOAD_SECONDS = 900  # more than a run may take: a load whose demo was killed ends by itself
DRAIN_SECONDS = 90  # for the requests under way at the end: the ladder leaves a queue of half a minute
STOP_SECONDS = 8.0  # for a process that was asked to end
COMPLAINT_CHARS = 200  # of a log line, so that an error stays one line
DOWN_SECONDS = 30  # for the fleet to be drained and gone: takes 8 s


@dataclass(frozen=True)
class Programs:
    """What is started, by path."""

    daemon: Path
    engine_python: Path
    router_python: Path
    prometheus: Path


@dataclass
class Child:
    """A process that the demo started itself."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]
    ends_by_itself: bool = False


def programs(cache: Path) -> Programs:
    """Find everything. Raises DemoError for what is missing."""
    binaries = find(cache)
    daemon = Path(sys.executable).parent / "autopilot"
    engine, router = cache / "engine" / "bin" / "python", cache / "router" / "bin" / "python"
    missing = [str(path) for path in (daemon, engine, router) if not path.exists()] + ([] if binaries else ["prometheus"])
    if binaries is None or missing:
        raise DemoError(f"not installed: {', '.join(missing)}; run `make install engines` first, or just `make demo`")
    return Programs(daemon, engine, router, binaries.prometheus)


@dataclass
class Stage:
    """All that runs for one demo."""

    place: Place
    scenario: Scenario
    programs: Programs
    cache: Path
    children: dict[str, Child] = field(default_factory=dict)

    def rise(self) -> Iterator[str]:
        """Start everything up to the daemon, yielding what is being waited for. Raises DemoError."""
        write_files(self.place, self.scenario, self.cache)
        yield from self._model()
        yield from self._prometheus()
        yield from self._daemon()

    def begin_load(self, rate: float) -> None:
        """Start the requests. Raises DemoError when there is no router to send them to."""
        url = self.router_url()
        if url is None:
            raise DemoError(f"the fleet has no router yet; see {self.place.logs / 'daemon.log'}")
        self.place.rate.write_text(f"{rate}\n")
        own = {
            "url": url, "rate": rate, "rate-file": self.place.rate, "prompt-chars": pacing.PROMPT_CHARS,
            "output-tokens": pacing.OUTPUT_TOKENS, "seconds": LOAD_SECONDS, "drain-seconds": DRAIN_SECONDS, "out": self.place.answers,
        }  # fmt: skip
        flags = [part for name, value in own.items() for part in (f"--{name}", str(value))]
        self._start("load", [str(self.programs.router_python), "-m", "demo.load", *flags], cwd=ROOT)

    def router_url(self) -> str | None:
        """Where requests go: the router's port as the backend recorded it."""
        try:
            router = json.loads((self.place.run / "fleets" / "fleets" / FLEET / "record.json").read_text())["router"]
        except FileNotFoundError:
            return None
        return f"http://127.0.0.1:{router['port']}" if router is not None else None

    def check(self) -> None:
        """Raises DemoError when a process ended that should run."""
        for child in self.children.values():
            code = child.process.poll()
            if code is not None and not child.ends_by_itself:
                raise DemoError(f"{child.name} ended with {code}: {_complaint(child.log)}; see {child.log}")

    def end_load(self) -> Iterator[str]:
        """Let the requests under way end, yielding meanwhile; after the bound they are lost."""
        load = self.children.get("load")
        if load is not None:
            load.ends_by_itself = True
            self._signal(load, signal.SIGTERM)
            yield from self._until(lambda: load.process.poll() is not None, "the last answers", DRAIN_SECONDS + STOP_SECONDS)

    def fall(self, *, in_a_hurry: Callable[[], bool]) -> Iterator[str]:
        """Take everything down, yielding what is being waited for; never raises, ends within 90 s, in a hurry within 20 s."""
        if "load" in self.children:
            self._signal(self.children["load"], signal.SIGKILL)  # its answers are in, or nobody wants them: the engines drain sooner
        for name in ("model", "daemon"):
            yield from self._stop(name, in_a_hurry)
        if "daemon" in self.children:
            yield from self._fleet_down(in_a_hurry)
        yield from self._stop("prometheus", in_a_hurry)
        for left in leftovers.end(self.place.mark, ask_first=not in_a_hurry()):
            yield f"{left} processes"
        for child in self.children.values():
            child.process.poll()

    def _model(self) -> Iterator[str]:
        argv = [
            str(self.programs.engine_python), "-m", "demo.model", str(self.place.model),
            "--step-seconds", str(pacing.STEP_SECONDS), "--token-seconds", str(pacing.TOKEN_SECONDS),
        ]  # fmt: skip
        child = self._start("model", argv, cwd=ROOT, ends_by_itself=True)
        yield from self._wait("making a tiny model", MODEL_SECONDS, child, lambda: child.process.poll() is not None)
        if child.process.returncode != 0:
            raise DemoError(f"the model was not made: {_complaint(child.log)}; see {child.log}")

    def _prometheus(self) -> Iterator[str]:
        folder, port = self.place.run / "prometheus", self.place.prometheus_port
        (folder / "targets.json").write_text("[]\n")
        argv = [
            str(self.programs.prometheus), "--config.file=prometheus.yml", "--storage.tsdb.path=data",
            f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn",
        ]  # fmt: skip
        child = self._start("prometheus", argv, cwd=folder)
        yield from self._wait("starting Prometheus", PROMETHEUS_SECONDS, child, lambda: get(port, "/api/v1/query", query="1") is not None)

    def _daemon(self) -> Iterator[str]:
        port = self.place.api_port
        child = self._start("daemon", [str(self.programs.daemon), "run", "--config", "autopilot.yaml"], cwd=self.place.run)
        yield from self._wait("starting the autopilot", DAEMON_SECONDS, child, lambda: get(port, "/healthz") is not None)

    def _fleet_down(self, in_a_hurry: Callable[[], bool]) -> Iterator[str]:
        """The product's own take-down: drained, ended, the router last."""
        if in_a_hurry():
            return
        argv = [str(self.programs.daemon), "fleet", "down", FLEET, "--config", "autopilot.yaml", "--within", str(DOWN_SECONDS)]
        down = self._start("fleet-down", argv, cwd=self.place.run, ends_by_itself=True)
        yield from self._until(lambda: down.process.poll() is not None or in_a_hurry(), "the fleet to end", DOWN_SECONDS + STOP_SECONDS)

    def _start(self, name: str, argv: Sequence[str], *, cwd: Path, ends_by_itself: bool = False) -> Child:
        log = self.place.logs / f"{name}.log"
        with log.open("ab") as output:
            try:
                process = subprocess.Popen(
                    argv, cwd=cwd, env=self._environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
                )
            except OSError as error:
                raise DemoError(f"{argv[0]}: cannot be started ({error.strerror}); run `make install engines` again") from error
        child = self.children[name] = Child(name, log, process, ends_by_itself)
        return child

    def _environment(self) -> Mapping[str, str]:
        """Ours, without settings of another autopilot, and with the token that everything of this run is known by."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AUTOPILOT_")}
        return {**kept, leftovers.TOKEN_VARIABLE: self.place.token, "PYTHONUNBUFFERED": "1"}

    def _wait(self, what: str, seconds: float, child: Child, done: Callable[[], bool]) -> Iterator[str]:
        """Wait for a step of the start. Raises DemoError when the process ended or the time is over."""
        ends = time.monotonic() + seconds
        while not done():
            self.check()
            if time.monotonic() > ends:
                raise DemoError(f"{what}: not done after {seconds:.0f} s; see {child.log}, then run the same command again")
            yield what

    def _until(self, done: Callable[[], bool], what: str, seconds: float) -> Iterator[str]:
        ends = time.monotonic() + seconds
        while not done() and time.monotonic() < ends:
            yield what

    def _stop(self, name: str, in_a_hurry: Callable[[], bool]) -> Iterator[str]:
        child = self.children.get(name)
        if child is None or child.process.poll() is not None:
            return
        child.ends_by_itself = True
        self._signal(child, signal.SIGTERM)
        yield from self._until(lambda: child.process.poll() is not None or in_a_hurry(), f"{name} to end", STOP_SECONDS)
        if child.process.poll() is None:
            self._signal(child, signal.SIGKILL)

    def _signal(self, child: Child, number: signal.Signals) -> None:
        """To its whole group: it leads one of its own. Not reaped yet, so the number is still its own."""
        if child.process.poll() is None:
            os.killpg(child.process.pid, number)


def _complaint(log: Path) -> str:
    """What the log says about its end, short: of a JSON line the exception, of a text line as much as fits."""
    line = complaint(log)
    try:
        raised = json.loads(line)["exception"][-1]
    except (ValueError, LookupError, TypeError):
        return line[:COMPLAINT_CHARS]
    return f"{raised['exc_type']}: {raised['exc_value']}"[:COMPLAINT_CHARS]
