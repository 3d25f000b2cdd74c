"""Hypothesis strategies for the values of the domain."""

from datetime import timedelta
from itertools import accumulate
from math import inf

from hypothesis import strategies as st

from autopilot.domain.conditions import All, AnyOf, Comparison, Condition, Leaf, Not, Per
from autopilot.domain.signals import Distribution, Entry, Gap, Idle, Measured, Reading, Readings, Unknown

MINUTE = timedelta(minutes=1)
SIGNALS = ("ttft", "waiting", "bandwidth")
REPLICAS = ("a", "b")
FINITE_EDGES = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

# Whether a reading is partial.
WHOLE = st.sampled_from([False])
PARTIAL = st.sampled_from([True])
EITHER = st.booleans()

thresholds = st.one_of(st.sampled_from(FINITE_EDGES), st.floats(min_value=0.01, max_value=10.0))
quantiles = st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999])


@st.composite
def distributions(draw: st.DrawFn, *, partial: st.SearchStrategy[bool] = WHOLE) -> Distribution:
    """Histograms of a few to a few hundred observations; now and then fractions, as `increase()` gives them."""
    edges = draw(st.lists(st.sampled_from(FINITE_EDGES), unique=True, max_size=len(FINITE_EDGES)).map(sorted))
    bound = draw(st.sampled_from([1, 4, 12, 100]))
    stretch = draw(st.sampled_from([1.0, 1.0, 12.0 / 11.0]))
    inside = draw(st.lists(st.integers(0, bound), min_size=len(edges) + 1, max_size=len(edges) + 1))
    counts = tuple(stretch * count for count in accumulate(inside))
    return Distribution(edges=(*edges, inf), counts=counts, total=None, partial=draw(partial))


def readings_of_a_signal(*, partial: st.SearchStrategy[bool]) -> st.SearchStrategy[Reading]:
    """Any reading at all."""
    return st.one_of(
        distributions(partial=partial),
        st.builds(Measured, value=st.floats(min_value=0.0, max_value=10.0), count=st.none(), partial=partial),
        st.just(Idle()),
        st.sampled_from(list(Gap)).map(Unknown),
    )


def looks_at_everything(*, partial: st.SearchStrategy[bool]) -> st.SearchStrategy[Readings]:
    """Readings of every signal that `leaves_of_conditions` names, for the fleet and for each replica."""
    keys = [(signal, replica) for signal in SIGNALS for replica in (None, *REPLICAS)]
    each = st.tuples(*[readings_of_a_signal(partial=partial) for _ in keys])
    return each.map(
        lambda found: Readings(
            tuple(Entry(signal, MINUTE, replica, reading) for (signal, replica), reading in zip(keys, found, strict=True)),
        ),
    )


leaves_of_conditions = st.builds(
    Leaf,
    signal=st.sampled_from(SIGNALS),
    comparison=st.sampled_from(list(Comparison)),
    threshold=thresholds,
    over=st.just(MINUTE),
    quantile=st.one_of(st.none(), quantiles),
    per=st.sampled_from(list(Per)),
)


def _compounds(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(several.map(All), several.map(AnyOf), parts.map(Not))


conditions: st.SearchStrategy[Condition] = st.recursive(leaves_of_conditions, _compounds, max_leaves=5)
