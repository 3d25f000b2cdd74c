"""The fewest queries, and none that a value could bend."""

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from autopilot.catalog import series
from autopilot.catalog.queries import Group, Need, Target, groups, plan, windowed
from autopilot.catalog.selectors import matcher, quoted
from autopilot.catalog.signals import SIGNALS
from autopilot.domain.workloads import FleetRef
from tests.unit.catalog.worlds import MINUTE, SCRAPE

SHARED = frozenset(
    {Need("bandwidth_utilization", MINUTE), Need("prompt_token_rate", MINUTE), Need("prefix_hit_ratio", MINUTE), Need("kv_usage")}
    | {Need("error_ratio", MINUTE), Need("rejected", MINUTE), Need("e2e_latency", MINUTE)}
)


def target(name: str = "chat", *, needs: frozenset[Need] = frozenset(), scrape: timedelta = SCRAPE, source: str = "default") -> Target:
    identity = (("namespace", "llm"), ("fleet", name))
    return Target(FleetRef("llm", name or "empty"), source, identity, "pod", scrape, needs, peak_bandwidth=1e12)


def test_a_thousand_fleets_without_needs_are_read_with_fourteen_queries() -> None:
    assert len(plan([target(f"fleet-{number}") for number in range(1000)])) == 14


def test_a_thousand_fleets_that_share_a_rich_policy_are_read_with_at_most_25_queries() -> None:
    assert len(plan([target(f"fleet-{number}", needs=SHARED) for number in range(1000)])) <= 25


def test_fleets_with_every_window_of_an_slo_are_asked_at_most_25_questions_in_a_usual_tick() -> None:
    overs = [timedelta(minutes=minutes) for minutes in (5, 30, 60, 120, 360, 1440, 3 * 1440, 28 * 1440)]
    slo = {Need(signal, over) for signal in ("ttft", "server_errors", "refused") for over in overs}
    needs = frozenset({Need("bandwidth_utilization", MINUTE), *slo})
    queries = plan([target(f"fleet-{number}", needs=needs) for number in range(100)])
    tick = timedelta(seconds=5)

    assert sum(1.0 if query.keep <= tick else tick / query.keep for query in queries) <= 25


@pytest.mark.parametrize(
    ("minutes", "kept"),
    [(1, 0), (29, 0), (30, 30), (60, 60), (61, 300), (28 * 1440, 300)],
    ids=["a-minute", "just-under", "half-an-hour", "an-hour", "more-than-an-hour", "28-days"],
)
def test_the_answer_about_a_long_window_is_kept(minutes: int, kept: int) -> None:
    over = timedelta(minutes=minutes)
    found = {query.keep for query in plan([target(needs=frozenset({Need("server_errors", over)}))]) if query.series.over == over}

    assert timedelta(seconds=kept) in found


def test_whole_histograms_are_asked_first_and_what_may_be_kept_last() -> None:
    queries = plan([target(needs=SHARED), target("code", scrape=timedelta(seconds=30))])
    whole = [query for query in queries if query.labels[-1] == "le" and not query.keep]
    kept = [query for query in queries if query.keep]

    assert (list(queries[: len(whole)]), list(queries[-len(kept) :])) == (whole, kept)


def test_two_needs_on_one_series_are_one_query() -> None:
    more = frozenset({Need("in_flight"), Need("waiting_per_replica", MINUTE), Need("request_rate", MINUTE), Need("ttft", MINUTE)})

    assert plan([target(needs=more)]) == plan([target()])


@pytest.mark.parametrize(
    "other", [target(source="second"), target("code", scrape=timedelta(seconds=30))], ids=["another-source", "another-interval"]
)
def test_fleets_that_cannot_share_are_asked_apart(other: Target) -> None:
    assert len(plan([target(), other])) == 28


def test_the_order_of_labels_in_a_fleet_file_does_not_matter() -> None:
    turned = Target(FleetRef("llm", "code"), "default", (("fleet", "code"), ("namespace", "llm")), "pod", SCRAPE)

    assert len(groups([target(), turned])) == 1


def test_a_card_that_nobody_knows_costs_no_query() -> None:
    unknown = Target(
        FleetRef("llm", "chat"), "default", (("fleet", "chat"),), "pod", SCRAPE, frozenset({Need("bandwidth_utilization", MINUTE)})
    )

    assert not [query for query in plan([unknown]) if "bytes_per_gpu" in query.promql]


@pytest.mark.parametrize(
    ("over", "scrape", "written"),
    [
        (MINUTE, SCRAPE, "[60s]"),
        (timedelta(milliseconds=2500), timedelta(milliseconds=500), "[2500ms]"),
        (MINUTE, timedelta(seconds=30), "[120s]"),
        (timedelta(hours=1), SCRAPE, "[3600s]"),
    ],
    ids=["seconds", "milliseconds", "at-least-four-scrapes", "hours"],
)
def test_a_window_is_written_in_whole_seconds_or_milliseconds(over: timedelta, scrape: timedelta, written: str) -> None:
    queries = plan([target(needs=frozenset({Need("itl", over)}), scrape=scrape)])

    assert any(written in query.promql for query in queries if "inter_token" in query.promql)


@pytest.mark.parametrize("name", SIGNALS)
def test_every_signal_can_be_planned(name: str) -> None:
    need = Need(name, MINUTE if windowed(name) else None)

    assert set(plan([target()])) <= set(plan([target(needs=frozenset({need}))]))


@pytest.mark.parametrize(("signal", "over"), [("ttft", None), ("request_rate", None), ("error_ratio", None), ("kv_usag", None)])
def test_a_need_that_cannot_be_read_is_refused(signal: str, over: timedelta | None) -> None:
    with pytest.raises(ValueError, match=signal):
        Need(signal, over)


@pytest.mark.parametrize(
    ("identity", "replica"),
    [
        ((), "pod"),
        ((("fleet", "a"), ("fleet", "b")), "pod"),
        ((("pod", "a"),), "pod"),
        ((("fl eet", "a"),), "pod"),
        ((('fleet"}', "a"),), "pod"),
        ((("le", "a"),), "pod"),
        ((("__name__", "a"),), "pod"),
        ((("fleet\n", "a"),), "pod"),
        ((("fleet", "a"),), "pod)"),
    ],
)
def test_labels_that_cannot_tell_fleets_apart_are_refused(identity: tuple[tuple[str, str], ...], replica: str) -> None:
    with pytest.raises(ValueError, match="label"):
        Target(FleetRef("llm", "chat"), "default", identity, replica, SCRAPE)


ANY_TEXT = some.text(max_size=12) | some.text(alphabet='"\\{}|.*+?()[]^$`\n\r\t\0a', max_size=12)


@given(ANY_TEXT)
@settings(deadline=None)
def test_a_quoted_text_reads_back_as_itself_and_stays_inside_its_quotes(text: str) -> None:
    literal = quoted(text)

    assert re.fullmatch(r'"(?:[^"\\\n]|\\.)*"', literal, re.ASCII)
    assert _unquoted(literal) == text


@given(some.lists(ANY_TEXT, min_size=2, max_size=4, unique=True), ANY_TEXT)
@settings(deadline=None)
def test_a_matcher_matches_its_values_and_no_other(values: list[str], other: str) -> None:
    pattern = re.compile(_unquoted(matcher("fleet", values).removeprefix("fleet=~")))

    assert all(pattern.fullmatch(value) for value in values)
    assert bool(pattern.fullmatch(other)) is (other in values)


@given(ANY_TEXT)
@settings(deadline=None)
def test_a_value_never_changes_what_a_query_means(value: str) -> None:
    group = Group("default", ("fleet",), "pod", SCRAPE, (Target(FleetRef("llm", "chat"), "default", (("fleet", value),), "pod", SCRAPE),))
    plain = Group("default", ("fleet",), "pod", SCRAPE, (Target(FleetRef("llm", "chat"), "default", (("fleet", "x"),), "pod", SCRAPE),))
    found = {asked: re.sub(r'"(?:[^"\\]|\\.)*"', '""', query.promql) for asked, query in group.queries().items()}

    assert found == {asked: re.sub(r'"(?:[^"\\]|\\.)*"', '""', query.promql) for asked, query in plain.queries().items()}


def test_a_value_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        matcher("fleet", ["\ud800"])


def test_no_text_of_a_series_holds_a_placeholder_that_is_not_filled() -> None:
    assert not [query for query in plan([target(needs=SHARED)]) if "$" in query.promql]


def test_a_sample_is_old_after_three_scrapes() -> None:
    (query,) = [query for query in plan([target()]) if query.series == series.OLD]

    assert query.promql.endswith("> 45)")


def test_only_what_a_rollout_changes_may_be_kept() -> None:
    assert {query.series for query in plan([target()]) if query.series.keep} == {series.uneven_edges("vllm:time_to_first_token_seconds")}


def _unquoted(literal: str) -> str:
    """What a Go-like lexer makes of a literal, written independently of how it was made."""
    return re.sub(r"\\(u[0-9a-f]{4}|U[0-9a-f]{8}|.)", _unescaped, literal[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if code[0] in "uU" and len(code) > 1 else code
