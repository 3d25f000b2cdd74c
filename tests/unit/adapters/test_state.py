import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from autopilot.adapters.state import MemoryCodec, OpenedState, open_state
from autopilot.control.codec import memory_from_json, memory_to_json
from autopilot.domain.memory import Memory
from autopilot.domain.workloads import FleetRef
from autopilot.ports import StateInUse, StateLost
from tests.support.tiny_disk import TinyDisk, tiny_disk

__all__ = ["tiny_disk"]

CODEC = MemoryCodec(memory_to_json, memory_from_json)
CHAT, CODE = FleetRef("llm", "chat"), FleetRef("llm", "code")
ONE, TWO = Memory(accepted=1), Memory(accepted=2)
HOUR = timedelta(hours=1)
HOLDER = """
import sys
from pathlib import Path
from autopilot.adapters.single_writer import SingleWriter
held = SingleWriter(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
SCRIBBLER = """
import os, sys
from datetime import timedelta
from pathlib import Path
from autopilot.adapters.state import MemoryCodec, open_state
from autopilot.control.codec import memory_from_json, memory_to_json
from autopilot.domain.memory import Memory
from autopilot.domain.workloads import FleetRef
store = open_state(Path(sys.argv[1]), MemoryCodec(memory_to_json, memory_from_json)).store
store.save({FleetRef("llm", "chat"): Memory(accepted=7)}, running=timedelta(hours=7))
os.kill(os.getpid(), 9)
"""

Open = Callable[[Path], OpenedState]


@pytest.fixture
def opening() -> Iterator[Open]:
    with ExitStack() as stack:

        def open_(path: Path) -> OpenedState:
            opened = open_state(path, CODEC)
            stack.callback(opened.store.close)
            return opened

        yield open_


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with something in it, closed."""
    path = tmp_path / "state.db"
    with closing(open_state(path, CODEC).store) as store:
        store.save({CHAT: ONE, CODE: TWO}, running=HOUR)
    return path


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def truncate(path: Path, size: int) -> None:
    with path.open("rb+") as file:
        file.truncate(size)


def scribble(path: Path) -> None:
    """Overwrite a page in the middle."""
    with path.open("rb+") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


damage = pytest.mark.parametrize(
    "harm",
    [
        garbage,
        partial(truncate, size=0),
        partial(truncate, size=100),
        partial(truncate, size=4096),
        partial(truncate, size=6000),
        scribble,
        lambda path: sql(path, "PRAGMA user_version = 0"),
        lambda path: sql(path, "PRAGMA user_version = 99"),
    ],
    ids=["garbage", "empty", "cut-in-the-header", "cut-after-a-page", "cut-in-a-page", "overwritten", "older", "newer"],
)


@damage
def test_a_store_that_cannot_be_read_starts_blank_and_says_so(path: Path, harm: Callable[[Path], None], opening: Open) -> None:
    harm(path)

    opened = opening(path)

    assert opened.lost
    assert (opened.store.load(), opened.store.running()) == ({}, timedelta())


@damage
def test_a_store_that_cannot_be_read_is_kept_aside(path: Path, harm: Callable[[Path], None], opening: Open) -> None:
    harm(path)
    found = path.read_bytes()

    opened = opening(path)

    assert opened.aside == path.with_name("state.db.corrupt-1")
    assert opened.aside.read_bytes() == found


@damage
def test_a_store_that_was_begun_anew_works(path: Path, harm: Callable[[Path], None], opening: Open) -> None:
    harm(path)
    opened = opening(path)

    opened.store.save({CHAT: TWO}, running=HOUR)
    opened.store.close()

    again = opening(path)
    assert (again.lost, again.store.load()) == (False, {CHAT: TWO})


def test_every_damaged_file_is_kept(path: Path, opening: Open) -> None:
    garbage(path)
    opening(path).store.close()
    garbage(path)

    assert opening(path).aside == path.with_name("state.db.corrupt-2")


@pytest.mark.parametrize("body", ["'{}'", "'not json'", "x'00ff'", "'{\"schema\": 99}'"], ids=["empty", "garbage", "bytes", "newer"])
def test_one_unreadable_memory_does_not_take_the_others_with_it(path: Path, body: str, opening: Open) -> None:
    sql(path, f"UPDATE memories SET body = {body} WHERE name = 'chat'")  # noqa: S608 - one of four texts

    opened = opening(path)

    assert opened.lost
    assert opened.aside == path.with_name("state.db.corrupt-1")
    assert (opened.store.load(), opened.store.running()) == ({CODE: TWO}, HOUR)


def test_a_healthy_store_has_lost_nothing(path: Path, opening: Open) -> None:
    opened = opening(path)

    assert (opened.lost, opened.aside, opened.store.load()) == (False, None, {CHAT: ONE, CODE: TWO})


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    sql(path, "CREATE TABLE songs (name TEXT)")
    before = path.read_bytes()

    with pytest.raises(StateLost):
        open_state(path, CODEC)

    assert [file.name for file in tmp_path.iterdir() if "corrupt" in file.name] == []
    assert len(path.read_bytes()) == len(before)


def test_a_second_opening_is_told_who_is_first(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()

        with pytest.raises(StateInUse) as refused:
            open_state(path, CODEC)

        holder.communicate()
    assert str(holder.pid) in str(refused.value)


def test_two_names_of_one_file_meet_the_same_lock(path: Path, opening: Open) -> None:
    alias = path.with_name("alias.db")
    alias.symlink_to(path)
    opening(path)

    with pytest.raises(StateInUse):
        open_state(alias, CODEC)


def test_a_holder_that_was_killed_leaves_the_store_free_and_whole(tmp_path: Path, opening: Open) -> None:
    path = tmp_path / "state.db"
    subprocess.run([sys.executable, "-c", SCRIBBLER, str(path)], check=False)

    opened = opening(path)

    assert (opened.lost, opened.store.load(), opened.store.running()) == (False, {CHAT: Memory(accepted=7)}, timedelta(hours=7))


def test_a_refused_opening_leaves_the_lock_free(path: Path, opening: Open) -> None:
    sql(path, "PRAGMA application_id = 1")
    with pytest.raises(StateLost):
        open_state(path, CODEC)
    path.unlink()

    assert not opening(path).lost


def test_a_full_disk_loses_the_save_and_nothing_else(tiny_disk: TinyDisk, opening: Open) -> None:
    store = opening(tiny_disk.path / "state.db").store
    store.save({CHAT: ONE}, running=HOUR)
    tiny_disk.fill()

    with pytest.raises(StateLost):
        store.save({CHAT: TWO, CODE: Memory(contested=True, foreign=()), FleetRef("big", "x" * 2**17): TWO}, running=2 * HOUR)

    assert (store.load(), store.running()) == ({CHAT: ONE}, HOUR)


def test_a_store_works_again_when_the_disk_has_room_again(tiny_disk: TinyDisk, opening: Open) -> None:
    store = opening(tiny_disk.path / "state.db").store
    tiny_disk.fill()
    with pytest.raises(StateLost):
        store.save({FleetRef("big", "x" * 2**17): TWO}, running=HOUR)
    tiny_disk.free()

    store.save({CODE: TWO}, running=2 * HOUR)

    assert (store.load(), store.running()) == ({CODE: TWO}, 2 * HOUR)


def test_a_store_that_met_a_full_disk_is_whole_at_the_next_start(tiny_disk: TinyDisk, opening: Open) -> None:
    path = tiny_disk.path / "state.db"
    store = opening(path).store
    store.save({CHAT: ONE}, running=HOUR)
    tiny_disk.fill()
    with pytest.raises(StateLost):
        store.save({FleetRef("big", "x" * 2**17): TWO}, running=2 * HOUR)
    store.close()
    tiny_disk.free()

    opened = opening(path)

    assert (opened.lost, opened.store.load()) == (False, {CHAT: ONE})


def test_a_full_disk_at_the_start_is_said(tiny_disk: TinyDisk) -> None:
    tiny_disk.fill()

    with pytest.raises(StateLost):
        open_state(tiny_disk.path / "state.db", CODEC)


def test_a_read_only_disk_is_said(tiny_disk: TinyDisk) -> None:
    with closing(open_state(tiny_disk.path / "state.db", CODEC).store):
        pass
    tiny_disk.remount("ro")

    with pytest.raises(StateLost):
        open_state(tiny_disk.path / "state.db", CODEC)


def test_a_place_that_is_no_directory_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StateLost):
        open_state(tmp_path / "file" / "state.db", CODEC)


@pytest.mark.parametrize(
    "harm", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()) and path.rename(f"{path}.old")], ids=["removed", "moved"]
)
def test_a_file_that_is_taken_away_while_in_use_is_noticed(path: Path, harm: Callable[[Path], None], opening: Open) -> None:
    store = opening(path).store
    harm(path)

    with pytest.raises(StateLost):
        store.save({CHAT: TWO}, running=HOUR)


def test_a_name_that_sqlite_cannot_hold_is_a_lost_save(path: Path, opening: Open) -> None:
    store = opening(path).store

    with pytest.raises(StateLost):
        store.save({CHAT: TWO, FleetRef("llm", "\ud800"): ONE}, running=2 * HOUR)

    assert (store.load()[CHAT], store.running()) == (ONE, HOUR)


def test_a_closed_store_says_that_it_is_lost(path: Path) -> None:
    store = open_state(path, CODEC).store
    store.close()

    with pytest.raises(StateLost):
        store.save({}, running=HOUR)


def test_a_save_outlives_a_person_who_reads_along(path: Path, opening: Open) -> None:
    store = opening(path).store
    with closing(sqlite3.connect(path, isolation_level=None)) as person:
        person.execute("BEGIN")
        person.execute("SELECT * FROM memories").fetchall()

        store.save({CHAT: TWO}, running=2 * HOUR)

    assert store.load()[CHAT] == TWO


def test_a_store_that_a_person_locks_is_a_lost_save_and_comes_back(path: Path, opening: Open) -> None:
    store = opening(path).store
    with closing(sqlite3.connect(path, isolation_level=None)) as person:
        person.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateLost):
            store.save({CHAT: TWO}, running=2 * HOUR)

    store.save({CHAT: TWO}, running=2 * HOUR)

    assert store.load()[CHAT] == TWO


def test_threads_may_save_and_read_at_once(path: Path, opening: Open) -> None:
    store = opening(path).store
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                store.save({FleetRef("llm", str(number)): Memory(sequence=turn)}, running=HOUR)
                store.load()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test must see it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert {memory.sequence for ref, memory in store.load().items() if ref.name.isdigit()} == {19}
