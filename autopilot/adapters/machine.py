"""What the doctor asks this machine: may this be read, may that be written, who listens. Nothing is changed and nothing is sent."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.http import HttpClient, HttpError, HttpRefused, origin
from autopilot.adapters.sockets import Deadline, OutOfTimeError, Resolver, connect
from autopilot.adapters.state import MemoryCodec, read_state
from autopilot.ports import Clock, StateLost

SECONDS = 3.0  # for a connection


@dataclass(frozen=True, slots=True)
class ThisMachine:
    """Answers with an empty text for good news, as the doctor's door `Machine` says. `codec` reads a state file."""

    codec: MemoryCodec
    clock: Clock
    http: HttpClient

    @classmethod
    def with_codec(cls, codec: MemoryCodec) -> "ThisMachine":
        """On the machine's own clock."""
        return cls(codec, SystemClock(), HttpClient())

    def unreadable(self, path: Path) -> str:
        """Why a file or folder cannot be read."""
        if not path.exists():
            return "is not there"
        inside = os.R_OK | os.X_OK if path.is_dir() else os.R_OK
        return "" if os.access(path, inside) else f"cannot be read by user {os.geteuid()}"

    def exposed(self, path: Path) -> str:
        """Why a file of secrets is not secret: every user of this machine may read or change it."""
        try:
            mode = path.stat().st_mode
        except OSError:
            return ""
        ways = [word for bit, word in ((stat.S_IROTH, "read"), (stat.S_IWOTH, "changed")) if mode & bit]
        return f"can be {' and '.join(ways)} by every user of this machine" if ways else ""

    def unwritable(self, path: Path) -> str:
        """Why nothing can be written into a folder, or into the nearest one above it that exists.

        Tried with a file that has no name and is gone at once: what permissions say is not the whole truth.
        """
        there = path.absolute()
        while not there.exists() and there != there.parent:
            there = there.parent
        if not there.is_dir():
            return f"{there} is no folder"
        try:
            with tempfile.TemporaryFile(dir=there):
                return ""
        except OSError as error:
            return f"{there} cannot be written by user {os.geteuid()}: {error.strerror}"

    def holder(self, state: Path) -> str:
        """The process that holds the lock beside a state file. The lock is tried for, and given back at once."""
        path = state.resolve()
        lock = path.with_name(f"{path.name}.lock")
        try:
            descriptor = os.open(lock, os.O_RDWR)
        except OSError:
            return ""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
        else:
            return ""
        finally:
            os.close(descriptor)

    def unreadable_state(self, state: Path) -> str:
        """Why a state file cannot be read. One that does not exist yet is good."""
        return _why(lambda: read_state(state, self.codec))

    def listener(self, host: str, port: int) -> str:
        """`autopilot` where one answers, else what does; empty when nobody listens."""
        try:
            answer = self.http.request("GET", f"http://{host}:{port}/healthz", deadline_seconds=SECONDS)
        except HttpRefused:
            return ""
        except HttpError as error:
            return str(error)
        return "autopilot" if b'"healthy"' in answer.body else f"it answers {answer.status} to /healthz"

    def unreachable(self, url: str) -> str:
        """Why no connection to an address can be made."""
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        deadline = Deadline.after(SECONDS, self.clock)
        try:
            connect(Resolver().addresses(parts.hostname or "", port, deadline), deadline).close()
        except (OSError, OutOfTimeError) as error:
            return f"{origin(url)}: {str(error) or 'no connection in time'}"
        return ""


def _why(read: Callable[[], object]) -> str:
    try:
        read()
    except StateLost as error:
        return str(error)
    return ""
