from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from autopilot.adapters.scheduler import Trouble
from autopilot.adapters.telemetry import Telemetry
from autopilot.domain.alerts import Alert, AlertState
from autopilot.domain.conditions import Truth
from autopilot.domain.decisions import Act, Hold
from autopilot.domain.operations import Operation, SetReplicas
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Verdict
from autopilot.domain.signals import Gap
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import FleetRef

CHAT, CODE = FleetRef("llm", "chat"), FleetRef("llm", "code")
IN_CHAT = {"namespace": "llm", "fleet": "chat"}


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry(lambda: timedelta(seconds=1.5))


def series(telemetry: Telemetry, name: str) -> list[tuple[dict[str, str], float]]:
    """Every sample of this exact name, as a scrape sees it."""
    families = text_string_to_metric_families(telemetry.render().decode())
    return [(sample.labels, sample.value) for family in families for sample in family.samples if sample.name == name]


def test_a_new_registry_claims_nothing(telemetry: Telemetry) -> None:
    assert series(telemetry, "autopilot_desired_replicas") == []
    assert series(telemetry, "autopilot_ticks_total") == [({}, 0.0)]


def test_ticks_are_counted_and_timed(telemetry: Telemetry) -> None:
    telemetry.ticked(timedelta(milliseconds=200))

    assert series(telemetry, "autopilot_ticks_total") == [({}, 1.0)]
    assert series(telemetry, "autopilot_tick_duration_seconds_sum") == [({}, 0.2)]


def test_the_age_of_the_last_tick_is_asked_at_the_scrape(telemetry: Telemetry) -> None:
    assert series(telemetry, "autopilot_last_tick_age_seconds") == [({}, 1.5)]


def test_what_is_wanted_stays_until_it_is_known_anew(telemetry: Telemetry) -> None:
    telemetry.desired(CHAT, "h100", 2)
    telemetry.desired(CHAT, "h100", 3)
    telemetry.ticked(timedelta())

    assert series(telemetry, "autopilot_desired_replicas") == [({**IN_CHAT, "pool": "h100"}, 3.0)]


@pytest.mark.parametrize(
    ("decision", "labels"),
    [
        (Act(Operation("1", CHAT, Verb.SCALE_OUT, SetReplicas(2, 1, "41"))), {"verb": "scaleOut", "outcome": "act", "reason": ""}),
        (Hold(Verb.SCALE_IN, Reason.BLIND), {"verb": "scaleIn", "outcome": "hold", "reason": "blind"}),
    ],
    ids=["act", "hold"],
)
def test_decisions_are_counted_with_their_reason(telemetry: Telemetry, decision: Act | Hold, labels: dict[str, str]) -> None:
    telemetry.decided(CHAT, decision)
    telemetry.decided(CHAT, decision)

    assert series(telemetry, "autopilot_decisions_total") == [({**IN_CHAT, **labels}, 2.0)]


@pytest.mark.parametrize(("state", "value"), [(AlertState.INACTIVE, 0.0), (AlertState.PENDING, 1.0), (AlertState.FIRING, 2.0)])
def test_an_alerts_state_is_a_number(telemetry: Telemetry, state: AlertState, value: float) -> None:
    telemetry.alert(CHAT, Alert("slow", state=state))

    assert series(telemetry, "autopilot_alert_state") == [({**IN_CHAT, "alert": "slow"}, value)]


@pytest.mark.parametrize(("truth", "value"), [(Truth.UNKNOWN, 1.0), (Truth.YES, 0.0), (Truth.NO, 0.0)])
def test_an_alert_that_cannot_be_evaluated_is_blind(telemetry: Telemetry, truth: Truth, value: float) -> None:
    telemetry.alert(CHAT, Alert("slow", truth=truth))

    assert series(telemetry, "autopilot_slo_blind") == [({**IN_CHAT, "alert": "slow"}, value)]


def test_an_alert_that_was_removed_stops(telemetry: Telemetry) -> None:
    for fleet, name in ((CHAT, "slow"), (CHAT, "queued"), (CODE, "slow")):
        telemetry.alert(fleet, Alert(name))

    telemetry.alerts_of(CHAT, frozenset({"queued"}))

    for metric in ("autopilot_alert_state", "autopilot_slo_blind"):
        assert {(labels["fleet"], labels["alert"]) for labels, _ in series(telemetry, metric)} == {("chat", "queued"), ("code", "slow")}


def test_every_series_of_a_fleet_that_is_gone_stops(telemetry: Telemetry) -> None:
    for fleet in (CHAT, CODE):
        telemetry.desired(fleet, "h100", 2)
        telemetry.decided(fleet, Hold(Verb.SCALE_IN, Reason.BLIND))
        telemetry.alert(fleet, Alert("slow"))
        telemetry.verdict(fleet, Verb.SCALE_OUT, Verdict.HELPED)

    telemetry.fleets_are(frozenset({CODE}))

    text = telemetry.render().decode()
    assert 'fleet="chat"' not in text
    assert text.count('fleet="code"') >= 5


def test_a_fleet_that_comes_back_begins_anew(telemetry: Telemetry) -> None:
    telemetry.verdict(CHAT, Verb.SCALE_OUT, Verdict.HELPED)
    telemetry.fleets_are(frozenset())

    telemetry.verdict(CHAT, Verb.SCALE_OUT, Verdict.HELPED)

    assert series(telemetry, "autopilot_verdicts_total") == [({**IN_CHAT, "verb": "scaleOut", "verdict": "helped"}, 1.0)]


def test_the_policies_in_force_are_named_by_their_hash(telemetry: Telemetry) -> None:
    telemetry.policies_are({CHAT: "abc", CODE: "def"})

    telemetry.policies_are({CHAT: "xyz"})

    assert series(telemetry, "autopilot_policy_info") == [({"namespace": "llm", "policy": "chat", "hash": "xyz"}, 1.0)]


def test_what_goes_wrong_at_the_rim_is_counted(telemetry: Telemetry) -> None:
    telemetry.query_failed("default", Gap.LATE)
    telemetry.journal_failed()
    telemetry.scheduler_trouble(Trouble.MISSED)
    telemetry.notification_undelivered("oncall")

    assert series(telemetry, "autopilot_query_failures_total") == [({"source": "default", "gap": "late"}, 1.0)]
    assert series(telemetry, "autopilot_journal_failures_total") == [({}, 1.0)]
    assert series(telemetry, "autopilot_scheduler_troubles_total") == [({"trouble": "missed"}, 1.0)]
    assert series(telemetry, "autopilot_notifications_undelivered_total") == [({"receiver": "oncall"}, 1.0)]


@pytest.mark.parametrize(("ok", "value"), [(True, 1.0), (False, 0.0)], ids=["worked", "failed"])
def test_the_last_save_and_the_last_reload_are_shown(telemetry: Telemetry, ok: bool, value: float) -> None:
    telemetry.state_saved(ok=ok)
    telemetry.config_reloaded(ok=ok)

    assert series(telemetry, "autopilot_state_saved") == [({}, value)]
    assert series(telemetry, "autopilot_config_last_reload_successful") == [({}, value)]


def test_two_registries_do_not_share_a_thing(telemetry: Telemetry) -> None:
    Telemetry(timedelta).ticked(timedelta())

    assert series(telemetry, "autopilot_ticks_total") == [({}, 0.0)]


def test_an_error_budget_is_shown_within_its_bounds_and_not_at_all_while_unknown(telemetry: Telemetry) -> None:
    telemetry.budget_left(CHAT, "first-token", at_least=0.25, at_most=0.5)
    telemetry.burn_rate(CHAT, "first-token", "1h", at_least=2.0, at_most=2.0)
    telemetry.burn_rate(CHAT, "first-token", "1h", at_least=3.0, at_most=None)

    left = {labels["bound"]: value for labels, value in series(telemetry, "autopilot_slo_budget_left_ratio")}
    assert left == {"at_least": 0.25, "at_most": 0.5}
    assert series(telemetry, "autopilot_slo_burn_rate") == [({**IN_CHAT, "slo": "first-token", "window": "1h", "bound": "at_least"}, 3.0)]


def test_the_series_of_an_slo_that_was_edited_away_stop(telemetry: Telemetry) -> None:
    telemetry.burn_rate(CHAT, "old", "1h", at_least=2.0, at_most=2.0)

    telemetry.slos_of(CHAT, frozenset({"new"}))

    assert series(telemetry, "autopilot_slo_burn_rate") == []
