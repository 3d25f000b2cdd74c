from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from demo import environments, install, prometheus
from demo.environments import Environment, Step
from demo.progress import Command, InstallError, JsonLines, run


def _environment(folder: Path, *steps: Step) -> Environment:
    return Environment("toy", folder, steps)


def _step(name: str, *attempts: str, bound_seconds: float = 60.0) -> Step:
    """Make a step out of lines of Python, one for each attempt."""
    return Step(name, name, "nothing", bound_seconds, tuple(((sys.executable, "-c", line),) for line in attempts), name)


def _make(cache: Path, environment: Environment) -> list[str]:
    """Do what is missing of an environment, and give the names of what was done."""
    jobs = install._missing_of(environment, cache)
    for job in jobs:
        job.do(JsonLines(len(jobs)))
    return [job.what for job in jobs]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder that looks like an environment."""
    python = tmp_path / "toy" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return tmp_path / "toy"


def test_a_second_run_finds_nothing_to_do(folder: Path) -> None:
    environment = _environment(folder, _step("one", ""), _step("two", ""))

    assert (_make(folder.parent, environment), _make(folder.parent, environment)) == (["toy: one", "toy: two"], [])


def test_a_step_that_asks_for_something_else_is_redone_with_all_that_follows(folder: Path) -> None:
    one, two, three = _step("one", ""), _step("two", ""), _step("three", "")
    _make(folder.parent, _environment(folder, one, two, three))

    done = _make(folder.parent, _environment(folder, one, replace(two, asked="another version"), three))

    assert done == ["toy: two", "toy: three"]


def test_an_environment_that_lost_its_python_is_made_again(folder: Path) -> None:
    environment = _environment(folder, _step("one", ""))
    _make(folder.parent, environment)

    (folder / "bin" / "python").unlink()

    assert _make(folder.parent, environment) == ["toy: one"]


def test_a_failed_step_is_tried_again_by_the_next_run(folder: Path) -> None:
    with pytest.raises(InstallError):
        _make(folder.parent, _environment(folder, _step("one", "raise SystemExit(1)")))

    assert _make(folder.parent, _environment(folder, _step("one", ""))) == ["toy: one"]


def test_the_next_attempt_is_made_when_one_fails(folder: Path) -> None:
    assert _make(folder.parent, _environment(folder, _step("one", "raise SystemExit(1)", ""))) == ["toy: one"]


def test_a_step_that_takes_too_long_is_ended(folder: Path) -> None:
    forever = _step("one", "import threading; threading.Event().wait()", bound_seconds=0.3)

    with pytest.raises(InstallError):
        _make(folder.parent, _environment(folder, forever))


def test_the_error_is_one_line_that_names_the_cause_and_the_log(folder: Path) -> None:
    failing = _step("one", "raise SystemExit('ERROR: no such wheel')")

    with pytest.raises(InstallError) as caught:
        _make(folder.parent, _environment(folder, failing))

    assert "ERROR: no such wheel" in str(caught.value)
    assert str(folder.parent / "logs" / "toy-one.log") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_output_of_a_command_is_kept_in_its_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "a.log"

    run(Command((sys.executable, "-c", "print('kept')"), log, 60.0), JsonLines(1))

    assert "kept" in log.read_text()


def test_a_change_in_the_paced_engine_installs_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pace.py").write_text("one")
    monkeypatch.setattr(environments, "PACED_ENGINE", tmp_path)
    before = environments.fingerprints(environments.engine(tmp_path, sys.executable))
    (tmp_path / "pace.py").write_text("two")

    after = environments.fingerprints(environments.engine(tmp_path, sys.executable))

    assert [one == two for one, two in zip(before, after, strict=True)] == [True, True, True, True, False, False]


def test_the_named_folder_wins_over_the_path_and_debian_names_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("prometheus", "promtool", "prometheus-alertmanager", "amtool"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PROMETHEUS_BIN_DIR", str(tmp_path))

    found = prometheus.find(tmp_path)

    assert found is not None
    assert found.alertmanager == tmp_path / "prometheus-alertmanager"


def test_a_machine_without_prometheus_and_apt_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PROMETHEUS_BIN_DIR", raising=False)

    with pytest.raises(InstallError):
        install.install(("prometheus",), tmp_path, JsonLines)
