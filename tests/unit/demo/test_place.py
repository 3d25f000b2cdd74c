from __future__ import annotations

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from autopilot.policy.load import load_documents
from demo.place import Alone, DemoError, clean_up, free_ports, prepare, write_files
from demo.scenario import LADDER, SCALE, Scenario


@pytest.mark.parametrize("scenario", [SCALE, LADDER], ids=lambda scenario: str(scenario.name))
def test_every_file_of_a_run_is_yaml(scenario: Scenario, tmp_path: Path) -> None:
    place = prepare(tmp_path)
    write_files(place, scenario, tmp_path)
    read = [list(YAML(typ="safe").load_all(path)) for path in sorted(place.run.rglob("*.y*ml"))]

    assert [len(documents) for documents in read] == [1, 1, 1, 1]


@pytest.mark.parametrize("scenario", [SCALE, LADDER], ids=lambda scenario: str(scenario.name))
def test_the_product_accepts_the_documents_of_a_run(scenario: Scenario, tmp_path: Path) -> None:
    place = prepare(tmp_path)
    write_files(place, scenario, tmp_path)
    files = {path.name: path.read_bytes() for path in sorted((place.run / "policies").glob("*.yaml"))}

    assert load_documents(files).problems == ()


def test_only_engines_that_share_a_device_have_its_lock(tmp_path: Path) -> None:
    fleets = []
    for scenario in (SCALE, LADDER):
        place = prepare(tmp_path / scenario.name)
        write_files(place, scenario, tmp_path)
        fleets.append("PACED_ENGINE_LOCK" in (place.run / "policies" / "fleet.yaml").read_text())

    assert fleets == [False, True]


def test_the_token_is_on_disk_before_anything_is_started(tmp_path: Path) -> None:
    place = prepare(tmp_path)

    assert json.loads((place.run / "run.json").read_text())["token"] == place.token


def test_a_second_demo_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    first = Alone(tmp_path)
    with pytest.raises(DemoError):
        Alone(tmp_path)
    first.close()
    second = Alone(tmp_path)
    second.close()


def test_a_new_run_starts_with_an_empty_folder(tmp_path: Path) -> None:
    old = prepare(tmp_path)
    old.answers.write_text("{}\n")

    list(clean_up(tmp_path))

    assert not old.run.exists()


def test_free_ports_are_different_ones() -> None:
    assert len(set(free_ports(5))) == 5
