import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from autopilot.cli.check import check
from autopilot.cli.schema import schema
from autopilot.policy.schema import SCHEMAS
from tests.unit.policy.documents import FLEET, POLICY, SEPARATOR, changed

GOOD = FLEET + SEPARATOR + POLICY
BAD = FLEET + SEPARATOR + changed(changed(POLICY, "for: 1m", "for: 1min"), "signal: ttft", "signal: tfft")


@pytest.fixture
def app() -> typer.Typer:
    mounted = typer.Typer()
    mounted.command()(check)
    mounted.command()(schema)
    return mounted


def test_a_good_file_exits_0(app: typer.Typer, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")

    assert CliRunner().invoke(app, ["check", str(tmp_path / "a.yaml")]).exit_code == 0


def test_every_problem_is_a_line_and_the_exit_is_1(app: typer.Typer, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(BAD, encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(file)])

    assert result.exit_code == 1
    assert [line.split(" ")[0] for line in result.stdout.splitlines()[:2]] == [f"{file}:26:14:", f"{file}:27:7:"]


def test_json_is_one_object_with_places(app: typer.Typer, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BAD, encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(tmp_path), "--json"])

    told = json.loads(result.stdout)
    assert [(one["line"], one["column"], one["path"]) for one in told["problems"]] == [
        (26, 14, "spec.alerts.0.when.signal"),
        (27, 7, "spec.alerts.0.for"),
    ]
    assert (told["summary"]["fleets"], told["summary"]["problems"]) == (1, 2)


def test_files_of_a_directory_are_checked_together(app: typer.Typer, tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(FLEET, encoding="utf-8")
    (tmp_path / "policy.yml").write_text(POLICY, encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(tmp_path), "--json"])

    told = json.loads(result.stdout)
    assert (result.exit_code, told["warnings"], told["summary"]["files"]) == (0, [], 2)


def test_the_daemons_file_is_checked_and_checked_against(app: typer.Typer, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")
    own = tmp_path / "autopilot.conf"
    own.write_text("sources: {default: {url: 'http://p', scrapeInterval: 1m}}", encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(tmp_path), "--config", str(own), "--json"])

    assert [one["path"] for one in json.loads(result.stdout)["problems"]] == ["spec.alerts.0.when.over"]


@pytest.mark.parametrize("arguments", [[], ["/does/not/exist.yaml"], ["--nonsense"]], ids=["no-file", "missing-file", "unknown-option"])
def test_wrong_usage_exits_2(app: typer.Typer, arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["check", *arguments]).exit_code == 2


def test_a_directory_without_files_is_a_problem(app: typer.Typer, tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["check", str(tmp_path)]).exit_code == 1


def test_schema_prints_every_kind(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["schema"])

    assert list(json.loads(result.stdout)) == list(SCHEMAS)


def test_schema_writes_a_file_for_each_kind(app: typer.Typer, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["schema", "--write", str(tmp_path / "schema")])

    assert result.exit_code == 0
    assert {file.stem for file in (tmp_path / "schema").iterdir()} == set(SCHEMAS)
