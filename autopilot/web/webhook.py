"""`POST /api/v1/alerts`: hints from other evaluators, kept durably before the answer.

Alertmanager sends again after 5xx and lost connections, and drops what is answered 4xx. So too much is 503, never 429,
and 4xx is for what would never be taken.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from autopilot.domain.reports import Report, Taken
from autopilot.ports import Overloaded, StateLost
from autopilot.web.alertmanager import NotAWebhookError, reports_of
from autopilot.web.answers import Accepted, Refused

log = structlog.get_logger()

MOST_BYTES = 1024 * 1024  # of one message: some 2,000 alerts
MOST_SWALLOWED = 16 * MOST_BYTES  # of one that is too large, so that its sender hears why before the line is cut
BODY_WITHIN = 5.0  # seconds
KEPT_WITHIN = 5.0  # seconds for the disk
_CUT = {"connection": "close"}  # what is left of the request is not worth reading


@dataclass
class Pace:
    """So many messages in a second, and twice that at once. `now` is running time."""

    now: Callable[[], timedelta]
    per_second: float = 1000.0
    _left: float = field(init=False)
    _since: timedelta = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the whole allowance."""
        self._left, self._since = 2 * self.per_second, self.now()

    def take(self) -> bool:
        """Whether one more is within the pace."""
        now = self.now()
        self._left = min(2 * self.per_second, self._left + (now - self._since).total_seconds() * self.per_second)
        self._since = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


@dataclass(frozen=True, slots=True)
class AlertsDoor:
    """What the door needs. `admits` judges the bearer token, "" where there is none; `answered` hears every status code.

    `taken` hears what the alerts of a message came to. `enqueue` may raise Overloaded, its future StateLost.
    """

    enqueue: Callable[[Sequence[Report]], "Future[Counter[Taken]]"]
    admits: Callable[[str], bool]
    pace: Pace
    answered: Callable[[int], None]
    taken: Callable[[Mapping[Taken, int]], None]


class _Refusal(Exception):  # noqa: N818 - it is an answer
    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def add_webhook(app: FastAPI, door: AlertsDoor) -> None:
    """Open the door."""

    @app.post("/api/v1/alerts", status_code=202, response_model=Accepted, responses={code: {"model": Refused} for code in _CODES})
    async def alerts(request: Request) -> JSONResponse:
        """Alertmanager's webhook, version 4. 202 once it is kept; what follows from it is decided by a look at the source."""
        try:
            counts = await _taken(request, door)
            door.taken(counts)
            answer = JSONResponse(Accepted.of(counts).model_dump(), status_code=202)
        except _Refusal as refusal:
            log.warning("webhook_refused", status=refusal.status, detail=refusal.detail)
            answer = JSONResponse(Refused(detail=refusal.detail).model_dump(), status_code=refusal.status, headers=refusal.headers)
        door.answered(answer.status_code)
        return answer


_CODES = (400, 401, 408, 413, 503)


async def _taken(request: Request, door: AlertsDoor) -> "Counter[Taken]":
    if not door.admits(_bearer(request)):
        raise _Refusal(401, "a valid bearer token is needed: see http.alertsTokenFile", {"www-authenticate": "Bearer", **_CUT})
    if not door.pace.take():
        raise _Refusal(503, "too many messages at once: send it again a little later", _CUT)
    body = await _body(request)
    try:
        reports = reports_of(body)
    except NotAWebhookError as error:
        raise _Refusal(400, f"not an Alertmanager webhook of version 4: {error}") from error
    return await _kept(reports, door)


async def _kept(reports: Sequence[Report], door: AlertsDoor) -> "Counter[Taken]":
    try:
        async with asyncio.timeout(KEPT_WITHIN):
            return await asyncio.wrap_future(door.enqueue(reports))
    except (Overloaded, StateLost) as error:
        raise _Refusal(503, str(error)) from error
    except TimeoutError as error:
        raise _Refusal(503, "it could not be kept in time: send it again a little later") from error


async def _body(request: Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_WITHIN):
            return await _read(request)
    except TimeoutError as error:
        raise _Refusal(408, f"the body did not come within {BODY_WITHIN:.0f} s", _CUT) from error
    except ClientDisconnect as error:
        raise _Refusal(400, "the sender left before the body was whole", _CUT) from error


async def _read(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= MOST_BYTES:
            parts.append(part)
        elif size > MOST_SWALLOWED:
            break
    if size > MOST_BYTES:
        raise _Refusal(413, f"the body is over {MOST_BYTES} bytes: set max_alerts in the receiver", _CUT)
    return b"".join(parts)


def _bearer(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
