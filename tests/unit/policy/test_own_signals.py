"""An expression of one's own is refused for what can be seen in it, before any Prometheus is asked."""

import pytest

from autopilot.policy.own_signals import faults

SOUND = {
    "a-gateways-ttft": "sum by (le) (increase(gateway_ttft_seconds_bucket{$identity}[$over]))",
    "per-tenant": 'sum by (le) (increase(gateway_ttft_seconds_bucket{$identity, tenant="a}(b"}[$over]))',
    "per-adapter": "sum(increase(adapter_requests_total{lora=~'sql-.*', $identity}[$over]))",
    "per-thousand-prompt-tokens": "1000 * sum(rate(ttft_sum{$identity}[$over])) / sum(rate(prompt_sum{$identity}[$over]))",
    "a-quote-escaped": r'sum(increase(x_total{$identity, name="say \"(\""}[$over]))',
    "a-bracket-in-a-comment": "sum(increase(x_total{$identity}[$over])) # the ( of it",
}
BROKEN = {
    "no-identity": "sum(increase(x_total[$over]))",
    "identity-outside-the-braces": "sum(increase(x_total{}[$over])) by ($identity)",
    "identity-in-a-string": 'sum(increase(x_total{pod="$identity"}[$over]))',
    "identity-in-a-comment": "sum(increase(x_total[$over])) # {$identity}",
    "one-selector-right-and-one-wrong": "sum(increase(x_total{$identity}[$over])) / $identity",
    "no-window": "sum(increase(x_total{$identity}[5m]))",
    "another-placeholder": "sum(increase(x_total{$identity, pod=$pod}[$over]))",
    "braced-as-in-a-shell": "sum(increase(x_total{$identity}[${over}]))",
    "a-dollar-in-a-pattern": 'sum(increase(x_total{$identity, path=~"/v1/.*$"}[$over]))',
    "a-bracket-open": "sum(increase(x_total{$identity}[$over])",
    "brackets-crossed": "sum(increase(x_total{$identity}[$over)])",
    "a-bracket-too-many": "sum(increase(x_total{$identity}[$over])))",
    "a-string-open": 'sum(increase(x_total{$identity, pod="a}[$over]))',
    "empty": "",
}


@pytest.mark.parametrize("promql", SOUND.values(), ids=SOUND)
def test_a_sound_expression_has_no_fault(promql: str) -> None:
    assert list(faults(promql, windowed=True)) == []


@pytest.mark.parametrize("promql", BROKEN.values(), ids=BROKEN)
def test_a_broken_expression_is_refused(promql: str) -> None:
    assert list(faults(promql, windowed=True))


def test_a_gauge_needs_no_window() -> None:
    assert list(faults("max(queue_depth{$identity})", windowed=False)) == []
