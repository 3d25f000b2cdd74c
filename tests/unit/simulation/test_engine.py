"""The queueing model of one replica."""

import pytest

from autopilot.simulation.arrivals import Request
from autopilot.simulation.engine import EngineModel, SimulatedReplica

MODEL = EngineModel(slots=2, prefill_tokens_per_second=1_000.0, step_seconds=0.1, step_seconds_per_request=0.0)


def replica(model: EngineModel = MODEL) -> SimulatedReplica:
    return SimulatedReplica("r", model, asked_at=0.0)


def test_a_lone_request_waits_for_its_prefill_and_one_step() -> None:
    assert replica().take(Request(0.0, 500, 10)) == pytest.approx(0.6)


def test_prompts_are_prefilled_one_after_the_other() -> None:
    one = replica()
    one.take(Request(0.0, 500, 10))

    assert one.take(Request(0.0, 500, 10)) == pytest.approx(1.1)


def test_a_full_replica_lets_a_request_wait_for_a_slot() -> None:
    one = replica()
    one.take(Request(0.0, 100, 11))  # its prefill ends at 0.1 and its output at 1.2
    one.take(Request(0.0, 100, 100))

    assert one.take(Request(0.0, 100, 10)) == pytest.approx(1.2 + 0.1 + 0.1)


def test_a_step_takes_longer_beside_others() -> None:
    model = EngineModel(prefill_tokens_per_second=1e9, step_seconds=0.1, step_seconds_per_request=0.05)
    one = replica(model)
    one.take(Request(0.0, 1, 1_000))

    assert one.take(Request(1.0, 1, 1_000)) == pytest.approx(0.2)


def test_running_and_waiting_are_counted_as_the_engine_does() -> None:
    one = replica()
    for _ in range(3):
        one.take(Request(0.0, 100, 50))
    one.settle(0.5)

    assert (one.running, one.waiting, one.in_flight(0.5)) == (2, 1, 3)


def test_counters_tell_what_has_finished() -> None:
    one = replica()
    one.take(Request(0.0, 100, 11))
    one.settle(2.0)

    assert (one.counters.finished, one.counters.first_tokens, one.running) == (1, 1, 0)


def test_a_crash_loses_what_is_unfinished() -> None:
    one = replica()
    one.take(Request(0.0, 100, 2))
    one.take(Request(0.0, 100, 100))

    assert (len(one.drop_all(3.0)), one.in_flight(3.0)) == (1, 0)
