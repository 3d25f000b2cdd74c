from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from autopilot.adapters.journal import OpenedJournal, Retention, open_journal, open_journal_to_read
from autopilot.domain.workloads import FleetRef
from autopilot.ports import Line, StateInUse, StateLost
from tests.support.tiny_disk import TinyDisk, tiny_disk

__all__ = ["tiny_disk"]

CHAT, CODE = FleetRef("llm", "chat"), FleetRef("llm", "code")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)

Open = Callable[..., OpenedJournal]


def line(number: int, fleet: FleetRef = CHAT) -> Line:
    return Line(
        fleet, at=number * SECOND, wall=NOON + number * SECOND, body=f'{{"n": {number}}}', remediation="r-1", notable=number % 2 == 0
    )


@pytest.fixture
def failures() -> list[StateLost]:
    return []


@pytest.fixture
def opening(tmp_path: Path, failures: list[StateLost]) -> Iterator[Open]:
    with ExitStack() as stack:

        def open_(path: Path = tmp_path / "journal.db", retention: Retention = Retention()) -> OpenedJournal:  # noqa: B008 - a frozen value
            opened = open_journal(path, retention, on_failure=failures.append)
            stack.callback(opened.journal.close)
            return opened

        yield open_


def test_what_was_appended_outlives_the_process(opening: Open) -> None:
    first = opening().journal
    first.append([line(1), line(2)])
    first.close()

    assert opening().journal.read() == (line(1), line(2))


def test_the_newest_are_read_oldest_first(opening: Open) -> None:
    journal = opening().journal
    journal.append([line(number) for number in range(10)])

    assert journal.read(last=3) == (line(7), line(8), line(9))


def test_one_fleets_history_is_read_alone(opening: Open) -> None:
    journal = opening().journal
    journal.append([line(1), line(2, CODE), line(3)])

    assert journal.read(CHAT) == (line(1), line(3))


def test_a_moment_of_another_zone_is_the_same_moment(opening: Open) -> None:
    journal = opening().journal
    berlin = NOON.astimezone(timezone(timedelta(hours=1)))
    journal.append([Line(CHAT, SECOND, berlin, "{}")])

    assert journal.read()[0].wall == NOON


def test_the_oldest_go_when_there_are_too_many(opening: Open) -> None:
    journal = opening(retention=Retention(lines=3)).journal
    for number in range(5):
        journal.append([line(number)])

    assert journal.read() == (line(2), line(3), line(4))


def test_the_oldest_go_when_they_are_too_old(opening: Open) -> None:
    journal = opening(retention=Retention(age=2 * SECOND)).journal
    for number in range(5):
        journal.append([line(number)])

    assert journal.read() == (line(2), line(3), line(4))


def test_a_policy_is_found_by_its_hash(opening: Open) -> None:
    journal = opening().journal
    journal.remember_policy("abc", "kind: Policy")

    assert (journal.policy("abc"), journal.policy("xyz")) == ("kind: Policy", None)


def test_the_policies_in_use_last_are_kept(opening: Open) -> None:
    journal = opening(retention=Retention(policies=2)).journal
    for name in ("a", "b", "a", "c"):
        journal.remember_policy(name, name)

    assert [journal.policy(name) for name in ("a", "b", "c")] == ["a", None, "c"]


def test_a_journal_that_cannot_be_read_is_kept_aside(tmp_path: Path, opening: Open) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(b"garbage" * 1000)

    opened = opening(path)

    assert opened.aside == tmp_path / "journal.db.corrupt-1"
    assert opened.journal.read() == ()


def test_a_second_writer_is_refused(opening: Open) -> None:
    opening()

    with pytest.raises(StateInUse):
        opening()


def test_a_reader_sees_what_a_writer_writes(tmp_path: Path, opening: Open) -> None:
    journal = opening().journal
    with closing(open_journal_to_read(tmp_path / "journal.db")) as reader:
        journal.append([line(1)])
        journal.remember_policy("abc", "kind: Policy")

        assert (reader.read(), reader.policy("abc")) == ((line(1),), "kind: Policy")


@pytest.mark.parametrize("content", [None, b"garbage" * 1000], ids=["missing", "garbage"])
def test_a_reader_of_nothing_changes_nothing(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "journal.db"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(StateLost):
        open_journal_to_read(path)

    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([] if content is None else [content])


def test_a_full_disk_is_counted_and_not_raised(tiny_disk: TinyDisk, opening: Open, failures: list[StateLost]) -> None:
    journal = opening(tiny_disk.path / "journal.db").journal
    journal.append([line(1)])
    tiny_disk.fill()

    journal.append([Line(CHAT, SECOND, NOON, "x" * 2**17)])
    journal.remember_policy("abc", "x" * 2**17)

    assert (journal.failures, len(failures)) == (2, 2)
    assert journal.read() == (line(1),)


def test_a_journal_goes_on_when_the_disk_has_room_again(tiny_disk: TinyDisk, opening: Open) -> None:
    journal = opening(tiny_disk.path / "journal.db").journal
    tiny_disk.fill()
    journal.append([Line(CHAT, SECOND, NOON, "x" * 2**17)])
    tiny_disk.free()

    journal.append([line(2)])

    assert journal.read() == (line(2),)


@pytest.mark.parametrize(
    "strange",
    [Line(CHAT, SECOND, NOON, "\ud800"), Line(CHAT, timedelta.max, NOON, "{}")],
    ids=["lone-surrogate", "end-of-time"],
)
def test_what_sqlite_cannot_hold_is_counted_and_not_raised(strange: Line, opening: Open) -> None:
    journal = opening().journal

    journal.append([strange])

    assert (journal.failures, journal.read()) == (1, ())


def test_a_closed_journal_counts(opening: Open) -> None:
    journal = opening().journal
    journal.close()

    journal.append([line(1)])

    assert journal.failures == 1
