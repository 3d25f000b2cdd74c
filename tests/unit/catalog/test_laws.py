"""Laws over any damage to the data: less of it never looks healthier."""

from hypothesis import given, settings
from hypothesis import strategies as some

from autopilot.catalog.series import Series
from autopilot.domain.signals import Distribution, Idle, Measured, Reading, Readings, Unknown
from tests.unit.catalog.worlds import STALLED, World, healthy, resting

KEYS = sorted(((asked, name) for asked, rows in healthy().items() for name in rows), key=str)
DAMAGE = some.lists(some.sampled_from(KEYS), min_size=1, max_size=12, unique=True)
FAILED = some.lists(some.sampled_from(sorted(healthy(), key=str)), max_size=3, unique=True)
BASES = some.sampled_from([World(healthy()), World(resting()), World(healthy() | {STALLED: {"chat-0": 1.0}})])


@given(BASES, DAMAGE, DAMAGE, FAILED)
@settings(max_examples=300, deadline=None)
def test_removing_rows_never_makes_an_unknown_or_partial_reading_healthy(
    world: World, first: list[tuple[Series, str]], second: list[tuple[Series, str]], failed: list[Series]
) -> None:
    damaged = _without(world, first)
    before, after = damaged.read(), _failing(_without(damaged, second), failed).read()

    assert not [key for key, reading in _readings(before).items() if not _sound(reading) and _sound(_readings(after)[key])]


@given(BASES, DAMAGE, FAILED)
@settings(max_examples=200, deadline=None)
def test_removing_rows_never_makes_a_fleet_idle(world: World, damage: list[tuple[Series, str]], failed: list[Series]) -> None:
    before, after = world.read(), _failing(_without(world, damage), failed).read()

    assert not [key for key, reading in _readings(after).items() if reading == Idle() and _readings(before)[key] != Idle()]


@given(BASES, DAMAGE, some.sampled_from([float("nan"), float("inf"), -1.0, 1e300]))
@settings(max_examples=200, deadline=None)
def test_no_number_breaks_the_catalogue(world: World, damage: list[tuple[Series, str]], value: float) -> None:
    rows = {asked: {name: value if (asked, name) in damage else kept for name, kept in of.items()} for asked, of in world.rows.items()}
    readings = World(rows).read()

    assert all(reading.value == reading.value for reading in _readings(readings).values() if isinstance(reading, Measured))


def _without(world: World, damage: list[tuple[Series, str]]) -> World:
    for asked, name in damage:
        if name in world.rows[asked]:
            world = world.without(asked, name)
    return world


def _failing(world: World, failed: list[Series]) -> World:
    for asked in failed:
        world = world.failing(asked)
    return world


def _readings(readings: Readings) -> dict[tuple[object, ...], Reading]:
    """The fleet's readings, `up` apart: it is about targets, and says what it sees."""
    return {(entry.signal, entry.over): entry.reading for entry in readings.entries if entry.replica is None and entry.signal != "up"}


def _sound(reading: Reading) -> bool:
    """Whether a reading could make a condition *no*."""
    match reading:
        case Unknown():
            return False
        case Measured(partial=partial) | Distribution(partial=partial):
            return not partial
        case Idle():
            return True
