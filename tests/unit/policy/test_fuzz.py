"""Whatever stands in a file, it is refused with a place or it loads; it never raises."""

import json
import random
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.policy.load import load_documents
from autopilot.policy.load_daemon import load_daemon
from autopilot.policy.loaded import Loaded, carried_over
from autopilot.policy.positions import read_documents

from .documents import FLEET, LOCAL, POLICY, SEPARATOR
from .test_daemon import FULL

EXAMPLE = (Path(__file__).parent / "data" / "design-example.yaml").read_text(encoding="utf-8")
TEXTS = (FLEET + SEPARATOR + POLICY, LOCAL, FULL)
ODD_WORDS = [
    "",
    " ",
    "60%",
    "5min",
    "1m",
    "yes",
    "shortfall",
    "auto",
    "\u2028",
    "x" * 300,
    "Europe/Berlin",
    "../../etc/passwd",
    "* * * * *",
]
ODD_SHAPES: list[Any] = [
    [],
    {},
    [None],
    {"": None},
    {"all": []},
    {"not": {"not": {}}},
    {"signal": "ttft"},
    [[[]]],
    {"render": {}, "ref": {}},
]
ODD = st.sampled_from([None, True, 0, -1, 1, 2**70, 1e308, 0.5, *ODD_WORDS, *ODD_SHAPES])
FEW = settings(max_examples=60, deadline=None)


def sound(loaded: Loaded) -> None:
    """What must hold of any outcome."""
    for problem in loaded.problems + loaded.warnings:
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.what
        assert "\n" not in str(problem)
    if not all(document.good for document in loaded.documents):
        assert loaded.problems


@given(st.sampled_from(TEXTS), st.data())
@FEW
def test_text_that_was_cut_and_pasted_never_raises(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    pasted = data.draw(st.text(alphabet="\t\n :-[]{}&*!|>'\"%@`#,?~<=aA0.\\x", max_size=12))
    mutated = (text[:start] + pasted + text[end:]).encode()

    sound(load_documents({"a.yaml": mutated}))
    load_daemon(mutated, "autopilot.yaml", {})


@given(st.binary(max_size=200))
@FEW
def test_any_bytes_never_raise(content: bytes) -> None:
    loaded = load_documents({"a.yaml": content})

    sound(loaded)
    assert loaded.problems


def every_place(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inner for place in every_place(part, (*path, key)))]


def put(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """The value with something else at a path; an Ellipsis takes away."""
    if not path:
        return new
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and new is ...:
        del changed[path[0]]
        return changed
    changed[path[0]] = put(changed[path[0]], path[1:], new)
    return changed


VALUES = [read.value for text in (*TEXTS[:2], EXAMPLE) for read in read_documents(text, "a.yaml")]


@given(st.integers(0, len(VALUES) - 1), st.integers(1, 3), st.randoms(use_true_random=False), st.data())
@settings(max_examples=150, deadline=None)
def test_a_document_with_odd_values_never_raises(index: int, changes: int, dice: random.Random, data: st.DataObject) -> None:
    value = VALUES[index]
    for _ in range(changes):
        places = every_place(value)[1:]
        if places:
            value = put(value, dice.choice(places), data.draw(ODD | st.just(...)))
    loaded = load_documents({"a.yaml": json.dumps(value).encode()})

    sound(loaded)
    carried_over(load_documents({"a.yaml": TEXTS[0].encode()}), loaded)
