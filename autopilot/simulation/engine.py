"""One replica as a queueing model: prompts are prefilled one after the other, then decoded together, in so many slots.

What is known about every request is fixed when it arrives, so a request costs a few heap operations
and a day of a fleet a few seconds.
"""

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush

from autopilot.domain.workloads import ReplicaState
from autopilot.simulation.arrivals import Request

# The default buckets of vllm:time_to_first_token_seconds.
EDGES = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0, float("inf")),
)


@dataclass(frozen=True, slots=True)
class EngineModel:
    """How fast one replica is. A decode step takes `step_seconds`, and more with every request that runs beside it."""

    slots: int = 64
    prefill_tokens_per_second: float = 12_000.0
    step_seconds: float = 0.015
    step_seconds_per_request: float = 0.00035


@dataclass(slots=True)
class Counters:
    """What a replica's /metrics would say. `buckets` are not cumulative over the edges."""

    started: int = 0
    finished: int = 0
    first_tokens: int = 0
    ttft_seconds: float = 0.0
    steps: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * len(EDGES))


@dataclass(slots=True)
class SimulatedReplica:
    """One replica and the requests on it. Times are seconds since the story began."""

    name: str
    model: EngineModel
    asked_at: float
    state: ReplicaState = ReplicaState.STARTING
    ready_at: float | None = None  # None: not scheduled yet
    load_seconds: float | None = None
    message: str = ""
    assigned: int = 0
    counters: Counters = field(default_factory=Counters)
    serving_from: float = 0.0
    _told_at: float = 0.0
    _prefill_free: float = 0.0
    _slots: list[float] = field(default_factory=list)  # when each request in a slot ends
    _ends: list[tuple[float, float]] = field(default_factory=list)  # (when an unfinished request ends, its TTFT)
    _starts: deque[float] = field(default_factory=deque)
    _firsts: deque[tuple[float, float]] = field(default_factory=deque)  # (when the first token comes, TTFT)

    def take(self, request: Request) -> float:
        """Queue a request behind those that are there; returns its TTFT. Requests must come in order of time."""
        start = max(request.at, self._prefill_free)
        slots, model = self._slots, self.model
        if len(slots) >= model.slots:
            start = max(start, heappop(slots))
        while slots and slots[0] <= start:
            heappop(slots)
        self._prefill_free = start + request.prompt_tokens / model.prefill_tokens_per_second
        step = model.step_seconds + model.step_seconds_per_request * (len(slots) + 1)
        first = self._prefill_free + step
        end = first + (request.output_tokens - 1) * step
        heappush(slots, end)
        heappush(self._ends, (end, first - request.at))
        self._starts.append(start)
        self._firsts.append((first, first - request.at))
        self.assigned += 1
        return first - request.at

    def in_flight(self, at: float) -> int:
        """Requests running or waiting."""
        ends = self._ends
        while ends and ends[0][0] <= at:
            heappop(ends)
            self.counters.finished += 1
        return len(ends)

    def settle(self, at: float) -> None:
        """Bring the counters up to a moment."""
        counters = self.counters
        while self._starts and self._starts[0] <= at:
            self._starts.popleft()
            counters.started += 1
        if self.in_flight(at):
            counters.steps += max(0.0, at - self._told_at) / self.model.step_seconds
        self._told_at = at
        while self._firsts and self._firsts[0][0] <= at:
            _, ttft = self._firsts.popleft()
            counters.first_tokens += 1
            counters.ttft_seconds += ttft
            counters.buckets[bisect_left(EDGES, ttft)] += 1

    @property
    def running(self) -> int:
        """Requests in a slot, as of the last `settle`."""
        return self.counters.started - self.counters.finished

    @property
    def waiting(self) -> int:
        """Requests not begun, as of the last `settle`."""
        return len(self._starts)

    def drop_all(self, at: float) -> list[float]:
        """Lose every request that is unfinished, as a crash does, and return their TTFTs; the counters begin again at 0."""
        self.in_flight(at)
        lost = [ttft for _, ttft in self._ends]
        self.assigned = 0
        self.counters = Counters()
        self._prefill_free, self._slots, self._ends = at, [], []
        self._starts.clear()
        self._firsts.clear()
        return lost
