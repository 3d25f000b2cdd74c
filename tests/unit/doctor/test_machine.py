import fcntl
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from autopilot.adapters.machine import ThisMachine
from autopilot.adapters.state import MemoryCodec, open_state
from autopilot.control.codec import memory_from_json, memory_to_json
from autopilot.doctor.findings import Check, Finding, Level
from autopilot.doctor.machine import ask_machine, judge_any, judge_sent, judge_unmatched
from autopilot.policy.daemon import DaemonConfig

CODEC = MemoryCodec(memory_to_json, memory_from_json)
MACHINE = ThisMachine.with_codec(CODEC)


def asked(folder: Path, **own: Any) -> dict[Check, Finding]:
    config = {
        "sources": {"default": {"url": "http://p"}},
        "policies": [str(folder)],
        "state": str(folder / "state" / "s.sqlite"),
        "http": {"port": 0},
        **own,
    }
    return {finding.check: finding for finding in ask_machine(MACHINE, DaemonConfig.model_validate(config))}


def test_a_machine_that_has_everything(tmp_path: Path) -> None:
    assert {finding.level for finding in asked(tmp_path).values()} == {Level.OK}


@pytest.mark.parametrize(
    ("own", "check"),
    [
        ({"policies": ["/does/not/exist"]}, Check.FILES_READABLE),
        ({"http": {"port": 0, "apiTokenFile": "/does/not/exist"}}, Check.FILES_READABLE),
        ({"sources": {"default": {"url": "http://p", "auth": {"bearerFile": "/does/not/exist"}}}}, Check.FILES_READABLE),
        ({"sources": {"default": {"url": "http://p", "tls": {"caFile": "/does/not/exist"}}}}, Check.FILES_READABLE),
        ({"state": "/proc/nothing/here.sqlite"}, Check.STATE_WRITABLE),
        ({"local": {"launch": ["x"], "router": ["y"], "stateDir": "/proc/nothing"}}, Check.STATE_WRITABLE),
        ({"receivers": {"people": {"file": "/proc/nothing/told"}}}, Check.RECEIVER_REACHABLE),
        ({"receivers": {"hook": {"webhook": {"url": "http://127.0.0.1:9/secret"}}}}, Check.RECEIVER_REACHABLE),
    ],
    ids=["policies", "api-token", "bearer", "authority", "state", "local-state", "file-receiver", "webhook"],
)
def test_what_is_missing_fails_with_something_to_do(tmp_path: Path, own: dict[str, Any], check: Check) -> None:
    finding = asked(tmp_path, **own)[check]

    assert finding.level is Level.FAIL
    assert finding.todo


def test_the_path_of_a_webhook_is_a_secret(tmp_path: Path) -> None:
    found = asked(tmp_path, receivers={"hook": {"webhook": {"url": "http://127.0.0.1:9/canary"}}})

    assert not [one for one in found.values() if "canary" in one.said + one.about + one.todo]


def test_a_state_that_a_daemon_holds_is_good_and_the_process_is_named(tmp_path: Path) -> None:
    opened = open_state(tmp_path / "state" / "s.sqlite", CODEC)
    try:
        finding = asked(tmp_path)[Check.STATE_STORE]
    finally:
        opened.store.close()

    assert finding.level is Level.OK
    assert str(os.getpid()) in finding.said


def test_looking_for_the_holder_leaves_the_lock_free(tmp_path: Path) -> None:
    open_state(tmp_path / "state" / "s.sqlite", CODEC).store.close()
    asked(tmp_path)

    with (tmp_path / "state" / "s.sqlite.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_state_that_is_no_database_fails(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "s.sqlite").write_bytes(b"no database at all" * 100)

    assert asked(tmp_path)[Check.STATE_STORE].level is Level.FAIL


def test_a_port_that_something_else_has_fails(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        finding = asked(tmp_path, http={"port": other.getsockname()[1]})[Check.PORT_FREE]

    assert finding.level is Level.FAIL


@pytest.mark.parametrize(
    ("mode", "level"),
    [(0o600, Level.OK), (0o640, Level.OK), (0o644, Level.WARN), (0o602, Level.WARN)],
    ids=["ours", "our-group's", "everybody-reads", "everybody-writes"],
)
def test_credentials_are_nobody_else_s(tmp_path: Path, mode: int, level: Level) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("canary")
    tokens.chmod(mode)

    assert asked(tmp_path, http={"port": 0, "apiTokenFile": str(tokens)})[Check.SECRETS_KEPT].level is level


def test_an_authority_is_no_secret(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("public")
    authority.chmod(0o644)

    assert Check.SECRETS_KEPT not in asked(tmp_path, sources={"default": {"url": "http://p", "tls": {"caFile": str(authority)}}})


@pytest.mark.parametrize(("fleets", "expected"), [(0, [Level.WARN]), (1, [])], ids=["none", "one"])
def test_documents_without_a_fleet_are_no_good_health(fleets: int, expected: list[Level]) -> None:
    assert [finding.level for finding in judge_any(fleets)] == expected


@pytest.mark.parametrize(("why", "level"), [("", Level.OK), ("it answers 404", Level.FAIL)], ids=["taken", "refused"])
def test_a_test_message_was_taken_or_not(why: str, level: Level) -> None:
    assert judge_sent("people", why).level is level


def test_a_policy_without_a_fleet_fails() -> None:
    assert [finding.level for finding in judge_unmatched(("llm/chat",))] == [Level.FAIL]
