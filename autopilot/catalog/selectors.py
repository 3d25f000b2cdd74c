"""Label matchers for many fleets at once. No value can change what a query means."""

import re
from collections.abc import Iterable

_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
_RESERVED = frozenset({"__name__", "le"})  # queries group by them themselves
_REGEX_META = re.compile(r"[\\.+*?()|\[\]{}^$]")  # what Go's regexp.QuoteMeta escapes
_PLAIN = re.compile(r"[^ !#-\[\]-~]")  # everything but printable ASCII without " and \


def matcher(label: str, values: Iterable[str]) -> str:
    """One matcher that is true for exactly these values of a label.

    Raises ValueError for a label name that Prometheus would not take, and for no values at all.
    """
    checked_label(label)
    wanted = sorted(set(values))
    if not wanted:
        message = f'no value was given for the label "{label}"'
        raise ValueError(message)
    if len(wanted) == 1:
        return f"{label}={quoted(wanted[0])}"
    pattern = "|".join(_REGEX_META.sub(r"\\\g<0>", value) for value in wanted)
    return f"{label}=~{quoted(pattern)}"


def checked_label(name: str) -> str:
    """The name itself. Raises ValueError when it cannot be a label that fleets are told apart by."""
    if not _LABEL_NAME.match(name) or name in _RESERVED:
        message = f'"{name}" cannot be the label of a fleet or a replica'
        raise ValueError(message)
    return name


def quoted(text: str) -> str:
    """A PromQL string literal, in ASCII: the lexer refuses a raw newline and a raw U+FFFD.

    Raises ValueError for text that is not Unicode (lone surrogates): no label has such a value.
    """
    text.encode()
    return '"' + _PLAIN.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in '"\\':
        return "\\" + character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
