"""Where a run stands: which phase, since when, and what follows from the latest look. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from demo import pacing
from demo.facts import Facts, take_in
from demo.scenario import Phase, Scenario
from demo.sight import Sight

RISES = "surge"
FALLS = "load falls"
NOTHING = Facts()


@dataclass(frozen=True)
class Scene:
    """The run so far. `began` holds the wall time at which each phase that was reached began."""

    scenario: Scenario
    began: tuple[float, ...]
    facts: Facts = NOTHING
    rate: float = 0.0
    missed: str | None = None
    done: bool = False

    @property
    def phase(self) -> Phase:
        """The phase that is under way, the last one when all is over."""
        return self.scenario.phases[len(self.began) - 1]

    def lasted(self, now: float) -> float:
        """For how many seconds the phase has lasted."""
        return now - self.began[-1]

    def began_at(self, name: str) -> float | None:
        """When the phase of this name began, None where it was not reached."""
        names = [phase.name for phase in self.scenario.phases]
        index = names.index(name) if name in names else len(self.began)
        return self.began[index] if index < len(self.began) else None

    @property
    def over(self) -> bool:
        """Whether there is nothing more to wait for, for better or worse."""
        return self.done or self.missed is not None


def opening(scenario: Scenario, now: float) -> Scene:
    """The scene as the first phase begins."""
    return Scene(scenario, (now,))


def advance(scene: Scene, sight: Sight) -> Scene:
    """Take one look in: stay in the phase, go on to the next, or give up when its bound has passed."""
    scene = replace(scene, facts=take_in(scene.facts, sight))
    if scene.over:
        return scene
    lasted = scene.lasted(sight.at)
    if scene.phase.over(scene.facts, lasted):
        return _next(scene, sight.at)
    hopeless = _hopeless(scene)
    if hopeless is not None or lasted > scene.phase.bound_seconds:
        return replace(scene, missed=hopeless or f"{scene.phase.awaits} (waited {lasted:.0f} s)")
    return scene


def expected_seconds(scene: Scene) -> float | None:
    """How long the slow part of the phase is expected to take, None for a phase without one."""
    first = scene.facts.start_seconds or 25.0  # measured alone on two cores
    return {
        "warm start": 25.0,
        "action": 1.2 * first,  # beside a replica that serves
        "verified": 85.0,
        "judged": 35.0,
        "handed over": 12.0,
        "load falls": 30.0,
        "shrunk": 10.0,
    }.get(scene.phase.name)


def _next(scene: Scene, now: float) -> Scene:
    if len(scene.began) == len(scene.scenario.phases):
        return replace(scene, done=True)
    scene = replace(scene, began=(*scene.began, now))
    facts = scene.facts
    if scene.phase.name == RISES:
        facts = replace(facts, rose_at=now)
    if scene.phase.name == FALLS:
        facts = replace(facts, fell_at=now)
    rate = scene.phase.rate if scene.phase.rate is not None else scene.rate
    return replace(scene, facts=facts, rate=rate)


def _hopeless(scene: Scene) -> str | None:
    """What can no longer come, before its time is up."""
    closed, verdict = scene.facts.closed_at is not None, scene.facts.verdict
    if closed and (scene.phase.name == "action" or (scene.phase.name == "verified" and verdict != "helped")):
        return f"{scene.phase.awaits}: the remediation ended before that with the verdict {verdict}"
    if scene.phase.name == "calm" and scene.facts.present > 1:
        return f"calm at {pacing.EASY_RATE:g} requests/s: a second replica was asked for already"
    return None
