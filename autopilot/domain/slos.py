"""Service level objectives: counts of good and bad requests, error budgets and how fast they are spent.

Source: Google SRE Workbook, ch. 5, "Alerting on SLOs"; the four pairs are those that Sloth ships.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.domain.quantiles import LEAST_SLOW, ROUNDING, exceeds, share_above
from autopilot.domain.signals import Distribution

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
HOLDS_ABOVE = 1.0  # over one hour: from here on the budget ends before its window does, so nothing is risked
ROUNDED = 1e-6  # of the total: counts come out of `increase()` as fractions


@dataclass(frozen=True, slots=True)
class Slo:
    """`objective` (a ratio) of requests have `signal` at or under `threshold`, over `window`.

    `also_bad` names the requests that count as bad although the histogram never saw them.
    """

    name: str
    signal: str
    threshold: float
    objective: float
    window: timedelta
    also_bad: tuple[str, ...] = ()

    @property
    def budget(self) -> float:
        """The share of requests that may be bad, in (0, 1)."""
        return 1.0 - self.objective


@dataclass(frozen=True, slots=True)
class Tally:
    """The requests of one window: `total`, of them at least `certainly` and at most `possibly` bad.

    `partial`: somebody did not tell everything, so that there may be more bad ones.
    Raises ValueError unless 0 <= certainly <= possibly <= total.
    """

    total: float
    certainly: float
    possibly: float
    partial: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot have been counted."""
        noise = ROUNDED * max(1.0, self.total)
        if not -noise <= self.certainly <= self.possibly + noise <= self.total + 2 * noise:
            message = f"of {self.total} requests at least {self.certainly} and at most {self.possibly} are bad?"
            raise ValueError(message)

    def with_bad(self, count: float) -> "Tally":
        """With requests that were never served: bad and total both grow, so that turning them away is no cure."""
        return replace(self, total=self.total + count, certainly=self.certainly + count, possibly=self.possibly + count)


@dataclass(frozen=True, slots=True)
class Between:
    """A number of which only this much is certain; both are the same where the threshold is an edge."""

    low: float
    high: float


def tally(histogram: Distribution, threshold: float) -> Tally:
    """Count the bad requests of a histogram: those above the threshold, exactly as many where it is an edge."""
    share = share_above(histogram, threshold)
    certainly, possibly = min(share.certainly, share.count), min(share.possibly, share.count)
    return Tally(share.count, min(certainly, possibly), possibly, histogram.partial)


def burn_rate(error_ratio: float, objective: float) -> float:
    """How many times faster than allowed the error budget is being spent.

    Both arguments are ratios in [0, 1]; 1.0 means exactly on budget.
    Raises ValueError when the objective leaves no budget.
    """
    if not 0.0 <= objective < 1.0:
        message = f"an objective of {objective} leaves no error budget"
        raise ValueError(message)
    return error_ratio / (1.0 - objective)


def burn_rates(counted: Tally, objective: float) -> Between | None:
    """How fast a window burns, None where no request was counted: nothing of nothing is not zero."""
    if counted.total <= ROUNDING:
        return None
    return Between(burn_rate(counted.certainly / counted.total, objective), burn_rate(counted.possibly / counted.total, objective))


def budget_left(counted: Tally, objective: float) -> Between | None:
    """The share of the error budget of a whole window that is left: 1 is untouched, below 0 is overdrawn."""
    rates = burn_rates(counted, objective)
    return None if rates is None else Between(1.0 - rates.high, 1.0 - rates.low)


def burns(counted: Tally, objective: float, *, above: float) -> bool | None:
    """Whether the budget burns faster than `above`; None when that cannot be told.

    Three requests must certainly be bad: with little traffic one slow answer is no trend. A window in which nobody
    was served tells nothing, and neither does a threshold between two edges.
    """
    allowed = above * (1.0 - objective)
    if counted.total <= ROUNDING:
        return None
    if exceeds(counted.certainly, count=counted.total, share=allowed) and counted.certainly >= LEAST_SLOW - ROUNDING:
        return True
    return None if exceeds(counted.possibly, count=counted.total, share=allowed) else False


def may_burn(counted: Tally, objective: float, *, above: float) -> bool:
    """Whether the budget may burn faster than `above`, if every undecided request were bad; three must be."""
    allowed = above * (1.0 - objective)
    return counted.possibly >= LEAST_SLOW - ROUNDING and exceeds(counted.possibly, count=counted.total, share=allowed)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two windows that must burn faster than `above` both: the long one proves that it matters, the short that it lasts."""

    severity: str
    long: timedelta
    short: timedelta
    above: float


# What share of the whole budget may be gone before people are told, and how soon that is noticed.
_PAIRS = (
    ("page", HOUR, timedelta(minutes=5), 0.02),
    ("page", 6 * HOUR, timedelta(minutes=30), 0.05),
    ("ticket", DAY, 2 * HOUR, 0.10),
    ("ticket", 3 * DAY, 6 * HOUR, 0.10),
)


def alert_pairs(window: timedelta) -> tuple[Pair, ...]:
    """Google's pairs for an SLO over `window`: of 30 days 14.4, 6, 3 and 1 times the allowed speed."""
    return tuple(Pair(severity, long, short, share * (window / long)) for severity, long, short, share in _PAIRS)
