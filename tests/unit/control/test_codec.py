import json
from dataclasses import replace
from datetime import timedelta
from math import inf, nan
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autopilot.control.codec import UnknownSchema, decode, encode, memory_from_json, memory_to_json
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Comparison, Condition, Leaf, Not
from autopilot.domain.decisions import Decision
from autopilot.domain.memory import SCHEMA, Memory
from autopilot.domain.operations import Cordon, Effect, SetReplicas, Tell, Uncordon
from autopilot.domain.signals import Distribution, Entry, Gap, Idle, Measured, Reading, Readings, Signal, Sparse, Unknown
from autopilot.domain.workloads import Observation, Unobserved, Workload
from tests.unit.control.any_value import any_of_form

any_input = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

READINGS = (Measured(1.0, count=2.0), Idle(), Unknown(Gap.LATE, "late"), Distribution((1.0, inf), (0.0, 2.0)))
SIGNALS = (Measured(1.0, count=2.0), Idle(), Unknown(Gap.LATE, "late"), Sparse(1.0, 2.0, inf))
EFFECTS = (SetReplicas(2, 1, "41", ("a",)), Cordon(("a",)), Uncordon(("a",)), Tell(("oncall",), "key", "title", "text"))
CONDITIONS = (
    Leaf("ttft", Comparison.ABOVE, 0.5, over=timedelta(minutes=1), quantile=0.99),
    AlertmanagerLeaf("NodeDown"),
    BurnRateLeaf("first-token", 14.4, timedelta(hours=1)),
    All((AlertmanagerLeaf("a"), AlertmanagerLeaf("b"))),
    AnyOf((AlertmanagerLeaf("a"), AlertmanagerLeaf("b"))),
    Not(All((Not(AlertmanagerLeaf("a")),))),
)


@any_input
@given(memory=any_of_form(Memory).map(lambda memory: replace(memory, schema=SCHEMA)))
def test_a_memory_comes_back_bit_for_bit(memory: Memory) -> None:
    back = memory_from_json(memory_to_json(memory))

    assert repr(back) == repr(memory)


@pytest.mark.parametrize("form", [Memory, Reading, Readings, Signal, Condition, Effect, Decision, Observation], ids=str)
@any_input
@given(data=st.data())
def test_every_value_comes_back_bit_for_bit(form: Any, data: st.DataObject) -> None:
    value = data.draw(any_of_form(form))

    back = decode(encode(value, form), form)

    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        *((value, Reading) for value in READINGS),
        *((value, Signal) for value in SIGNALS),
        *((value, Effect) for value in EFFECTS),
        *((value, Condition) for value in CONDITIONS),
        *((value, Observation) for value in (Workload(2, "41", "t"), Unobserved())),
    ],
    ids=lambda part: getattr(part, "kind", ""),
)
def test_alternatives_are_told_apart_by_their_kind(value: object, form: Any) -> None:
    back = decode(encode(value, form), form)

    assert back == value
    assert type(back) is type(value)


def test_every_field_of_another_alternative_does_not_outweigh_the_kind() -> None:
    text = json.dumps({"replicas": ["a"], "count": 2, "before": 1, "version": "41", "victims": [], "kind": "uncordon"})

    assert decode(text, Effect) == Uncordon(("a",))


def test_an_unheard_of_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind"):
        decode('{"replicas": ["a"], "kind": "evict"}', Effect)


@pytest.mark.parametrize("value", [inf, -inf, nan, -0.0, 5e-324, 0.1 + 0.2], ids=repr)
def test_unusual_numbers_survive(value: float) -> None:
    back = decode(encode(Measured(value), Reading), Reading)

    assert repr(back) == repr(Measured(value))


def test_what_is_written_is_json_by_the_standard() -> None:
    text = encode(Distribution((1.0, inf), (2.0, 3.0), nan), Reading)

    assert json.loads(text, parse_constant=pytest.fail)["edges"] == [1.0, "Infinity"]


def test_a_duration_is_written_in_seconds() -> None:
    text = memory_to_json(Memory(now=timedelta(minutes=1, microseconds=1)))

    assert json.loads(text)["now"] == 60.000001


def test_equal_values_give_equal_texts() -> None:
    assert encode(Measured(3), Reading) == encode(Measured(3.0), Reading)


def test_readings_that_were_looked_up_are_written_the_same() -> None:
    readings = Readings((Entry("ttft", None, None, Measured(1.0)),))
    before = encode(readings, Readings)
    readings.of("ttft")

    assert encode(readings, Readings) == before


@pytest.mark.parametrize("schema", [SCHEMA - 1, SCHEMA + 1], ids=["older", "newer"])
def test_a_memory_of_another_schema_is_not_read(schema: int) -> None:
    text = json.dumps({**json.loads(memory_to_json(Memory())), "schema": schema})

    with pytest.raises(UnknownSchema):
        memory_from_json(text)


@pytest.mark.parametrize("text", ["", "{", "null", "{}", "[]", '{"schema": 1, "now": "x"}', '{"schema": null}'], ids=repr)
def test_what_is_no_memory_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of them
        memory_from_json(text)
