"""What can be asked of Prometheus: one text per source series, written once for all fleets.

In a text `$match` stands for the matchers of the fleets, `$ids` for their labels, `$by` for these and the
replica's label, `$over` for the window, `$enough` for how many samples cover it and `$stale` for the age in
seconds at which a sample is too old. A text never holds a value that came from outside.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from autopilot.catalog.signals import (
    FINISHED,
    GENERATION_TOKENS,
    HTTP_REQUESTS,
    PROMPT_TOKENS,
    READ_BYTES,
    REJECTIONS,
    RUNNING,
    STEPS,
    WAITING,
    WRITE_BYTES,
)

STALL = timedelta(seconds=60)  # no engine step for so long while there are requests (design.md law 1)
KEEP_EDGES = timedelta(minutes=1)
_NO_PROBES = 'handler!~"/health|/ping|/metrics|/load|/version"'
_SERVER_ERROR = 'status=~"5.."'  # "5xx" in vLLM's own counter, "503" where a gateway counts
_CLIENT_ERROR = 'status=~"4.."'
_ERROR = 'finished_reason="error"'
# What asks for tokens. A counter that has no such label (a gateway's) counts nothing else.
_FOR_TOKENS = 'handler=~"|.*(completions|responses|messages|generate|transcriptions|translations).*", method=~"|POST"'


class Split(StrEnum):
    """What tells the rows of one fleet apart."""

    REPLICA = "replica"
    OBSERVATIONS = "observations"  # by replica; a native histogram among the rows counts its observations
    EDGE = "edge"  # a native histogram has all of its edges in one row


@dataclass(frozen=True, slots=True)
class Series:
    """One thing to ask, over one window; `over` None is the newest sample. An answer may be used again for `keep`."""

    text: str
    over: timedelta | None = None
    split: Split = Split.REPLICA
    keep: timedelta = timedelta(0)


# The time of the newest scrape that worked, 0 after one that failed: `up` and its freshness in one answer.
UP = Series("max by ($by) (timestamp(up{$match}) * up{$match})")

# How old the newest sample is, of replicas whose samples are too old: no row is the good case. An instant vector
# is stamped with its evaluation time and may be minutes old (an adapter with timestamps of its own).
OLD = Series(f"max by ($by) (time() - timestamp({RUNNING}{{$match}}) > $stale)")


def newest(metric: str, *, within: str = "sum") -> Series:
    """A gauge's newest value; the engines of one replica are put together by `within`."""
    return Series(f"{within} by ($by) ({metric}{{$match}})")


def mean(metric: str, over: timedelta, *, within: str = "sum") -> Series:
    """A gauge's mean over a window."""
    return Series(f"{within} by ($by) (avg_over_time({metric}{{$match}}[$over]))", over)


def gauge(metric: str, over: timedelta | None, *, within: str = "sum") -> Series:
    """A gauge, newest or averaged."""
    return newest(metric, within=within) if over is None else mean(metric, over, within=within)


def increase(metric: str, over: timedelta) -> Series:
    """By how much a counter grew; restarts are seen through."""
    return Series(f"sum by ($by) ({_grown(metric)})", over)


def growth(over: timedelta) -> Series:
    """By how much running + waiting changed."""
    parts = (f"sum by ($by) (delta({metric}{{$match}}[$over]))" for metric in (RUNNING, WAITING))
    return Series(" + ".join(parts), over)


def steps(over: timedelta) -> Series:
    """Engine steps; tokens where an engine does not count its steps."""
    tokens = f"sum by ($by) ({_grown(PROMPT_TOKENS)}) + sum by ($by) ({_grown(GENERATION_TOKENS)})"
    return Series(f"sum by ($by) ({_grown(STEPS + '_count')}) or sum by ($by) ({_grown(STEPS)}) or ({tokens})", over, Split.OBSERVATIONS)


def stalled(scrape: timedelta) -> Series:
    """Replicas, one of whose engines had requests at every scrape of the last minute and made no step.

    Judged engine by engine. A scrape more than a minute: that many samples span it. No row is the good case,
    so it proves nothing by itself: `engine_steps` must be there too.
    """
    busy = f"min_over_time({RUNNING}{{$match}}[$over]) + min_over_time({WAITING}{{$match}}[$over]) > 0"
    native = f"changes({STEPS}{{$match}}[$over])"  # a native histogram: it has another value after every step
    moved = f"{_grown(STEPS + '_count')} or {native} or ({_grown(PROMPT_TOKENS)} + {_grown(GENERATION_TOKENS)})"
    whole = f"count_over_time({RUNNING}{{$match}}[$over]) >= $enough"
    return Series(f"count by ($by) (({busy}) and (({moved}) == 0) and ({whole}))", STALL + scrape)


def quiet(over: timedelta) -> Series:
    """Replicas that had nothing running and nothing waiting at any scrape of the window.

    The value is how many scrapes say so; whether that is the whole window depends on the replica's age.
    """
    held = " + ".join(f"sum by ($by) (sum_over_time({metric}{{$match}}[$over]))" for metric in (RUNNING, WAITING))
    return Series(f"min by ($by) (count_over_time({RUNNING}{{$match}}[$over])) and on ($by) ({held} == 0)", over)


def buckets(metric: str, over: timedelta) -> Series:
    """A whole histogram of each fleet: rows by edge of the replicas that export it classic, one row of those that export it native."""
    return Series(f"sum by ($ids, le) ({_grown(metric + '_bucket')}) or sum by ($ids) ({_grown(metric)})", over, Split.EDGE)


def sums(metric: str, over: timedelta) -> Series:
    """The observed values summed, replica by replica: who has no row does not export the histogram.

    0 for a native histogram: it brings its sum with its buckets.
    """
    native = f"0 * count by ($by) (count_over_time({metric}{{$match}}[$over]) > 1)"
    return Series(f"sum by ($by) ({_grown(metric + '_sum')}) or {native}", over)


def uneven_edges(metric: str) -> Series:
    """The share of replicas that have an edge, for edges that not all of them have: no row is the good case.

    Edges change with a rollout only, and this is the second dearest question for the server: its answer may be kept.
    """
    every = f'count by ($ids) ({metric}_bucket{{$match, le="+Inf"}})'
    return Series(
        f"count by ($ids, le) ({metric}_bucket{{$match}}) / on ($ids) group_left () {every} < 1", split=Split.EDGE, keep=KEEP_EDGES
    )


def answered(over: timedelta) -> Series:
    """Requests that got an HTTP answer; finished requests where the HTTP counter is not exported."""
    return Series(f"sum by ($by) ({_http()}) or sum by ($by) ({_grown(FINISHED)})", over)


def failed(over: timedelta) -> Series:
    """Requests answered with 5xx, else those that finished in an error. No 5xx series yet is 0 where others are."""
    http = f"sum by ($by) ({_http(_SERVER_ERROR)}) or 0 * sum by ($by) ({_http()})"
    return Series(f"{http} or sum by ($by) ({_grown(FINISHED, _ERROR)})", over)


def server_errors(over: timedelta) -> Series:
    """Requests for tokens answered with 5xx, less those that a queue limit turned away: these are `refused`."""
    turned_away, none = f"sum by ($by) ({_grown(REJECTIONS)})", f"0 * sum by ($by) ({_tokens_asked()})"
    errors = f"sum by ($by) ({_tokens_asked(_SERVER_ERROR)})"
    return Series(f"clamp_min({errors} - on ($by) ({turned_away} or {none}), 0) or {none}", over)


def refused(over: timedelta) -> Series:
    """Requests for tokens answered with 4xx, and those that a queue limit turned away. No such series yet is 0 where others are."""
    turned_away, none = f"sum by ($by) ({_grown(REJECTIONS)})", f"0 * sum by ($by) ({_tokens_asked()})"
    return Series(f"(sum by ($by) ({_tokens_asked(_CLIENT_ERROR)}) or {none}) + on ($by) ({turned_away} or {none})", over)


def _tokens_asked(*also: str) -> str:
    """How many requests for tokens came in the window.

    A status has no series before its first request, and `increase` does not see what a series is born with. Where
    the replica was there already at the start of the window the new series began at 0.
    """
    match = f"{HTTP_REQUESTS}{{{', '.join(['$match', _FOR_TOKENS, *also])}}}"
    before = f"{HTTP_REQUESTS}{{$match}} offset $over"
    return f"((({match} unless {match} offset $over) and on ($by) {before}) or increase({match}[$over]))"


def memory_traffic(over: timedelta) -> Series:
    """Bytes read and written per GPU; the mean of a replica's engines, for each of them counts its own GPUs."""
    return Series(f"avg by ($by) ({_grown(READ_BYTES)}) + avg by ($by) ({_grown(WRITE_BYTES)})", over)


def _grown(metric: str, *also: str) -> str:
    return f"increase({metric}{{{', '.join(['$match', *also])}}}[$over])"


def _http(*also: str) -> str:
    return _grown(HTTP_REQUESTS, _NO_PROBES, *also)
