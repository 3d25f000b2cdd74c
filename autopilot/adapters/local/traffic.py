"""A fleet's router as a process of ours: started, adopted, started again, and its list of workers kept true."""

import os
import secrets
import signal
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import structlog

from autopilot.adapters.local.ending import kill, remains
from autopilot.adapters.local.ledger import free_port
from autopilot.adapters.local.post import Post
from autopilot.adapters.local.processes import Launch, Mark, alive, leader, marked, send, start
from autopilot.adapters.local.record import FleetRecord, RouterRecord
from autopilot.adapters.local.router import Router, RouterAbsentError, RouterSilentError, router_argv

_SILENT = timedelta(seconds=30)  # a router that answers nothing for so long is started again; its streams are lost
_REST_FIRST, _REST_MOST = timedelta(seconds=1), timedelta(seconds=30)  # between two starts of a router that dies at once
_UP = timedelta(seconds=5)  # a new router answers after one or two
_STOP = timedelta(seconds=10)  # for a router to end by itself

log = structlog.get_logger()


class Traffic:
    """Looks after the router. `listed` is who it last said it sends requests to."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._lock = threading.Lock()  # a list must not be settled from an older record while a cordon is under way
        self._heard: timedelta | None = None
        self._next_start: timedelta | None = None
        self._rest = _REST_FIRST
        self._termed: timedelta | None = None
        self._ended = False
        self.listed: frozenset[str] = frozenset()

    def step(self, *, now: timedelta) -> None:
        """Keep the router running and its list true, or end it with its fleet. Raises StateLost, Failed."""
        with self._lock:
            record = self._post.record
            if record.down and not record.replicas:
                self._stop(record.router, now=now)
                return
            self._ended = False
            running = self._run(record, now=now)
            self._settle(now=now) if running else self._nobody()

    def take_out(self, urls: frozenset[str]) -> None:
        """Send nothing more to these workers. Raises RouterSilentError when a running router does not confirm it."""
        with self._lock:
            router = self._post.record.router
            if router is None or router.process is None or not alive(router.process):
                return  # nothing sends anything
            client = self._client(router)
            with suppress(RouterAbsentError):  # it will come up with an empty list
                there = client.workers()
                client.settle(there - urls)
                self.listed = there - urls

    def put_in(self) -> None:
        """Send requests to every worker that is to have some. Raises RouterSilentError."""
        with self._lock:
            router = self._post.record.router
            if router is not None and router.process is not None and alive(router.process):
                self._client(router).settle(self._wanted())

    def _run(self, record: FleetRecord, *, now: timedelta) -> bool:
        """Whether a router runs, starting one where none does."""
        router = record.router
        if (
            router is None
            or router.process is None
            or not alive(router.process)
            or router.port != (self._post.fleet.router_port or router.port)
        ):
            return self._start(router, now=now)
        if self._heard is None:
            self._heard = now
        if now - self._heard >= _SILENT:
            log.warning("router_silent", fleet=str(record.ref), port=router.port, silent_seconds=_SILENT.total_seconds())
            kill(remains(router.mark, router.process, frozenset()))
            return False
        return True

    def _start(self, router: RouterRecord | None, *, now: timedelta) -> bool:
        """Start the router on its port, unless a former life of the daemon did just before it ended."""
        found = None if router is None or router.process is not None else leader(marked(router.mark))
        if router is not None and found is not None:
            self._keep(replace(router, process=found), now=now)
            return True
        if router is not None and (left := remains(router.mark, router.process, frozenset())):
            kill(left)
            return False
        if self._next_start is not None and now < self._next_start:
            return False
        self._next_start, self._rest = now + self._rest, min(2 * self._rest, _REST_MOST)
        self._fork(self._intend(router), now=now)
        return True

    def _intend(self, router: RouterRecord | None) -> RouterRecord:
        ledger, options = self._post.ledger, self._post.options
        with ledger.lock:
            port = self._post.fleet.router_port or (router.port if router is not None else free_port(ledger.records, options.ports))
            launches = 1 if router is None else router.launches + 1
            mark = Mark(secrets.token_hex(16), self._post.folder.log(f"router-{launches}"))
            intent = RouterRecord(port=port, mark=mark, launches=launches)
            self._post.change(lambda record: replace(record, router=intent))
        return intent

    def _fork(self, intent: RouterRecord, *, now: timedelta) -> None:
        metrics_port = free_port(self._post.ledger.records, self._post.options.ports)
        argv = router_argv(self._post.options.router, port=intent.port, metrics_port=metrics_port)
        env = {name: value for name, value in os.environ.items() if not name.startswith("AUTOPILOT_")}
        try:
            process = start(Launch(argv, env, intent.mark))
        except OSError as error:
            log.warning("router_not_started", fleet=str(self._post.fleet.ref), program=argv[0], error=str(error))
            return
        self._keep(replace(intent, process=process), now=now)

    def _keep(self, router: RouterRecord, *, now: timedelta) -> None:
        self._heard = now
        self._post.change(lambda record: replace(record, router=router))

    def _settle(self, *, now: timedelta) -> None:
        router = self._post.record.router
        if router is None or router.process is None:
            return
        client = self._client(router)
        try:
            self.listed = client.workers()
            self._heard, self._rest = now, _REST_FIRST  # it lives; a worker that it will not take in is another matter
            if self.listed != self._wanted():
                client.settle(self._wanted())
                self.listed = client.workers()
        except RouterSilentError as error:
            if self._heard is not None and now - self._heard >= _UP:
                log.info("router_not_settled", fleet=str(self._post.fleet.ref), error=str(error))

    def _stop(self, router: RouterRecord | None, *, now: timedelta) -> None:
        """End the router: asked first, killed when it is late."""
        self._nobody()
        if router is None or self._ended:
            return
        left = remains(router.mark, router.process, frozenset())
        if not left:
            self._termed, self._ended = None, True
            self._post.change(lambda record: replace(record, router=replace(router, process=None)))
        elif self._termed is None:
            self._termed = now
            for process in left:
                send(process, signal.SIGTERM)
        elif now - self._termed >= _STOP:
            kill(left)

    def _nobody(self) -> None:
        self.listed = frozenset()

    def _wanted(self) -> frozenset[str]:
        return frozenset(replica.url for replica in self._post.record.replicas if replica.in_traffic)

    def _client(self, router: RouterRecord) -> Router:
        return Router(router.url, self._post.http, self._post.options.times.answer)
