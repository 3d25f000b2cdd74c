"""Prometheus's own alert state machine, asked through `promtool test rules`.

`exp_alerts` of a test file shows firing alerts only; pending ones are read from the `ALERTS` series that every
evaluation writes. A test says what is expected, never what is: all that is expected of many cases goes into one file.
"""

import json
import subprocess
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from autopilot.domain.alerts import AlertRule, AlertState
from tests.unit.domain.histories import INTERVAL


@dataclass(frozen=True, slots=True)
class Case:
    """One alert over one series. `samples` are in promtool's notation, one per interval: `1`, `0`, `_`, `stale`."""

    name: str
    rule: AlertRule
    samples: tuple[str, ...]
    expected: tuple[AlertState, ...]


def agrees(promtool: str, cases: list[Case], *, folder: Path, interval: timedelta = INTERVAL) -> subprocess.CompletedProcess[str]:
    """Run every case at once; exit status 0 when Prometheus is in the expected state after each evaluation."""
    (folder / "rules.yaml").write_text(json.dumps(_rules(cases)))  # JSON is YAML
    (folder / "test.yaml").write_text(json.dumps(_test(cases, interval)))
    command = [promtool, "test", "rules", "test.yaml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def _rules(cases: list[Case]) -> dict[str, object]:
    alerts = [
        {
            "alert": case.name,
            "expr": f"{case.name} == 1",
            "for": _duration(case.rule.hold),
            "keep_firing_for": _duration(case.rule.keep_firing_for),
        }
        for case in cases
    ]
    return {"groups": [{"name": "cases", "rules": alerts}]}


def _test(cases: list[Case], interval: timedelta) -> dict[str, object]:
    evaluations = max(len(case.expected) for case in cases)
    return {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": _duration(interval),
        "tests": [
            {
                "interval": _duration(interval),
                "input_series": [{"series": case.name, "values": " ".join(case.samples)} for case in cases],
                "promql_expr_test": [
                    {"expr": "ALERTS", "eval_time": _duration(number * interval), "exp_samples": _states(cases, number)}
                    for number in range(evaluations)
                ],
            },
        ],
    }


def _states(cases: list[Case], number: int) -> list[dict[str, object]]:
    return [
        {"labels": f'ALERTS{{alertname="{case.name}",alertstate="{case.expected[number].value}"}}', "value": 1}
        for case in cases
        if number < len(case.expected) and case.expected[number] is not AlertState.INACTIVE
    ]


def _duration(duration: timedelta) -> str:
    return f"{duration // timedelta(seconds=1)}s"
