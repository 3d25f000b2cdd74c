"""The HTTP doors as an application: what the daemon last posted, and the one that takes hints in. It changes nothing itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, NoReturn

from fastapi import FastAPI, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from autopilot import __version__
from autopilot.adapters.telemetry import CONTENT_TYPE
from autopilot.daemon.board import Board, by_name
from autopilot.daemon.history import History
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.workloads import FleetRef
from autopilot.ports import Line, StateLost
from autopilot.web.answers import (
    Answer,
    DecisionsAnswer,
    FleetAnswer,
    Health,
    Readiness,
    StatusAnswer,
    StoryAnswer,
    StoryLineAnswer,
    Unavailable,
    UnknownFleet,
)
from autopilot.web.explained import Decisions, explain_all, find_remediation
from autopilot.web.webhook import AlertsDoor, add_webhook

LATE = 3  # intervals: one tick may be slow and one lost before a supervisor should act
GRACE = 6  # intervals for the first tick: opening the state and the first, cold queries take longer
SEARCHED = 800  # records looked through for a remediation: at some 20 kB each they fit beside the loop
LISTED = 200  # records in one answer
LAST = "last"  # stands for the newest remediation

INDEX = """vLLM SLO autopilot: /healthz /readyz /metrics /api/v1/status /api/v1/fleets/{namespace}/{name} \
/api/v1/story /api/v1/decisions /api/v1/alerts /openapi.json
"""

FleetQuery = Annotated[str | None, Query(pattern="^[^/]+/[^/]+$", max_length=512, description="namespace/name")]
After = Annotated[int | None, Query(ge=0, description="Lines newer than this number; without it the newest lines.")]
Limit = Annotated[int, Query(ge=1, le=2000)]
Last = Annotated[int, Query(ge=1, le=LISTED, description="How many of the newest records.")]
OfRemediation = Annotated[str | None, Query(max_length=512, description='The records of one remediation instead; "last" is the newest.')]


@dataclass(frozen=True, slots=True)
class Doors:
    """What the application reads. `ready` gives the reasons why not; `records` the newest lines, oldest first, and may raise StateLost."""

    board: Board
    history: History
    now: Callable[[], LogicalTime]
    interval: timedelta
    metrics: Callable[[], bytes]
    ready: Callable[[], tuple[str, ...]]
    records: Callable[[FleetRef | None, int], Sequence[Line]]
    alerts: AlertsDoor


def make_app(doors: Doors) -> FastAPI:
    """The application. Its start grace begins now."""
    # No pages of documentation: they load their scripts from other people's servers.
    app = FastAPI(title="vLLM SLO autopilot", version=__version__, docs_url=None, redoc_url=None)
    app.add_middleware(_NotKept)
    _add_probes(app, doors)
    _add_metrics(app, doors)
    _add_status(app, doors)
    _add_history(app, doors)
    add_webhook(app, doors.alerts)

    @app.exception_handler(_RefusedError)
    async def refused(_: Request, error: _RefusedError) -> JSONResponse:
        return JSONResponse(error.answer.model_dump(mode="json"), status_code=error.status)

    return app


class _RefusedError(Exception):
    """The answer is another than the route's own."""

    def __init__(self, status: int, answer: Answer) -> None:
        super().__init__()
        self.status, self.answer = status, answer


class _NotKept:
    """Tells everybody in between to keep nothing and to guess nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                marks = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
                message = {**message, "headers": [*message.get("headers", ()), *marks]}
            await send(message)

        await self._app(scope, receive, marked)


def _add_probes(app: FastAPI, doors: Doors) -> None:
    began = doors.now()

    # Not in a worker thread: health must answer while all of them wait for a source or a disk.
    @app.get("/healthz", responses={503: {"model": Health}})
    async def healthz() -> Health:
        """200 while the last completed tick is young, 503 when it is not."""
        health = health_of(doors.board.age(now=doors.now()), running=doors.now() - began, interval=doors.interval)
        if not health.healthy:
            raise _RefusedError(503, health)
        return health

    @app.get("/readyz", responses={503: {"model": Readiness}})
    def readyz() -> Readiness:
        """200 when the daemon can do its work, 503 with the reasons when it cannot."""
        reasons = doors.ready()
        answer = Readiness(ready=not reasons, reasons=reasons)
        if reasons:
            raise _RefusedError(503, answer)
        return answer


def _add_metrics(app: FastAPI, doors: Doors) -> None:
    @app.get("/metrics", response_class=PlainTextResponse)
    def metrics() -> Response:
        """The autopilot's own metrics, for Prometheus."""
        return Response(doors.metrics(), media_type=CONTENT_TYPE)

    @app.get("/", response_class=PlainTextResponse, include_in_schema=False)
    async def index() -> PlainTextResponse:
        return PlainTextResponse(INDEX)


def health_of(age: timedelta | None, *, running: timedelta, interval: timedelta) -> Health:
    """Health by the age of the last completed tick, or by the time since the start while there was none."""
    counted, limit = (age, LATE * interval) if age is not None else (running, GRACE * interval)
    return Health(healthy=counted < limit, ticked=age is not None, age_seconds=counted.total_seconds(), limit_seconds=limit.total_seconds())


def _add_status(app: FastAPI, doors: Doors) -> None:
    @app.get("/api/v1/status")
    def status() -> StatusAnswer:
        """Every fleet and the daemon, as of the last completed tick."""
        posted = doors.board.read()
        return StatusAnswer(daemon=posted.daemon, fleets=posted.fleets)

    @app.get("/api/v1/fleets/{namespace}/{name}", responses={404: {"model": UnknownFleet}})
    def fleet(namespace: str, name: str) -> FleetAnswer:
        """One fleet, as of the last completed tick."""
        found = by_name(doors.board.read()).get(f"{namespace}/{name}")
        if found is None:
            _refuse_unknown(doors, f"{namespace}/{name}")
        return FleetAnswer(found)


def _add_history(app: FastAPI, doors: Doors) -> None:
    @app.get("/api/v1/story", responses={404: {"model": UnknownFleet}})
    def story(fleet: FleetQuery = None, after: After = None, limit: Limit = 200) -> StoryAnswer:
        """What happened, in sentences, oldest first; the last 2,000 lines since the start are kept."""
        told = doors.history.story()
        mine = [one for one in told if fleet in (None, one.fleet) and one.number > (after or 0)]
        if fleet is not None and not mine and not _known(doors, fleet):
            _refuse_unknown(doors, fleet)
        part = mine[-limit:] if after is None else mine[:limit]
        return StoryAnswer(newest=told[-1].number if told else 0, lines=tuple(StoryLineAnswer.of(one) for one in part))

    @app.get("/api/v1/decisions", responses={404: {"model": UnknownFleet}, 503: {"model": Unavailable}})
    def decisions(fleet: FleetQuery = None, last: Last = 20, remediation: OfRemediation = None) -> DecisionsAnswer:
        """What was decided and what it rested on, from the journal, oldest first."""
        ref = FleetRef.parse(fleet) if fleet is not None else None
        try:
            found = _decisions(doors, ref, last=last, remediation=remediation)
        except StateLost as error:
            raise _RefusedError(503, Unavailable(detail=str(error))) from error
        if fleet is not None and not found.records and not _known(doors, fleet):
            _refuse_unknown(doors, fleet)
        return DecisionsAnswer(found)


def _decisions(doors: Doors, fleet: FleetRef | None, *, last: int, remediation: str | None) -> Decisions:
    if remediation is None:
        return explain_all(doors.records(fleet, last), doors.history.documents)
    wanted = None if remediation == LAST else remediation
    found = find_remediation(lambda many: doors.records(fleet, many), wanted, at_most=SEARCHED)
    return explain_all(found[-LISTED:], doors.history.documents)


def _known(doors: Doors, fleet: str) -> bool:
    return fleet in by_name(doors.board.read())


def _refuse_unknown(doors: Doors, fleet: str) -> NoReturn:
    known = tuple(by_name(doors.board.read()))
    raise _RefusedError(404, UnknownFleet(detail=f'no fleet is called "{fleet}"', known=known))
