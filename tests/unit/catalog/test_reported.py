from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.catalog.answers import Failure
from autopilot.catalog.queries import Query
from autopilot.catalog.reported import Watched, alert_entries, alert_queries
from autopilot.domain.reports import Claim
from autopilot.domain.samples import Answer, Sample
from autopilot.domain.signals import Entry, Gap, Measured, Reading, Unknown
from autopilot.domain.workloads import FleetRef
from tests.support.clocks import NOON

CHAT = Watched(FleetRef("llm", "chat"), "default", (("namespace", "llm"), ("fleet", "chat")), frozenset({"GpuLost"}))
CODE = Watched(FleetRef("llm", "code"), "default", (("fleet", "code"), ("namespace", "llm")), frozenset({"NodeDown"}))
CLAIM = Claim("GpuLost", NOON, "http://am")
CLAIMED = replace(CHAT, claims=(CLAIM,))
AT = NOON.timestamp()
HERE = {"fleet": "chat", "namespace": "llm", "alertname": "GpuLost"}
HOSTILE = "\"}) or vector(1) #\n\x00$(id)`{x='"


def answer(value: float, labels: Mapping[str, str] = HERE, *, warnings: tuple[str, ...] = ()) -> Answer:
    return Answer((Sample(labels, value, AT),), warnings)


NONE = Answer(())


def reading(watched: Watched, firing: Answer | Failure, past: Answer | Failure | None = None) -> Reading:
    queries = alert_queries([watched])
    answers: dict[Query, Answer | Failure] = dict(zip(queries, (firing, past), strict=False)) if past is not None else {queries[0]: firing}
    (entry,) = alert_entries([watched], answers)[watched.fleet]
    assert entry == Entry("alertmanager:GpuLost", None, None, entry.reading)
    return entry.reading


def test_one_question_is_asked_for_all_fleets_that_look_alike() -> None:
    (query,) = alert_queries([CHAT, CODE])

    assert query.promql == (
        'max by (fleet, namespace, alertname) (ALERTS{fleet=~"chat|code", namespace="llm", '
        'alertname=~"GpuLost|NodeDown", alertstate="firing"})'
    )
    assert query.labels == ("fleet", "namespace", "alertname")


def test_the_past_is_asked_for_only_of_what_is_claimed() -> None:
    _, past = alert_queries([CLAIMED, CODE])

    assert past.promql == (
        "max by (fleet, namespace, alertname) (max_over_time(timestamp("
        'ALERTS{fleet="chat", namespace="llm", alertname="GpuLost", alertstate="firing"})[86400s:1m]))'
    )


def test_a_claim_of_an_alert_that_no_policy_names_asks_nothing() -> None:
    assert len(alert_queries([replace(CHAT, claims=(Claim("Other", NOON),))])) == 1


@pytest.mark.parametrize(
    ("watched", "firing", "past", "expected"),
    [
        (CHAT, answer(1.0), None, Measured(1.0)),
        (CLAIMED, answer(1.0), NONE, Measured(1.0)),
        (CHAT, answer(1.0, warnings=("part",)), None, Measured(1.0, partial=True)),
        (CHAT, NONE, None, Measured(0.0)),
        (CHAT, Answer((), ("part",)), None, Measured(0.0, partial=True)),
        (CHAT, answer(1.0, {**HERE, "fleet": "code"}), None, Measured(0.0)),
        (CLAIMED, NONE, answer(AT + 60), Measured(0.0)),
        (CLAIMED, NONE, answer(AT), Measured(0.0)),
    ],
    ids=[
        "shown",
        "shown-and-claimed",
        "shown-in-part",
        "neither",
        "not-shown-in-part",
        "of-another-fleet",
        "claimed-shown-and-over",
        "shown-for-one-evaluation",
    ],
)
def test_what_the_source_shows_is_what_counts(watched: Watched, firing: Answer, past: Answer | None, expected: Reading) -> None:
    assert reading(watched, firing, past) == expected


@pytest.mark.parametrize(
    ("watched", "firing", "past", "gap"),
    [
        (CHAT, Failure(Gap.LATE, "late"), None, Gap.LATE),
        (CLAIMED, NONE, NONE, Gap.ABSENT),
        (CLAIMED, NONE, answer(AT - 60), Gap.ABSENT),
        (CLAIMED, NONE, Failure(Gap.QUERY_FAILED, "x"), Gap.ABSENT),
    ],
    ids=["no-answer", "claimed-and-never-shown", "an-earlier-episode-was-shown", "the-past-is-not-known"],
)
def test_a_claim_that_cannot_be_confirmed_is_neither_yes_nor_no(
    watched: Watched, firing: Answer | Failure, past: Answer | Failure | None, gap: Gap
) -> None:
    found = reading(watched, firing, past)

    assert isinstance(found, Unknown)
    assert found.gap is gap


def test_of_several_claims_the_latest_must_have_been_shown() -> None:
    both = replace(CHAT, claims=(CLAIM, replace(CLAIM, since=NOON + timedelta(minutes=5))))

    assert isinstance(reading(both, NONE, answer(AT + 60)), Unknown)


@pytest.mark.parametrize("broken", [{"identity": ()}, {"alerts": frozenset()}, {"identity": (("bad-name", "x"),)}], ids=str)
def test_what_would_match_everything_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"label"):
        replace(CHAT, **broken)  # type: ignore[arg-type]


@given(st.builds(Claim, st.sampled_from(["GpuLost", HOSTILE]) | st.text(), st.just(NOON), st.text()))
def test_nothing_that_a_webhook_says_reaches_a_query(claim: Claim) -> None:
    harmless = [query.promql for watched in (CHAT, CLAIMED) for query in alert_queries([watched])]

    assert {query.promql for query in alert_queries([replace(CHAT, claims=(claim,))])} <= set(harmless)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_name_in_a_policy_cannot_leave_its_quotes(name: str) -> None:
    (query,) = alert_queries([replace(CHAT, alerts=frozenset({name}))])
    inside = query.promql.partition('alertname="')[2]
    end = next(index for index, character in enumerate(inside) if character == '"' and (index == 0 or not _escaped(inside, index)))

    assert inside[end:] == '", alertstate="firing"})'


def _escaped(text: str, index: int) -> bool:
    before = text[:index]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
