"""What is wrong between documents: names given twice, policies that overlap, limits that do not fit together."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import timedelta

from autopilot.policy.checks_fleet import labels_match
from autopilot.policy.checks_scaling import widest
from autopilot.policy.drafts import Draft
from autopilot.policy.problems import Complaint, Path, did_you_mean, quoted
from autopilot.policy.schema_conditions import AlertmanagerShape, parts
from autopilot.policy.schema_fleet import FleetDocument
from autopilot.policy.schema_gpupool import GpuPoolDocument
from autopilot.policy.schema_policy import PolicyDocument, PolicySpec, conditions
from autopilot.policy.surroundings import LEAST_SCRAPES, Surroundings
from autopilot.policy.units import format_duration


def without_twins(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Refuse documents of one name, fleets with one identity and fleets with claims on two GPU pools.

    All of them: to choose one would be a guess, and the last good version is a better one.
    """
    named = _refuse_twins(drafts, _names, "is written {count} times: {places}; give each document a name of its own")
    identified = _refuse_twins(named, _identities, "{count} fleets read the same series: {places}; give each an identity of its own")
    return _refuse_twins(identified, _claims, "is claimed for in {count} GPU pools: {places}; one pool per fleet")


Keys = Callable[[Draft], Iterable[tuple[Hashable, Path]]]


def _names(draft: Draft) -> Iterator[tuple[Hashable, Path]]:
    if draft.ref is not None and draft.kind and not draft.read.broken:
        yield (draft.kind, draft.ref), ("metadata", "name")


def _identities(draft: Draft) -> Iterator[tuple[Hashable, Path]]:
    if draft.good and isinstance(draft.model, FleetDocument):
        metrics = draft.model.spec.metrics
        yield (metrics.source, *sorted(metrics.identity.items())), ("spec", "metrics", "identity")


def _claims(draft: Draft) -> Iterator[tuple[Hashable, Path]]:
    if draft.good and isinstance(draft.model, GpuPoolDocument):
        for index, claim in enumerate(draft.model.spec.claims):
            yield claim.fleet, ("spec", "claims", index, "fleet")


def _refuse_twins(drafts: Sequence[Draft], keys: Keys, what: str) -> tuple[Draft, ...]:
    holders: dict[Hashable, list[tuple[int, Path]]] = defaultdict(list)
    for index, draft in enumerate(drafts):
        for key, path in keys(draft):
            holders[key].append((index, path))
    refused = list(drafts)
    for found in holders.values():
        if len(found) > 1:
            places = ", ".join(_where(drafts[index], path) for index, path in found)
            complaint = what.format(count=len(found), places=places)
            for index, path in found:
                refused[index] = refused[index].refused(Complaint(path, complaint))
    return tuple(refused)


def _where(draft: Draft, path: Path) -> str:
    place = draft.read.problem(path, "")
    return f"{place.file}:{place.line}"


def matches(policy: PolicyDocument, fleet: FleetDocument) -> bool:
    """Whether the policy selects the fleet."""
    if policy.metadata.namespace != fleet.metadata.namespace:
        return False
    selector = policy.spec.fleets
    if selector.names:
        return fleet.metadata.name in selector.names
    return labels_match(selector.match_labels, fleet.metadata.labels)


def misfits(policy: PolicyDocument, fleet: FleetDocument, around: Surroundings) -> tuple[Complaint, ...]:
    """What in the policy does not fit this fleet."""
    return (*_outside(policy.spec, fleet), *_too_short(policy.spec, fleet, around))


def _outside(spec: PolicySpec, fleet: FleetDocument) -> Iterator[Complaint]:
    if spec.scaling is None:
        return
    low, high = widest(spec.scaling)
    allowed = fleet.spec.pools[0].replicas
    if low < allowed.min or high > allowed.max:
        what = f"{low} to {high} replicas, and fleet {fleet.metadata.name} allows {allowed.min} to {allowed.max}"
        yield Complaint(("spec", "scaling", "bounds"), f"{what}; keep the bounds inside, or change the fleet's replicas")


def _too_short(spec: PolicySpec, fleet: FleetDocument, around: Surroundings) -> Iterator[Complaint]:
    """Windows in which a counter would be seen fewer than four times."""
    scrape = (around.scrape_intervals or {}).get(fleet.spec.metrics.source)
    if scrape is None:
        return
    for path, over in _windows(spec):
        if over < LEAST_SCRAPES * scrape:
            least = format_duration(LEAST_SCRAPES * scrape)
            why = f"fleet {fleet.metadata.name} is scraped every {format_duration(scrape)}"
            yield Complaint(path, f"{format_duration(over)} is less than four scrapes ({why}), write at least {least}")


def _windows(spec: PolicySpec) -> Iterator[tuple[Path, timedelta]]:
    for path, condition in conditions(spec):
        for here, part in parts(condition, path):
            if not isinstance(part, AlertmanagerShape) and part.over is not None:
                yield (*here, "over"), part.over
    demands = spec.scaling.demand if spec.scaling is not None else ()
    for index, demand in enumerate(demands):
        if demand.over is not None:
            yield ("spec", "scaling", "demand", index, "over"), demand.over


def strangers(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Warn of fleets that policies and GPU pools name and nobody wrote down."""
    names = {str(draft.ref) for draft in drafts if draft.kind == "Fleet" and draft.ref is not None}
    return tuple(draft.cautioned(*_strange(draft, names)) for draft in drafts)


def _strange(draft: Draft, fleets: set[str]) -> Iterator[Complaint]:
    known = sorted(fleets)
    for path, name in _named_fleets(draft):
        if name not in fleets:
            yield Complaint(path, f"no fleet is called {quoted(name)} in these files" + (f", {did_you_mean(name, known)}" if known else ""))


def _named_fleets(draft: Draft) -> Iterator[tuple[Path, str]]:
    if not draft.good:
        return
    if isinstance(draft.model, PolicyDocument):
        for index, name in enumerate(draft.model.spec.fleets.names):
            yield ("spec", "fleets", "names", index), f"{draft.model.metadata.namespace}/{name}"
    if isinstance(draft.model, GpuPoolDocument):
        for index, claim in enumerate(draft.model.spec.claims):
            yield ("spec", "claims", index, "fleet"), claim.fleet
