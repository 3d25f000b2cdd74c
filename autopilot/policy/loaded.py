"""What became of a set of files: values, the pairs of fleet and policy, and what is wrong."""

from dataclasses import dataclass, field, replace

from autopilot.domain.budgets import GpuBudget
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book, Entry
from autopilot.policy.problems import Problem
from autopilot.policy.values import Fleet, Policy


@dataclass(frozen=True, slots=True)
class Document:
    """One document and whether it loaded.

    `ref` is what the document is called, also where it did not load but can be read so far; None where it
    cannot. `certain` is false where its text could not be parsed: its name is then a guess, and it may hide
    others of its file.
    """

    file: str
    line: int
    kind: str
    ref: FleetRef | None
    hash: str = ""
    good: bool = False
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Pair:
    """A fleet and the policy that rules it, None where none matches: it is then observed.

    `settled` is false where something is wrong between the two; `policy` is then None.
    """

    fleet: Fleet
    policy: Policy | None = None
    settled: bool = True


@dataclass(frozen=True)
class Loaded:
    """Everything that a set of files says."""

    documents: tuple[Document, ...] = ()
    pairs: tuple[Pair, ...] = ()
    policies: tuple[Policy, ...] = ()
    pools: tuple[GpuBudget, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = field(default=())

    @property
    def fleets(self) -> tuple[Fleet, ...]:
        """Every fleet."""
        return tuple(pair.fleet for pair in self.pairs)

    def pair(self, ref: FleetRef) -> Pair | None:
        """A fleet and its policy, None where there is no such fleet."""
        return next((pair for pair in self.pairs if pair.fleet.ref == ref), None)

    def file_of(self, kind: str, ref: FleetRef) -> str | None:
        """The file that a good document came from."""
        return next((one.file for one in self.documents if one.good and one.kind == kind and one.ref == ref), None)


def carried_over(before: Loaded, now: Loaded) -> Loaded:
    """`now`, with the last good version where a document did not load.

    A fleet and its policy are kept together: what was checked together acts together. A document that is
    gone is not kept. Kept documents are listed again, so that the next call finds them.
    """
    kept = tuple(old for old in before.pairs if _pair_is_hidden(old, before, now))
    refs = {pair.fleet.ref for pair in kept}
    pools = tuple(pool for pool in before.pools if pool.name not in _names(now) and _hidden("GpuPool", _pool_ref(pool), before, now))
    policies = {policy.ref: policy for policy in now.policies} | {pair.policy.ref: pair.policy for pair in kept if pair.policy is not None}
    return replace(
        now,
        documents=now.documents + _documents_of(kept, pools, before, now),
        pairs=tuple(sorted((*(pair for pair in now.pairs if pair.fleet.ref not in refs), *kept), key=lambda pair: pair.fleet.ref)),
        policies=tuple(policies[ref] for ref in sorted(policies)),
        pools=now.pools + pools,
    )


def _names(loaded: Loaded) -> set[str]:
    return {pool.name for pool in loaded.pools}


def _pool_ref(pool: GpuBudget) -> FleetRef:
    """GPU pools have no namespace."""
    return FleetRef("", pool.name)


def _pair_is_hidden(old: Pair, before: Loaded, now: Loaded) -> bool:
    """Whether a pair is not as it should be now because something did not load, and not because it was taken away."""
    new = now.pair(old.fleet.ref)
    if new is None:
        return _hidden("Fleet", old.fleet.ref, before, now)
    if not new.settled:
        return True
    return new.policy is None and old.policy is not None and _hidden("Policy", old.policy.ref, before, now)


def _hidden(kind: str, ref: FleetRef, before: Loaded, now: Loaded) -> bool:
    """Whether a document that was good is there and broken, or may be: its file could not be parsed."""
    file = before.file_of(kind, ref)
    return any(
        (one.kind == kind and one.ref == ref) or (one.file == file and (one.ref is None or not one.certain))
        for one in now.documents
        if not one.good
    )


def _documents_of(pairs: tuple[Pair, ...], pools: tuple[GpuBudget, ...], before: Loaded, now: Loaded) -> tuple[Document, ...]:
    """The documents that kept values came from, unless they are good now."""
    wanted = {("Fleet", pair.fleet.ref) for pair in pairs}
    wanted |= {("Policy", pair.policy.ref) for pair in pairs if pair.policy is not None}
    wanted |= {("GpuPool", _pool_ref(pool)) for pool in pools}
    have = {(one.kind, one.ref) for one in now.documents if one.good}
    return tuple(one for one in before.documents if one.good and (one.kind, one.ref) in wanted - have)


def book_of(loaded: Loaded) -> Book:
    """What is in force, as the daemon works with it."""
    ruling = {pair.policy.ref for pair in loaded.pairs if pair.policy is not None}
    return Book(
        entries=tuple(Entry(pair.fleet, pair.policy) for pair in loaded.pairs),
        budgets=loaded.pools,
        problems=tuple(str(problem) for problem in loaded.problems),
        warnings=tuple(str(warning) for warning in loaded.warnings),
        strays=tuple(policy.ref for policy in loaded.policies if policy.ref not in ruling),
    )
