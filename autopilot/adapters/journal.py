"""The history of decisions: port `Journal` on SQLite, synchronous NORMAL, because losing its end loses no promise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autopilot.adapters.single_writer import SingleWriter
from autopilot.adapters.sqlite import Change, Database, Layout, open_database, open_to_read
from autopilot.domain.workloads import FleetRef
from autopilot.ports import Line, StateLost

_LAYOUT = Layout(
    version=1,
    tables=(
        """CREATE TABLE lines (id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, name TEXT NOT NULL,
           at INTEGER NOT NULL, wall TEXT NOT NULL, body TEXT NOT NULL, remediation TEXT NOT NULL, notable INTEGER NOT NULL)""",
        "CREATE INDEX by_fleet ON lines (namespace, name, id)",
        "CREATE INDEX by_time ON lines (at)",
        "CREATE TABLE policies (id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT UNIQUE NOT NULL, text TEXT NOT NULL)",
    ),
    synchronous="NORMAL",
)
_INSERT = "INSERT INTO lines (namespace, name, at, wall, body, remediation, notable) VALUES (?, ?, ?, ?, ?, ?, ?)"
_NEWEST = "SELECT namespace, name, at, wall, body, remediation, notable FROM lines ORDER BY id DESC LIMIT ?"
_NEWEST_OF_FLEET = """SELECT namespace, name, at, wall, body, remediation, notable FROM lines
                      WHERE namespace = ? AND name = ? ORDER BY id DESC LIMIT ?"""
_DROP_OVER_COUNT = "DELETE FROM lines WHERE id <= (SELECT max(id) FROM lines) - ?"
_DROP_OLDER = "DELETE FROM lines WHERE at < ?"
_REMEMBER = "INSERT OR REPLACE INTO policies (hash, text) VALUES (?, ?)"  # a new id: it is the newest again
_FORGET = "DELETE FROM policies WHERE id <= (SELECT max(id) FROM policies) - ?"
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept: the newest `lines`, none older than `age` of logical time, and the texts of the newest `policies`."""

    lines: int = 100_000
    age: timedelta = timedelta(days=30)
    policies: int = 1_000


class JournalReader:
    """What can be asked of a journal; safe to use from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, fleet: FleetRef | None = None, *, last: int = 100) -> Sequence[Line]:
        """The newest records, of one fleet or of all, oldest first. Raises StateLost."""
        if fleet is None:
            rows = self._database.rows(_NEWEST, (last,))
        else:
            rows = self._database.rows(_NEWEST_OF_FLEET, (fleet.namespace, fleet.name, last))
        return tuple(_line(*row) for row in reversed(rows))

    def policy(self, hash_: str) -> str | None:
        """The text of the policy with this hash, None where it was never seen or is long gone. Raises StateLost."""
        rows = self._database.rows("SELECT text FROM policies WHERE hash = ?", (hash_,))
        return str(rows[0][0]) if rows else None

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class SqliteJournal(JournalReader):
    """Port `Journal`. Made by `open_journal`. `failures` counts the writes that did not work; each is also reported."""

    def __init__(self, database: Database, writer: SingleWriter, retention: Retention, on_failure: Callable[[StateLost], None]) -> None:
        super().__init__(database)
        self._writer = writer
        self._retention = retention
        self._on_failure = on_failure
        self.failures = 0

    def append(self, lines: Sequence[Line]) -> None:
        """Keep these records and drop what is past retention. Never raises."""
        if lines:
            self._write([(_INSERT, [_row(line) for line in lines]), *self._dropping(newest=lines[-1].at)])

    def remember_policy(self, hash_: str, text: str) -> None:
        """Keep the text that records name by its hash, so that they can be replayed. Never raises."""
        self._write([(_REMEMBER, [(hash_, text)]), (_FORGET, [(self._retention.policies,)])])

    def close(self) -> None:
        """Close the file and let another process have it."""
        super().close()
        self._writer.release()

    def _dropping(self, *, newest: timedelta) -> list[Change]:
        # Ages are of logical time: a wall clock set forward by a year must not empty the journal.
        oldest = (newest - self._retention.age) // _MICROSECOND
        return [(_DROP_OVER_COUNT, [(self._retention.lines,)]), (_DROP_OLDER, [(oldest,)])]

    def _write(self, changes: Sequence[Change]) -> None:
        try:
            self._database.write(changes)
        except StateLost as error:
            self.failures += 1
            self._on_failure(error)


@dataclass(frozen=True, slots=True)
class OpenedJournal:
    """A journal, and where one that could not be read is kept."""

    journal: SqliteJournal
    aside: Path | None = None


def open_journal(path: Path, retention: Retention, *, on_failure: Callable[[StateLost], None]) -> OpenedJournal:
    """Open or create; a file that cannot be read is moved aside. Raises StateInUse or StateLost."""
    path = path.resolve()
    writer = SingleWriter(path)
    try:
        opened = open_database(path, _LAYOUT)
    except BaseException:
        writer.release()
        raise
    return OpenedJournal(SqliteJournal(opened.database, writer, retention, on_failure), opened.aside)


def open_journal_to_read(path: Path) -> JournalReader:
    """Open the journal that a daemon may be writing, changing nothing: for `replay`. Raises StateLost."""
    return JournalReader(open_to_read(path, _LAYOUT))


def _row(line: Line) -> tuple[str, str, int, str, str, str, bool]:
    wall = line.wall.astimezone(UTC).isoformat()
    return line.fleet.namespace, line.fleet.name, line.at // _MICROSECOND, wall, line.body, line.remediation, line.notable


def _line(*row: object) -> Line:
    namespace, name, at, wall, body, remediation, notable = row
    return Line(
        fleet=FleetRef(str(namespace), str(name)),
        at=int(str(at)) * _MICROSECOND,
        wall=datetime.fromisoformat(str(wall)),
        body=str(body),
        remediation=str(remediation),
        notable=bool(notable),
    )
