"""What is wrong within one policy document."""

from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from autopilot.actions import Notify
from autopilot.catalog.signals import Form, SignalKind
from autopilot.domain.crontab import parse_crontab
from autopilot.policy.checks_bandwidth import acts_alone
from autopilot.policy.checks_conditions import Signals
from autopilot.policy.checks_ladder import ladder_cautions, ladder_complaints, needs_own_test
from autopilot.policy.checks_scaling import scaling_cautions, scaling_complaints
from autopilot.policy.own_signals import faults
from autopilot.policy.problems import Complaint, Path, did_you_mean, quoted
from autopilot.policy.schema_policy import OwnSignal, PolicySpec, SloShape, WindowShape, steps
from autopilot.policy.surroundings import Surroundings
from autopilot.policy.units import parse_threshold


def policy_complaints(spec: PolicySpec, around: Surroundings) -> tuple[Complaint, ...]:
    """Everything that keeps a policy from loading."""
    signals = known_signals(spec, around.signals)
    return (
        *_repeated(spec),
        *_own_signals(spec, around.signals),
        *_windows(spec),
        *scaling_complaints(spec, signals),
        *_slos(spec, signals),
        *ladder_complaints(spec, signals),
        *_receivers(spec, around.receivers),
    )


def untested_steps(spec: PolicySpec, around: Surroundings) -> tuple[Complaint, ...]:
    """The steps that nothing could verify, or that bandwidth alone would start. Only for a policy that nothing else is wrong with."""
    signals = known_signals(spec, around.signals)
    return (*needs_own_test(spec, signals), *acts_alone(spec, signals))


def policy_cautions(spec: PolicySpec, around: Surroundings) -> tuple[Complaint, ...]:
    """What a person should know of a policy that loads."""
    signals = known_signals(spec, around.signals)
    own = (Complaint(("spec", "signals", name), "not supported yet: it stays unknown") for name in spec.signals)
    return (*own, *scaling_cautions(spec, signals), *ladder_cautions(spec))


def known_signals(spec: PolicySpec, catalogue: Signals) -> Signals:
    """The catalogue and the policy's own signals."""
    return {**{name: _own_kind(name, own) for name, own in spec.signals.items()}, **catalogue}


def _own_kind(name: str, own: OwnSignal) -> SignalKind:
    form: Form = "histogram" if own.histogram else "gauge" if own.gauge else "rate"
    return SignalKind(name, "a series of one's own", own.unit, form, (), worse=own.worse)


def _own_signals(spec: PolicySpec, catalogue: Signals) -> Iterator[Complaint]:
    for name, own in spec.signals.items():
        if name in catalogue:
            yield Complaint(("spec", "signals", name), f"the catalogue has a signal {name} already, choose another name")
        for kind, promql in (("histogram", own.histogram), ("gauge", own.gauge), ("counter", own.counter)):
            for fault in faults(promql, windowed=kind != "gauge") if promql is not None else ():
                yield Complaint(("spec", "signals", name, kind), fault)


def _repeated(spec: PolicySpec) -> Iterator[Complaint]:
    """A name that is given twice within one list."""
    lists: dict[str, tuple[str, Sequence[str]]] = {
        "slos": ("name", [slo.name for slo in spec.slos]),
        "alerts": ("name", [alert.name for alert in spec.alerts]),
        "remedies": ("alert", [remedy.alert for remedy in spec.remedies]),
        "schedule": ("name", [scheduled.name for scheduled in spec.schedule]),
    }
    for section, (key, names) in lists.items():
        for index, name in enumerate(names):
            if name in names[:index]:
                yield Complaint(("spec", section, index, key), f"{quoted(name)} is in {section} already, write each once")


def _windows(spec: PolicySpec) -> Iterator[Complaint]:
    for name, window in spec.windows.items():
        yield from _window(window, ("spec", "windows", name))
    uses: list[tuple[Path, str | None]] = [
        (("spec", "limits", "freeze", index, "during"), freeze.during) for index, freeze in enumerate(spec.limits.freeze)
    ]
    bounds = spec.scaling.bounds if spec.scaling is not None else ()
    uses += [(("spec", "scaling", "bounds", index, "during"), bound.during) for index, bound in enumerate(bounds)]
    for path, during in uses:
        if during is not None and during not in spec.windows:
            yield Complaint(path, f"no window is called {quoted(during)}, {did_you_mean(during, spec.windows)}", ("spec", "windows"))


def _window(window: WindowShape, path: Path) -> Iterator[Complaint]:
    if window.cron is not None:
        try:
            parse_crontab(window.cron)
        except ValueError as error:
            yield Complaint((*path, "cron"), str(error))
    if window.time_zone is not None and not _is_time_zone(window.time_zone):
        guess = did_you_mean(window.time_zone, sorted(available_timezones()))
        hint = guess if guess.startswith("did") else "write it as Europe/Berlin or UTC"
        yield Complaint((*path, "timeZone"), f"no time zone is called {quoted(window.time_zone)}, {hint}")


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _slos(spec: PolicySpec, signals: Signals) -> Iterator[Complaint]:
    for index, slo in enumerate(spec.slos):
        yield from _slo(slo, ("spec", "slos", index), signals)


def _slo(slo: SloShape, path: Path, signals: Signals) -> Iterator[Complaint]:
    histograms = [name for name, kind in signals.items() if kind.form == "histogram"]
    kind = signals.get(slo.signal)
    if kind is None or kind.form != "histogram":
        yield Complaint(
            (*path, "signal"), f"{quoted(slo.signal)} is not a histogram, {did_you_mean(slo.signal, histograms)}", ("spec", "signals")
        )
        return
    try:
        parse_threshold(slo.threshold, kind.unit)
    except ValueError as error:
        yield Complaint((*path, "threshold"), str(error))


def _receivers(spec: PolicySpec, known: frozenset[str] | None) -> Iterator[Complaint]:
    """Receivers that the daemon's file does not have, where it is given."""
    if known is None:
        return
    for path, names in _told(spec):
        for place, name in enumerate(names):
            if name not in known:
                yield Complaint((*path, place), f"the daemon's file has no receiver {quoted(name)}, {did_you_mean(name, sorted(known))}")


def _told(spec: PolicySpec) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every list of receivers."""
    if spec.notify is not None:
        yield ("spec", "notify", "receivers"), spec.notify.receivers
    for path, step in steps(spec):
        (action,) = step.do.written
        if isinstance(action, Notify):
            yield (*path, "do", "notify", "receivers"), action.receivers
