"""Questions to one vLLM server: is it up, does it step, is it warm."""

import json
import random
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice

from autopilot.adapters.http import HttpClient, HttpError, HttpLate, HttpRefused, Response
from autopilot.adapters.local.fleets import WarmUp
from autopilot.adapters.local.health import Beat, Health, Vitals

_AT_ONCE = 4  # warm-up requests in flight: batches of several are shapes of their own
_ANSWER_TOKENS = 4
_WARM_SECONDS = 120.0  # for one warm-up request: first requests of 25 s are known (kernels compiled on demand)
_IDS = range(10, 250)  # token ids that every vocabulary has; ids, so that a prompt is exactly as long as asked
_SAMPLE = re.compile(
    rb"^(vllm:iteration_tokens_total_count|vllm:num_requests_running|vllm:num_requests_waiting)(?:\{[^}]*\})? (\S+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Warmed:
    """What came of a warm-up. `note` says why it was not done as asked."""

    done: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Engine:
    """One server at one address."""

    url: str
    http: HttpClient

    def vitals(self, *, deadline_seconds: float) -> Vitals:
        """Health and heartbeat; ends within twice the deadline. Never raises."""
        health = self._health(deadline_seconds)
        return Vitals(health, None if health is Health.REFUSED else self._beat(deadline_seconds))

    def answers(self, *, deadline_seconds: float) -> bool:
        """Whether it makes one token in time. An answer that refuses the request is an answer."""
        try:
            return self._complete(4, tokens=1, deadline_seconds=deadline_seconds).status < 500
        except HttpError:
            return False

    def warm(self, warm_up: WarmUp) -> Warmed:
        """Send the warm-up prompts; done when each was answered. Never raises.

        A server that refuses them (4xx: it has no /v1/completions, or wants a key) is done, with a note: serving
        cold is better than never serving.
        """
        if warm_up.requests == 0:
            return Warmed(done=True)
        longest = self._window() - _ANSWER_TOKENS - 1
        lengths = [max(1, min(tokens, longest)) for tokens in islice(cycle(warm_up.prompt_tokens), warm_up.requests)]
        with ThreadPoolExecutor(min(_AT_ONCE, warm_up.requests), thread_name_prefix="warm-up") as pool:
            answers = list(pool.map(self._warm_once, lengths))
        refused = next((answer for answer in answers if 400 <= answer < 500), None)
        if refused is not None:
            return Warmed(done=True, note=f"not warmed: POST /v1/completions answered {refused}")
        return Warmed(done=all(answer == 200 for answer in answers))

    def _health(self, deadline_seconds: float) -> Health:
        try:
            status = self.http.request("GET", f"{self.url}/health", deadline_seconds=deadline_seconds).status
        except HttpRefused:
            return Health.REFUSED
        except HttpError:
            return Health.LATE
        return Health.OK if status == 200 else Health.BAD

    def _beat(self, deadline_seconds: float) -> Beat | None:
        try:
            answer = self.http.request("GET", f"{self.url}/metrics", deadline_seconds=deadline_seconds)
        except HttpError:
            return None
        return read_beat(answer.body) if answer.status == 200 else None

    def _window(self) -> int:
        """The longest prompt plus output that it takes; a small one while it does not say."""
        try:
            answer = self.http.request("GET", f"{self.url}/v1/models", deadline_seconds=_WARM_SECONDS)
            return int(json.loads(answer.body)["data"][0]["max_model_len"])
        except (HttpError, ValueError, LookupError, TypeError):
            return 128

    def _warm_once(self, length: int) -> int:
        try:
            return self._complete(length, tokens=_ANSWER_TOKENS, deadline_seconds=_WARM_SECONDS).status
        except HttpLate:
            return 504
        except HttpError:
            return 503

    def _complete(self, length: int, *, tokens: int, deadline_seconds: float) -> Response:
        """One completion of a prompt nobody sent before: a cached prefix would hide what warming costs."""
        prompt = random.choices(_IDS, k=length)  # noqa: S311 - any ids do
        body = json.dumps({"prompt": prompt, "max_tokens": tokens, "temperature": 0.7, "ignore_eos": True}).encode()
        return self.http.request("POST", f"{self.url}/v1/completions", body=body, deadline_seconds=deadline_seconds)


def read_beat(exposition: bytes) -> Beat | None:
    """The heartbeat in a scrape of vLLM, summed over its engines; None when one of its three series is absent."""
    totals: dict[bytes, float] = {}
    for name, value in _numbers(exposition):
        totals[name] = totals.get(name, 0.0) + value
    steps = totals.get(b"vllm:iteration_tokens_total_count")
    running, waiting = totals.get(b"vllm:num_requests_running"), totals.get(b"vllm:num_requests_waiting")
    if steps is None or running is None or waiting is None:
        return None
    return Beat(steps=steps, busy=running + waiting > 0)


def _numbers(exposition: bytes) -> Iterator[tuple[bytes, float]]:
    for found in _SAMPLE.finditer(exposition):
        try:
            yield found[1], float(found[2])
        except ValueError:
            continue
