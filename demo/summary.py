"""What a run has shown: measured numbers with what each means, and which of the scenario's promises were not observed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from demo import pacing
from demo.facts import SCALE, Facts
from demo.scene import Scene
from demo.sight import Latency

NOT_MEASURED = "not observed"
NO_REQUESTS = Latency()


@dataclass(frozen=True)
class Requests:
    """Of the whole run: sent = succeeded + failed + lost. `whole` says that the load itself summed up."""

    sent: int = 0
    succeeded: int = 0
    failed: int = 0
    lost: int = 0
    whole: bool = False


@dataclass(frozen=True)
class Windows:
    """TTFT at the client and in the engines, between the surge and the landing, and after the verdict."""

    client_before: Latency = NO_REQUESTS
    client_after: Latency = NO_REQUESTS
    server_before: Latency = NO_REQUESTS
    server_after: Latency = NO_REQUESTS


@dataclass(frozen=True)
class Measured:
    """All that a summary is made of. `newest_sample` is when the newest sample behind the decision was scraped, in wall time."""

    scene: Scene
    windows: Windows
    requests: Requests
    seconds: float
    newest_sample: float | None = None


@dataclass(frozen=True)
class Row:
    """One number. A value of None was not observed."""

    key: str
    name: str
    value: float | str | None
    unit: str
    meaning: str


def rows(measured: Measured) -> tuple[Row, ...]:
    """The numbers in the order in which they happened."""
    facts = measured.scene.facts
    return (*_reaction(measured, facts), *_latency(measured), *_end(measured, facts))


def not_observed(measured: Measured) -> tuple[str, ...]:
    """Each promise of the scenario that was not kept, in a line."""
    scene, requests = measured.scene, measured.requests
    lines = [f"not observed: {scene.missed}"] if scene.missed else []
    promises = _ladder(measured) if scene.scenario.shared_device else _scale(measured)
    lines += [f"not observed: {what}" for kept, what in (*_common(measured), *promises) if not kept]
    if requests.failed or requests.lost:
        lines.append(f"not observed: every request answered ({requests.failed} failed, {requests.lost} lost)")
    return tuple(lines)


def as_json(measured: Measured) -> dict[str, object]:
    """The summary for programs."""
    missing = not_observed(measured)
    return {
        "scenario": measured.scene.scenario.name,
        "ok": not missing,
        "not_observed": list(missing),
        "measured": {row.key: row.value for row in rows(measured)},
        "ttft_seconds": {name: {"requests": one.count, **_named(one)} for name, one in _windows(measured.windows)},
        "requests": asdict(measured.requests),
        "steps": [asdict(one) for one in measured.scene.facts.attempts],
        "seconds": round(measured.seconds, 1),
    }


def as_table(measured: Measured) -> RenderableType:
    """The summary for people."""
    table = Table(title=f"demo: {measured.scene.scenario.name}", title_style="bold", show_lines=False)
    table.add_column("measured")
    table.add_column("", justify="right", style="bold")
    table.add_column("what it means", style="dim")
    for row in rows(measured):
        table.add_row(row.name, _value(row), row.meaning)
    missing = not_observed(measured)
    end = Text("all that this scenario promises was observed", style="bold green") if not missing else Text("\n".join(missing), style="red")
    return Group(table, end)


def _reaction(measured: Measured, facts: Facts) -> Iterator[Row]:
    rose, accepted = facts.rose_at, facts.accepted_at
    yield Row(
        "first_replica_seconds", "first replica ready after", _round(facts.start_seconds), "s", "from being asked for until it served"
    )
    yield _span("breach_seen_seconds", "breach seen after", rose, facts.pending_at, "from the load's rise: the alert's condition was yes")
    yield _span("alert_firing_seconds", "alert firing after", rose, facts.firing_at, "the condition held for the alert's 5 s")
    yield _span("action_seconds", "action after", rose, accepted, "from the load's rise: a second replica was asked for")
    meaning = "from the scrape of the newest sample behind the decision until the change was recorded"
    yield _span("sample_to_change_seconds", "sample to change", measured.newest_sample, accepted, meaning, digits=3)
    meaning = "from the tick that decided until the change was recorded"
    yield _span("decision_to_change_seconds", "decision to change", facts.decided_at, accepted, meaning, digits=3)
    meaning = "from being asked for until it served: load, warm-up, router"
    yield Row("replica_ready_seconds", "replica ready after", _round(facts.ready_seconds), "s", meaning)
    yield Row("verdict", "verdict", facts.verdict, "", "on the added replica, judged on the symptom alone")
    yield _span(
        "verdict_seconds",
        "verdict after",
        facts.landed_at,
        facts.judged_at,
        "from its landing: the alert's window, and any queue, had to pass first",
    )


def _latency(measured: Measured) -> Iterator[Row]:
    windows = measured.windows
    told = "after the verdict" if not measured.scene.scenario.shared_device else "from the landing to the end"
    for side, before, after in (
        ("client", windows.client_before, windows.client_after),
        ("server", windows.server_before, windows.server_after),
    ):
        meaning = f"{before.count} first tokens from the load's rise until the replica served{_at_least(side, before)}"
        yield Row(f"ttft_p99_before_{side}_seconds", f"TTFT p99 before, {side}", _round(before.of(0.99), 2), "s", meaning)
        yield Row(
            f"ttft_p99_after_{side}_seconds",
            f"TTFT p99 after, {side}",
            _round(after.of(0.99), 2),
            "s",
            f"{after.count} first tokens {told}{_at_least(side, after)}",
        )


def _at_least(side: str, latency: Latency) -> str:
    """A histogram knows no more than that it lies beyond its last edge."""
    value = latency.of(0.99)
    return "; at least so much" if side == "server" and value is not None and value >= pacing.TTFT_BUCKETS[-1] else ""


def _end(measured: Measured, facts: Facts) -> Iterator[Row]:
    if not measured.scene.scenario.shared_device:
        yield _span("shrink_decided_seconds", "shrink decided after", facts.fell_at, facts.shrinking_at, "from the fall of the load")
        yield _span(
            "shrunk_seconds", "shrunk after", facts.fell_at, facts.shrunk_at, "out of traffic, drained, let go; from the fall of the load"
        )
    else:
        yield Row("next_rung", "next rung", _rung(facts), "", "relocate has no hands on one machine, so it is passed over and said so")
        yield Row("people_told", "people told", facts.told, "", "how many times: once, by the handing over")
        yield Row("replicas_kept", "replicas kept", facts.least, "", "a verdict takes no capacity away")
    requests = measured.requests
    meaning = f"{requests.succeeded} succeeded, {requests.failed} failed, {requests.lost} lost"
    yield Row("requests_sent", "requests sent", requests.sent, "", meaning)
    yield Row("seconds", "whole run", round(measured.seconds), "s", "model, Prometheus, engines, the story, and all of it taken down again")


def _common(measured: Measured) -> Iterator[tuple[bool, str]]:
    facts = measured.scene.facts
    yield facts.pending_at is not None and facts.firing_at is not None, "the breach: alert pending, then firing"
    yield facts.accepted_at is not None and facts.most >= 2, "the action: a second replica asked for"
    yield facts.landed_at is not None, "the added replica landed"
    yield measured.requests.whole and measured.requests.sent > 0, "the load's own summary of its requests"


def _scale(measured: Measured) -> Iterator[tuple[bool, str]]:
    facts, windows = measured.scene.facts, measured.windows
    yield facts.verdict == "helped", f"the verdict helped (it is {facts.verdict})"
    yield _fell(windows.client_before, windows.client_after), "TTFT p99 at the client lower after than before"
    yield _fell(windows.server_before, windows.server_after), "TTFT p99 in the engines lower after than before"
    yield facts.shrunk_at is not None and facts.present == 1, "the fleet shrunk to one replica after the load fell"
    yield facts.drained, "the replica drained before it went"


def _ladder(measured: Measured) -> Iterator[tuple[bool, str]]:
    facts = measured.scene.facts
    yield facts.verdict in ("ineffective", "insufficient"), f"a verdict that the replica did not help enough (it is {facts.verdict})"
    yield _rung(facts) == "not_taken (not_supported)", f"the next rung passed over as not supported (it is {_rung(facts)})"
    yield facts.told == 1, f"people told exactly once (it is {facts.told} times)"
    yield facts.least is not None and facts.least >= facts.most, "the added replica kept after the verdict"


def _rung(facts: Facts) -> str | None:
    """How the first step that was no scaling ended."""
    one = next((one for one in facts.attempts if one.verb not in (SCALE, "notify")), None)
    return None if one is None else f"{one.verdict} ({one.reason})"


def _fell(before: Latency, after: Latency) -> bool:
    old, new = before.of(0.99), after.of(0.99)
    return old is not None and new is not None and new < old


def _span(key: str, name: str, begin: float | None, end: float | None, meaning: str, *, digits: int = 1) -> Row:  # noqa: PLR0913 - a row
    return Row(key, name, _round(end - begin, digits) if begin is not None and end is not None else None, "s", meaning)


def _windows(windows: Windows) -> tuple[tuple[str, Latency], ...]:
    return (
        ("client_before", windows.client_before),
        ("client_after", windows.client_after),
        ("server_before", windows.server_before),
        ("server_after", windows.server_after),
    )


def _named(latency: Latency) -> dict[str, float]:
    return {f"p{100 * quantile:g}": round(value, 4) for quantile, value in latency.at}


def _round(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def _value(row: Row) -> str:
    return NOT_MEASURED if row.value is None else f"{row.value} {row.unit}".strip()
