"""One document on its way from text to values."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from autopilot.domain.workloads import FleetRef
from autopilot.policy.checks_fleet import fleet_cautions, fleet_complaints, gpu_pool_cautions, gpu_pool_complaints
from autopilot.policy.checks_policy import policy_cautions, policy_complaints, untested_steps
from autopilot.policy.compile import content_hash
from autopilot.policy.positions import Read
from autopilot.policy.problems import Complaint, Problem, did_you_mean, one_of, quoted
from autopilot.policy.salvage import salvaged
from autopilot.policy.schema import KINDS, AnyDocument
from autopilot.policy.schema_fleet import FleetDocument
from autopilot.policy.schema_gpupool import GpuPoolDocument
from autopilot.policy.schema_policy import PolicyDocument
from autopilot.policy.shapes import API_VERSION
from autopilot.policy.surroundings import Surroundings
from autopilot.policy.wording import validated

_KIND = re.compile(r"^kind:[ ]*[\"']?([A-Za-z]{1,40})", re.MULTILINE)
_METADATA = re.compile(r"^metadata:(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_NAME = re.compile(r"\bname:[ ]*[\"']?([A-Za-z0-9][-.A-Za-z0-9]*)")
_NAMESPACE = re.compile(r"\bnamespace:[ ]*[\"']?([A-Za-z0-9][-.A-Za-z0-9]*)")


@dataclass(frozen=True)
class Draft:
    """A document, what it is called as far as that can be read, and what is wrong with it."""

    read: Read
    kind: str
    ref: FleetRef | None
    hash: str = ""
    model: AnyDocument | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it loads."""
        return self.model is not None and not self.problems

    def refused(self, *complaints: Complaint) -> "Draft":
        """The same draft with more against it."""
        return replace(self, problems=self.problems + tuple(self.read.problem(one.path, one.what) for one in complaints))

    def cautioned(self, *complaints: Complaint) -> "Draft":
        """The same draft with more to be known of it."""
        return replace(self, warnings=self.warnings + tuple(self.read.problem(one.path, one.what) for one in complaints))


def drafted(read: Read, around: Surroundings) -> Draft:
    """Check one document against its schema and within itself."""
    if read.broken:
        return Draft(read, *_guessed(read.text), problems=read.problems)
    kind, ref = _identity(read.value)
    draft = Draft(read, kind, ref, problems=read.problems)
    shape = KINDS.get(kind)
    if shape is None or read.value.get("apiVersion") != API_VERSION:
        return draft.refused(*_unfamiliar(read.value))
    checked = validated(shape, read.value)
    if isinstance(checked, tuple):
        rest = salvaged(shape, read.value)
        more = () if rest is None else rest.kept(_complaints(rest.model, around))
        return draft.refused(*checked, *more)
    named = replace(draft, hash=content_hash(read.value), model=checked, ref=_ref(checked))
    complaints = _complaints(checked, around)
    return named.refused(*complaints) if complaints else _undisputed(named, checked, around)


def _complaints(document: AnyDocument, around: Surroundings) -> tuple[Complaint, ...]:
    """What is wrong and no schema can say."""
    match document:
        case FleetDocument(spec=spec):
            return fleet_complaints(spec, around)
        case PolicyDocument(spec=policy):
            return policy_complaints(policy, around)
        case GpuPoolDocument(spec=pool):
            return gpu_pool_complaints(pool)


def _undisputed(draft: Draft, document: AnyDocument, around: Surroundings) -> Draft:
    """The last check and the cautions, for a document that can be compiled."""
    match document:
        case FleetDocument(spec=spec):
            return draft.cautioned(*fleet_cautions(spec, around))
        case PolicyDocument(spec=policy):
            return draft.refused(*untested_steps(policy, around)).cautioned(*policy_cautions(policy, around))
        case GpuPoolDocument(spec=pool):
            return draft.cautioned(*gpu_pool_cautions(pool))


def _ref(document: AnyDocument) -> FleetRef:
    namespace = "" if isinstance(document, GpuPoolDocument) else document.metadata.namespace
    return FleetRef(namespace, document.metadata.name)


def _identity(value: Any) -> tuple[str, FleetRef | None]:
    """Kind and name of a value that need not be a document at all."""
    if not isinstance(value, Mapping):
        return "", None
    kind, metadata = value.get("kind"), value.get("metadata")
    known = str(kind) if isinstance(kind, str) else ""
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    namespace = metadata.get("namespace", "default") if isinstance(metadata, Mapping) else None
    if not isinstance(name, str) or not isinstance(namespace, str):
        return known, None
    return known, FleetRef("" if known == "GpuPool" else namespace, name)


def _guessed(text: str) -> tuple[str, FleetRef | None]:
    """The same from text that cannot be parsed."""
    kind, metadata = _KIND.search(text), _METADATA.search(text)
    known = kind.group(1) if kind else ""
    name = _NAME.search(metadata.group(1)) if metadata else None
    if metadata is None or name is None:
        return known, None
    namespace = _NAMESPACE.search(metadata.group(1))
    return known, FleetRef("" if known == "GpuPool" else namespace.group(1) if namespace else "default", name.group(1))


def _unfamiliar(value: Any) -> Iterator[Complaint]:
    """Why this is no document of ours."""
    if not isinstance(value, Mapping):
        yield Complaint((), f"a document is a mapping, start it with apiVersion: {API_VERSION}")
        return
    kind, version = value.get("kind"), value.get("apiVersion")
    if version != API_VERSION:
        what = "required here" if version is None else f"{quoted(version)} is not known here"
        yield Complaint(("apiVersion",), f"{what}, write {API_VERSION}")
    if "sources" in value and kind is None:
        yield Complaint((), "this looks like the daemon's own file: give it as --config, and keep it out of the directories with policies")
    elif not isinstance(kind, str):
        yield Complaint(("kind",), f"required here, write {one_of(KINDS)}")
    elif kind not in KINDS:
        yield Complaint(("kind",), f"{quoted(kind)} is not known here, {did_you_mean(kind, KINDS)}")
