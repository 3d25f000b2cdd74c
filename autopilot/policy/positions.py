"""YAML text into plain values, with the line and column of every key and item.

Read from the parser's events, so that nothing is built, resolved or expanded that files must not
hold: YAML 1.2's core schema alone, no tags, no merge keys, bounded depth and size.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from autopilot.policy.problems import Path, Problem, dotted

MOST_NODES = 10_000  # of one document, aliases expanded; a rich policy has some 300
DEEPEST = 40  # the deepest path that a good file has is about 15 long

Value: TypeAlias = Any
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,30})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,40}|(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,4})?")
# Text here and a boolean for readers of YAML 1.1: one file must not mean two things.
_TWO_MEANINGS = re.compile(r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N")
_STR_TAG = "tag:yaml.org,2002:str"
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DOCUMENT_MARK = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a text, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Read:
    """One YAML document: its value, None when it could not be read whole, where everything is, what is wrong.

    `broken` says that the text itself could not be parsed, so that not even its identity is certain.
    """

    file: str
    start: Place
    text: str
    value: Value = None
    places: Mapping[Path, Place] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    broken: bool = False

    def problem(self, path: Path, what: str) -> Problem:
        """A problem at a path, or at its nearest ancestor that is in the text."""
        known = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in self.places), None)
        place = self.start if known is None else self.places[known]
        return Problem(self.file, place.line, place.column, dotted(path), what)


class _Stop(Exception):  # noqa: N818 - it ends the reading of one document
    """The rest of the document is not worth reading."""

    def __init__(self, place: Place, path: Path, what: str) -> None:
        super().__init__(what)
        self.place, self.path, self.what = place, path, what


def read_documents(text: str, file: str) -> Iterator[Read]:
    """Every YAML document of a text that is not empty. Never raises.

    Documents are told apart by their `---` lines before anything is parsed, so that one that cannot be
    parsed does not hide those after it.
    """
    starts = sorted({0, *(found.start() for found in _DOCUMENT_MARK.finditer(text))})
    line = 1
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        piece = text[start:end]
        yield from _read_piece(piece, file, line)
        line += piece.count("\n")


def _read_piece(piece: str, file: str, first_line: int) -> Iterator[Read]:
    start = Place(first_line, 1)
    bad = _UNPRINTABLE.search(piece)
    if bad is not None:
        place = Place(first_line + piece.count("\n", 0, bad.start()), bad.start() - piece.rfind("\n", 0, bad.start()))
        what = f"the character U+{ord(bad.group()):04X} is not text, remove it"
        yield Read(file, start, piece, problems=(Problem(file, place.line, place.column, "", what),), broken=True)
        return
    try:
        yield from _parsed(piece, file, first_line)
    except MarkedYAMLError as error:
        yield Read(file, start, piece, problems=(_syntax(error, piece, file, first_line),), broken=True)
    except (YAMLError, ValueError, OverflowError) as error:
        what = f"this is not YAML: {' '.join(str(error).split())[:200]}"
        yield Read(file, start, piece, problems=(Problem(file, first_line, 1, "", what),), broken=True)


def _parsed(piece: str, file: str, first_line: int) -> Iterator[Read]:
    events = YAML(typ="safe", pure=True).parse(piece)
    for event in events:
        if isinstance(event, DocumentStartEvent):
            read = _Reader(events, file, first_line).document(piece)
            if read.value is not None or read.problems:
                yield read
            if read.broken:
                return


def _syntax(error: MarkedYAMLError, piece: str, file: str, first_line: int) -> Problem:
    """What the parser stumbled over, in words that say what to do."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    lines = piece.split("\n")
    here = lines[line] if line < len(lines) else ""
    if here[column : column + 1] == "\t" or here[:column].strip(" ") == "\t":
        what = "a tab cannot indent, write spaces instead"
    elif "document start" in (error.problem or ""):
        what = "text between documents, start each document with --- and leave %-directives out"
    else:
        context = f" {error.context}" if error.context else ""
        what = f"this is not YAML: {error.problem or 'it ends too early'}{context}; is it half-written, or does a quote or bracket miss its end?"
    return Problem(file, first_line + line, column + 1, "", " ".join(what.split()))


class _Reader:
    """Builds one document's value from events."""

    def __init__(self, events: Iterator[Any], file: str, first_line: int) -> None:
        self._events = events
        self._file = file
        self._first_line = first_line
        self._places: dict[Path, Place] = {}
        self._problems: list[Problem] = []
        self._anchors: dict[str, tuple[Value, int, int]] = {}  # value, nodes, height
        self._nodes = 0
        self._deepest = 0

    def document(self, piece: str) -> Read:
        """Read one document, or as far as the limits allow."""
        start = Place(self._first_line, 1)
        try:
            event = next(self._events)
            start = self._place(event)
            value = self._node(event, ())
        except _Stop as stop:
            self._complain(stop.place, stop.path, stop.what)
            return Read(self._file, start, piece, None, self._places, tuple(self._problems), broken=True)
        return Read(self._file, start, piece, value, self._places, tuple(self._problems))

    def _place(self, event: Any) -> Place:
        return Place(self._first_line + event.start_mark.line, event.start_mark.column + 1)

    def _complain(self, place: Place, path: Path, what: str) -> None:
        self._problems.append(Problem(self._file, place.line, place.column, dotted(path), what))

    def _node(self, event: Any, path: Path) -> Value:
        self._count(event, path, nodes=1, height=0)
        if isinstance(event, AliasEvent):
            return self._alias(event, path)
        return self._written(event, path)

    def _written(self, event: Any, path: Path) -> Value:
        nodes_before, deepest_elsewhere = self._nodes - 1, self._deepest
        self._deepest = len(path)
        if event.tag not in (None, _STR_TAG, "!"):
            self._complain(self._place(event), path, f"the tag {event.tag} has no meaning here, remove it")
        value = self._content(event, path)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._nodes - nodes_before, self._deepest - len(path))
        self._deepest = max(self._deepest, deepest_elsewhere)
        return value

    def _content(self, event: Any, path: Path) -> Value:
        match event:
            case MappingStartEvent():
                return self._mapping(path)
            case SequenceStartEvent():
                return self._sequence(path)
            case _:
                return self._scalar(event, path)

    def _count(self, event: Any, path: Path, *, nodes: int, height: int) -> None:
        self._nodes += nodes
        self._deepest = max(self._deepest, len(path) + height)
        if self._nodes > MOST_NODES:
            raise _Stop(self._place(event), path, f"more than {MOST_NODES} values in one document, split it into several")
        if len(path) + height > DEEPEST:
            raise _Stop(self._place(event), path, f"nested deeper than {DEEPEST}, nothing here needs that")

    def _alias(self, event: Any, path: Path) -> Value:
        if event.anchor not in self._anchors:
            self._complain(self._place(event), path, f"nothing before this is called &{event.anchor}, write the value out")
            return None
        value, nodes, height = self._anchors[event.anchor]
        self._count(event, path, nodes=nodes, height=height)
        return value

    def _mapping(self, path: Path) -> dict[str, Value]:
        mapping: dict[str, Value] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            place = self._place(event)
            key = self._key(event, path)
            here = (*path, key)
            known = key in mapping
            if known:
                self._complain(place, here, f"this key is here already, at line {self._places[here].line}; remove one of the two")
            self._places.setdefault(here, place)
            value = self._node(next(self._events), here)
            if not known:
                mapping[key] = value
        return mapping

    def _key(self, event: Any, path: Path) -> str:
        if not isinstance(event, ScalarEvent):
            raise _Stop(self._place(event), path, "a key is one word, write it without brackets, braces and *")
        if event.value == "<<":
            self._complain(self._place(event), path, "<< does not merge here, write the keys out")
        return str(event.value)

    def _sequence(self, path: Path) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            here = (*path, len(items))
            self._places[here] = self._place(event)
            items.append(self._node(event, here))
        return items

    def _scalar(self, event: Any, path: Path) -> Value:
        text = str(event.value)
        if not event.implicit[0] or event.tag is not None:
            return text
        if _TWO_MEANINGS.fullmatch(text):
            self._complain(
                self._place(event),
                path,
                f'{text} is text to some readers of YAML and a boolean to others, write true or false, or "{text}"',
            )
        return plain(text)


def plain(text: str) -> Value:
    """What an unquoted word means in YAML 1.2's core schema, octal and hexadecimal left as text."""
    if text in _BOOL:
        return _BOOL[text]
    if _NULL.fullmatch(text):
        return None
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
