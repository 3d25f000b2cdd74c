from __future__ import annotations

import asyncio
import io
import json
import random
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from demo.load import Load, RateFile, arrivals, prompt, run, set_rate

LOAD = Load(
    url="http://127.0.0.1:1", model="demo", rate=40.0, rate_file=None, prompt_chars=400, shared_chars=0,
    output_tokens=2, seed=7, seconds=0.5, drain_seconds=5.0, request_seconds=5.0,
)  # fmt: skip

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def test_prompts_have_the_asked_length_and_differ_from_their_start() -> None:
    first, second = prompt(LOAD, 0), prompt(LOAD, 1)

    assert (len(first), len(second), first[:16] == second[:16]) == (400, 400, False)


def test_the_shared_part_is_the_same_in_every_prompt() -> None:
    load = replace(LOAD, shared_chars=300)

    assert prompt(load, 0)[:300] == prompt(load, 1)[:300]


def test_a_new_number_in_the_rate_file_is_the_rate_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "rate"
    rate = RateFile(path, 2.0)
    before = rate()

    set_rate(path, 6.5)

    assert (before, rate()) == (2.0, 6.5)


def test_a_file_without_a_number_leaves_the_rate_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "rate"
    path.write_text("six")

    assert RateFile(path, 2.0)() == 2.0


def test_arrivals_keep_the_rate() -> None:
    assert asyncio.run(_count(rate=200.0, seconds=1.0)) == pytest.approx(200, abs=60)  # four sigma of a Poisson count


def test_no_request_arrives_at_rate_zero() -> None:
    assert asyncio.run(_count(rate=0.0, seconds=0.3)) == 0


def test_every_answered_request_has_a_line_and_the_summary_agrees() -> None:
    lines = asyncio.run(_lines(_two_tokens, LOAD))

    assert lines[-1] == lines[-1] | {"sent": len(lines) - 1, "succeeded": len(lines) - 1, "failed": 0, "lost": 0}
    assert all(0 < line["ttft_seconds"] <= line["e2e_seconds"] for line in lines[:-1])


def test_a_refused_request_is_a_failure_with_its_status() -> None:
    lines = asyncio.run(_lines(_refuse, LOAD))

    assert {(line["status"], line["error"]) for line in lines[:-1]} == {(503, "http 503")}
    assert lines[-1]["failed"] == lines[-1]["sent"] > 0


def test_a_stream_that_ends_early_is_a_failure() -> None:
    lines = asyncio.run(_lines(_half_an_answer, LOAD))

    assert {line["error"] for line in lines[:-1]} == {"stream ended early"}


def test_a_request_without_an_end_is_lost_and_not_failed() -> None:
    lines = asyncio.run(_lines(_never, replace(LOAD, drain_seconds=0.2)))

    assert (lines[-1]["lost"], lines[-1]["failed"]) == (lines[-1]["sent"], 0)


def test_a_server_that_is_not_there_is_a_failure_and_not_a_crash() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        load = replace(LOAD, url=f"http://127.0.0.1:{free.getsockname()[1]}")
        out = io.StringIO()

        summary = asyncio.run(run(load, out, asyncio.Event()))

    assert (summary.failed, summary.succeeded) == (summary.sent, 0)


async def _count(*, rate: float, seconds: float) -> int:
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, stop.set)
    return len([None async for _ in arrivals(lambda: rate, random.Random(7), stop)])


async def _lines(handler: Handler, load: Load) -> list[dict[str, Any]]:
    """Run the load against a server that answers with this handler, and read back what it wrote."""
    app = web.Application()
    app.router.add_post("/v1/completions", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        await web.SockSite(runner, listening).start()
        out = io.StringIO()
        await run(replace(load, url=f"http://127.0.0.1:{listening.getsockname()[1]}"), out, asyncio.Event())
        await runner.cleanup()
    return [json.loads(line) for line in out.getvalue().splitlines()]


async def _stream(request: web.Request, *lines: bytes) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for line in lines:
        await response.write(line + b"\n\n")
    return response


async def _two_tokens(request: web.Request) -> web.StreamResponse:
    return await _stream(request, b'data: {"a": 1}', b'data: {"b": 2}', b"data: [DONE]")


async def _half_an_answer(request: web.Request) -> web.StreamResponse:
    return await _stream(request, b'data: {"a": 1}')


async def _refuse(_: web.Request) -> web.StreamResponse:
    return web.Response(status=503)


async def _never(_: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError
