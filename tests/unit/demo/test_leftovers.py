from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from demo.leftovers import TOKEN_VARIABLE, Mark, belonging, end
from tests.support.waiting import eventually

DEAF = "import signal, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); threading.Event().wait()"
PARENT = f"import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', {DEAF!r}], env={{}}); os._exit(0)"
IDLE = "import threading; print('up', flush=True); threading.Event().wait()"


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def mark(tmp_path: Path) -> Mark:
    """What the processes of one run carry."""
    return Mark(secrets.token_hex(8), tmp_path.resolve())


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program that says when it is up; all of them are gone afterwards."""
    with ExitStack() as started:

        def one(mark: Mark, code: str, *, token: bool = True, log: str = "one.log") -> subprocess.Popen[bytes]:
            env = {**os.environ, TOKEN_VARIABLE: mark.token} if token else {**os.environ}
            path = mark.folder / log
            with path.open("wb") as output:
                process = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=output, start_new_session=True)
            started.callback(_kill, process, mark)
            assert eventually(lambda: path.read_bytes() or process.poll() is not None, within=20.0)
            return process

        yield one


def _kill(process: subprocess.Popen[bytes], mark: Mark) -> None:
    for _ in end(mark, ask_first=False):
        process.poll()
    process.wait(20.0)


def _pids(mark: Mark) -> set[int]:
    return {found.pid for found in belonging(mark)}


def test_a_process_with_the_token_belongs_to_the_run(mark: Mark, start: Start) -> None:
    process = start(mark, IDLE, log="elsewhere.txt")

    assert _pids(mark) == {process.pid}


def test_a_process_that_lost_its_environment_is_known_by_its_log(mark: Mark, start: Start) -> None:
    process = start(mark, IDLE, token=False)

    assert _pids(mark) == {process.pid}


def test_a_process_of_another_run_is_left_alone(mark: Mark, start: Start, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Mark(secrets.token_hex(8), tmp_path_factory.mktemp("other").resolve())
    process = start(other, IDLE)
    left = list(end(mark))

    assert (left, process.poll()) == ([], None)


def test_an_orphan_is_found_although_its_parent_is_gone(mark: Mark, start: Start) -> None:
    parent = start(mark, PARENT)
    parent.wait(20.0)

    assert eventually(lambda: len(belonging(mark)) == 1, within=20.0)


def test_this_process_never_belongs_to_a_run(mark: Mark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, mark.token)

    assert os.getpid() not in _pids(mark)


def test_who_does_not_listen_is_killed(mark: Mark, start: Start) -> None:
    process = start(mark, DEAF)
    for _ in end(mark, ask_first=False):
        process.poll()

    assert process.wait(20.0) == -signal.SIGKILL
