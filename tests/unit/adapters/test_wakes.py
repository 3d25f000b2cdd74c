import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from autopilot.adapters import wakes
from autopilot.adapters.clock import SystemClock
from autopilot.adapters.wakes import Kept, SqliteWakes, open_wakes, read_claims, superfluous
from autopilot.domain.reports import LIFE, Report, ReportStatus, Taken
from autopilot.ports import Overloaded
from tests.support.clocks import NOON

CLOCK = SystemClock()
SOON = 10.0  # seconds
FIRES = Report("a", "SlowFirstToken", (("alertname", "SlowFirstToken"), ("fleet", "chat")), ReportStatus.FIRING, NOON)
ENDED = replace(FIRES, status=ReportStatus.RESOLVED, ends_at=NOON + timedelta(minutes=1))


@contextmanager
def opened(path: Path, on_fresh: Callable[[Sequence[Report]], object] = len) -> Iterator[SqliteWakes]:
    store = open_wakes(path, CLOCK, on_fresh)
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "reports.sqlite"


def test_a_report_is_on_disk_once_it_is_answered(file: Path) -> None:
    with opened(file) as store:
        store.enqueue([FIRES]).result(SOON)

        assert read_claims(file, CLOCK) == (FIRES,)


def test_what_was_kept_is_known_after_a_restart(file: Path) -> None:
    with opened(file) as store:
        store.enqueue([FIRES]).result(SOON)
    with opened(file) as store:
        again = store.enqueue([FIRES]).result(SOON)

    assert again == Counter({Taken.DUPLICATE: 1})


def test_a_thousand_replays_are_one_wake(file: Path) -> None:
    woken: list[Report] = []
    with opened(file, woken.extend) as store:
        counts = sum((store.enqueue([FIRES]).result(SOON) for _ in range(1000)), Counter())

    assert (counts, woken) == (Counter({Taken.FRESH: 1, Taken.DUPLICATE: 999}), [FIRES])


def test_a_resolved_that_comes_first_wakes_nobody_and_closes_its_episode(file: Path) -> None:
    woken: list[Report] = []
    with opened(file, woken.extend) as store:
        counts = store.enqueue([ENDED, FIRES]).result(SOON)
        claims = store.claims()

    assert (counts, claims, woken) == (Counter({Taken.CLOSED: 1, Taken.STALE: 1}), (), [])


class Stalled:
    """A disk that takes nothing until it is let go: the writer stands in the middle of its first report."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()

    def __call__(self, _: Sequence[Report]) -> None:
        self.reached.set()
        self.go.wait(SOON)


@pytest.mark.parametrize("given_up", ["while-it-is-written", "while-it-waits"])
def test_a_sender_that_gives_up_does_not_stop_the_writer(file: Path, given_up: str) -> None:
    stalled = Stalled()
    with opened(file, stalled) as store:
        answers = [store.enqueue([FIRES])]
        stalled.reached.wait(SOON)
        answers.append(store.enqueue([replace(FIRES, fingerprint="b")]))
        answers[given_up == "while-it-waits"].cancel()
        stalled.go.set()
        later = store.enqueue([replace(FIRES, fingerprint="c")]).result(SOON)

    assert later == Counter({Taken.FRESH: 1})


def test_too_many_that_wait_are_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakes, "MOST_WAITING", 2)
    stalled = Stalled()
    with opened(file, stalled) as store:
        store.enqueue([FIRES])
        stalled.reached.wait(SOON)
        store.enqueue([FIRES, FIRES])

        with pytest.raises(Overloaded):
            store.enqueue([FIRES])
        stalled.go.set()


def test_of_too_many_those_that_are_over_go_first_and_then_the_ones_heard_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakes, "MOST_KEPT", 2)
    kept = {
        "oldest": Kept(FIRES, NOON),
        "ended": Kept(ENDED, NOON + timedelta(hours=3)),
        "older": Kept(FIRES, NOON + timedelta(hours=1)),
        "newest": Kept(FIRES, NOON + timedelta(hours=2)),
    }

    assert superfluous(kept, NOON + timedelta(hours=3)) == {"ended", "oldest"}


def test_a_claim_that_nobody_repeats_is_over_after_its_life() -> None:
    kept = {"just": Kept(FIRES, NOON), "over": Kept(FIRES, NOON - timedelta(seconds=1))}

    assert superfluous(kept, NOON + LIFE) == {"over"}
