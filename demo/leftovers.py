"""Everything that a run of the demo started, found by what it recorded, and ended.

Each run has a token that all its processes inherit in their environment. Engine cores and routers rename themselves, which
wipes what /proc shows of it; those are known by their standard output, a log file inside the run's own folder. A process is
named by its number and its start time, and is signalled through a handle, so that never a later one is hit.
"""
# ruff: noqa: TID251 - waits in real seconds; the product's clock is not its clock

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TOKEN_VARIABLE = "DEMO_RUN_TOKEN"  # noqa: S105 - the name of a variable, not a secret
TERM_SECONDS = 8.0  # an engine that is asked to go is gone after 6
KILL_SECONDS = 5.0  # the kernel needs a moment to take 2 GB of memory back
LOOK_SECONDS = 0.2
_PROC = Path("/proc")
_ENDED = frozenset("ZX")  # a zombie holds no port and no memory


@dataclass(frozen=True)
class Found:
    """A running process. `started` is in clock ticks since boot."""

    pid: int
    started: int
    session: int


@dataclass(frozen=True)
class Mark:
    """What the processes of one run carry: the token, or a log in this folder as their standard output."""

    token: str
    folder: Path


def belonging(mark: Mark) -> frozenset[Found]:
    """Every process of the run that still runs, those in a session that one of them leads included; never this one."""
    running = [found for pid in _pids() if pid != os.getpid() and (found := _look(pid)) is not None]
    marked = [found for found in running if _carries(found.pid, mark)]
    sessions = {found.pid for found in marked if found.session == found.pid}
    return frozenset(marked) | {found for found in running if found.session in sessions}


def end(mark: Mark, *, ask_first: bool = True) -> Iterator[int]:
    """End them all, yielding now and then how many are left; ends itself after 13 s at most.

    They are asked first and killed when they are late. A process that appears meanwhile is treated alike.
    """
    began, asked = time.monotonic(), set[Found]()
    patience = TERM_SECONDS if ask_first else 0.0
    while left := belonging(mark):
        waited = time.monotonic() - began
        if waited > patience + KILL_SECONDS:
            return
        for found in left:
            if waited >= patience:
                send(found, signal.SIGKILL)
            elif found not in asked:
                send(found, signal.SIGTERM)  # once: a second one would cut an engine's own ending short
                asked.add(found)
        yield len(left)
        time.sleep(LOOK_SECONDS)


def send(found: Found, number: signal.Signals) -> None:
    """Signal exactly this process, if it is still there."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(found.pid)
        try:
            if _look(found.pid) == found:  # asked while the handle is held: from here on it cannot become another
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]


def _look(pid: int) -> Found | None:
    """State, session and start time of a process: fields 3, 6 and 22 of proc(5)'s stat."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # a name may hold blanks and brackets
    return None if fields[0] in _ENDED else Found(pid, int(fields[19]), int(fields[3]))


def _carries(pid: int, mark: Mark) -> bool:
    folder = _PROC / str(pid)
    try:
        if f"{TOKEN_VARIABLE}={mark.token}".encode() in (folder / "environ").read_bytes().split(b"\0"):
            return True
        output = Path(os.readlink(folder / "fd" / "1"))  # noqa: PTH115 - Path.readlink would do the same with more words
    except OSError:
        return False  # gone, or another user's
    return output.suffix == ".log" and output.is_relative_to(mark.folder)
