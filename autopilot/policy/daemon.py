"""The daemon's own file, `autopilot.yaml`: sources, where policies are, and how the daemon itself runs."""

from datetime import timedelta
from pathlib import Path
from re import fullmatch
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from autopilot.actions.ratio import Ratio
from autopilot.policy.shapes import Count, Positive, Shape, Text, Word
from autopilot.policy.units import ShortTime, Size, SomeTime

Port = Annotated[int, Field(strict=True, ge=0, le=65_535)]
Url = Annotated[str, Field(pattern=r"^https?://[^\s/@]+(/\S*)?$", max_length=2000)]
_OURS = "authorization|proxy-.*|cookie|host|connection|content-.*|accept-encoding|transfer-encoding|expect|upgrade"


def _free(name: str) -> str:
    """Refuse the headers that carry secrets, which belong into files, and those that are the client's own."""
    if fullmatch(_OURS, name.lower()):
        raise ValueError("this header is not free: write credentials under auth, the others are the client's own")
    return name


HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][-A-Za-z0-9_]*$", max_length=100), AfterValidator(_free)]
HeaderText = Annotated[str, Field(pattern=r"^[ -~]+$", max_length=1000)]
Argv = Annotated[tuple[Text, ...], Field(min_length=1)]


class Auth(Shape):
    """How to log in to a server. Secrets are in files, read again when they change, never in this file."""

    bearer_file: Text | None = None
    user: Text | None = None
    password_file: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        basic = (self.user is not None, self.password_file is not None)
        if any(basic) != all(basic) or (self.bearer_file is not None) == any(basic):
            raise ValueError("write either bearerFile, or user and passwordFile")
        return self


class Tls(Shape):
    """How a server's certificate is judged."""

    ca_file: Text | None = None
    skip_verify: bool = Field(default=False, strict=True)
    """Believe any certificate: loud in the log, for tests only."""


class SourceConfig(Shape):
    """A Prometheus server."""

    url: Url
    scrape_interval: ShortTime = timedelta(seconds=15)
    """How often it scrapes the engines."""
    auth: Auth | None = None
    tls: Tls = Tls()
    headers: dict[HeaderName, HeaderText] = Field(default_factory=dict)
    """Sent with every query, such as `X-Scope-OrgID` of a server of several tenants. No secrets: those are under `auth`."""


class Audit(Shape):
    """Where the history of decisions goes, and how long it is kept where we keep it."""

    sink: Literal["sqlite", "stdout"] = "sqlite"
    retain: SomeTime = timedelta(days=30)


class Http(Shape):
    """The one port: health, metrics, webhook, API, console. Token files hold one token a line, all of them valid."""

    host: Text = "127.0.0.1"
    port: Port = 9797
    alerts_token_file: Text | None = None
    """Tokens of Alertmanager's webhook. Without them only this machine may post, and only where the port is on loopback."""
    api_token_file: Text | None = None
    """Tokens of people: pause, resume, approve, undo."""


class Log(Shape):
    """Has nothing to set."""


class Webhook(Shape):
    """Where to post."""

    url: Url
    auth: Auth | None = None
    tls: Tls = Tls()


class ReceiverConfig(Shape):
    """Where messages for people go: exactly one of these."""

    file: Text | None = None
    """Append one JSON line per message to this file."""
    log: Log | None = None
    """Write messages into the daemon's own log."""
    webhook: Webhook | None = None
    """Post each message as JSON."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(way is not None for way in (self.file, self.log, self.webhook)) != 1:
            raise ValueError("write exactly one of file: PATH, log: {}, webhook: {url: URL}")
        return self


class Storm(Shape):
    """When so large a share of the fleets fires at once, the cause is shared and disruptive actions stop."""

    share: Annotated[Ratio, Field(gt=0, le=1)] = 0.5
    from_fleets: Positive = 3


class Local(Shape):
    """How fleets of processes on this machine are started."""

    launch: Argv
    """The command of one engine; the fleet's arguments follow it."""
    router: Argv
    """The command of a router."""
    state_dir: Text = ".autopilot/local"
    file_sd: Text | None = None
    """The file in which Prometheus finds the replicas (file_sd_configs)."""
    gpus: Count | None = None
    """How many GPUs there are; without it they are counted, or there are none."""
    start_within: ShortTime = timedelta(minutes=10)


class DaemonConfig(Shape):
    """The daemon's own file."""

    sources: dict[Word, SourceConfig] = Field(min_length=1)
    policies: tuple[Text, ...] = ("policies",)
    """Files and directories with Fleet, Policy and GpuPool documents."""
    interval: ShortTime = timedelta(seconds=5)
    """From one tick to the next."""
    state: Text = ".autopilot/state.sqlite"
    audit: Audit = Audit()
    http: Http = Http()
    receivers: dict[Word, ReceiverConfig] = Field(default_factory=dict)
    storm: Storm = Storm()
    local: Local | None = None
    peak_bandwidth: Size | None = None
    """What one GPU's memory can move in a second, in bytes: 3350G for an H100."""

    @property
    def journal(self) -> Path:
        """The journal lies beside the state."""
        return Path(self.state).with_suffix(".journal.sqlite")

    @property
    def reports(self) -> Path:
        """What webhooks reported lies beside the state too."""
        return Path(self.state).with_suffix(".reports.sqlite")
