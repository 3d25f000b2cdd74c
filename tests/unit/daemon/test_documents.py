"""Documents are loaded beside the ticks; what is in force changes when they are read to the end."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autopilot.adapters.clock import SystemClock
from autopilot.daemon.documents import BRIEFLY, PolicyFiles
from autopilot.policy.book import Entry
from autopilot.policy.load import LARGEST
from autopilot.policy.surroundings import Surroundings
from tests.support.waiting import eventually
from tests.unit.policy.documents import FLEET, POLICY, SEPARATOR

GOOD = FLEET + SEPARATOR + POLICY
HUGE = "- {a: 1, b: [x, y, z]}\n" * (LARGEST // 23 - 1)  # close to the largest file there may be


def _ignored(_: tuple[Entry, ...]) -> None:
    """Nobody runs these fleets."""


def of(folder: Path, on_entries: Callable[[tuple[Entry, ...]], Any] = _ignored) -> PolicyFiles:
    (folder / "chat.yaml").write_text(GOOD)
    return PolicyFiles([folder], Surroundings(), on_entries)


def test_the_first_documents_are_waited_for(tmp_path: Path) -> None:
    assert len(of(tmp_path).book().entries) == 1


def test_r_19_a_file_that_takes_seconds_to_parse_holds_no_tick(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    files, clock = of(tmp_path), SystemClock()
    before = files.book()
    (tmp_path / "huge.yaml").write_text(HUGE)
    began = clock.running()
    during = files.book()
    held = (clock.running() - began).total_seconds()
    taken = eventually(lambda: bool(files.book().problems), within=60)
    loaded = (clock.running() - began).total_seconds()

    record_property("tick_held_seconds", held)
    record_property("loaded_seconds", loaded)
    assert during.entries == before.entries
    assert held < BRIEFLY + 0.5
    assert taken
    assert files.book().entries == before.entries


def test_r_19_a_touched_file_of_the_same_content_is_not_loaded_again(tmp_path: Path) -> None:
    told: list[int] = []
    files = of(tmp_path, lambda entries: told.append(len(entries)))
    files.book()
    os.utime(tmp_path / "chat.yaml", (1, 1))
    files.book()

    assert told == [1]


def test_r_19_each_broken_document_leaves_the_others_and_its_last_good_version_in_force(tmp_path: Path) -> None:
    files = of(tmp_path)
    before = files.book().entries
    ways = {
        "five-megabytes": b"#" * 5 * 2**20,
        "anchors-bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in b"bcdefghi"),
        "empty": b"",
        "half": GOOD.encode()[: len(GOOD) // 2],
        "not-utf-8": b"\xff\xfe\x00",
    }
    kept = {}
    for name, content in ways.items():
        (tmp_path / "chat.yaml").write_bytes(content)
        noticed = eventually(lambda: bool(files.book().problems), within=20)
        kept[name] = noticed and files.book().entries == before
        (tmp_path / "chat.yaml").write_text(GOOD)
        assert eventually(lambda: not files.book().problems, within=20)

    assert kept == dict.fromkeys(ways, True)
