"""Processes that outlive us: started, found again, told apart from every other, and ended with all they started.

What proves that a process is ours: its start time beside its number; the token of its launch in its
environment; or the log file of its launch as its standard output. The last is needed because engine
cores and routers rename themselves (setproctitle), which wipes what /proc shows of their environment.
"""

import errno
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TOKEN_VARIABLE = "AUTOPILOT_REPLICA_TOKEN"  # noqa: S105 - the name of a variable, not a secret
_PROC = Path("/proc")
_ENDED = frozenset("ZX")  # a zombie holds no port, no memory and no GPU; who must reap it may never do so


@dataclass(frozen=True, slots=True)
class Process:
    """One process, told apart from a later one with the same number. `started` is in clock ticks since `boot`."""

    pid: int
    started: int
    boot: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What every process of one launch carries. `log` is an absolute path that no other launch uses."""

    token: str
    log: Path


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start. `env` is the whole environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    mark: Mark


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    session: int
    started: int


def start(launch: Launch) -> Process:
    """Start a program in a session of its own, nothing of ours in its hands but its log. Raises OSError."""
    launch.mark.log.parent.mkdir(parents=True, exist_ok=True)
    log = str(launch.mark.log)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawnp(
        launch.argv[0],
        list(launch.argv),
        {**launch.env, TOKEN_VARIABLE: launch.mark.token},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM),  # Python ignores SIGPIPE; a child would inherit that
    )
    seen = _stat(pid)
    if seen is None:  # ours and not reaped, so /proc must know it
        raise OSError(errno.ESRCH, "the new process is not to be seen in /proc", str(pid))
    return Process(pid, seen.started, boot())


@cache
def boot() -> str:
    """The kernel's name for the time since it booted: numbers and start times begin anew with it."""
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def alive(process: Process) -> bool:
    """Whether it still runs. Reaps it first where it is a child of ours."""
    _reap(process)
    return _is(process, _stat(process.pid))


def session_of(process: Process) -> frozenset[Process]:
    """Every running process of the session that `process` leads; none once it has ended."""
    if not alive(process):
        return frozenset()
    numbered = ((pid, stat) for pid in _pids() if (stat := _stat(pid)) is not None)
    found = frozenset(Process(pid, s.started, process.boot) for pid, s in numbered if s.session == process.pid and s.state not in _ENDED)
    return found if alive(process) else frozenset()  # its number was pinned all the while only if it still lives


def marked(mark: Mark) -> frozenset[Process]:
    """Every running process of one launch, by token or by log, whoever its parent is now."""
    now = boot()
    numbered = ((pid, stat) for pid in _pids() if (stat := _stat(pid)) is not None and stat.state not in _ENDED)
    return frozenset(Process(pid, stat.started, now) for pid, stat in numbered if _carries(pid, mark))


def leader(processes: frozenset[Process]) -> Process | None:
    """The one among them that leads their session, as the program that was started does."""
    return next((process for process in processes if (stat := _stat(process.pid)) is not None and stat.session == process.pid), None)


def send(process: Process, number: signal.Signals) -> bool:
    """Signal exactly this process, never a later one with its number. Whether it was there to get it."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if not _is(process, _stat(process.pid)):  # asked after the handle is held: from here on it cannot change
            return False
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())


def _stat(pid: int) -> _Stat | None:
    """State, session and start time of a process (proc(5): fields 3, 6 and 22), None when there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # a name may hold blanks and brackets, so count from behind it
    return _Stat(state=fields[0], session=int(fields[3]), started=int(fields[19]))


def _is(process: Process, stat: _Stat | None) -> bool:
    return stat is not None and stat.started == process.started and stat.state not in _ENDED and process.boot == boot()


def _carries(pid: int, mark: Mark) -> bool:
    folder = _PROC / str(pid)
    try:
        if f"{TOKEN_VARIABLE}={mark.token}".encode() in (folder / "environ").read_bytes().split(b"\0"):
            return True
        outputs = [(folder / "fd" / number).readlink() for number in ("1", "2")]
    except OSError:  # gone meanwhile, or of another user: not ours
        return False
    return str(mark.log) in {str(output).removesuffix(" (deleted)") for output in outputs}


def _reap(process: Process) -> None:
    """Take a dead child's exit status, so that it does not stay a zombie. Others' children are theirs."""
    stat = _stat(process.pid)
    if stat is None or stat.started != process.started or stat.state not in _ENDED:
        return
    try:
        os.waitpid(process.pid, os.WNOHANG)
    except ChildProcessError:
        return
