"""Any value at all of one of our dataclasses, unions or enums: what a law must hold for."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import timedelta
from enum import EnumMeta
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from autopilot.domain.signals import Distribution
from autopilot.domain.workloads import Workload

LIFETIME = timedelta(days=98_000)  # 268 years: what the codec promises exactness for


@st.composite
def _distributions(draw: st.DrawFn) -> Distribution:
    edges = draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True, max_size=3))
    counts = draw(st.lists(st.floats(min_value=0, allow_nan=False, allow_infinity=False), min_size=len(edges) + 1, max_size=len(edges) + 1))
    return Distribution((*sorted(edges), float("inf")), tuple(counts), draw(st.none() | st.floats()), draw(st.booleans()))


SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(),
    str: st.text(max_size=8),
    timedelta: st.timedeltas(-LIFETIME, LIFETIME),
    Distribution: _distributions(),
}


@cache
def any_of_form(form: Any) -> st.SearchStrategy[Any]:
    """Every value that the annotation `form` allows, defaults left aside."""
    if form in SIMPLE:
        return SIMPLE[form]
    if isinstance(form, EnumMeta):
        return st.sampled_from(list(form))
    if is_dataclass(form):
        return st.deferred(lambda: _any_dataclass(form))
    return _COMPOSED[get_origin(form)](get_args(form))


def _any_dataclass(form: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(form)
    narrower = {"desired": st.integers(min_value=0)} if form is Workload else {}
    return st.builds(form, **{each.name: any_of_form(hints[each.name]) for each in fields(form)} | narrower)


def _tuples(parts: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if parts[-1] is Ellipsis:
        return st.lists(any_of_form(parts[0]), max_size=2).map(tuple)
    return st.tuples(*map(any_of_form, parts))


def _unions(parts: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.one_of(*map(any_of_form, parts))


_COMPOSED: dict[Any, Callable[[tuple[Any, ...]], st.SearchStrategy[Any]]] = {
    tuple: _tuples,
    Union: _unions,
    UnionType: _unions,
    Literal: st.sampled_from,
}
