# ruff: noqa: S310 - it only calls the loopback addresses that a test gave it
"""A stand-in for vllm-router where none is installed: its list of workers, its refusals, and one turn after the other.

Run as a program with the router's own flags.
"""

import argparse
import itertools
import json
import os
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

PROGRAM = (sys.executable, "-E", "-S", os.path.abspath(__file__))  # noqa: PTH100


def real() -> str | None:
    """The installed vllm-router, None when there is none."""
    named = os.environ.get("AUTOPILOT_ROUTER", "")
    local = Path(__file__).parents[2] / ".cache" / "router" / "bin" / "vllm-router"
    return next((str(path) for path in (named, local) if path and Path(path).is_file()), None)


class Handler(BaseHTTPRequestHandler):
    workers: list[str] = []  # noqa: RUF012 - one router per process
    turns = itertools.count()

    def do_GET(self) -> None:
        self._answer(200, json.dumps({"urls": self.workers})) if self.path == "/list_workers" else self._answer(404, "")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = urlsplit(self.path)
        url = parse_qs(parts.query).get("url", [""])[0]
        if parts.path == "/add_worker":
            self._add(url)
        elif parts.path == "/remove_worker":
            if url in self.workers:
                self.workers.remove(url)
            self._answer(200, f"Successfully removed worker: {url}")
        else:
            self._forward(body)

    def _add(self, url: str) -> None:
        if url in self.workers:
            self._answer(400, f"Worker {url} already exists")
            return
        try:
            urllib.request.urlopen(f"{url}/health", timeout=2).close()
        except OSError:
            self._answer(400, "timed out waiting for the worker")
            return
        self.workers.append(url)
        self._answer(200, f"Successfully added worker: {url}")

    def _forward(self, body: bytes) -> None:
        if not self.workers:
            self._answer(503, "No available workers")
            return
        worker = self.workers[next(self.turns) % len(self.workers)]
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{worker}{self.path}", body), timeout=10) as answer:
                self._answer(answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            self._answer(error.code, "")
        except OSError:
            self._answer(502, "")

    def _answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    asked, _ = parser.parse_known_args()
    with ThreadingHTTPServer(("127.0.0.1", asked.port), Handler) as server:
        server.daemon_threads = True
        server.serve_forever()


if __name__ == "__main__":
    main()
