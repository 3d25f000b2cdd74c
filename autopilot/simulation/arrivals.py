"""Where requests come from: rates over time with drawn lengths, or a recorded trace. Seconds and tokens throughout."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import cos, pi
from random import Random
from typing import NamedTuple, TypeAlias


class Request(NamedTuple):
    """One request: when it arrives, in seconds since the story began, and its tokens."""

    at: float
    prompt_tokens: int
    output_tokens: int


Rate: TypeAlias = Callable[[float], float]  # requests per second at a moment, in seconds


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lognormal prompt and output lengths, in tokens; the spreads are the sigmas of the logarithms.

    The defaults are close to the chat trace that Azure published in 2023 (medians 1020 and 129).
    """

    prompt_median: float = 1020.0
    prompt_spread: float = 0.6
    output_median: float = 129.0
    output_spread: float = 0.9
    longest_prompt: int = 4200

    def draw(self, rng: Random, at: float) -> Request:
        """One request of these lengths."""
        prompt = min(self.longest_prompt, max(1, int(self.prompt_median * rng.lognormvariate(0.0, self.prompt_spread))))
        output = max(1, int(self.output_median * rng.lognormvariate(0.0, self.output_spread)))
        return Request(at, prompt, output)


CHAT = Lengths()


def constant(rate: float) -> Rate:
    """The same rate for ever."""
    return lambda _: rate


def steps(*levels: tuple[float, float]) -> Rate:
    """Piecewise constant: each level is (from this second on, requests per second), in order of time. Before the first: none."""

    def rate(at: float) -> float:
        return next((level for begins, level in reversed(levels) if at >= begins), 0.0)

    return rate


def diurnal(*, low: float, high: float, period: float) -> Rate:
    """A day: from `low` up to `high` in the middle of the period and back."""
    return lambda at: low + (high - low) * (1.0 - cos(2.0 * pi * at / period)) / 2.0


def burst(*, usual: float, factor: float, begins: float, lasts: float) -> Rate:
    """`factor` times the usual rate for a while."""
    return lambda at: usual * factor if begins <= at < begins + lasts else usual


def arrivals(rate: Rate, *, peak: float, seconds: float, rng: Random, lengths: Lengths = CHAT) -> list[Request]:
    """A Poisson process of this rate, by thinning one of rate `peak`, which the rate must not exceed."""
    requests: list[Request] = []
    at = rng.expovariate(peak)
    while at < seconds:
        if rng.random() * peak < rate(at):
            requests.append(lengths.draw(rng, at))
        at += rng.expovariate(peak)
    return requests


def scaled(trace: Sequence[Request], *, factor: float, rng: Random) -> list[Request]:
    """A trace at `factor` times its rate, its shape over time kept: requests are repeated or left out by chance.

    Repetitions are moved by up to ten seconds either way, so that they do not arrive as one.
    """
    least, chance = int(factor), factor - int(factor)
    requests = [_moved(request, rng) for request in trace for _ in range(least + (rng.random() < chance))]
    return sorted(requests)


def trace_of(rows: Iterable[tuple[float, int, int]]) -> list[Request]:
    """A recorded trace, of rows (seconds, prompt tokens, output tokens); time begins with the first."""
    requests = sorted(Request(at, prompt, max(1, output)) for at, prompt, output in rows)
    begins = requests[0].at if requests else 0.0
    return [request._replace(at=request.at - begins) for request in requests]


def _moved(request: Request, rng: Random) -> Request:
    return request._replace(at=max(0.0, request.at + rng.uniform(-10.0, 10.0)))
