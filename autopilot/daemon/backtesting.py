"""The past of configured fleets, put together for `autopilot check --online`."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.adapters.prometheus_facts import PrometheusFacts
from autopilot.daemon.assembly import eyes_of
from autopilot.daemon.looking import target_of
from autopilot.doctor.backtest import Backtest, Span, Trial, backtest
from autopilot.policy.daemon import DaemonConfig
from autopilot.policy.loaded import Loaded

Progress = Callable[[str, float], None]
"""Told the fleet, and which share of its past is done."""


class Backtests:
    """Fleet after fleet, under one deadline for all of them; the time is shared out evenly among those still to come."""

    def __init__(self, config: DaemonConfig, loaded: Loaded, *, length: timedelta, step: timedelta, within: timedelta) -> None:
        self._config, self._length, self._step, self._within = config, length, step, within
        self._clock = SystemClock()
        self._pairs = [pair for pair in loaded.pairs if pair.policy is not None and pair.policy.alerts]

    def run(self, progress: Progress) -> Iterator[Backtest]:
        """One result for each fleet that has alerts and a source."""
        eyes = eyes_of(self._config, {})
        end = self._clock.wall().timestamp() // 60 * 60  # whole minutes: asked again, it is the same question
        span = Span(end - self._length.total_seconds(), end, self._step.total_seconds())
        pairs = [pair for pair in self._pairs if isinstance(eyes.sources.get(pair.fleet.source), PrometheusSource)]
        for index, pair in enumerate(pairs):
            source = eyes.sources[pair.fleet.source]
            assert isinstance(source, PrometheusSource)  # noqa: S101 - chosen so above
            assert pair.policy is not None  # noqa: S101 - chosen so at the start
            name = str(pair.fleet.ref)
            trial = Trial(
                fleet=pair.fleet,
                policy=pair.policy,
                target=target_of(pair.fleet, pair.policy, eyes),
                past=PrometheusFacts(source.url, source.http),
                seconds_left=self._share(len(pairs) - index),
                step=lambda share, name=name: progress(name, share),  # type: ignore[misc]
            )
            yield backtest(trial, span)

    def _share(self, still: int) -> Callable[[], float]:
        """How much of its share of the time a fleet has left."""
        until = self._clock.running() + (self._within - self._clock.running()) / still

        def left() -> float:
            return (until - self._clock.running()).total_seconds()

        return left
