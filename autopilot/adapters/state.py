"""Memory on one machine: port `Store` on SQLite, synchronous FULL, because an intent must outlive a power cut."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from autopilot.adapters.single_writer import SingleWriter
from autopilot.adapters.sqlite import Database, Layout, move_aside, open_database, open_to_read
from autopilot.domain.logical_time import ZERO
from autopilot.domain.memory import Memory
from autopilot.domain.workloads import FleetRef
from autopilot.ports import StateLost

_LAYOUT = Layout(
    version=1,
    tables=(
        "CREATE TABLE memories (namespace TEXT, name TEXT, body TEXT NOT NULL, PRIMARY KEY (namespace, name)) WITHOUT ROWID",
        "CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), microseconds INTEGER NOT NULL)",
    ),
    synchronous="FULL",
)
_SAVE_MEMORY = "INSERT OR REPLACE INTO memories VALUES (?, ?, ?)"
_SAVE_CLOCK = "INSERT OR REPLACE INTO clock VALUES (1, ?)"
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class MemoryCodec:
    """How a Memory becomes JSON and comes back; `from_json` raises ValueError for what it cannot read."""

    to_json: Callable[[Memory], str]
    from_json: Callable[[str], Memory]


class SqliteStore:
    """Port `Store`. Made by `open_state`; safe to use from several threads."""

    def __init__(self, database: Database, codec: MemoryCodec, writer: SingleWriter) -> None:
        self._database = database
        self._codec = codec
        self._writer = writer

    def load(self) -> Mapping[FleetRef, Memory]:
        """Every fleet's last saved Memory. Raises StateLost when one cannot be read."""
        found = _load(self._database, self._codec)
        if found.unread:
            message = f"the memory of {', '.join(map(str, found.unread))} cannot be read"
            raise StateLost(message)
        return found.memories

    def save(self, memories: Mapping[FleetRef, Memory], *, running: timedelta) -> None:
        """Save these fleets' memories, leave the others', all or nothing, durably. Raises StateLost."""
        rows = [(ref.namespace, ref.name, self._encoded(ref, memory)) for ref, memory in memories.items()]
        self._database.write([(_SAVE_MEMORY, rows), (_SAVE_CLOCK, [(running // _MICROSECOND,)])])

    def running(self) -> timedelta:
        """The logical time saved last; zero for a new store. Raises StateLost."""
        rows = self._database.rows("SELECT microseconds FROM clock")
        return rows[0][0] * _MICROSECOND if rows else ZERO

    def close(self) -> None:
        """Close the file and let another process have it."""
        self._database.close()
        self._writer.release()

    def _encoded(self, ref: FleetRef, memory: Memory) -> str:
        try:
            return self._codec.to_json(memory)
        except ValueError as error:
            message = f"the memory of {ref} cannot be written: {error}"
            raise StateLost(message) from error


@dataclass(frozen=True, slots=True)
class OpenedState:
    """A store, and whether anything that was in it is lost: then every fleet rests for one cooldown.

    `aside` is where the file that could not be read, or not wholly, is kept.
    """

    store: SqliteStore
    lost: bool = False
    aside: Path | None = None


def open_state(path: Path, codec: MemoryCodec) -> OpenedState:
    """Open or create the store. Raises StateInUse or StateLost.

    A file that cannot be read is moved aside and a blank one begun. Where single memories cannot be read
    the file is moved aside as well, and the others go into the new one: they may hold a removal half done.
    """
    path = path.resolve()  # the same file by two names must meet the same lock
    writer = SingleWriter(path)
    try:
        opened = open_database(path, _LAYOUT)
        found = _load(opened.database, codec)
        store = SqliteStore(opened.database, codec, writer)
        if not found.unread:
            return OpenedState(store, lost=opened.aside is not None, aside=opened.aside)
        return _begun_anew(path, store, found.memories)
    except BaseException:
        writer.release()
        raise


@dataclass(frozen=True, slots=True)
class StateRead:
    """What a store holds: memories, and the logical time saved last."""

    memories: Mapping[FleetRef, Memory]
    running: timedelta


def read_state(path: Path, codec: MemoryCodec) -> StateRead:
    """Read a store that a daemon may be writing, changing nothing; blank where there is none. Raises StateLost."""
    if not path.exists():
        return StateRead({}, ZERO)
    with closing(open_to_read(path, _LAYOUT)) as database:
        rows = database.rows("SELECT microseconds FROM clock")
        return StateRead(_load(database, codec).memories, rows[0][0] * _MICROSECOND if rows else ZERO)


@dataclass(frozen=True, slots=True)
class _Found:
    memories: dict[FleetRef, Memory]
    unread: tuple[FleetRef, ...]


def _load(database: Database, codec: MemoryCodec) -> _Found:
    memories, unread = {}, []
    for namespace, name, body in database.rows("SELECT namespace, name, body FROM memories"):
        ref = FleetRef(namespace, name)
        try:
            memories[ref] = codec.from_json(body)
        except (ValueError, TypeError):  # TypeError: the body is no text at all
            unread.append(ref)
    return _Found(memories, tuple(unread))


def _begun_anew(path: Path, old: SqliteStore, memories: Mapping[FleetRef, Memory]) -> OpenedState:
    running = old.running()
    old._database.close()  # noqa: SLF001 - the same module; its lock is kept
    aside = move_aside(path)
    store = SqliteStore(open_database(path, _LAYOUT).database, old._codec, old._writer)  # noqa: SLF001
    store.save(memories, running=running)
    return OpenedState(store, lost=True, aside=aside)
