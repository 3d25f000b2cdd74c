"""From the bytes of files to values: every problem at once, each with its place, and never an exception."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from autopilot.policy.compile import compile_gpu_pool
from autopilot.policy.cross import strangers, without_twins
from autopilot.policy.drafts import Draft, drafted
from autopilot.policy.loaded import Document, Loaded
from autopilot.policy.pairing import paired
from autopilot.policy.positions import Place, Read, read_documents
from autopilot.policy.problems import Problem
from autopilot.policy.schema_gpupool import GpuPoolDocument
from autopilot.policy.surroundings import Surroundings

LARGEST = 1024 * 1024  # bytes of one file: a fleet and its policy have some 4,000


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is there and could not be read, and why."""

    why: str


def load_documents(sources: Mapping[str, bytes | Unreadable], around: Surroundings | None = None) -> Loaded:
    """Everything that these files say, by the name of the file. Never raises."""
    surroundings = around if around is not None else Surroundings()
    reads = [read for file, content in sources.items() for read in _read(file, content)]
    drafts = strangers(without_twins([drafted(read, surroundings) for read in reads]))
    pairing = paired(drafts, surroundings)
    return Loaded(
        documents=tuple(_document(draft) for draft in drafts),
        pairs=pairing.pairs,
        policies=pairing.policies,
        pools=tuple(compile_gpu_pool(draft.model) for draft in drafts if draft.good and isinstance(draft.model, GpuPoolDocument)),
        problems=_sorted([problem for draft in drafts for problem in draft.problems], pairing.problems),
        warnings=_sorted([warning for draft in drafts for warning in draft.warnings], pairing.warnings),
    )


def _sorted(*problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(dict.fromkeys(chain(*problems)), key=lambda one: (one.file, one.line, one.column)))


@lru_cache(maxsize=2048)  # parsing is what loading costs; of a thousand files one changes at a time
def _read(file: str, content: bytes | Unreadable) -> tuple[Read, ...]:
    """The YAML documents of one file; one broken document where there is none to be had."""
    text = content if isinstance(content, Unreadable) else decoded(content)
    if not isinstance(text, str):
        place = text.place if isinstance(text, Undecodable) else Place(1, 1)
        return (_nothing(file, place, text.why),)
    reads = tuple(read_documents(text, file))
    return reads or (_nothing(file, Place(1, 1), "nothing is in this file, write a document or remove the file"),)


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Bytes that are not text, where and why."""

    place: Place
    why: str


def decoded(content: bytes) -> str | Undecodable:
    """The text of a file."""
    if len(content) > LARGEST:
        return Undecodable(Place(1, 1), f"{len(content)} bytes or more, split it into files of at most {LARGEST}")
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = Place(before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        return Undecodable(place, f"the byte 0x{content[error.start]:02x} is not UTF-8, save the file as UTF-8")


def _nothing(file: str, place: Place, what: str) -> Read:
    return Read(file, place, "", problems=(Problem(file, place.line, place.column, "", what),), broken=True)


def _document(draft: Draft) -> Document:
    return Document(draft.read.file, draft.read.start.line, draft.kind, draft.ref, draft.hash, draft.good, not draft.read.broken)
