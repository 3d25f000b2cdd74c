"""Run long commands in sight: what is running, for how long, how it ended; each with a time bound and a log file."""
# ruff: noqa: TID251 - installing takes real seconds; the product's clock is not its clock

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

LOOK_SECONDS = 0.2  # a finished command is noticed this soon
SAY_SECONDS = 15.0  # without a terminal a line this often is enough to show life
TERM_SECONDS = 5.0  # pip cleans up its temporary folder well within this
TAIL_BYTES = 4096  # enough of a log to find its last line
LINE_CHARS = 100  # a terminal line, so that the carriage return overwrites all of it


class InstallError(Exception):
    """What was tried, what came of it and what to do, in one line."""


class Progress(Protocol):
    """Where the state of the work is shown."""

    def started(self, what: str, size: str) -> None:
        """A step begins; size is what to expect, in words."""

    def running(self, seconds: float, detail: str) -> None:
        """It goes on; called often."""

    def ended(self, what: str, seconds: float) -> None:
        """It is done."""


class Lines:
    """Progress for people: one line a step, kept moving on a terminal."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._step = 0
        self._said = 0.0

    def started(self, what: str, size: str) -> None:
        """Write the step with its number."""
        self._step += 1
        self._said = 0.0
        print(f"[{self._step}/{self._steps}] {what} ({size})", flush=True)

    def running(self, seconds: float, detail: str) -> None:
        """Show that it lives: at once on a terminal, now and then in a file."""
        line = f"        {seconds:4.0f} s  {detail}"[:LINE_CHARS]
        if sys.stdout.isatty():
            print(f"\r{line:<{LINE_CHARS}}", end="", flush=True)
        elif seconds - self._said >= SAY_SECONDS:
            self._said = seconds
            print(line, flush=True)

    def ended(self, what: str, seconds: float) -> None:
        """Write how long it took."""
        clear = f"\r{'':<{LINE_CHARS}}\r" if sys.stdout.isatty() else ""
        print(f"{clear}        {seconds:4.0f} s  {what}: done", flush=True)


class JsonLines:
    """Progress for programs: one JSON object a line."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._step = 0
        self._said = 0.0

    def started(self, what: str, size: str) -> None:
        """Write the step with its number."""
        self._step += 1
        self._said = 0.0
        self._say("step_started", what=what, size=size)

    def running(self, seconds: float, detail: str) -> None:
        """Show that it lives: at once on a terminal, now and then in a file."""
        if seconds - self._said >= 1.0:
            self._said = seconds
            self._say("step_running", seconds=round(seconds, 1), detail=detail)

    def ended(self, what: str, seconds: float) -> None:
        """Write how long it took."""
        self._say("step_done", what=what, seconds=round(seconds, 1))

    def _say(self, event: str, **fields: str | float) -> None:
        print(json.dumps({"event": event, "step": self._step, "of": self._steps, **fields}), flush=True)


@dataclass(frozen=True)
class Command:
    """A command, the log its output goes to, and the seconds after which it is ended."""

    argv: Sequence[str]
    log: Path
    bound_seconds: float


def run(command: Command, progress: Progress) -> bool:
    """Run it in a process group of its own and say whether it succeeded; False also when it ran out of time."""
    command.log.parent.mkdir(parents=True, exist_ok=True)
    with command.log.open("ab") as log:
        log.write(f"\n$ {shlex.join(command.argv)!r}\n".encode())  # on one line, whatever it contains
        log.flush()
        process = subprocess.Popen(command.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            _watch(process, command, progress)
        finally:
            _end(process)  # also when the person at the keyboard gives up
    return process.returncode == 0


def _watch(process: subprocess.Popen[bytes], command: Command, progress: Progress) -> None:
    began = time.monotonic()
    while process.poll() is None:
        seconds = time.monotonic() - began
        if seconds > command.bound_seconds:
            return
        progress.running(seconds, last_line(command.log))
        time.sleep(LOOK_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        try:
            process.wait(TERM_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def last_line(log: Path) -> str:
    """Give the last line of a log that tells something, in at most LINE_CHARS; an empty text when there is none."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    return next((line.strip()[:LINE_CHARS] for line in reversed(lines) if line.strip() and not line.startswith("WARNING")), "")


def complaint(log: Path) -> str:
    """Give the line of the log that names the error: the last with the word in it, else the last of all."""
    lines = log.read_text(errors="replace").splitlines()
    errors = [line.strip() for line in lines if "error" in line.lower() and not line.startswith("$ ")]
    return errors[-1] if errors else last_line(log)
