"""What port `Source` promises of its answers, on every real Prometheus that is there."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from autopilot.adapters.prometheus import PrometheusSource
from autopilot.domain.samples import Answer, Sample
from autopilot.ports import QueryFailed
from tests.contract.source.conftest import MANY, NOON, ODD_TEXT
from tests.support.prometheus import Binaries, PrometheusServer


def ask(source: PrometheusSource, query: str, at: float = NOON) -> Answer:
    return source.instant(query, at=at, deadline_seconds=10.0)


def test_an_instant_vector_comes_with_its_labels_and_values(source: PrometheusSource) -> None:
    answer = ask(source, "sum by (fleet, pod) (running)")

    assert sorted(answer.samples, key=lambda sample: sample.value) == [
        Sample({"fleet": "chat", "pod": "b"}, 1.0, NOON),
        Sample({"fleet": "chat", "pod": "a"}, 5.0, NOON),
    ]
    assert answer.warnings == ()


def test_the_answer_is_as_of_the_asked_time(source: PrometheusSource) -> None:
    earlier = NOON - 1800.25

    (sample,) = ask(source, 'running{pod="a"}', earlier).samples

    assert (sample.value, sample.at) == (3.0, earlier)


def test_the_time_of_the_scrape_itself_can_be_asked_for(source: PrometheusSource) -> None:
    (sample,) = ask(source, 'timestamp(running{pod="a"})', NOON + 100.0).samples

    assert sample.value == NOON


def test_a_scalar_comes_as_one_sample_without_labels(source: PrometheusSource) -> None:
    assert ask(source, "scalar(vector(5))").samples == (Sample({}, 5.0, NOON),)


@pytest.mark.parametrize("query", ["running[5m]", '"text"'], ids=["matrix", "string"])
def test_what_is_no_vector_fails(source: PrometheusSource, query: str) -> None:
    with pytest.raises(QueryFailed):
        ask(source, query)


@pytest.mark.parametrize("query", ["nobody_has_this", "running > 1000"], ids=["no-series", "filtered-away"])
def test_nothing_is_an_answer_without_samples(source: PrometheusSource, query: str) -> None:
    assert ask(source, query) == Answer(())


def test_not_a_number_is_passed_on(source: PrometheusSource) -> None:
    (sample,) = ask(source, "vector(NaN)").samples

    assert math.isnan(sample.value)


@pytest.mark.parametrize(("query", "value"), [("vector(Inf)", math.inf), ("vector(-Inf)", -math.inf)], ids=["plus", "minus"])
def test_infinity_is_passed_on(source: PrometheusSource, query: str, value: float) -> None:
    (sample,) = ask(source, query).samples

    assert sample.value == value


@pytest.mark.parametrize("query", ["sum by (", "running * on (fleet) running", ""], ids=["bad-syntax", "cannot-execute", "empty"])
def test_a_query_that_cannot_be_answered_fails(source: PrometheusSource, query: str) -> None:
    with pytest.raises(QueryFailed):
        ask(source, query)


def test_a_long_query_is_answered(source: PrometheusSource) -> None:
    pods = "|".join(f"pod-{number:06}" for number in range(10_000))  # 100 kB: no request line carries that

    assert ask(source, f'running{{pod=~"a|{pods}"}}').samples[0].value == 5.0


def test_any_text_survives_in_a_label(source: PrometheusSource) -> None:
    (sample,) = ask(source, "sum by (text) (odd)").samples

    assert sample.labels["text"] == ODD_TEXT


def test_a_histogram_comes_whole(source: PrometheusSource) -> None:
    answer = ask(source, "sum by (fleet, le) (increase(ttft_seconds_bucket[1m]))")

    counts = {float(sample.labels["le"]): sample.value for sample in answer.samples}
    assert counts[0.5] == 0.0
    assert counts[math.inf] == counts[0.75] == pytest.approx(60.0)


def test_more_series_than_the_limit_fail_and_are_not_cut_off(source: PrometheusSource) -> None:
    with pytest.raises(QueryFailed):
        ask(source, "many")


def test_a_raised_limit_lets_them_all_through(source: PrometheusSource) -> None:
    assert len(ask(source.limited(MANY), "many").samples) == MANY


def test_the_limit_holds_to_the_last_series(source: PrometheusSource) -> None:
    with pytest.raises(QueryFailed):
        ask(source.limited(MANY - 1), "many")


def test_four_threads_at_once_get_their_own_answers(source: PrometheusSource) -> None:
    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(lambda number: ask(source, f"vector({number})").samples[0].value, range(100)))

    assert answers == [float(number) for number in range(100)]


def test_a_running_server_is_ready(source: PrometheusSource) -> None:
    assert source.ready()


def test_a_server_that_is_down_is_not_ready_until_it_is_back(binaries: Binaries) -> None:
    with PrometheusServer(binaries) as server:
        source = PrometheusSource(server.url)
        server.kill()
        while_down = source.ready()
        server.start()

        assert (while_down, source.ready()) == (False, True)
