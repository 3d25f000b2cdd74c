"""The logs of engines and routers: a file per launch, bounded, read for people when something failed."""

import os
from collections.abc import Iterable
from pathlib import Path

KEPT = 20  # logs of launches that are no more: several rounds of failures of a whole fleet
LIMIT = 64 * 2**20  # bytes; an engine at 10 requests/s writes about this much in four days
_TAIL = 16_384  # bytes; twenty long lines


def tail(log: Path, *, lines: int = 20) -> str:
    """The last lines of a log; "" when there is none."""
    try:
        text = _end(log, _TAIL).decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def prune(folder: Path, in_use: Iterable[Path], *, kept: int = KEPT) -> None:
    """Remove the oldest logs that nothing writes to any more. Raises OSError."""
    written = frozenset(in_use)
    old = sorted((log for log in folder.glob("*.log*") if log not in written), key=lambda log: log.stat().st_mtime)
    for log in old[: max(0, len(old) - kept)]:
        log.unlink(missing_ok=True)


def bound(log: Path, *, limit: int = LIMIT) -> None:
    """Cut a log that grew over its limit, its end kept beside it.

    The writer appends (O_APPEND), so its next line goes to the new end; lines written in between are lost.
    """
    try:
        if log.stat().st_size <= limit:
            return
        log.with_name(f"{log.name}.1").write_bytes(_end(log, limit // 64))
        os.truncate(log, 0)
    except FileNotFoundError:
        return


def _end(log: Path, size: int) -> bytes:
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - size))
        return file.read()
