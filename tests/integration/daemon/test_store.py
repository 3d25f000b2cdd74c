"""The state cannot be written, cannot be read, or belongs to somebody else (R-21)."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from autopilot.control.audit import Record
from autopilot.domain.decisions import Act
from autopilot.domain.operations import Cordon
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import PATIENCE, Plan
from tests.support.daemons import DaemonProcess, comes, pause
from tests.support.exporters import BUSY, CALM, QUIET
from tests.support.tiny_disk import TinyDisk

LONGER = 5.0  # seconds that a fleet is watched which would shrink after three
COOLDOWN = timedelta(seconds=8)
TWO = Plan(minimum=2, maximum=3)
ON_DISK = "disk/state.sqlite"

TAKES = 35

pytestmark = pytest.mark.timeout(300)


@contextmanager
def tiny(path: Path) -> Iterator[TinyDisk]:
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a full disk needs the right to mount one")
    try:
        yield TinyDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True, capture_output=True)


@dataclass(frozen=True)
class Full:
    """A disk without a free byte: while it was full, and when it was not any more."""

    saved: float | None
    said: bool
    told: list[dict[str, Any]]
    held: bool
    fired: bool
    desired_when_calm: int
    desired_when_busy: int
    alive: bool
    saved_again: bool
    shrunk: bool


def full_disk(ground: Ground) -> Full:
    with ground.site(TWO, state=ON_DISK) as site, tiny(site.folder / "disk") as disk:
        site.start(serving=2)
        site.rewrite(replace(TWO, minimum=1))
        disk.fill()
        site.play(QUIET)
        assert comes(lambda: site.daemon.metric("autopilot_state_saved") == 0.0, within=PATIENCE)
        pause(LONGER)
        held = any("state_unsaved" in one for one in site.daemon.fleet("chat")["decisions"])
        calm = site.record().desired
        site.play(BUSY)
        fired = site.alerts(state="firing")
        pause(LONGER)
        busy, saved = site.record().desired, site.daemon.metric("autopilot_state_saved")
        said = any(event["event"] == "state_unsaved" for event in site.daemon.events())
        told, alive = site.told, site.daemon.code is None
        disk.free()
        site.play(CALM)
        again = comes(lambda: site.daemon.metric("autopilot_state_saved") == 1.0, within=PATIENCE)
        site.play(QUIET)
        return Full(saved, said, told, held, fired, calm, busy, alive, again, site.rests(at=1))


@dataclass(frozen=True)
class ReadOnly:
    """A daemon that finds its disk read-only at its start, and writable at the next."""

    code: int | None
    complaint: str
    serves: bool
    recovers: bool
    version: int


def read_only(ground: Ground) -> ReadOnly:
    with ground.site(state=ON_DISK) as site, tiny(site.folder / "disk") as disk:
        site.start()
        site.daemon.stop()
        disk.remount("ro")
        site.daemon.launch()
        code, complaint, serves = site.daemon.ends(within=PATIENCE), site.daemon.complaints(), site.serves()
        disk.remount("rw")
        site.daemon.start()
        recovers = comes(lambda: site.knows("chat", serving=1), within=PATIENCE)
        return ReadOnly(code, complaint, serves, recovers, site.record().version)


@dataclass(frozen=True)
class Garbage:
    """A state that makes no sense, under a fleet that would shrink at once."""

    said: bool
    aside: bytes
    adopted: bool
    first: Record
    let_go: Record
    shrunk: bool


def garbage(ground: Ground) -> Garbage:
    plan = replace(TWO, cooldown=f"{COOLDOWN.total_seconds():.0f}s")
    with ground.site(plan) as site:
        site.start(serving=2)
        engines = site.engines()
        site.daemon.stop()
        state = site.folder / site.state
        for part in state.parent.glob("state.sqlite*"):
            part.unlink()
        state.write_bytes(b"no database" * 1000)
        site.rewrite(replace(plan, minimum=1))
        site.daemon.start()
        assert comes(lambda: site.knows("chat", serving=2), within=PATIENCE)
        adopted = site.engines() == engines
        site.play(QUIET)
        shrunk = site.rests(at=1)
        said = any(event["event"] == "memory_lost" for event in site.daemon.events())
        records = [one for one in site.records() if one.seen.now < timedelta(seconds=60)]
        first = next(one for one in reversed(records) if one.seen.restarted)
        let_go = next(one for one in records if _lets_go(one))
        aside = next(state.parent.glob("state.sqlite.corrupt-*")).read_bytes()
        return Garbage(said, aside, adopted, first, let_go, shrunk)


def _lets_go(record: Record) -> bool:
    return any(isinstance(one, Act) and isinstance(one.operation.effect, Cordon) for one in record.decisions)


@dataclass(frozen=True)
class Two:
    """A second daemon on the state of a first."""

    code: int | None
    complaint: str
    first: int
    first_lives: bool
    version: int


def two_daemons(ground: Ground) -> Two:
    with ground.site() as site:
        site.start()
        second = DaemonProcess(site.folder, lives=10)
        second.launch()
        code = second.ends(within=PATIENCE)
        lives = site.daemon.code is None and site.shows(serving=1)
        return Two(code, second.complaints(), site.daemon.pid, lives, site.record().version)


STORIES = (full_disk, garbage, read_only, two_daemons)


@pytest.fixture
def full(stories: SideBySide) -> Full:
    return stories.told(full_disk)


@pytest.fixture
def lost(stories: SideBySide) -> Garbage:
    return stories.told(garbage)


def test_nothing_is_done_whose_intent_cannot_be_saved(full: Full) -> None:
    assert full.held
    assert full.desired_when_calm == full.desired_when_busy == 2


def test_a_daemon_that_cannot_save_says_so_and_goes_on(full: Full) -> None:
    assert full.saved == 0.0
    assert full.said
    assert full.alive


def test_people_are_told_once_that_nothing_can_be_saved(full: Full) -> None:
    assert len(full.told) == 1


def test_an_alert_fires_although_it_cannot_be_saved(full: Full) -> None:
    assert full.fired


def test_a_disk_with_room_again_is_used_again(full: Full) -> None:
    assert full.saved_again
    assert full.shrunk


def test_a_daemon_does_not_start_on_a_state_that_it_cannot_write(stories: SideBySide) -> None:
    seen = stories.told(read_only)

    assert seen.code == 1
    assert "state.sqlite" in seen.complaint
    assert seen.serves
    assert seen.recovers
    assert seen.version == 2


def test_a_state_of_garbage_is_kept_aside_and_the_fleet_is_taken_up(lost: Garbage) -> None:
    assert lost.said
    assert lost.aside.startswith(b"no database")
    assert lost.adopted


def test_a_lost_memory_holds_what_is_disruptive_for_one_cooldown(lost: Garbage) -> None:
    assert lost.let_go.seen.now - lost.first.seen.now >= COOLDOWN
    assert lost.shrunk


def test_a_second_daemon_refuses_to_start_and_names_the_first(stories: SideBySide) -> None:
    seen = stories.told(two_daemons)

    assert seen.code == 1
    assert str(seen.first) in seen.complaint
    assert seen.first_lives
    assert seen.version == 2
