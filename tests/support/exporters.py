# ruff: noqa: TID251 - a process of its own that counts real seconds; the product's clock is not its clock
"""A stand-in for a vLLM server whose metrics follow a script: what a replica shows is what the test last wrote.

Run as the engine of a local fleet: `python tests/support/exporters.py FOLDER --served-model-name N --port P …`. The
script of a fleet is `FOLDER/N.json`, an object of the fields of `Script`, read at every look; POST /script lays
fields over it for one replica alone.
"""

import json
import math
import os
import sys
import threading
import time
from dataclasses import dataclass, fields, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PROGRAM = (sys.executable, "-E", "-S", os.path.abspath(__file__))  # noqa: PTH100 - the child imports nothing but what it needs
TTFT = "vllm:time_to_first_token_seconds"
EDGES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, math.inf)
PROMPT, OUTPUT = 100, 20  # tokens of a request
SAID = tuple(f"loading shard {number}" for number in range(1, 31))


@dataclass(frozen=True)
class Script:
    """What each replica of a fleet shows now.

    `rate` requests a second finish, each with its first token after `ttft` seconds. `scraped` is the status of
    /metrics; `muted` are names that it leaves out; `aged` gives every sample a timestamp of so many seconds ago.
    `start` is `serve`, or what becomes of a replica that starts now: `hang`, `crash`; `loads` is how long it loads.
    """

    ttft: float = 0.2
    rate: float = 20.0
    running: float = 4.0
    waiting: float = 0.0
    scraped: int = 200
    muted: tuple[str, ...] = ()
    aged: float = 0.0
    start: str = "serve"
    loads: float = 0.0


CALM = Script()
BUSY = replace(CALM, ttft=1.5, running=12.0, waiting=6.0)
QUIET = replace(CALM, rate=5.0, running=0.0)
IDLE = replace(CALM, rate=0.0, running=0.0)


class Scripted:
    """The counters of one replica. A stretch between two looks is counted under the script that began it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own: dict[str, Any] = {}
        self._script = Script()
        self._at = time.monotonic()
        self._lock = threading.Lock()
        self._due = self._sum = 0.0
        self._finished = 0
        self._steps = 0
        self._buckets = dict.fromkeys(EDGES, 0)

    def lay_over(self, own: dict[str, Any]) -> None:
        with self._lock:
            self._own.update(own)

    def stepped(self) -> None:
        with self._lock:
            self._steps += 1

    def look(self) -> Script:
        with self._lock:
            self._count()
            self._script = script(self._path, self._own)
            return self._script

    def text(self) -> str:
        now = self.look()
        stamp = f" {int((time.time() - now.aged) * 1000)}" if now.aged else ""
        return "".join(f"{line}{stamp}\n" for line in self._lines(now) if not line.startswith(now.muted))

    def _count(self) -> None:
        then, self._at = self._at, time.monotonic()
        self._due += (self._at - then) * self._script.rate
        fresh = int(self._due)
        self._due -= fresh
        self._finished += fresh
        self._steps += fresh
        self._sum += fresh * self._script.ttft
        for edge in EDGES:
            self._buckets[edge] += fresh if self._script.ttft <= edge else 0

    def _lines(self, now: Script) -> list[str]:
        gauges = {"vllm:num_requests_running": now.running, "vllm:num_requests_waiting": now.waiting}
        counters = {
            "vllm:prompt_tokens_total": self._finished * PROMPT,
            "vllm:generation_tokens_total": self._finished * OUTPUT,
            "vllm:iteration_tokens_total_count": self._steps,
            "vllm:iteration_tokens_total_sum": self._finished * OUTPUT,
            f"{TTFT}_sum": self._sum,
            f"{TTFT}_count": self._finished,
        }
        own = 'engine="0",model_name="fake"'
        return [
            *(f"{name}{{{own}}} {float(value)}" for name, value in {**gauges, **counters}.items()),
            f'vllm:request_success_total{{{own},finished_reason="stop"}} {float(self._finished)}',
            *(f'{TTFT}_bucket{{{own},le="{"+Inf" if edge == math.inf else edge}"}} {count}' for edge, count in self._buckets.items()),
        ]


def script(path: Path, own: dict[str, Any]) -> Script:
    """What the file says, with what this replica was told laid over it."""
    try:
        told = json.loads(path.read_text())
    except (OSError, ValueError):
        told = {}
    said = {**told, **own}
    if "muted" in said:
        said["muted"] = tuple(said["muted"])
    return Script(**{field.name: said[field.name] for field in fields(Script) if field.name in said})


class Handler(BaseHTTPRequestHandler):
    scripted: Scripted

    def do_GET(self) -> None:
        if self.path == "/health":
            self._answer(200, "")
        elif self.path == "/metrics":
            status = self.scripted.look().scraped
            self._answer(status, self.scripted.text() if status == 200 else "out of order")
        elif self.path == "/v1/models":
            self._answer(200, json.dumps({"data": [{"id": "fake", "max_model_len": 2048}]}))
        else:
            self._answer(404, "")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
        if self.path == "/script":
            self.scripted.lay_over(body)
            self._answer(200, "")
        else:
            self.scripted.stepped()
            self._answer(200, json.dumps({"choices": [{"text": "x"}], "pid": os.getpid()}))

    def _answer(self, status: int, body: str) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4")  # Prometheus 3 takes no metrics without one
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""


def _after(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]


def main() -> None:
    argv = sys.argv[1:]
    path = Path(argv[0]) / f"{_after(argv, '--served-model-name')}.json"
    begun = script(path, {})
    fate = begun.start
    if fate != "serve":
        print(*SAID, sep="\n", flush=True)  # noqa: T201 - its log
    if fate == "crash":
        sys.exit(1)
    if fate == "hang":
        threading.Event().wait()
    threading.Event().wait(begun.loads)
    Handler.scripted = Scripted(path)
    with ThreadingHTTPServer(("127.0.0.1", int(_after(argv, "--port"))), Handler) as server:
        server.daemon_threads = True
        server.serve_forever()


if __name__ == "__main__":
    main()
