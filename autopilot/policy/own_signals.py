"""What can be told of a PromQL expression of one's own without a Prometheus at hand."""

import re
from collections.abc import Iterator

IDENTITY, OVER = "$identity", "$over"

# A string or a comment is one piece, so that a bracket in it is no bracket. Source: PromQL's lexer.
_PIECE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`[^`]*`|#[^\n]*|\$\w*|.', re.DOTALL)
_CLOSES = {")": "(", "]": "[", "}": "{"}
_QUOTES = frozenset("\"'`")


def faults(promql: str, *, windowed: bool) -> Iterator[str]:
    """Everything that is wrong with an expression; `windowed` for a histogram or a counter, which needs `$over`."""
    pieces = _PIECE.findall(promql)
    code = [piece for piece in pieces if piece[0] != "#" and not _is_string(piece)]
    yield from _placeholders(code, windowed=windowed)
    if any("$" in piece for piece in pieces if _is_string(piece)):
        yield "a $ inside a string is never replaced, and PromQL anchors every pattern by itself: leave it out"
    if any(piece in _QUOTES for piece in code):
        yield "a string is opened and not closed"
    if not _balanced(code):
        yield "the brackets do not match, close each one that is opened"


def _is_string(piece: str) -> bool:
    return len(piece) > 1 and piece[0] in _QUOTES


def _placeholders(code: list[str], *, windowed: bool) -> Iterator[str]:
    found = {piece for piece in code if piece[0] == "$"}
    for other in sorted(found - {IDENTITY, OVER}):
        yield f"{other} is no placeholder, there are {IDENTITY} and {OVER}"
    if not _within_braces(code):
        yield f"write {IDENTITY} within the braces of a selector, or it reads every fleet as one"
    if windowed and OVER not in found:
        yield f"write [{OVER}] for the window, a histogram and a counter are read over one"


def _within_braces(code: list[str]) -> bool:
    """Whether `$identity` is there, and each time directly inside `{…}`."""
    inside, there = False, False
    for piece in code:
        if piece in "{}":
            inside = piece == "{"
        elif piece == IDENTITY:
            if not inside:
                return False
            there = True
    return there


def _balanced(code: list[str]) -> bool:
    opened: list[str] = []
    for piece in code:
        if piece in _CLOSES.values():
            opened.append(piece)
        elif piece in _CLOSES and (not opened or opened.pop() != _CLOSES[piece]):
            return False
    return not opened
