"""Sharing GPUs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.control.arbitrate import Growth, arbitrate
from autopilot.control.cycle import propose, run_all
from autopilot.control.seen import Case, Seen
from autopilot.domain.budgets import Claim, GpuBudget
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Intent, Operation, SetReplicas
from autopilot.domain.signals import Readings
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import FleetRef, Observation, Unobserved
from tests.support.policies import CHAT, closed_loop
from tests.unit.control.ticks import START, TICK, Ticking, fleet_of

A, B, C = (FleetRef("llm", name) for name in "abc")


def growth(fleet: FleetRef, held: int, replicas: int, gpus: int = 1) -> Growth:
    return Growth(fleet, held=held, replicas=replicas, gpus=gpus)


def case(there: Observation, memory: Memory) -> Case:
    seen = Seen(now=START, interval=TICK, scrape_interval=TICK, readings=Readings(), workload=there, executing=("llm/chat/1",))
    return Case(CHAT, closed_loop(), memory, seen)


@pytest.mark.parametrize(
    ("growths", "claims", "gpus", "expected"),
    [
        ([growth(A, 2, 3)], [Claim(A)], 4, {A: 2}),
        ([growth(A, 2, 3), growth(B, 2, 3)], [Claim(A, priority=1), Claim(B, priority=2)], 6, {A: 0, B: 2}),
        ([growth(A, 2, 3), growth(B, 2, 3)], [Claim(A, priority=1, guaranteed=3), Claim(B, priority=2)], 6, {A: 1, B: 1}),
        ([growth(A, 1, 3), growth(B, 1, 3)], [Claim(A), Claim(B)], 4, {A: 2, B: 0}),
        ([growth(A, 2, 3)], [Claim(A, maximum=3)], 9, {A: 1}),
        ([growth(A, 2, 3, gpus=2)], [Claim(A)], 5, {A: 1}),
        ([growth(A, 9, 3)], [Claim(A)], 4, {A: 0}),
        ([growth(A, 9, 3)], [], 4, {A: 3}),
    ],
    ids=[
        "what is free",
        "by priority",
        "guarantees first",
        "equals by name",
        "a claim's own limit",
        "whole replicas",
        "over budget",
        "no claim",
    ],
)
def test_gpus_are_shared(growths: list[Growth], claims: list[Claim], gpus: int, expected: dict[FleetRef, int]) -> None:
    assert arbitrate(growths, [GpuBudget("h100", gpus, tuple(claims))]) == expected


def test_every_budget_that_names_a_fleet_holds() -> None:
    tight, wide = GpuBudget("tight", 3, (Claim(A),)), GpuBudget("wide", 9, (Claim(A),))

    assert arbitrate([growth(A, 2, 5)], [tight, wide]) == arbitrate([growth(A, 2, 5)], [wide, tight]) == {A: 1}


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4)), min_size=3, max_size=3),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8), st.none() | st.integers(0, 9)), min_size=3, max_size=3),
    st.integers(0, 30),
)
def test_a_budget_holds_whatever_is_wanted(wants: list[tuple[int, int, int]], rights: list[tuple[int, int, int | None]], gpus: int) -> None:
    growths = [growth(fleet, held * size, more, size) for fleet, (held, more, size) in zip((A, B, C), wants, strict=True)]
    claims = tuple(Claim(fleet, *right) for fleet, right in zip((A, B, C), rights, strict=True))
    granted = arbitrate(growths, [GpuBudget("h100", gpus, claims)])
    held = sum(one.held for one in growths)

    assert all(0 <= granted[one.fleet] <= one.replicas for one in growths)
    assert held + sum(granted[one.fleet] * one.gpus for one in growths) <= max(gpus, held)


def test_what_is_asked_for_at_this_moment_is_not_free() -> None:
    intent = Intent(Operation("llm/chat/1", CHAT.ref, Verb.SCALE_OUT, SetReplicas(5, 2, "1")), START)

    assert propose(case(fleet_of("ss"), Memory(accepted=2, intents=(intent,)))).growth.held == 5


@pytest.mark.parametrize("memory", [Memory(accepted=4), Ticking().tick(fleet_of("ssss")).memory], ids=["accepted", "met"])
def test_what_cannot_be_seen_is_not_free(memory: Memory) -> None:
    assert propose(case(Unobserved(), memory)).growth.held == 4


def test_a_fleet_outside_every_budget_is_not_limited() -> None:
    here, there = case(fleet_of("s"), Memory()), case(fleet_of("s"), Memory())
    other = replace(there, fleet=replace(CHAT, ref=A))
    results = run_all([here, other], [GpuBudget("h100", 1, (Claim(A),))])

    assert (results[CHAT.ref][1], results[A][1]) == (None, 0)
