"""Which policy rules which fleet."""

from collections.abc import Sequence
from dataclasses import dataclass

from autopilot.policy.checks_edges import undecided
from autopilot.policy.checks_policy import known_signals
from autopilot.policy.compile import compile_fleet, compile_policy
from autopilot.policy.cross import matches, misfits
from autopilot.policy.drafts import Draft
from autopilot.policy.loaded import Pair
from autopilot.policy.problems import Complaint, Problem, quoted
from autopilot.policy.schema_fleet import FleetDocument
from autopilot.policy.schema_policy import PolicyDocument
from autopilot.policy.surroundings import Surroundings
from autopilot.policy.values import Policy


@dataclass(frozen=True, slots=True)
class Pairing:
    """Every good fleet with its policy, every good policy, and what is wrong between them."""

    pairs: tuple[Pair, ...] = ()
    policies: tuple[Policy, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class _Ruler:
    """A policy in all its forms."""

    draft: Draft
    document: PolicyDocument
    policy: Policy


def paired(drafts: Sequence[Draft], around: Surroundings) -> Pairing:
    """Match fleets and policies. What is wrong between one policy and one fleet does not hurt the policy's other fleets."""
    rulers = _rulers(drafts, around)
    fleets = [(draft, draft.model) for draft in drafts if draft.good and isinstance(draft.model, FleetDocument)]
    broken = [draft for draft in drafts if not draft.good and draft.kind in ("Policy", "")]
    found = [_ruled(draft, fleet, rulers, around) for draft, fleet in fleets]
    pairs = sorted((pair for one in found for pair in one.pairs), key=lambda pair: pair.fleet.ref)
    return Pairing(
        pairs=tuple(pairs),
        policies=tuple(ruler.policy for ruler in rulers),
        problems=tuple(problem for one in found for problem in one.problems),
        # With a broken policy about, that nothing matches is no news.
        warnings=() if broken else tuple(warning for one in found for warning in one.warnings),
    )


def _rulers(drafts: Sequence[Draft], around: Surroundings) -> list[_Ruler]:
    rulers: list[_Ruler] = []
    for draft in drafts:
        if draft.good and isinstance(draft.model, PolicyDocument):
            signals = known_signals(draft.model.spec, around.signals)
            rulers.append(_Ruler(draft, draft.model, compile_policy(draft.model, digest=draft.hash, signals=signals)))
    return rulers


def _ruled(draft: Draft, document: FleetDocument, rulers: Sequence[_Ruler], around: Surroundings) -> Pairing:
    """One fleet and what is found about it."""
    fleet = compile_fleet(document, digest=draft.hash)
    chosen = [ruler for ruler in rulers if matches(ruler.document, document)]
    if not chosen:
        warning = draft.read.problem(("metadata", "name"), f"no policy matches fleet {quoted(str(fleet.ref))}: it is only observed")
        return Pairing(pairs=(Pair(fleet),), warnings=(warning,))
    if len(chosen) > 1:
        named = " and ".join(f"{ruler.policy.ref} ({ruler.draft.read.file}:{ruler.draft.read.start.line})" for ruler in chosen)
        complaint = Complaint(("metadata", "name"), f"{len(chosen)} policies match this fleet: {named}; let exactly one match it")
        return Pairing(pairs=(Pair(fleet, settled=False),), problems=(draft.read.problem(complaint.path, complaint.what),))
    (ruler,) = chosen
    wrong = misfits(ruler.document, document, around)
    pair = Pair(fleet, settled=False) if wrong else Pair(fleet, ruler.policy)
    return Pairing(
        pairs=(pair,),
        problems=tuple(ruler.draft.read.problem(one.path, one.what) for one in wrong),
        warnings=tuple(ruler.draft.read.problem(one.path, one.what) for one in undecided(ruler.policy, document)),
    )
