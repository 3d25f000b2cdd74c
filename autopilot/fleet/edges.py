"""Thresholds as edges of the engines' histograms: between two edges nobody knows on which side a request lies.

Source of the families and their edges: vLLM 0.32, `v1/metrics/buckets.py` and a scrape of it. A family that is given
replaces vLLM's own edges, so that these are written out with ours.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from autopilot.fleet.engine import EngineSpec, knows_custom_edges

FLAG = "custom-histogram-buckets"

_LATENCY = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0)
_GAPS = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)
_UNDER_ONE = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75)
_FIRST_TOKEN = (*_UNDER_ONE, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0)

_DEFAULTS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {"time_to_first_token": _FIRST_TOKEN, "inter_token_latency": _GAPS, "request_latency": _LATENCY}
)
# Which family a signal's histogram belongs to. Edges of token counts follow from the window and are left alone.
_FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "ttft": "time_to_first_token",
        "itl": "inter_token_latency",
        "tpot": "inter_token_latency",
        "e2e_latency": "request_latency",
        "queue_time": "request_latency",
        "prefill_time": "request_latency",
    }
)

Edges = tuple[tuple[str, float], ...]
"""Pairs of a signal and a threshold in seconds, sorted."""


def edges_of(thresholds: Iterable[tuple[str, float]]) -> Edges:
    """Those thresholds that engines lack as edges, each once."""
    asked = {(signal, value) for signal, value in thresholds if signal in _FAMILIES and value > 0}
    return tuple(sorted((signal, value) for signal, value in asked if value not in _DEFAULTS[_FAMILIES[signal]]))


def with_edges(spec: EngineSpec, edges: Edges) -> EngineSpec:
    """The engine with these edges among vLLM's own.

    As it is where there is nothing to add, where the version does not know the flag or is not known itself, and where
    the operator has written the flag: their histograms are theirs.
    """
    if not edges or FLAG in spec.flags or not knows_custom_edges(spec):
        return spec
    families: dict[str, set[float]] = {}
    for signal, value in edges:
        family = _FAMILIES[signal]
        families.setdefault(family, set(_DEFAULTS[family])).add(value)
    return replace(spec, args={**spec.args, FLAG: {family: sorted(values) for family, values in families.items()}})


def next_edges(signal: str, threshold: float) -> tuple[float, float] | None:
    """VLLM's own edges on both sides of a threshold, None where it is one itself or they are not known."""
    known = _DEFAULTS.get(_FAMILIES.get(signal, ""), ())
    if not known or threshold in known:
        return None
    low = max((edge for edge in known if edge < threshold), default=0.0)
    return low, min((edge for edge in known if edge > threshold), default=float("inf"))
