"""How a run is shown: drawn over and over in a terminal, line by line anywhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from rich.console import Console
from rich.live import Live

from demo.scene import Scene
from demo.sight import Latency, Sight, Told
from demo.view import HONEST, WIDE, Shown, draw

LINE_EVERY_SECONDS = 15.0  # without a terminal a line this often shows life


class Teller(Protocol):
    """Where a run is shown."""

    def saw(self, scene: Scene, sight: Sight) -> None:
        """One more look."""

    def waits(self, what: str, now: float) -> None:
        """Nothing is to be looked at; this is being waited for."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Drawn:
    """For a terminal."""

    def __init__(self, console: Console, scene: Scene, now: float) -> None:
        self._console = console
        self._shown = Shown(scene, Sight(now), now)
        self._live = Live(draw(self._shown), console=console, refresh_per_second=4, vertical_overflow="crop")
        self._live.start()

    @property
    def shown(self) -> Shown:
        """What was drawn last."""
        return self._shown

    def saw(self, scene: Scene, sight: Sight) -> None:
        """Draw it."""
        last = self._shown
        kept = sight if sight.fleet is not None else replace(sight, fleet=last.sight.fleet)
        trend = (*last.trend, sight.client.of(0.9)) if int(sight.at) != int(last.sight.at) else tuple(last.trend)
        self._draw(Shown(scene, kept, last.began, (*last.story, *sight.story), trend))

    def waits(self, what: str, now: float) -> None:
        """Draw the last look with what is being waited for."""
        self._draw(replace(self._shown, sight=replace(self._shown.sight, at=now), waiting=what))

    def close(self) -> None:
        """Stop drawing; the last drawing stays."""
        self._live.stop()

    def _draw(self, shown: Shown) -> None:
        self._shown = replace(shown, wide=self._console.width >= WIDE)
        self._live.update(draw(self._shown))


@dataclass
class Lines:
    """For everything that is no terminal: plain lines, no control characters."""

    say: Callable[[str], None]
    began: float
    _told: float = 0.0
    _phase: str = ""
    _waits: str = ""

    def saw(self, scene: Scene, sight: Sight) -> None:
        """Say what is new: the story, the phase, and now and then the figures."""
        for line in sight.story:
            self._say(line.wall, _story(line))
        if scene.phase.name != self._phase:
            self._phase = scene.phase.name
            names = [phase.name for phase in scene.scenario.phases]
            self._say(sight.at, f"phase {names.index(self._phase) + 1} of {len(names)}: {self._phase} ({scene.rate:g} requests/s)")
        if sight.at - self._told >= LINE_EVERY_SECONDS:
            self._told = sight.at
            self._say(sight.at, figures(sight))

    def waits(self, what: str, now: float) -> None:
        """Say it once."""
        if what != self._waits and not what[0].isdigit():
            self._waits = what
            self._say(now, what)

    def close(self) -> None:
        """Nothing to put back."""

    def _say(self, wall: float, text: str) -> None:
        self.say(f"{wall - self.began:6.1f} s  {text}")


def figures(sight: Sight) -> str:
    """The figures of a look in a line."""
    fleet = sight.fleet
    flight = "?" if fleet is None or fleet.in_flight is None else f"{fleet.in_flight:.0f}"
    states = ", ".join(f"{one.name} {one.state}" for one in fleet.replicas) if fleet is not None else "no answer"
    return (
        f"         TTFT client {_pair(sight.client)}, server {_pair(sight.server)}; in flight {flight}; {states}; "
        f"{sight.tally.answered} answered, {sight.tally.failed} failed"
    )


def banner(scene: Scene) -> tuple[str, ...]:
    """What is about to be shown."""
    return (f"demo: {scene.scenario.name}: {scene.scenario.tells}", HONEST)


def _pair(latency: Latency) -> str:
    p90, p99 = latency.of(0.9), latency.of(0.99)
    return "p90 - p99 -" if p90 is None or p99 is None else f"p90 {p90:.2f} s p99 {p99:.2f} s"


def _story(line: Told) -> str:
    return f"story: {line.text}"
