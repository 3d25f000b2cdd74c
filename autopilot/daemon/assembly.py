"""From the daemon's own file to a daemon: every adapter is made here, and nowhere else."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import structlog

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.engine_version import installed_version
from autopilot.adapters.http import BasicAuth, HttpClient, HttpOptions, origin
from autopilot.adapters.journal import Retention, open_journal
from autopilot.adapters.local.backend import LocalBackend
from autopilot.adapters.notifier import QueueNotifier
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.adapters.receivers import Deliver, to_file, to_log, to_webhook
from autopilot.adapters.scheduler import TICK, Tokens
from autopilot.adapters.state import MemoryCodec, open_state
from autopilot.adapters.telemetry import Telemetry
from autopilot.adapters.wakes import SqliteWakes, open_wakes
from autopilot.adapters.workers import ActWorkers
from autopilot.control.codec import memory_from_json, memory_to_json
from autopilot.daemon.board import Board
from autopilot.daemon.documents import PolicyCalendar, PolicyFiles
from autopilot.daemon.history import History
from autopilot.daemon.local_fleets import local_fleets, local_options
from autopilot.daemon.looking import Eyes
from autopilot.daemon.loop import Daemon, Rim, Settings
from autopilot.policy.book import Entry
from autopilot.policy.daemon import Auth, DaemonConfig, ReceiverConfig, SourceConfig, Tls
from autopilot.policy.load_daemon import surroundings
from autopilot.ports import Backend, Journal, Source, StateLost

log = structlog.get_logger()

CODEC = MemoryCodec(memory_to_json, memory_from_json)


@dataclass(frozen=True, slots=True)
class Assembled:
    """A daemon and the parts that others need to reach. `closing` undoes everything, in the right order."""

    daemon: Daemon
    rim: Rim
    journal: Journal
    sources: Mapping[str, Source]
    reports: SqliteWakes
    tokens: Tokens
    closing: ExitStack


def assemble(config: DaemonConfig) -> Assembled:
    """Make a daemon. Raises StateInUse or StateLost; what was opened by then is closed again."""
    with ExitStack() as opened:
        assembled = _assemble(config, opened)
        return replace(assembled, closing=opened.pop_all())


def _assemble(config: DaemonConfig, opened: ExitStack) -> Assembled:
    clock = SystemClock()
    state = open_state(Path(config.state), CODEC)
    opened.callback(state.store.close)
    if state.lost:
        log.error("memory_lost", moved_to=str(state.aside), held_for="one cooldown")
    board = Board()
    began = state.store.running()
    telemetry = Telemetry(lambda: board.age(now=began + clock.running()) or clock.running())
    kept = open_journal(config.journal, Retention(age=config.audit.retain), on_failure=_journal_failed(telemetry))
    opened.callback(kept.journal.close)
    notifier = QueueNotifier(receivers_of(config), clock, telemetry.notification_undelivered)
    notifier.start()
    opened.callback(notifier.stop, timedelta(seconds=5))
    local = _local(config, clock, opened)
    eyes = eyes_of(config, {"local": local.backend} if local is not None else {})
    documents = PolicyFiles([Path(path) for path in config.policies], surroundings(config), local.manage if local is not None else _nothing)
    workers = ActWorkers(eyes.backends, notifier)
    warm_up_with = local.backend.warm_up_with if local is not None else _nothing
    tokens = Tokens()
    reports = open_wakes(config.reports, clock, lambda _: tokens.put(TICK))
    opened.callback(reports.close)
    rim = Rim(
        clock,
        eyes,
        documents,
        PolicyCalendar(),
        state.store,
        History(kept.journal),
        workers,
        telemetry,
        board,
        warm_up_with,
        reports.claims,
    )
    settings = Settings(config.interval, config.storm.share, config.storm.from_fleets)
    return Assembled(Daemon(rim, settings, memory_lost=state.lost), rim, kept.journal, eyes.sources, reports, tokens, opened)


def eyes_of(config: DaemonConfig, backends: Mapping[str, Backend]) -> Eyes:
    """The sources of the configuration, and these backends."""
    sources = {name: _source(source) for name, source in config.sources.items()}
    intervals = {name: source.scrape_interval for name, source in config.sources.items()}
    return Eyes(sources, intervals, backends, config.peak_bandwidth)


def _journal_failed(telemetry: Telemetry) -> Callable[[StateLost], None]:
    def failed(error: StateLost) -> None:
        telemetry.journal_failed()
        log.error("journal_failed", error=str(error))

    return failed


@dataclass(frozen=True, slots=True)
class _Local:
    """Fleets of this machine. `version` is the vLLM that they run."""

    backend: LocalBackend
    version: str

    def manage(self, entries: tuple[Entry, ...]) -> None:
        """Take the documents in force up."""
        fleets = tuple(local_fleets(((entry.fleet, entry.policy) for entry in entries), version=self.version))
        self.backend.leave_all_but({fleet.ref for fleet in fleets})
        for fleet in fleets:
            self.backend.manage(fleet)


def _local(config: DaemonConfig, clock: SystemClock, opened: ExitStack) -> _Local | None:
    """The backend of this machine, where the configuration has one. Raises StateInUse or StateLost."""
    if config.local is None:
        return None
    backend = LocalBackend(local_options(config.local), clock=clock, http=HttpClient(HttpOptions()))
    backend.start(())
    opened.callback(backend.close)
    return _Local(backend, installed_version(config.local.launch))


def _nothing(*_: object) -> None:
    """For whoever has nobody to tell."""


def _source(config: SourceConfig) -> Source:
    options = replace(_http(config.auth, config.tls), headers=config.headers)
    if options.any_certificate:
        log.warning(
            "any_certificate_is_believed", source=origin(config.url), do="remove tls.skipVerify and name the authority in tls.caFile"
        )
    return PrometheusSource(config.url, http=HttpClient(options))


def _http(auth: Auth | None, tls: Tls) -> HttpOptions:
    basic = BasicAuth(auth.user, Path(auth.password_file)) if auth is not None and auth.user and auth.password_file else None
    bearer = Path(auth.bearer_file) if auth is not None and auth.bearer_file else None
    return HttpOptions(ca_file=Path(tls.ca_file) if tls.ca_file else None, bearer_file=bearer, basic=basic, any_certificate=tls.skip_verify)


def receivers_of(config: DaemonConfig) -> dict[str, Deliver]:
    """Where messages for people go, by the receiver's name."""
    return {name: _receiver(name, receiver) for name, receiver in config.receivers.items()}


def _receiver(name: str, config: ReceiverConfig) -> Deliver:
    if config.file is not None:
        return to_file(Path(config.file))
    if config.webhook is not None:
        return to_webhook(config.webhook.url, _http(config.webhook.auth, config.webhook.tls))
    return to_log(name)
