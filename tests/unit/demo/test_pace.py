from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from demo.paced_engine.autopilot_paced_engine.pace import Device, Pace, pace_of

STEP = 0.2  # seconds; long against the cost of a lock, short for a test
STEPS = 3


def test_a_forward_pass_takes_a_fixed_part_and_a_part_per_token() -> None:
    assert Pace(0.05, 0.001).seconds(100) == pytest.approx(0.15)


def test_the_pace_is_read_from_the_config() -> None:
    config = SimpleNamespace(paced_step_seconds=0.02, paced_token_seconds=0, paced_lock_path="/run/gpu.lock")

    assert pace_of(config, {}) == Pace(0.02, 0.0, "/run/gpu.lock")


def test_the_environment_names_another_lock_than_the_config() -> None:
    config = SimpleNamespace(paced_step_seconds=0.02, paced_token_seconds=0.0, paced_lock_path="/run/gpu.lock")

    assert pace_of(config, {"PACED_ENGINE_LOCK": "/run/other.lock"}).lock_path == "/run/other.lock"


@pytest.mark.parametrize("step", [None, "0.02", True, -1.0], ids=["missing", "text", "flag", "negative"])
def test_an_engine_without_a_usable_pace_does_not_start(step: object) -> None:
    with pytest.raises(ValueError, match="pace"):
        pace_of(SimpleNamespace(paced_step_seconds=step, paced_token_seconds=0.0), {})


def test_two_engines_with_one_lock_take_turns(tmp_path: Path) -> None:
    assert _seconds_of_two(str(tmp_path / "gpu.lock")) >= 2 * STEPS * STEP


def _seconds_of_two(lock: str) -> float:
    """Let two processes compute three steps each at the same time, and say from the first start to the last end."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        spans = pool.map(_compute, [lock, lock], chunksize=1)
    return max(end for _, end in spans) - min(start for start, _ in spans)


def _compute(lock: str) -> tuple[float, float]:
    device = Device(Pace(STEP, 0.0, lock))
    start = time.clock_gettime(time.CLOCK_MONOTONIC)
    for _ in range(STEPS):
        device.compute(1)
    return start, time.clock_gettime(time.CLOCK_MONOTONIC)
