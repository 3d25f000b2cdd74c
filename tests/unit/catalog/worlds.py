"""A fleet's answers as values: healthy ones, to be spoilt one by one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from autopilot.catalog import series
from autopilot.catalog.answers import Failure
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import derive
from autopilot.catalog.queries import Need, Query, Target, plan
from autopilot.catalog.series import Series
from autopilot.catalog.signals import FINISHED, RUNNING, WAITING
from autopilot.domain.samples import Answer, Sample
from autopilot.domain.signals import Gap, Reading, Readings, Unknown
from autopilot.domain.workloads import FleetRef

NOW = 1_790_000_000.0
SCRAPE = timedelta(seconds=15)
MINUTE = timedelta(minutes=1)
REF = FleetRef("llm", "chat")
NAMES = tuple(f"chat-{number}" for number in range(5))
OLD = timedelta(hours=1)
TTFT = "vllm:time_to_first_token_seconds"
KV = series.newest("vllm:kv_cache_usage_perc", within="max")
STALLED = series.stalled(SCRAPE)
QUIET = series.quiet(MINUTE)
BUCKETS, SUMS, EDGES = series.buckets(TTFT, MINUTE), series.sums(TTFT, MINUTE), series.uneven_edges(TTFT)
TRAFFIC = series.memory_traffic(MINUTE)
HITS = series.increase("vllm:prefix_cache_hits_total", MINUTE)
LOOKUPS = series.increase("vllm:prefix_cache_queries_total", MINUTE)

Rows = Mapping[str, float]


def healthy(names: tuple[str, ...] = NAMES) -> dict[Series, Rows]:
    """Each replica: 2 running, 1 waiting, 30 finished and 600 steps in the last minute, half of the cache in use."""
    each = {
        series.UP: NOW - 5.0,
        series.newest(RUNNING): 2.0,
        series.newest(WAITING): 1.0,
        series.mean(RUNNING, MINUTE): 2.0,
        series.mean(WAITING, MINUTE): 1.0,
        series.increase(FINISHED, MINUTE): 30.0,
        series.growth(MINUTE): 6.0,
        series.steps(MINUTE): 600.0,
        SUMS: 12.0,
        KV: 0.5,
        TRAFFIC: 6e12,
        HITS: 300.0,
        LOOKUPS: 400.0,
        series.failed(MINUTE): 3.0,
        series.answered(MINUTE): 30.0,
    }
    rows: dict[Series, Rows] = {asked: dict.fromkeys(names, value) for asked, value in each.items()}
    return rows | {BUCKETS: {"0.5": 100.0, "1.0": 140.0, "+Inf": 150.0}, EDGES: {}, STALLED: {}, QUIET: {}, series.OLD: {}}


def resting(names: tuple[str, ...] = NAMES) -> dict[Series, Rows]:
    """The same replicas with nothing to do."""
    rows = healthy(names)
    zero = [asked for asked in rows if asked not in (series.UP, series.OLD, STALLED, EDGES, QUIET, BUCKETS, KV)]
    nothing: dict[Series, Rows] = {asked: dict.fromkeys(names, 0.0) for asked in zero}
    return (
        rows | nothing | {QUIET: dict.fromkeys(names, 4.0), BUCKETS: {"0.5": 0.0, "1.0": 0.0, "+Inf": 0.0}, KV: dict.fromkeys(names, 0.0)}
    )


@dataclass(frozen=True, slots=True)
class World:
    """One fleet and all that Prometheus would say about it."""

    rows: Mapping[Series, Rows] = field(default_factory=healthy)
    failures: Mapping[Series, Failure] = field(default_factory=dict)
    warned: frozenset[Series] = frozenset()
    live: tuple[LiveReplica, ...] = tuple(LiveReplica(name, OLD) for name in NAMES)
    needs: frozenset[Need] = frozenset()
    peak_bandwidth: float | None = 1e12

    def with_rows(self, asked: Series, rows: Rows) -> "World":
        """The world where one answer is another."""
        return replace(self, rows={**self.rows, asked: rows})

    def without(self, asked: Series, *names: str) -> "World":
        """The world where some rows are missing, all of them where no name is given."""
        rows = self.rows[asked]
        return self.with_rows(asked, {name: value for name, value in rows.items() if names and name not in names})

    def changed(self, asked: Series, **values: float) -> "World":
        """The world where some rows of chat-N, given as chat_N, have another value."""
        return self.with_rows(asked, {**self.rows[asked], **{name.replace("_", "-"): value for name, value in values.items()}})

    def failing(self, asked: Series, gap: Gap = Gap.LATE) -> "World":
        """The world where one query was not answered."""
        return replace(self, failures={**self.failures, asked: Failure(gap, "it was slow")})

    def needing(self, *needs: Need) -> "World":
        """The world where the policy asks for more."""
        return replace(self, needs=self.needs | frozenset(needs))

    @property
    def target(self) -> Target:
        """The fleet."""
        return Target(REF, "default", (("namespace", "llm"), ("fleet", "chat")), "pod", SCRAPE, self.needs, self.peak_bandwidth)

    def answers(self) -> dict[Query, Answer | Failure]:
        """What Prometheus says."""
        return {query: self._answer(query) for query in plan([self.target])}

    def _answer(self, query: Query) -> Answer | Failure:
        failure = self.failures.get(query.series)
        if failure is not None:
            return failure
        identity = dict(zip(query.labels[:-1], ("chat", "llm"), strict=True))
        samples = tuple(Sample({**identity, query.labels[-1]: name}, value, NOW) for name, value in self.rows.get(query.series, {}).items())
        return Answer(samples, ("some stores did not answer",) if query.series in self.warned else ())

    def read(self) -> Readings:
        """What the catalogue makes of it."""
        return derive([self.target], self.answers(), {REF: self.live}, NOW)[REF]


def gap_of(reading: Reading) -> Gap | None:
    """Why a reading is unknown, None where it is not."""
    return reading.gap if isinstance(reading, Unknown) else None
