"""What a check found: one line, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is. Only `fail` makes the command exit with 1."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(StrEnum):
    """Every question, by its stable name."""

    POLICY_HAS_FLEETS = "policy-has-fleets"
    FILES_READABLE = "files-readable"
    SECRETS_KEPT = "secrets-kept"
    STATE_WRITABLE = "state-writable"
    STATE_STORE = "state-store"
    PORT_FREE = "port-free"
    RECEIVER_REACHABLE = "receiver-reachable"
    SOURCE_ANSWERS = "source-answers"
    SOURCE_DELAY = "source-delay"
    CLOCK_SKEW = "clock-skew"
    CLUSTERS_TOLD_APART = "clusters-told-apart"
    BACKEND_OBSERVED = "backend-observed"
    RIVAL_OWNERS = "rival-owners"
    IDENTITY_MATCHES = "identity-matches"
    IDENTITY_OVERLAPS = "identity-overlaps"
    HA_DUPLICATES = "ha-duplicates"
    REPLICAS_SCRAPED = "replicas-scraped"
    SCRAPE_INTERVAL = "scrape-interval"
    ENGINE_VERSION = "engine-version"
    SIGNAL_EXISTS = "signal-exists"
    TARGETS_EXPORT = "targets-export"
    BANDWIDTH_PLAUSIBLE = "bandwidth-plausible"
    WINDOW_HOLDS_SCRAPES = "window-holds-scrapes"
    THRESHOLD_ON_EDGE = "threshold-on-edge"
    HISTOGRAM_FORM = "histogram-form"
    ENOUGH_TRAFFIC = "enough-traffic"
    REACTION_FLOOR = "reaction-floor"


@dataclass(frozen=True, slots=True)
class Finding:
    """`about` names the source, fleet, alert or file; `todo` is empty where there is nothing to do."""

    check: Check
    level: Level
    about: str
    said: str
    todo: str = ""


def ok(check: Check, about: str, said: str) -> Finding:
    """Nothing to do."""
    return Finding(check, Level.OK, about, said)


def warn(check: Check, about: str, said: str, todo: str) -> Finding:
    """It works, and less well than it could, or it cannot be told."""
    return Finding(check, Level.WARN, about, said, todo)


def fail(check: Check, about: str, said: str, todo: str) -> Finding:
    """It will not do what the files say."""
    return Finding(check, Level.FAIL, about, said, todo)


def failed(findings: "list[Finding]") -> bool:
    """Whether anything failed."""
    return any(finding.level is Level.FAIL for finding in findings)
