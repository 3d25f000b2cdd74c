"""An open-loop load: requests arrive when they arrive, whether or not earlier ones are answered.

Runs in a process of its own with the router environment's Python (aiohttp is there): `python -m demo.load`. Writes one
JSON line per finished request, at once, and one summary line at the end. The rate is changed while it runs by
writing a new number into the file given as --rate-file; SIGTERM or SIGINT ends it after the requests under way.
"""
# ruff: noqa: TID251 - a process of its own that measures real seconds; the product's clock is not its clock

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import string
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

POLL_SECONDS = 0.1  # how soon a new rate is noticed; a stat ten times a second costs nothing
WORD_LETTERS = 5  # short words of random letters: about two letters a token with the demo's tokenizer
OK = 200


@dataclass(frozen=True)
class Load:
    """What to send: where, how much, how long; sizes in characters and tokens, times in seconds, rate in requests/s."""

    url: str
    model: str
    rate: float
    rate_file: Path | None
    prompt_chars: int
    shared_chars: int
    output_tokens: int
    seed: int
    seconds: float
    drain_seconds: float
    request_seconds: float

    def __post_init__(self) -> None:
        """Refuse what could not be sent."""
        if self.rate < 0 or not 0 <= self.shared_chars <= self.prompt_chars:
            message = f"rate {self.rate} must not be negative, shared part {self.shared_chars} must fit into the prompt"
            raise ValueError(message)


@dataclass(frozen=True)
class Answer:
    """What became of one request. `sent_at` is wall time; an error of None means the whole stream arrived."""

    sent_at: float
    ttft_seconds: float | None
    e2e_seconds: float
    status: int | None
    error: str | None


@dataclass(frozen=True)
class Summary:
    """The last line: sent = succeeded + failed + lost, lost being those without an end when the drain was over."""

    sent: int
    succeeded: int
    failed: int
    lost: int
    seconds: float
    summary: bool = True


SALT = time.time_ns()  # a second run with the same seed must not find its prompts in the prefix cache


def prompt(load: Load, number: int) -> str:
    """Write the prompt of one request: the shared part first, the rest unlike any other request's of any run.

    The prefix cache can serve the shared part only, which is the same for all runs with the same seed.
    """
    shared = _words(random.Random(load.seed), load.shared_chars)
    return shared + _words(random.Random(f"{SALT}/{number}"), load.prompt_chars - load.shared_chars)


def _words(source: random.Random, chars: int) -> str:
    letters = source.choices(string.ascii_lowercase, k=chars)
    letters[WORD_LETTERS :: WORD_LETTERS + 1] = " " * len(letters[WORD_LETTERS :: WORD_LETTERS + 1])
    return "".join(letters)


async def arrivals(rate: Callable[[], float], source: random.Random, stop: asyncio.Event) -> AsyncIterator[None]:
    """Yield at the moments of a Poisson process whose rate may change at any time; ends when stop is set.

    The moments are counted from the start, not from the last wake-up, so that a late wake-up does not lower the rate.
    """
    at = time.monotonic()
    left = source.expovariate(1.0)  # what the rate must add up to before the next arrival
    while not stop.is_set():
        per_second = rate()
        step = min(left / per_second, POLL_SECONDS) if per_second > 0 else POLL_SECONDS
        at += step
        left -= step * per_second
        await _until(at, stop)
        if left <= sys.float_info.epsilon and not stop.is_set():
            left = source.expovariate(1.0)
            yield


async def _until(at: float, stop: asyncio.Event) -> None:
    seconds = at - time.monotonic()
    if seconds > 0:
        try:
            await asyncio.wait_for(stop.wait(), seconds)
        except TimeoutError:
            return


class RateFile:
    """The rate as last written into a file; the first rate as long as there is no such file or no number in it."""

    def __init__(self, path: Path | None, first: float) -> None:
        """Start with the first rate."""
        self._path = path
        self._rate = first
        self._written = -1

    def __call__(self) -> float:
        """Give the rate in requests per second; reads the file only when it was written since."""
        if self._path is None:
            return self._rate
        try:
            written = self._path.stat().st_mtime_ns
            if written != self._written:
                self._rate = max(float(self._path.read_text()), 0.0)
                self._written = written
        except (OSError, ValueError):
            # Not there yet, or half written: the next look is a tenth of a second away.
            return self._rate
        return self._rate


def set_rate(path: Path, rate: float) -> None:
    """Tell a running load its new rate; whole or not at all, so that no half-written number is read."""
    draft = path.with_suffix(".new")
    draft.write_text(f"{rate}\n")
    draft.replace(path)


async def send(session: aiohttp.ClientSession, load: Load, number: int) -> Answer:
    """Send one request and read its stream to the end; whatever goes wrong becomes part of the answer."""
    body = {
        "model": load.model,
        "prompt": prompt(load, number),
        "max_tokens": load.output_tokens,
        "ignore_eos": True,  # random weights end a text anywhere; the length must be the one asked for
        "temperature": 0,
        "stream": True,
    }
    began = _Began()
    try:
        async with session.post(f"{load.url}/v1/completions", json=body) as response:
            return await _read(response, began)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return began.answer(error=type(error).__name__)
    except asyncio.CancelledError:
        return began.answer(error="lost: no end when the drain was over")


async def _read(response: aiohttp.ClientResponse, began: _Began) -> Answer:
    began.status = response.status
    if response.status != OK:
        await response.read()
        return began.answer(error=f"http {response.status}")
    async for line in response.content:
        if line.startswith(b"data: [DONE]"):
            return began.answer(error=None)
        if line.startswith(b"data: {") and began.first is None:
            began.first = time.monotonic()
        if line.startswith(b'data: {"error"'):
            return began.answer(error="error in the stream")
    return began.answer(error="stream ended early")


@dataclass
class _Began:
    """The times of a request under way; the one value here that changes, because a stream does."""

    wall: float = field(default_factory=time.time)
    clock: float = field(default_factory=time.monotonic)
    first: float | None = None
    status: int | None = None

    def answer(self, *, error: str | None) -> Answer:
        ttft = None if self.first is None else round(self.first - self.clock, 4)
        return Answer(self.wall, ttft, round(time.monotonic() - self.clock, 4), self.status, error)


async def run(load: Load, out: TextIO, stop: asyncio.Event) -> Summary:
    """Send until the time is over or stop is set, wait for the requests under way, and sum up."""
    began = time.monotonic()
    answers: list[Answer] = []
    # A new connection for each request: a kept one that the server closes would count as a failure that was none.
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    timeout = aiohttp.ClientTimeout(total=load.request_seconds)

    async def one(number: int) -> None:
        answers.append(await send(session, load, number))
        _write(out, answers[-1])

    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        under_way = await _send_all(load, one, stop)
        lost = await _drain(under_way, load.drain_seconds)
    failed = sum(answer.error is not None for answer in answers) - lost
    succeeded = len(answers) - lost - failed
    summary = Summary(len(answers), succeeded, failed, lost, round(time.monotonic() - began, 3))
    _write(out, summary)
    return summary


async def _send_all(load: Load, one: Callable[[int], Any], stop: asyncio.Event) -> set[asyncio.Task[None]]:
    asyncio.get_running_loop().call_later(load.seconds, stop.set)
    under_way: set[asyncio.Task[None]] = set()
    number = 0
    # Arrivals draw from a source of their own, so that the same seed gives the same moments whatever is sent.
    async for _ in arrivals(RateFile(load.rate_file, load.rate), random.Random(load.seed), stop):
        task: asyncio.Task[None] = asyncio.create_task(one(number))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        number += 1
    return under_way


async def _drain(under_way: set[asyncio.Task[None]], seconds: float) -> int:
    """Wait for the requests under way; those without an end by then are cancelled, and counted as lost."""
    if not under_way:
        return 0
    _, unfinished = await asyncio.wait(set(under_way), timeout=seconds)
    for task in unfinished:
        task.cancel()
    await asyncio.gather(*unfinished)
    return len(unfinished)


def _write(out: TextIO, line: Answer | Summary) -> None:
    out.write(json.dumps(asdict(line)) + "\n")
    out.flush()  # the live view reads along


def _asked(arguments: list[str]) -> tuple[Load, Path]:
    parser = argparse.ArgumentParser(prog="demo.load", description=__doc__)
    parser.add_argument("--url", required=True, help="of the router or engine, without /v1")
    parser.add_argument("--model", default="demo", help="served model name")
    parser.add_argument("--rate", type=float, required=True, help="requests per second at first")
    parser.add_argument("--rate-file", type=Path, default=None, help="a file whose number is the rate from then on")
    parser.add_argument("--prompt-chars", type=int, default=400)
    parser.add_argument("--shared-chars", type=int, default=0, help="first part of the prompt that all requests share")
    parser.add_argument("--output-tokens", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0, help="stop sending after this long")
    parser.add_argument("--drain-seconds", type=float, default=60.0, help="then wait this long for the last answers")
    parser.add_argument("--request-seconds", type=float, default=120.0, help="give up on one request after this long")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines are appended here")
    asked = vars(parser.parse_args(arguments))
    out: Path = asked.pop("out")
    return Load(**{**asked, "url": asked["url"].rstrip("/")}), out


async def _main(load: Load, path: Path) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with path.open("a") as out:
        summary = await run(load, out, stop)
    sys.stdout.write(json.dumps(asdict(summary)) + "\n")


if __name__ == "__main__":
    asyncio.run(_main(*_asked(sys.argv[1:])))
