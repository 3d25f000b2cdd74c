"""Policy files go wrong in every way that files do: the last good version stays in force, and says so (R-19, R-20)."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.domain.remediations import Verdict
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import PATIENCE, Plan, Site
from tests.support.daemons import DaemonProcess, comes, pause
from tests.support.exporters import BUSY

PICKED_UP = 10.0  # seconds: R-19
RELOADED = "autopilot_config_last_reload_successful"
PLAN = Plan()

TAKES = 60

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Reload:
    """What became of one change of a file. `said` are the problems that the status names, `hashes` the policy in force."""

    noticed: bool
    said: tuple[str, ...]
    kept: bool
    desired: int
    healed: bool


@dataclass(frozen=True)
class Swap:
    """A ConfigMap's swap of symlinks, to another good version and to a broken one."""

    seconds: float
    hold: float
    broken_noticed: bool
    hold_after_broken: float


@dataclass(frozen=True)
class Documents:
    """The whole story. `removed` is what the fleet did while its documents were gone."""

    reloads: Mapping[str, Reload]
    swap: Swap
    removed_desired: int
    removed_serves: bool
    removed_back: bool


def _half(text: str) -> bytes:
    return text.encode()[: len(text) // 2]


def _bad_unit(text: str) -> bytes:
    return text.replace('"for": "1s"', '"for": "1 sec"').encode()


def _unknown_key(text: str) -> bytes:
    return text.replace('"maximum"', '"maxi"').replace('"severity"', '"severety"').encode()


def _tabs(text: str) -> bytes:
    return b"apiVersion: autopilot.dev/v1alpha1\nkind: Policy\nspec:\n\tfleets: {names: [chat]}\n" + text.encode()[:1]


def _twice(text: str) -> bytes:
    return text.replace('"kind": "Policy"', '"kind": "Policy", "kind": "Policy"').encode()


WAYS: Mapping[str, Callable[[str], bytes]] = {
    "half-written": _half,
    "a-bad-unit": _bad_unit,
    "an-unknown-key": _unknown_key,
    "empty": lambda _: b"",
    "not-utf-8": lambda _: b"\xff\xfe\x00garbage",
    "tabs": _tabs,
    "a-key-twice": _twice,
}


def documents(ground: Ground) -> Documents:
    with ground.site(PLAN) as site:
        site.start()
        good = site.text(PLAN)
        reloads = {name: _reload(site, good, way(good)) for name, way in WAYS.items()}
        site.document(PLAN).unlink()
        gone = comes(lambda: not site.daemon.fleet("chat"), within=PICKED_UP)
        pause(3)
        removed = (site.record().desired, gone and site.serves())
        site.rewrite(PLAN)
        back = comes(lambda: bool(site.daemon.fleet("chat")), within=PICKED_UP)
        return Documents(reloads, _swap(site), *removed, back)


def _reload(site: Site, good: str, content: bytes) -> Reload:
    before = _hash(site)
    site.document(PLAN).write_bytes(content)
    noticed = comes(lambda: site.daemon.metric(RELOADED) == 0.0, within=PICKED_UP)
    said = tuple(site.daemon.json("/api/v1/status")["daemon"]["problems"])
    kept, desired = _hash(site) == before != "", site.record().desired
    site.document(PLAN).write_text(good)
    healed = comes(lambda: site.daemon.metric(RELOADED) == 1.0, within=PICKED_UP)
    return Reload(noticed, said, kept, desired, healed)


def _hash(site: Site) -> str:
    """The policy in force, by the hash that its metric carries."""
    lines = site.daemon.get("/metrics").body.decode().splitlines()
    return next((line for line in lines if line.startswith("autopilot_policy_info{")), "")


def _swap(site: Site) -> Swap:
    """As the kubelet does it: `chat.yaml` leads to `..data/chat.yaml`, and `..data` is what changes."""
    volume, link = site.policies, site.policies / "..data"
    versions = {"one": PLAN, "two": replace(PLAN, hold="7s"), "three": PLAN}
    for name, plan in versions.items():
        (volume / f"..{name}").mkdir()
        (volume / f"..{name}" / "chat.yaml").write_text(site.text(plan))
    (volume / "..three" / "chat.yaml").write_bytes(_half(site.text(PLAN)))
    _point(link, "..one")
    site.document(PLAN).unlink()
    site.document(PLAN).symlink_to("..data/chat.yaml")
    assert comes(lambda: site.daemon.metric(RELOADED) == 1.0 and site.daemon.alert("chat").get("for_seconds") == 1.0, within=PICKED_UP)
    clock, began = SystemClock(), SystemClock().running()
    _point(link, "..two")
    assert comes(lambda: site.daemon.alert("chat").get("for_seconds") == 7.0, within=2 * PICKED_UP)
    seconds = (clock.running() - began).total_seconds()
    _point(link, "..three")
    noticed = comes(lambda: site.daemon.metric(RELOADED) == 0.0, within=PICKED_UP)
    return Swap(seconds, 7.0, noticed, site.daemon.alert("chat")["for_seconds"])


def _point(link: Path, target: str) -> None:
    draft = link.with_name("..data_tmp")
    draft.symlink_to(target)
    draft.replace(link)


@dataclass(frozen=True)
class Edited:
    """A policy that loses its remedy while its step is under way."""

    counts: list[tuple[int, int]]
    serving: int
    verdicts: list[Verdict]
    documents: int
    told: int


def edited(ground: Ground) -> Edited:
    with ground.site() as site:
        site.start()
        site.play(BUSY, loads=5.0)
        assert site.grows(to=2)
        texts = site.text(PLAN).split("\n---\n")
        policy = json.loads(texts[1])
        policy["spec"]["remedies"] = []
        site.document(PLAN).write_text("\n---\n".join([texts[0], json.dumps(policy)]))
        assert site.shows(serving=2)
        pause(3)
        serving = site.daemon.fleet("chat")["serving"]
        records = site.records()
        verdicts = [one.verdict for one in records[-1].after.finished]
        return Edited(site.counts(), serving, verdicts, len({one.documents for one in records}), len(site.told))


STORIES = (documents, edited)


@pytest.fixture
def story(stories: SideBySide) -> Documents:
    return stories.told(documents)


@pytest.mark.parametrize("way", WAYS)
def test_the_last_good_version_stays_in_force(story: Documents, way: str) -> None:
    reload = story.reloads[way]

    assert reload.noticed
    assert reload.kept
    assert reload.desired == 1


@pytest.mark.parametrize("way", WAYS)
def test_the_status_names_file_line_and_column(story: Documents, way: str) -> None:
    for problem in story.reloads[way].said:
        file, line, column, _ = problem.split(":", 3)
        assert file.endswith("chat.yaml")
        assert int(line) >= 1
        assert int(column) >= 1
    assert story.reloads[way].said


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_good_again_is_taken_up(story: Documents, way: str) -> None:
    assert story.reloads[way].healed


def test_a_swap_of_symlinks_is_picked_up_within_ten_seconds(story: Documents) -> None:
    assert story.swap.seconds <= PICKED_UP


def test_a_swap_to_a_broken_version_keeps_the_one_before(story: Documents) -> None:
    assert story.swap.broken_noticed
    assert story.swap.hold_after_broken == story.swap.hold


def test_a_fleet_whose_documents_are_removed_serves_on_untouched(story: Documents) -> None:
    assert story.removed_desired == 1
    assert story.removed_serves
    assert story.removed_back


def test_a_remedy_that_is_taken_out_starts_nothing_more_and_takes_nothing_away(stories: SideBySide) -> None:
    seen = stories.told(edited)

    assert seen.counts == [(0, 1), (1, 2)]
    assert seen.serving == 2
    assert seen.told == 0


def test_records_name_the_documents_that_were_in_force(stories: SideBySide) -> None:
    assert stories.told(edited).documents == 2


def test_a_daemon_does_not_start_on_broken_documents_and_says_everything_that_is_wrong(tmp_path: Path) -> None:
    site = Site(tmp_path, {"default": "http://127.0.0.1:9"}, tmp_path)
    site.document(PLAN).write_bytes(_bad_unit(site.text(PLAN)))
    shutil.copy(site.document(PLAN), site.policies / "second.yaml")
    (site.policies / "third.yaml").write_bytes(_unknown_key(site.text(replace(PLAN, name="other"))))
    daemon = DaemonProcess(tmp_path)
    daemon.launch()

    code = daemon.ends(within=PATIENCE)

    assert code == 1
    for file in ("chat.yaml", "second.yaml", "third.yaml"):
        assert f"{file}:" in daemon.complaints()
    assert not (tmp_path / "local").exists()
