from __future__ import annotations

import io

import pytest
from rich.console import Console

from demo.scenario import LADDER, SCALE
from demo.sight import Alert, Sight, latency_of_times
from demo.tell import Lines
from demo.view import HONEST, Shown, draw
from tests.unit.demo.stories import HANDED_OVER, LANDED, SERVING, SHRUNK, fleet, line, told

STORY = tuple(line(number, float(number), "alert_firing") for number in range(40))


def _drawn(shown: Shown, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(draw(shown))
    written = console.file
    assert isinstance(written, io.StringIO)
    return written.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("looks", [(), LANDED, SHRUNK], ids=["empty", "two-replicas", "over"])
def test_the_view_fits_the_terminal(looks: tuple[Sight, ...], width: int) -> None:
    shown = Shown(told(SCALE, *looks), looks[-1] if looks else Sight(0.0), 0.0, STORY, (None, 0.2, 0.5, 9.0), wide=width > 100)

    assert max(len(text) for text in _drawn(shown, width).splitlines()) <= width


def test_the_view_says_that_the_forward_pass_is_paced() -> None:
    assert HONEST[:60] in _drawn(Shown(told(SCALE), Sight(0.0), 0.0))


def test_a_pending_alert_shows_how_far_it_is() -> None:
    seen = fleet(10.0, SERVING)
    pending = Alert("slow", "pending", blind=False, active_seconds=2.0, for_seconds=5.0)
    sight = Sight(10.0, type(seen)(**{**{name: getattr(seen, name) for name in seen.__dataclass_fields__}, "alerts": (pending,)}))

    assert "2 of 5 s" in _drawn(Shown(told(SCALE, sight), sight, 0.0))


def test_plain_lines_have_no_control_characters() -> None:
    said: list[str] = []
    lines = Lines(said.append, 0.0)
    for number in range(len(HANDED_OVER)):
        lines.saw(told(LADDER, *HANDED_OVER[: number + 1]), HANDED_OVER[number])

    assert all(text.isprintable() for text in said)


def test_plain_lines_tell_each_phase_once_and_every_story_line() -> None:
    said: list[str] = []
    lines = Lines(said.append, 0.0)
    for number in range(len(SHRUNK)):
        lines.saw(told(SCALE, *SHRUNK[: number + 1]), SHRUNK[number])

    assert (sum(": phase" in text or " phase " in text for text in said), sum("story:" in text for text in said)) == (7, 4)


def test_a_time_over_the_objective_is_drawn() -> None:
    sight = Sight(10.0, fleet(10.0, SERVING), client=latency_of_times([2.5] * 60))

    assert "2.50" in _drawn(Shown(told(SCALE, sight), sight, 0.0))
