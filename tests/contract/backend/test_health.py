"""The verdict on an engine, without engines."""

from datetime import timedelta

import pytest

from autopilot.adapters.local.engines import read_beat
from autopilot.adapters.local.health import Beat, Health, History, Verdict, Vitals, judge, look, proven

STALL = timedelta(seconds=60)
OK, BAD, REFUSED, LATE = Health.OK, Health.BAD, Health.REFUSED, Health.LATE
STUCK, MOVED, IDLE = Beat(steps=5, busy=True), Beat(steps=6, busy=True), Beat(steps=5, busy=False)


def _after(vitals: Vitals, *, seconds: float) -> Verdict:
    """The verdict when an engine that had taken 5 steps at 0 s has looked like this ever since."""
    history = look(History(progress=timedelta(), steps=5), vitals, now=timedelta())
    now = timedelta(seconds=seconds)
    return judge(look(history, vitals, now=now), now=now, stall=STALL)


@pytest.mark.parametrize(
    ("vitals", "seconds", "verdict"),
    [
        (Vitals(OK, STUCK), 59, Verdict.WELL),
        (Vitals(OK, STUCK), 60, Verdict.PROBE),
        (Vitals(OK, IDLE), 600, Verdict.WELL),
        (Vitals(OK, None), 600, Verdict.WELL),
        (Vitals(LATE, IDLE), 600, Verdict.WELL),
        (Vitals(LATE, None), 59, Verdict.WELL),
        (Vitals(LATE, None), 60, Verdict.PROBE),
        (Vitals(LATE, STUCK), 60, Verdict.PROBE),
        (Vitals(BAD, None), 0, Verdict.UNWELL),
        (Vitals(BAD, IDLE), 59, Verdict.UNWELL),
        (Vitals(BAD, IDLE), 60, Verdict.LOST),
        (Vitals(REFUSED), 0, Verdict.UNWELL),
        (Vitals(REFUSED), 60, Verdict.LOST),
    ],
)
def test_the_verdict_follows_health_heartbeat_and_time(vitals: Vitals, seconds: float, verdict: Verdict) -> None:
    assert _after(vitals, seconds=seconds) is verdict


def test_one_step_starts_the_clock_of_the_stall_anew() -> None:
    history = look(History(progress=timedelta(), steps=5), Vitals(OK, MOVED), now=timedelta(seconds=50))

    verdict = judge(look(history, Vitals(OK, MOVED), now=timedelta(seconds=100)), now=timedelta(seconds=100), stall=STALL)

    assert verdict is Verdict.WELL


def test_an_answered_probe_starts_the_clock_of_the_stall_anew() -> None:
    history = proven(History(progress=timedelta(), steps=5), now=timedelta(seconds=70))

    verdict = judge(look(history, Vitals(OK, STUCK), now=timedelta(seconds=100)), now=timedelta(seconds=100), stall=STALL)

    assert verdict is Verdict.WELL


def test_an_engine_that_was_refused_once_starts_again_from_the_beginning() -> None:
    history = look(History(progress=timedelta()), Vitals(REFUSED), now=timedelta())
    history = look(history, Vitals(OK, IDLE), now=timedelta(seconds=30))

    history = look(history, Vitals(REFUSED), now=timedelta(seconds=70))

    assert judge(history, now=timedelta(seconds=70), stall=STALL) is Verdict.UNWELL


SCRAPE = b"""# HELP vllm:num_requests_running Number of requests in model execution batches.
vllm:num_requests_running{engine="0",model_name="a"} 2.0
vllm:num_requests_running{engine="1",model_name="a"} 0.0
vllm:num_requests_waiting{engine="0",model_name="a"} 0.0
vllm:iteration_tokens_total_count{engine="0",model_name="a"} 10.0
vllm:iteration_tokens_total_count{engine="1",model_name="a"} 4.0
vllm:iteration_tokens_total_sum{engine="0",model_name="a"} 99.0
"""


@pytest.mark.parametrize(
    ("scrape", "beat"),
    [
        (SCRAPE, Beat(steps=14, busy=True)),
        (SCRAPE.replace(b"} 2.0", b"} 0.0"), Beat(steps=14, busy=False)),
        (SCRAPE.replace(b"num_requests_waiting", b"gone"), None),
        (SCRAPE.replace(b"iteration_tokens", b"gone"), None),
        (b"", None),
    ],
    ids=["busy", "idle", "no-waiting", "no-steps", "nothing"],
)
def test_a_heartbeat_is_read_whole_or_not_at_all(scrape: bytes, beat: Beat | None) -> None:
    assert read_beat(scrape) == beat
