"""The demo: `python -m demo --scenario scale|ladder`. Exit 0 when everything that the scenario promises was observed."""
# ruff: noqa: TID251 - a demo takes real seconds; the product's clock is not its clock

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from types import FrameType

from rich.console import Console

from demo.install import CACHE
from demo.load import set_rate
from demo.observe import Observer
from demo.place import ROOT, Alone, DemoError, Place, clean_up, prepare
from demo.scenario import SCENARIOS, Scenario
from demo.scene import Scene, advance, opening
from demo.stage import Programs, Stage, programs
from demo.summary import Measured, Requests, Windows, as_json, as_table, not_observed
from demo.tell import Drawn, Lines, Teller, banner

LOOK_SECONDS = 0.5  # the autopilot ticks every second
WAIT_SECONDS = 0.2
PLAIN_WIDTH = 120  # where nobody says how wide a line may be


class StoppedError(Exception):
    """Somebody asked the demo to end."""


class Signals:
    """Counts the requests to end: the first ends the story, the second the patience."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._came)

    def check(self) -> None:
        """Raises StoppedError when one came."""
        if self.numbers:
            raise StoppedError

    def hurry(self) -> bool:
        """Whether a second one came."""
        return len(self.numbers) > 1

    def _came(self, number: int, _: FrameType | None) -> None:
        self.numbers.append(number)


class Play:
    """One run, from the first process to the last."""

    def __init__(self, place: Place, scenario: Scenario, found: Programs, teller: Teller) -> None:
        self._signals = Signals()
        self._began = time.time()
        self._stage = Stage(place, scenario, found, CACHE)
        self._observer = Observer(place)
        self._place = place
        self._teller = teller
        self._scene = opening(scenario, self._began)

    def run(self) -> tuple[Measured | None, str | None]:
        """The measured run and what went wrong: neither is there when it was asked to end."""
        measured, trouble = None, None
        try:
            self._wait(self._stage.rise())
            self._story()
            measured = self._measure()
        except DemoError as error:
            trouble = str(error)
        except StoppedError:
            trouble = "stopped"
        finally:
            self._take_down()
        return measured, trouble

    @property
    def stopped_by(self) -> int | None:
        """The signal that ended it."""
        return self._signals.numbers[0] if self._signals.numbers else None

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.time() - self._began

    def _story(self) -> None:
        """Look twice a second, and let the scene say what comes next."""
        while not self._scene.over:
            self._signals.check()
            self._stage.check()
            sight = self._observer.look(time.time())
            before, self._scene = self._scene, advance(self._scene, sight)
            if self._scene.rate != before.rate:
                self._send(self._scene.rate)
            self._teller.saw(self._scene, sight)
            time.sleep(LOOK_SECONDS)

    def _send(self, rate: float) -> None:
        if "load" in self._stage.children:
            set_rate(self._place.rate, rate)
        else:
            self._stage.begin_load(rate)

    def _measure(self) -> Measured:
        """Let the last answers come, and take the numbers while Prometheus is still there."""
        ended = time.time()
        self._wait(self._stage.end_load())
        self._observer.answers.read()
        facts, summary = self._scene.facts, self._observer.answers.summary
        newest = self._observer.newest_sample(facts.decided_at) if facts.decided_at is not None else None
        counts = {name: summary[name] for name in ("sent", "succeeded", "failed", "lost")} if summary is not None else {}
        return Measured(self._scene, self._windows(ended), Requests(**counts, whole=summary is not None), time.time() - self._began, newest)

    def _windows(self, ended: float) -> Windows:
        facts = self._scene.facts
        if facts.rose_at is None or facts.landed_at is None:
            return Windows()
        helped = not self._scene.scenario.shared_device and facts.judged_at is not None
        begin = facts.judged_at if helped and facts.judged_at is not None else facts.landed_at
        end = facts.fell_at or ended
        answers, server = self._observer.answers, self._observer.server
        return Windows(
            client_before=answers.first_tokens(facts.rose_at, facts.landed_at),
            client_after=answers.first_tokens(begin, end),
            server_before=server(facts.landed_at, facts.landed_at - facts.rose_at),
            server_after=server(end, end - begin),
        )

    def _wait(self, steps: Iterator[str]) -> None:
        for what in steps:
            self._signals.check()
            self._teller.waits(what, time.time())
            time.sleep(WAIT_SECONDS)

    def _take_down(self) -> None:
        for what in self._stage.fall(in_a_hurry=self._signals.hurry):
            hint = " (again Ctrl-C: at once)" if self._signals.numbers and not self._signals.hurry() else ""
            with suppress(OSError):  # a terminal or a pipe that is gone must not keep anything running
                self._teller.waits(f"taking down: waiting for {what}{hint}", time.time())
            time.sleep(WAIT_SECONDS)
        with suppress(OSError):
            self._teller.close()


def main() -> int:
    """Read the command line, play, sum up."""
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), default="scale")
    parser.add_argument("--json", action="store_true", help="the summary as JSON on standard output; all else goes to standard error")
    asked = parser.parse_args()
    console = Console(stderr=asked.json)
    if not console.is_terminal:
        console = Console(stderr=asked.json, width=PLAIN_WIDTH)
    try:
        return _play(SCENARIOS[asked.scenario], console, as_json_too=asked.json)
    except DemoError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # nobody reads any more, so the demo has ended itself
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter would complain when it flushes
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _play(scenario: Scenario, console: Console, *, as_json_too: bool) -> int:
    """Play alone in the folder, after whatever an earlier run left there is gone."""
    root = ROOT / ".demo"
    found = programs(CACHE)
    with closing(Alone(root)):
        for left, _ in groupby(clean_up(root)):
            _say(console, f"ending what an earlier run left behind: {left} processes")
        place = prepare(root)
        now = time.time()
        play = Play(place, scenario, found, _teller(console, opening(scenario, now), now))
        measured, trouble = play.run()
    if play.stopped_by is not None:
        _say(console, "stopped; nothing is left running")
        return 128 + play.stopped_by
    if measured is None or trouble is not None:
        _say(console, f"error: {trouble}")
        _say(console, f"the logs are in {place.run}")
        return 1
    return _sum_up(replace(measured, seconds=play.seconds), place, console, as_json_too=as_json_too)


def _sum_up(measured: Measured, place: Place, console: Console, *, as_json_too: bool) -> int:
    text = json.dumps(as_json(measured), indent=1)
    path: Path = place.root / "summary.json"
    path.write_text(text + "\n")
    console.print(as_table(measured))
    if as_json_too:
        print(text)
    missing = not_observed(measured)
    _say(console, f"the summary is in {path}, the logs are in {place.run}")
    return 1 if missing else 0


def _teller(console: Console, scene: Scene, now: float) -> Teller:
    if console.is_terminal:
        return Drawn(console, scene, now)
    for line in banner(scene):
        _say(console, line)
    return Lines(lambda text: _say(console, text), now)


def _say(console: Console, text: str) -> None:
    """Plain text: nothing is coloured, wrapped or taken for markup."""
    print(text, file=console.file, flush=True)


if __name__ == "__main__":
    sys.exit(main())
