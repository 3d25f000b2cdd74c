"""What is wrong in a file, where, and what to write instead."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem or warning. `line` and `column` count from 1; `path` is "" where the whole file is meant."""

    file: str
    line: int
    column: int
    path: str
    what: str

    def __str__(self) -> str:
        """As compilers write it, so that editors can jump there."""
        where = f"{self.file}:{self.line}:{self.column}: "
        return f"{where}{self.path}: {self.what}" if self.path else f"{where}{self.what}"


@dataclass(frozen=True, slots=True)
class Complaint:
    """A problem whose place in the text is not known yet: only its path within the document.

    `looked_at` is the part of the document that it was found by looking at, where that is more than `path`.
    """

    path: Path
    what: str
    looked_at: Path = ()


def dotted(path: Path) -> str:
    """`spec.alerts.0.for`."""
    return ".".join(str(part) for part in path)


def quoted(value: object) -> str:
    """A value as the user wrote it, shortened, on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return "a mapping" if isinstance(value, dict) else "a list"
    text = " ".join(str(value).split()) if isinstance(value, str) else str(value)
    short = text if len(text) <= 60 else text[:57] + "..."
    return f'"{short}"' if isinstance(value, str) else short


def one_of(names: Iterable[str]) -> str:
    """`one of a, b, c`, in the given order."""
    return "one of " + ", ".join(names)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that this one was probably meant to be, if any looks like it."""
    by_folded = {_folded(candidate): candidate for candidate in known}
    found = get_close_matches(_folded(name), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def _folded(name: str) -> str:
    """Spelling without case and separators: `max_refused`, `max-refused` and `maxRefused` are one."""
    return name[:100].replace("_", "").replace("-", "").lower()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`, did you mean X?`, or all there is where nothing looks like it."""
    names = list(known)
    guess = nearest(name, names)
    if guess is not None:
        return f"did you mean {guess}?"
    return f"known here: {', '.join(names)}" if names else "nothing is known here"
