from __future__ import annotations

from pathlib import Path

import pytest

from demo.leftovers import belonging
from demo.place import DemoError, Place, prepare
from demo.scenario import SCALE
from demo.stage import Programs, Stage, programs

GOOD = "exit 0"
BAD = "echo 'ValueError: no such thing' >&2; exit 3"
STAYS = "exec sleep 1000"
DEAF = "trap '' TERM; while true; do sleep 1; done"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return prepare(tmp_path)


def _stage(place: Place, *, model: str = GOOD, prometheus: str = STAYS) -> Stage:
    """A stage whose programs are little scripts."""
    found = {}
    for name, text in (("daemon", GOOD), ("model", model), ("router", GOOD), ("prometheus", prometheus)):
        found[name] = place.root / name
        found[name].write_text(f"#!/bin/sh\n{text}\n")
        found[name].chmod(0o755)
    return Stage(place, SCALE, Programs(found["daemon"], found["model"], found["router"], found["prometheus"]), place.root)


def _fall(stage: Stage, *, in_a_hurry: bool) -> None:
    for _ in stage.fall(in_a_hurry=lambda: in_a_hurry):
        pass


@pytest.mark.parametrize(
    ("model", "prometheus"), [(BAD, STAYS), (GOOD, BAD)], ids=["a-model-that-is-not-made", "a-prometheus-that-does-not-start"]
)
def test_what_ends_too_early_is_told_in_a_line_with_its_log(model: str, prometheus: str, place: Place) -> None:
    stage = _stage(place, model=model, prometheus=prometheus)
    with pytest.raises(DemoError) as caught:
        list(stage.rise())
    _fall(stage, in_a_hurry=True)

    assert (len(str(caught.value).splitlines()), str(place.logs) in str(caught.value)) == (1, True)


@pytest.mark.parametrize("in_a_hurry", [False, True], ids=["asked-once", "asked-twice"])
@pytest.mark.parametrize(
    ("model", "prometheus", "steps"),
    [(STAYS, STAYS, 1), (GOOD, STAYS, 3), (GOOD, DEAF, 3)],
    ids=["model", "prometheus", "a-deaf-prometheus"],
)
def test_nothing_is_left_wherever_it_is_stopped(model: str, prometheus: str, steps: int, place: Place, *, in_a_hurry: bool) -> None:
    stage = _stage(place, model=model, prometheus=prometheus)
    rising = stage.rise()
    for _ in range(steps):
        next(rising)

    _fall(stage, in_a_hurry=in_a_hurry)

    assert belonging(place.mark) == frozenset()


def test_there_is_no_router_before_the_backend_recorded_one(place: Place) -> None:
    assert _stage(place).router_url() is None


def test_what_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(DemoError):
        programs(tmp_path)
