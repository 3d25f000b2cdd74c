"""What this machine owes the daemon: files it can read, places it can write, a state nobody else holds, receivers that are there."""

from collections.abc import Iterator
from pathlib import Path

from autopilot.doctor.doors import Machine
from autopilot.doctor.findings import Check, Finding, fail, ok, warn
from autopilot.policy.daemon import Auth, DaemonConfig, ReceiverConfig, Webhook


def ask_machine(machine: Machine, config: DaemonConfig) -> Iterator[Finding]:
    """Everything that needs no source."""
    yield from _readable(machine, config)
    yield from _kept(machine, config)
    yield from _writable(machine, config)
    yield _state(machine, config)
    yield _port(machine, config)
    for name, receiver in config.receivers.items():
        yield _receiver(machine, name, receiver)


def _readable(machine: Machine, config: DaemonConfig) -> Iterator[Finding]:
    files = [*map(Path, config.policies), *_authorities(config), *_credentials(config)]
    bad = [(file, why) for file in files if (why := machine.unreadable(file))]
    for file, why in bad:
        yield fail(Check.FILES_READABLE, str(file), why, "let the daemon's user read it, or correct the path in the daemon's file")
    if not bad:
        yield ok(Check.FILES_READABLE, "files", f"all {len(files)} files and folders that the daemon's file names can be read")


def _kept(machine: Machine, config: DaemonConfig) -> Iterator[Finding]:
    """Whether the credentials are nobody else's; a certificate authority is no secret."""
    files = list(dict.fromkeys(_credentials(config)))
    bad = [(file, why) for file in files if (why := machine.exposed(file))]
    for file, why in bad:
        todo = f"chmod 0600 {file}; of a Secret that is mounted: defaultMode 0440 and fsGroup"
        yield warn(Check.SECRETS_KEPT, str(file), why, todo)
    if files and not bad:
        yield ok(Check.SECRETS_KEPT, "files", f"none of {len(files)} files of credentials is open to every user")


def _authorities(config: DaemonConfig) -> Iterator[Path]:
    tls = [*(source.tls for source in config.sources.values()), *(webhook.tls for webhook in _webhooks(config))]
    yield from (Path(one.ca_file) for one in tls if one.ca_file is not None)


def _credentials(config: DaemonConfig) -> Iterator[Path]:
    for auth in (*(source.auth for source in config.sources.values()), *(webhook.auth for webhook in _webhooks(config))):
        yield from _of(auth)
    tokens = (config.http.alerts_token_file, config.http.api_token_file)
    yield from (Path(file) for file in tokens if file is not None)


def _webhooks(config: DaemonConfig) -> list[Webhook]:
    return [receiver.webhook for receiver in config.receivers.values() if receiver.webhook is not None]


def _of(auth: Auth | None) -> Iterator[Path]:
    files = (auth.bearer_file, auth.password_file) if auth is not None else ()
    yield from (Path(file) for file in files if file is not None)


def _writable(machine: Machine, config: DaemonConfig) -> Iterator[Finding]:
    folders = {Path(config.state).parent, config.journal.parent}
    if config.local is not None:
        folders.add(Path(config.local.state_dir))
        if config.local.file_sd is not None:
            folders.add(Path(config.local.file_sd).parent)
    bad = [(folder, why) for folder in sorted(folders) if (why := machine.unwritable(folder))]
    for folder, why in bad:
        todo = "let the daemon's user write there, or name another place (`state`, `local.stateDir`, `local.fileSd`)"
        yield fail(Check.STATE_WRITABLE, str(folder), why, todo)
    if not bad:
        yield ok(Check.STATE_WRITABLE, ", ".join(str(folder) for folder in sorted(folders)), "can be written")


def _state(machine: Machine, config: DaemonConfig) -> Finding:
    path = Path(config.state)
    if why := machine.unreadable_state(path):
        todo = "nothing, if it may be lost: the daemon moves it aside, begins a new one and holds for one cooldown"
        return fail(Check.STATE_STORE, str(path), why, todo)
    if holder := machine.holder(path):
        return ok(Check.STATE_STORE, str(path), f"held by a running daemon, process {holder}")
    return ok(Check.STATE_STORE, str(path), "opens, and nobody holds it")


def _port(machine: Machine, config: DaemonConfig) -> Finding:
    host, port = config.http.host, config.http.port
    about = f"{host}:{port}"
    if not port:
        return ok(Check.PORT_FREE, about, "any free port will be taken")
    listener = machine.listener(host, port)
    if not listener:
        return ok(Check.PORT_FREE, about, "free")
    if listener == AUTOPILOT:
        return ok(Check.PORT_FREE, about, "a running autopilot answers there")
    return fail(Check.PORT_FREE, about, f"in use by something else: {listener}", "stop it, or write another http.port")


AUTOPILOT = "autopilot"


def _receiver(machine: Machine, name: str, receiver: ReceiverConfig) -> Finding:
    if receiver.file is not None:
        why, said = machine.unwritable(Path(receiver.file).parent), f"{receiver.file} can be written"
    elif receiver.webhook is not None:
        why, said = machine.unreachable(receiver.webhook.url), "a connection can be made; nothing was sent (--send-test sends a message)"
    else:
        why, said = "", "writes into the daemon's own log"
    if why:
        todo = f"correct receivers.{name}, or make it reachable: nobody is told while it is not"
        return fail(Check.RECEIVER_REACHABLE, _about(name), why, todo)
    return ok(Check.RECEIVER_REACHABLE, _about(name), said)


def _about(name: str) -> str:
    return f"receiver {name}"


def judge_sent(name: str, why: str) -> Finding:
    """What came of a test message that was really sent; `why` is empty where it was taken."""
    if why:
        return fail(Check.RECEIVER_REACHABLE, _about(name), f"the test message was not taken: {why}", f"correct receivers.{name}")
    return ok(Check.RECEIVER_REACHABLE, _about(name), "took the test message")


def judge_unmatched(policies: tuple[str, ...]) -> Iterator[Finding]:
    """Policies that rule no fleet."""
    for name in policies:
        todo = "correct spec.fleets of the policy, or write the fleet's document: until then it does nothing"
        yield fail(Check.POLICY_HAS_FLEETS, name, "matches no fleet: inert", todo)


def judge_any(fleets: int) -> Iterator[Finding]:
    """`fleets` is how many the documents hold: all that is good about none of them is no health."""
    if not fleets:
        yield warn(Check.POLICY_HAS_FLEETS, "documents", "there is no fleet: nothing was looked at", "write one, or correct `policies`")


def judge_observed(about: str, *, unruled: bool) -> Iterator[Finding]:
    """A fleet without a policy."""
    if unruled:
        yield warn(Check.POLICY_HAS_FLEETS, about, "no policy matches this fleet: it is only observed", "write a policy for it")
