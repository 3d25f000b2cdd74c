"""A flood of Alertmanager's webhooks against the real server, beside a door that keeps nothing: the limit of the same run.

python -m benchmarks.webhook_flood [--rate 500] [--seconds 30]
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from rich.console import Console
from rich.table import Table

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.wakes import open_wakes
from autopilot.web.server import WebServer
from autopilot.web.webhook import AlertsDoor, Pace, add_webhook
from tests.support.webhooks import alert, message

CONNECTIONS = 32
LIMIT_MS = 50.0  # the issue's: p99
ALERTS = 10_000  # different ones, over and over


@dataclass
class Flood:
    """What came back: seconds each, in order, and the codes."""

    seconds: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    late: int = 0  # sent later than the rate asks for: the client or the server was behind

    def ms(self, share: float) -> float:
        """A quantile."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))] * 1000


def keeps(folder: Path) -> FastAPI:
    """The product's own door on a store of its own."""
    clock = SystemClock()
    app = FastAPI()
    store = open_wakes(folder / "reports.sqlite", clock, lambda _: None)
    add_webhook(app, AlertsDoor(store.enqueue, lambda token: token == "t", Pace(clock.running), lambda _: None, lambda _: None))  # noqa: S105
    return app


def keeps_nothing(_: Path) -> FastAPI:
    """Reads the body and answers."""
    app = FastAPI()

    @app.post("/api/v1/alerts", status_code=202)
    async def alerts(request: Request) -> dict[str, int]:
        await request.body()
        return {}

    return app


def serve(make: Callable[[Path], FastAPI], folder: str, port: Any) -> None:
    """A process of its own."""
    server = WebServer(make(Path(folder)), "127.0.0.1", 0)
    server.start()
    port.value = server.port
    threading.Event().wait()


@contextmanager
def served(make: Callable[[Path], FastAPI]) -> Iterator[tuple[int, int]]:
    """The port and the process."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = multiprocessing.get_context("spawn")
        port = fresh.Value("i", 0)
        process = fresh.Process(target=serve, args=(make, folder, port), daemon=True)
        process.start()
        try:
            while not port.value:
                process.join(0.05)
            yield port.value, process.pid or 0
        finally:
            process.kill()
            process.join()


async def flood(port: int, rate: int, seconds: int) -> Flood:
    """So many messages a second, each at its own time, over a few kept connections."""
    seen = Flood()
    due: asyncio.Queue[int] = asyncio.Queue()
    began = time.perf_counter()
    workers = [asyncio.create_task(_send(port, due, began, rate, seen)) for _ in range(CONNECTIONS)]
    for number in range(rate * seconds):
        due.put_nowait(number)
    await due.join()
    for worker in workers:
        worker.cancel()
    return seen


async def _send(port: int, due: "asyncio.Queue[int]", began: float, rate: int, seen: Flood) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        number = await due.get()
        wait = began + number / rate - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        seen.late += wait < -LIMIT_MS / 1000
        body = message(alert(f"{number % ALERTS:x}", fleet="chat", pod=f"chat-{number % 50}"))
        head = f"POST /api/v1/alerts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nContent-Length: {len(body)}\r\n\r\n"
        sent = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        seen.seconds.append(time.perf_counter() - sent)
        seen.codes[int(answer[9:12])] += 1
        due.task_done()


def resident(pid: int) -> int:
    """Bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """User and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(make: Callable[[Path], FastAPI], rate: int, seconds: int) -> dict[str, Any]:
    """One run."""
    with served(make) as (port, pid):
        asyncio.run(flood(port, rate, 1))  # what is imported and opened at the first call is not the flood's
        before, cpu = resident(pid), cpu_seconds(pid)
        seen = asyncio.run(flood(port, rate, seconds))
        return {
            "sent": len(seen.seconds),
            "accepted": seen.codes[202],
            "other codes": dict(seen.codes - Counter({202: seen.codes[202]})),
            "sent late": seen.late,
            "p50 ms": round(statistics.median(seen.seconds) * 1000, 1),
            "p99 ms": round(seen.ms(0.99), 1),
            "worst ms": round(max(seen.seconds) * 1000, 1),
            "RSS growth MB": round((resident(pid) - before) / 1e6, 1),
            "CPU s": round(cpu_seconds(pid) - cpu, 1),
        }


def main() -> None:
    """Flood both, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    ours, bare = (measured(make, asked.rate, asked.seconds) for make in (keeps, keeps_nothing))
    if asked.json:
        print(json.dumps({"ours": ours, "bare": bare}))
        return
    table = Table(title=f"{asked.rate} webhooks a second for {asked.seconds} s, {os.cpu_count()} cores shared with the sender")
    for column in ("", "kept on disk", "kept nowhere", "limit"):
        table.add_column(column)
    limits = {"p99 ms": f"< {LIMIT_MS:.0f}", "RSS growth MB": "< 30"}
    for name, value in ours.items():
        table.add_row(name, str(value), str(bare[name]), limits.get(name, ""))
    Console().print(table)


if __name__ == "__main__":
    main()
