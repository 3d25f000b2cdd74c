"""Kill -9 of the process that owns the fleet, at any moment: nothing is started twice, nothing of others is touched."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.local import LocalBackend
from autopilot.adapters.local.processes import Process, alive, boot, send
from autopilot.domain.workloads import ReplicaState, Unobserved
from tests.contract.backend.rig import CHAT, PATIENCE, Rig, cleaned, holders
from tests.support.waiting import eventually

SERVING = ReplicaState.SERVING


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with cleaned(Rig(tmp_path)) as clean:
        yield clean


def _daemon(rig: Rig, point: str, count: int, *victims: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.contract.backend.daemon", str(rig.folder), point, str(count), *victims]
    return subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=subprocess.DEVNULL)


def _killed_at(rig: Rig, point: str, count: int, *victims: str) -> None:
    with _daemon(rig, point, count, *victims) as daemon:
        assert daemon.wait(PATIENCE) == -signal.SIGKILL


def _launches(rig: Rig) -> list[str]:
    """The logs of the engines that were ever started: one each."""
    return sorted(path.stem for path in (rig.folder / "state").glob("fleets/*/*/logs/chat-*.log"))


@pytest.mark.parametrize(
    ("point", "landed"),
    [("before-the-record", 0), ("after-the-record", 2), ("before-the-fork", 2), ("after-the-fork", 2)],
)
def test_a_daemon_killed_while_it_scales_out_has_done_it_once_or_not_at_all(rig: Rig, point: str, landed: int) -> None:
    _killed_at(rig, point, 2)

    rig.start()

    assert eventually(lambda: len(rig.workload().serving) == landed, within=PATIENCE)
    assert not eventually(lambda: len(_launches(rig)) != landed, within=0.5)
    assert rig.workload().desired == landed


@pytest.mark.parametrize("point", ["before-the-signal", "after-the-signal"])
def test_a_daemon_killed_while_it_scales_in_takes_exactly_the_victim(rig: Rig, point: str) -> None:
    rig.start()
    rig.serve(2)
    rig.backend.close()
    _killed_at(rig, point, 1, "chat-1")

    rig.start()

    assert rig.becomes(_2=SERVING)
    assert eventually(lambda: len([each for each in holders(rig.folder) if alive(each)]) == 2, within=PATIENCE)  # it and the router


def test_engines_and_router_outlive_a_killed_daemon_and_are_found_again(rig: Rig) -> None:
    with _daemon(rig, "never", 2) as daemon:
        assert eventually(lambda: _serving_on_disk(rig) == 2, within=PATIENCE)
        before = holders(rig.folder)
        daemon.kill()

    rig.start()

    assert rig.states() == {"chat-1": SERVING, "chat-2": SERVING}
    assert eventually(lambda: len(rig.workers()) == 2, within=PATIENCE)
    assert holders(rig.folder) == before


def test_load_seconds_are_still_known_after_a_restart(rig: Rig) -> None:
    rig.start()
    rig.serve(1)
    before = rig.named("chat-1").load_seconds
    rig.backend.close()

    rig.start()

    assert before is not None
    assert rig.named("chat-1").load_seconds == before


def test_a_process_that_got_the_number_of_a_dead_replica_is_never_touched(rig: Rig) -> None:
    rig.start()
    rig.serve(1)
    rig.backend.close()
    send(rig.process("chat-1"), signal.SIGKILL)
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        record = rig.folder / "state/fleets/llm/chat/record.json"
        record.write_text(record.read_text().replace(f'"pid": {rig.process("chat-1").pid}', f'"pid": {stranger.pid}'))

        rig.start()

        assert rig.becomes(_2=SERVING)
        assert stranger.poll() is None
        stranger.kill()


def test_replicas_of_an_earlier_boot_are_replaced(rig: Rig) -> None:
    rig.start()
    rig.serve(1)
    rig.backend.close()
    for process in holders(rig.folder):
        send(process, signal.SIGKILL)
    record = rig.folder / "state/fleets/llm/chat/record.json"
    record.write_text(record.read_text().replace(boot(), "an-earlier-boot"))

    rig.start()

    assert rig.becomes(_2=SERVING)


def test_an_unreadable_record_leaves_the_fleet_unobserved_and_untouched(rig: Rig) -> None:
    rig.start()
    rig.serve(1)
    engine = rig.process("chat-1")
    rig.backend.close()
    record = rig.folder / "state/fleets/llm/chat/record.json"
    record.write_text(record.read_text()[:100])

    rig.backend = LocalBackend(rig.options, clock=SystemClock(), http=rig.http)
    rig.backend.start([rig.fleet])

    assert isinstance(rig.backend.observe(CHAT), Unobserved)
    assert alive(engine)


def _serving_on_disk(rig: Rig) -> int:
    if not (rig.folder / "state/fleets/llm/chat/record.json").exists():
        return 0
    return len([each for each in rig.record.replicas if each.phase.value == "serving"])


def test_a_signal_reaches_only_the_process_that_was_seen() -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        forged = Process(other.pid, 1, boot())

        reached = send(forged, signal.SIGKILL)

        assert not reached
        assert other.poll() is None
        other.kill()
