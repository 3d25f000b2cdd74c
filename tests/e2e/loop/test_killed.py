"""The daemon is killed between an intent and its outcome, with real engines: the change is there once, and the story goes on."""

import json
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from autopilot.adapters.clock import SystemClock
from demo import leftovers, pacing
from demo.install import CACHE
from demo.observe import FLEET, Observer
from demo.place import ROOT, DemoError, prepare
from demo.scenario import SCENARIOS
from demo.sight import Sight
from demo.stage import Stage, programs
from tests.integration.daemon.altered import MODULE
from tests.support.waiting import eventually

GLANCE = 0.5  # seconds between two looks: the engines need the cores
END = object()
pytestmark = [pytest.mark.real_engine, pytest.mark.timeout(420)]


@contextmanager
def staged(root: Path) -> Iterator[Stage]:
    try:
        found = programs(CACHE)
    except DemoError as error:
        pytest.skip(str(error))
    place = prepare(root)
    stage = Stage(place, SCENARIOS["scale"], replace(found, daemon=dying(root)), CACHE)
    try:
        yield stage
    finally:
        stage.programs = found
        through(stage.fall(in_a_hurry=lambda: False))
        through(leftovers.end(place.mark, ask_first=False))


def dying(root: Path) -> Path:
    """A daemon that kills itself when a scale-out is made and its outcome is not yet known; other commands are the product's."""
    script = root / "dying-autopilot"
    cut = f"exec {sys.executable} -m {MODULE} cut after-the-act out"
    whole = f'exec {sys.executable} -m autopilot.cli "$@"'
    script.write_text(f'#!/bin/sh\nexport PYTHONPATH={ROOT}\nif [ "$1" = run ]; then {cut}; fi\n{whole}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def through(steps: Iterator[object]) -> None:
    """Each step is a look whether something has come up, or ended."""
    assert eventually(lambda: next(steps, END) is END, within=300, glance=GLANCE)


def now() -> float:
    return SystemClock().wall().timestamp()


def seen(observer: Observer, condition: Callable[[Sight], bool], *, within: float) -> bool:
    return eventually(lambda: condition(observer.look(now())), within=within, glance=GLANCE)


def record(stage: Stage) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((stage.place.run / "fleets" / "fleets" / FLEET / "record.json").read_text())
    return loaded


def test_a_daemon_killed_right_after_its_change_makes_it_once_and_verifies_it(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        through(stage.rise())
        observer = Observer(stage.place)
        assert seen(observer, lambda sight: sight.fleet is not None and sight.fleet.serving == 1, within=180)
        stage.begin_load(pacing.HARD_RATE)
        daemon = stage.children["daemon"]
        daemon.ends_by_itself = True
        assert eventually(lambda: daemon.process.poll() is not None, within=90, glance=GLANCE)
        changed = record(stage)
        stage.programs = programs(CACHE)
        through(stage._daemon())
        assert seen(observer, lambda sight: any(attempt.verdict == "helped" for attempt in sight.attempts), within=200)
        after = record(stage)
        failed = observer.look(now()).tally.failed

    assert daemon.process.returncode == -9
    assert after["desired"] == changed["desired"]
    assert failed == 0
