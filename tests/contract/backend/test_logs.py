"""The logs of launches: read, bounded, pruned."""

import os
from pathlib import Path

from autopilot.adapters.local import logs


def test_a_tail_is_the_last_lines(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join(f"{number}\n" for number in range(100)))

    assert logs.tail(tmp_path / "a.log", lines=2) == "98\n99"


def test_a_log_that_is_not_there_has_no_tail(tmp_path: Path) -> None:
    assert logs.tail(tmp_path / "a.log") == ""


def test_a_log_over_its_limit_is_cut_under_a_writer_that_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 1000)

        logs.bound(log, limit=640)
        writer.write(b"next")

    assert log.read_bytes() == b"next"
    assert len((tmp_path / "a.log.1").read_bytes()) == 10


def test_the_oldest_logs_go_and_those_in_use_stay(tmp_path: Path) -> None:
    for age, name in enumerate(["used", "old", "older", "oldest"]):
        (tmp_path / f"{name}.log").touch()
        os.utime(tmp_path / f"{name}.log", (1000 - age, 1000 - age))

    logs.prune(tmp_path, [tmp_path / "used.log"], kept=1)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.log", "used.log"]
