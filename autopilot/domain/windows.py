"""Calendar windows: stretches of wall time that policies give names to."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class CronWindow:
    """Opens whenever the five-field crontab line says so, in `time_zone`, and lasts `lasts`. 0 and 7 are Sunday."""

    cron: str
    lasts: timedelta
    time_zone: str
    kind: Literal["cron"] = "cron"


@dataclass(frozen=True, slots=True)
class SpanWindow:
    """Open from `begins` until `ends`, both with an offset."""

    begins: datetime
    ends: datetime
    kind: Literal["span"] = "span"


Window: TypeAlias = CronWindow | SpanWindow
