"""Records as a story for people at 3 a.m.: what happened, what was seen at that moment, what was held back and why."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.text import Text

from autopilot.cli.output import LOUD, WARN, Row, ago, facts, figure, requests, said, spell, utc
from autopilot.cli.status_rows import attempt_name, claim_in_words, quantile_in_words, slo_in_words
from autopilot.control.status import Quantile
from autopilot.domain.remediations import Attempt, Gauged, Remediation
from autopilot.web.explained import AlertSeen, Explained, SignalSeen


def rendered(records: Sequence[Explained], *, about: str | None, now: datetime) -> Iterator[RenderableType]:
    """The records oldest first. Of a remediation, `about`, the ticks on which nothing changed are left out, and its effect ends the story."""
    if not records:
        return
    subject = next((one for record in reversed(records) for one in record.remediations if one.id == about), None)
    if subject is not None:
        yield _title(records, subject, now)
    held: set[tuple[str, str]] = set()
    for record in records:
        holds = {(one.verb, one.reason) for one in record.held}
        if subject is None or record.happened or record.did or record.came_back or holds != held:
            yield _moment(record, _when(record, now) if subject is None else _offset(record, records[0]))
        held = holds
    for one in (subject,) if subject is not None else _judged(records):
        yield _effect(one)


def _judged(records: Sequence[Explained]) -> tuple[Remediation, ...]:
    """Each remediation as the last record that knows it has it."""
    return tuple({one.id: one for record in records for one in record.remediations}.values())


def _title(records: Sequence[Explained], one: Remediation, now: datetime) -> RenderableType:
    begun = next((record.wall for record in records if any(each.id == one.id for each in record.remediations)), records[0].wall)
    if one.exhausted:
        state = f"handed over to people, last verdict {one.verdict}"
    else:
        state = f"still open, {one.verdict}" if one.open else f"closed: {one.verdict}"
    text = f"{records[0].fleet}: remediation {one.id} for {one.alert} ({one.severity}), begun {utc(begun)}, {ago(begun, now)}; {state}"
    return said(text, style="bold")


def _when(record: Explained, now: datetime) -> str:
    return f"{ago(record.wall, now)}  {record.fleet}"


def _offset(record: Explained, first: Explained) -> str:
    """Within a story what counts is how one thing followed the other."""
    return f"+{spell(record.at_seconds - first.at_seconds)}"


def _moment(record: Explained, when: str) -> RenderableType:
    rows: list[Row] = [("happened", one) for one in record.happened]
    rows.append(("replicas", _replicas(record)))
    rows += [("", trouble) for trouble in record.replicas.troubles]
    rows.append(("saw", saw(record.signals)))
    rows += [("could not see", said(one, style=WARN)) for one in _blind_spots(record.signals)]
    rows += [("SLO", slo_in_words(slo)) for slo in record.slos]
    rows += [("alert", _alert(alert)) for alert in record.alerts]
    rows += [("reported", claim_in_words(claim)) for claim in record.reported]
    rows += [("came back", one) for one in record.came_back]
    rows += [("did", said(f"{one.verb}: {one.what}: {one.why}", style="bold")) for one in record.did]
    rows += [("held", f"{one.verb}: {one.reason}{': ' + one.limit if one.limit else ''}") for one in record.held]
    return Group(Text(), said(f"{utc(record.wall)}  {when}", style="bold cyan"), facts(rows))


def _replicas(record: Explained) -> Text:
    there = record.replicas
    if there.desired is None:
        return said("not observed", style=LOUD)
    return said(f"{there.serving} serving, {there.desired} desired, {'unknown' if there.wanted is None else there.wanted} wanted")


def saw(signals: Sequence[SignalSeen]) -> str:
    """What was known, each signal with its windows; idle and sparse say so."""
    known = [one for one in signals if one.state != "unknown"]
    return "; ".join(_signal(one) for one in known) or "nothing"


def _signal(one: SignalSeen) -> str:
    name = f"{one.signal} over {spell(one.over_seconds)}" if one.over_seconds is not None else one.signal
    behind = f" (n={requests(one.count)})" if one.count is not None else ""
    part = " (partial)" if one.partial else ""
    if one.state == "idle":
        return f"{name} idle"
    if one.quantiles:
        return f"{name}{behind}{part} {', '.join(_quantile(each, one.unit) for each in one.quantiles)}"
    return f"{name} {figure(one.value, one.unit)}{behind}{part}"


def _quantile(one: Quantile, unit: str) -> str:
    if unit == "seconds" or one.value is None:
        return quantile_in_words(one)
    return f"p{100 * one.quantile:.6g} {'at least ' if one.at_least else ''}{figure(one.value, unit)}"


def _blind_spots(signals: Sequence[SignalSeen]) -> list[str]:
    return list(dict.fromkeys(f"{one.signal}: {one.detail}" for one in signals if one.state == "unknown"))


def _alert(alert: AlertSeen) -> Text:
    why = (
        " for want of data: BLIND, the state is kept"
        if alert.blind
        else " (too few samples, or between two edges)"
        if alert.undecided
        else ""
    )
    lasting = f"; true for {spell(alert.active_seconds)}" if alert.active_seconds else ""
    text = f"{alert.name} is {alert.state}; its condition is {alert.truth}{why}{lasting}"
    return said(text, style=LOUD if alert.state == "firing" else WARN if alert.blind else "")


def _effect(one: Remediation) -> RenderableType:
    rows: list[Row] = []
    for attempt in one.attempts:
        rows.append((attempt_name(attempt), _verdict(attempt)))
        rows += [
            (f"  {when}", _gauged(gauged)) for when, gauged in (("before", attempt.before), ("after", attempt.after)) if gauged is not None
        ]
    if one.closed_at is not None:
        rows.append(("closed", f"{one.verdict}, {spell((one.closed_at - one.opened_at).total_seconds())} after it opened"))
    return Group(Text(), said(f"effect of {one.id}", style="bold cyan"), facts(rows or [("", "no step was begun yet")]))


def _verdict(attempt: Attempt) -> str:
    reason = f" ({attempt.reason})" if attempt.reason is not None else ""
    why = f": {attempt.detail}" if attempt.detail else ""
    landed = f"; landed after {_since(attempt, attempt.landed_at)}" if attempt.landed_at is not None else "; not landed"
    ended = f", ended after {_since(attempt, attempt.ended_at)}" if attempt.ended_at is not None else ", under way"
    return f"{attempt.verdict}{reason}{why}{landed}{ended}"


def _since(attempt: Attempt, moment: timedelta) -> str:
    return spell((moment - attempt.began).total_seconds())


def _gauged(gauged: Gauged) -> str:
    """The symptom's figures, leaf by leaf in the order of the alert's condition."""
    leaves = [_leaf(share, mean) for share, mean in zip(gauged.shares, gauged.means, strict=False)]
    return f"{'; '.join(leaves) or 'no figure'}; arrivals {figure(gauged.arrivals, 'per_second')}"


def _leaf(share: float | None, mean: float | None) -> str:
    over = f"{figure(share, 'ratio')} over the line, " if share is not None else ""
    return f"{over}mean {figure(mean)}"
