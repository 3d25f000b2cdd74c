"""SQLite files that survive what happens to files: the only importer of sqlite3.

A file that cannot be read is moved aside, never deleted. Every error is a StateLost that says what was tried.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from autopilot.ports import StateLost

APPLICATION = 0x41_55_54_4F  # "AUTO": another program's database is refused, not moved away
BUSY = 1.0  # seconds; the only other hands are a person's backup or query, and a tick must not wait longer
_UNREADABLE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

Change: TypeAlias = tuple[str, Sequence[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a file. `synchronous` is SQLite's: FULL survives a power cut, NORMAL may lose the last commits."""

    version: int
    tables: tuple[str, ...]
    synchronous: str


class Unreadable(StateLost):
    """The file is there and makes no sense: garbage, truncated, of another version."""


class Database:
    """One open file; safe to use from several threads."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._turn = threading.Lock()
        self._identity = _identity(path)

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query. Raises StateLost."""
        with self._turn, _translated(self._path, "read"):
            return self._connection.execute(query, parameters).fetchall()

    def write(self, changes: Sequence[Change]) -> None:
        """Carry out every statement once per row of its parameters: all or nothing. Raises StateLost."""
        with self._turn, _translated(self._path, "written"):
            if _identity(self._path) != self._identity:
                # SQLite would go on writing to the file that nobody can find any more.
                message = f"{self._path}: was removed or replaced while in use; restart to begin a new one"
                raise StateLost(message)
            _transaction(self._connection, changes)

    def close(self) -> None:
        """Close the file; a second time is allowed."""
        with self._turn:
            self._connection.close()


@dataclass(frozen=True, slots=True)
class Opened:
    """A database, and where the unreadable one before it was moved to, if there was one."""

    database: Database
    aside: Path | None = None


def open_database(path: Path, layout: Layout) -> Opened:
    """Open or create. An unreadable file is moved aside and a blank one begun. Raises StateLost."""
    try:
        return Opened(_open(path, layout))
    except Unreadable:
        aside = move_aside(path)
    return Opened(_open(path, layout), aside)


def open_to_read(path: Path, layout: Layout) -> Database:
    """Open a file that another process may be writing, changing nothing. Raises StateLost."""
    with _translated(path, "read"):
        return _checked(path, layout, sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, **_options()))


def move_aside(path: Path) -> Path:
    """Rename a closed database, with what SQLite keeps beside it, to NAME.corrupt-N. Raises StateLost."""
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    with _translated(path, "moved aside"):
        for suffix in ("-wal", "-shm", ""):  # the file itself last: cut short before it, the next start does it again
            part = Path(f"{path}{suffix}")
            if part.exists():
                part.rename(f"{aside}{suffix}")
    return aside


def _open(path: Path, layout: Layout) -> Database:
    with _translated(path, "opened"):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size == 0:
            # SQLite takes an empty file for a new database: what was in it would be missed by nobody.
            message = f"{path}: is empty"
            raise Unreadable(message)
        connection = sqlite3.connect(path, **_options())
        try:
            _prepare(connection, layout)
        except BaseException:
            connection.close()
            raise
        return _checked(path, layout, connection)


def _options() -> dict[str, Any]:
    return {"timeout": BUSY, "isolation_level": None, "check_same_thread": False}


def _prepare(connection: sqlite3.Connection, layout: Layout) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {layout.synchronous}")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        marks = (f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {layout.version}")
        _transaction(connection, [(statement, [()]) for statement in (*layout.tables, *marks)])


def _checked(path: Path, layout: Layout, connection: sqlite3.Connection) -> Database:
    try:
        _check(path, layout, connection)
        return Database(path, connection)
    except BaseException:
        connection.close()
        raise


def _check(path: Path, layout: Layout, connection: sqlite3.Connection) -> None:
    application, version = (connection.execute(f"PRAGMA {mark}").fetchone()[0] for mark in ("application_id", "user_version"))
    if application != APPLICATION:
        message = f"{path}: is the database of another program; name another file"
        raise StateLost(message)
    if version != layout.version:
        message = f"{path}: was written in layout {version}, this version reads layout {layout.version}"
        raise Unreadable(message)
    with closing(connection.execute("PRAGMA quick_check(1)")) as check:
        found = check.fetchone()[0]
    if found != "ok":
        message = f"{path}: is damaged: {found}"
        raise Unreadable(message)


def _transaction(connection: sqlite3.Connection, changes: Sequence[Change]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement, rows in changes:
            connection.executemany(statement, rows) if rows != [()] else connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:  # SQLite has already rolled back after some errors, not after others
            connection.execute("ROLLBACK")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - twice as fast as Path.stat in every tick
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _translated(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        # Python's own complaints (a closed connection) carry no code of SQLite's.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        kind = Unreadable if code in _UNREADABLE else StateLost
        message = f"{path}: cannot be {done}: {error}; look at the disk's free space and the file's permissions"
        raise kind(message) from error
    except (OSError, UnicodeError, OverflowError) as error:
        message = f"{path}: cannot be {done}: {error}"
        raise StateLost(message) from error
