"""One process at a time: a lock that the kernel takes back when its holder dies, however it dies."""

import fcntl
import os
from pathlib import Path

from autopilot.ports import StateInUse, StateLost


class SingleWriter:
    """Holds `NAME.lock` beside a file from construction until `release`.

    Raises StateInUse, naming the holder's pid, when another process (or another part of this one) has it;
    StateLost when the lock file cannot be made.
    """

    def __init__(self, path: Path) -> None:
        lock = path.with_name(f"{path.name}.lock")
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            message = f"{lock}: cannot be made: {error}; the state needs a directory it can write to"
            raise StateLost(message) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())
        except BlockingIOError as error:
            holder = _holder(self._descriptor)
            self.release()
            message = f"{path}: process {holder} is using it; stop that one first, or name another file"
            raise StateInUse(message) from error
        except OSError:
            # The name of the holder could not be written (a full disk). What counts is the lock itself.
            pass

    def release(self) -> None:
        """Let the next one in. The lock file stays: removing it would let two in at once. A second time is allowed."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
