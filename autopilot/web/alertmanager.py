"""Alertmanager's webhook, version 4, as reports. Grafana sends the same. Unknown keys are ignored: newer versions add some.

Nothing is inferred from what is absent: `truncatedAlerts` may be more than none.
"""

from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from autopilot.domain.reports import Report, ReportStatus

NAME = "alertname"
MOST_OF_LABELS = 8 * 1024  # characters of one alert's names and values: what is kept of an alert stays small

_Name = Annotated[str, Field(min_length=1, max_length=MOST_OF_LABELS)]


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("is in no year from 1 to 9999") from error


_Moment = Annotated[AwareDatetime, AfterValidator(_utc)]


class _Sent(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Alert(_Sent):
    status: ReportStatus
    labels: dict[_Name, str]
    starts_at: _Moment = Field(alias="startsAt")
    ends_at: _Moment | None = Field(default=None, alias="endsAt")
    fingerprint: Annotated[str, Field(min_length=1, max_length=64)]

    @model_validator(mode="after")
    def _small_and_named(self) -> Self:
        if not self.labels.get(NAME):
            raise ValueError(f"an alert has no {NAME}")
        if sum(len(name) + len(value) for name, value in self.labels.items()) > MOST_OF_LABELS:
            raise ValueError(f"the labels of an alert have more than {MOST_OF_LABELS} characters")
        return self

    def report(self, sender: str) -> Report:
        labels = tuple(sorted(self.labels.items()))
        ends = self.ends_at if self.status is ReportStatus.RESOLVED else None
        return Report(self.fingerprint, self.labels[NAME], labels, self.status, self.starts_at, ends, sender)


class _Message(_Sent):
    version: Literal["4", "1"]  # Grafana writes 1 for the same shape
    alerts: tuple[_Alert, ...]
    external_url: Annotated[str, Field(max_length=2000)] = Field(default="", alias="externalURL")


class NotAWebhookError(Exception):
    """The body is no such message; the text says where, and shows nothing of it."""


def reports_of(body: bytes) -> tuple[Report, ...]:
    """The alerts of one message. Raises NotAWebhookError."""
    try:
        message = _Message.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise NotAWebhookError(f"{where}: {first['msg']}") from error
    return tuple(alert.report(message.external_url) for alert in message.alerts)
