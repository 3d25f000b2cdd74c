"""The live view: values in, something for rich to draw out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from demo import pacing
from demo.scene import Scene, expected_seconds
from demo.sight import Alert, Latency, Replica, Sight, Told

HONEST = (
    "The engines are real vLLM with its real scheduler, cache, API and metrics; only the forward pass is paced (it waits as long as a GPU "
    "would compute), because a machine without a GPU cannot show what a second GPU brings."
)
BARS = "▁▂▃▄▅▆▇█"
STORY_LINES = 12
WIDE = 112  # columns from which the two panels fit beside each other
HEIGHT = 11  # of each of them: alert, three replicas, and the frame
TREND = 40  # seconds that the trend shows
STYLES = {
    "serving": "green", "starting": "yellow", "warming": "yellow", "cordoned": "magenta", "unhealthy": "red", "failed": "red",
    "inactive": "green", "pending": "yellow", "firing": "bold red",
}  # fmt: skip
EVENTS = {
    "alert_pending": "yellow", "alert_firing": "bold red", "alert_resolved": "green", "went_blind": "dim", "sees_again": "dim",
    "change_decided": "bold cyan", "people_told": "bold magenta", "change_failed": "red", "remediation_closed": "bold",
}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """Everything that one drawing needs. `trend` is the client's p90 look by look; `waiting` says what is being waited for at the start or end."""

    scene: Scene
    sight: Sight
    began: float
    story: Sequence[Told] = ()
    trend: Sequence[float | None] = field(default=())
    waiting: str = ""
    wide: bool = True


def draw(shown: Shown) -> RenderableType:
    """The whole view."""
    return Group(
        _head(shown),
        _phases(shown.scene),
        _slow(shown),
        _side_by_side(_ttft(shown), _fleet(shown)) if shown.wide else Group(_ttft(shown), _fleet(shown)),
        _story(shown),
        Text(HONEST, style="dim italic"),
    )


def _side_by_side(left: RenderableType, right: RenderableType) -> Table:
    grid = Table.grid(expand=True)
    grid.add_column(ratio=11)
    grid.add_column(ratio=9)
    grid.add_row(left, right)
    return grid


def _head(shown: Shown) -> Text:
    seconds = shown.sight.at - shown.began
    return Text.assemble(
        (" vLLM SLO autopilot ", "bold white on blue"), f"  demo: {shown.scene.scenario.name}  ", (f"{seconds:.0f} s\n", "bold"),
        (shown.scene.scenario.tells, "italic"),
    )  # fmt: skip


def _phases(scene: Scene) -> Text:
    text, here = Text(), len(scene.began) - 1
    for index, phase in enumerate(scene.scenario.phases):
        done = index < here or scene.done
        sign, style = ("✔", "green") if done else ("▶", "bold yellow") if index == here else ("·", "dim")
        text.append(f"{sign} {index + 1} {phase.name}   ", style=style)
    return text


def _slow(shown: Shown) -> RenderableType:
    """The progress bar of what takes its time now. It stops short of its end until the thing is really done."""
    scene = shown.scene
    if shown.waiting:
        return _bar(shown.waiting, None, 0.0)
    lasted, expected = scene.lasted(shown.sight.at), expected_seconds(scene)
    if scene.over or expected is None:
        return _bar(f"{scene.rate:g} requests/s", None, lasted) if not scene.over else Text("")
    return _bar(scene.phase.slow or scene.phase.name, min(0.97, lasted / expected), lasted, expected)


def _bar(what: str, share: float | None, lasted: float, expected: float | None = None) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    of = f"{lasted:.0f} s of about {expected:.0f} s" if expected else f"{lasted:.0f} s"
    bar = ProgressBar(total=1.0, completed=share or 0.0, pulse=share is None, width=40)
    grid.add_row(bar, Text(what, style="yellow"), Text(of if lasted else "", style="dim"))
    return grid


def _ttft(shown: Shown) -> Panel:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("TTFT, seconds")
    for name in ("p50", "p90", "p99", "p99.9", "requests"):
        table.add_column(name, justify="right")
    sight = shown.sight
    table.add_row("client, last 20 s", *_cells(sight.client))
    table.add_row("server, last 20 s", *_cells(sight.server))
    table.add_row("server, last minute", *_cells(sight.fleet.minute if sight.fleet is not None else Latency()))
    load = Text.assemble(
        (f"{shown.scene.rate:g}", "bold"), " requests/s sent, ", (f"{sight.tally.answered}", "bold"), " answered, ",
        (f"{sight.tally.failed} failed", "bold red" if sight.tally.failed else "green"),
    )  # fmt: skip
    return Panel(Group(table, _trend(shown.trend), load), title="users wait", border_style="blue", height=HEIGHT)


def _cells(latency: Latency) -> list[Text]:
    cells = [_seconds(latency.of(quantile), shaky=latency.count * (1.0 - quantile) < 1.0) for quantile in (0.5, 0.9, 0.99, 0.999)]
    return [*cells, Text(str(latency.count or "-"), style="dim")]


def _seconds(value: float | None, *, shaky: bool) -> Text:
    """A time, red over the objective; dim where fewer requests than one stand above the quantile."""
    if value is None:
        return Text("-", style="dim")
    known = f"{value:.2f}" if value != pacing.TTFT_BUCKETS[-1] else f"≥{value:g}"  # beyond the last edge nothing is known
    return Text(known, style="dim" if shaky else "bold red" if value > pacing.SLO_SECONDS else "green")


def _trend(values: Sequence[float | None]) -> Text:
    text = Text("p90 ", style="dim")
    for value in values[-TREND:]:
        text.append(" " if value is None else _block(value), style="red" if (value or 0.0) > pacing.SLO_SECONDS else "green")
    return text.append(f" objective {pacing.SLO_SECONDS:g} s", style="dim")


def _block(value: float) -> str:
    """One block; full at ten times the objective, the lower half of them under it."""
    low = value / pacing.SLO_SECONDS * 3.0
    high = 4.0 + (value / pacing.SLO_SECONDS - 1.0) / 9.0 * 4.0
    return BARS[min(len(BARS) - 1, int(low if value <= pacing.SLO_SECONDS else high))]


def _fleet(shown: Shown) -> Panel:
    fleet = shown.sight.fleet
    if fleet is None:
        return Panel(Text("the autopilot is not up yet", style="dim"), title="the autopilot sees", border_style="blue", height=HEIGHT)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("replica", "state", "age", "running", "waiting"):
        table.add_column(name, justify="left" if name in ("replica", "state") else "right")
    for replica in fleet.replicas:
        table.add_row(*_replica(replica))
    flight = "?" if fleet.in_flight is None else f"{fleet.in_flight:.0f}"
    line = Text.assemble("in flight ", (flight, "bold"), f", asked for {fleet.desired}, wanted {fleet.wanted}, serving {fleet.serving}")
    alerts = (_alert(alert) for alert in fleet.alerts)
    return Panel(Group(*alerts, table, line), title="the autopilot sees", border_style="blue", height=HEIGHT)


def _replica(replica: Replica) -> tuple[Text, ...]:
    counts = (Text("-" if value is None else f"{value:.0f}") for value in (replica.running, replica.waiting))
    return Text(replica.name), Text(replica.state, style=STYLES.get(replica.state, "")), Text(f"{replica.age_seconds:.0f} s"), *counts


def _alert(alert: Alert) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    name = Text(f"alert {alert.name}")
    state = Text(alert.state + (" (cannot see)" if alert.blind else ""), style="dim" if alert.blind else STYLES.get(alert.state, ""))
    if alert.state != "pending":
        grid.add_row(name, state)
        return grid
    share = alert.active_seconds / alert.for_seconds if alert.for_seconds else 1.0
    held = Text(f"{alert.active_seconds:.0f} of {alert.for_seconds:.0f} s", style="dim")
    grid.add_row(name, state, ProgressBar(total=1.0, completed=min(share, 1.0), width=12), held)
    return grid


def _story(shown: Shown) -> Panel:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim")
    grid.add_column(overflow="fold")
    for line in shown.story[-STORY_LINES:]:
        grid.add_row(f"{line.wall - shown.began:.0f} s", Text(line.text, style=EVENTS.get(line.event, "")))
    body: RenderableType = grid if shown.story else Text("nothing happened yet", style="dim")
    return Panel(body, title="the story", border_style="blue")
