"""What every implementation of the port `Store` keeps."""

from collections.abc import Callable
from datetime import timedelta

from autopilot.domain.memory import Memory
from autopilot.domain.workloads import FleetRef
from autopilot.ports import Store

CHAT = FleetRef("llm", "chat")
CODE = FleetRef("llm", "code")
ONE = Memory(now=timedelta(seconds=1), accepted=1)
TWO = Memory(now=timedelta(seconds=2), accepted=2)


class StoreContract:
    """Subclasses give a fixture `reopened`: it closes the store, if one is open, and opens the same one again."""

    def test_a_new_store_is_empty_and_at_time_zero(self, reopened: Callable[[], Store]) -> None:
        store = reopened()

        assert (store.load(), store.running()) == ({}, timedelta())

    def test_what_was_saved_outlives_the_process(self, reopened: Callable[[], Store]) -> None:
        reopened().save({CHAT: ONE, CODE: TWO}, running=timedelta(hours=1, microseconds=1))

        store = reopened()

        assert store.load() == {CHAT: ONE, CODE: TWO}
        assert store.running() == timedelta(hours=1, microseconds=1)

    def test_a_later_save_replaces_what_it_is_given(self, reopened: Callable[[], Store]) -> None:
        store = reopened()
        store.save({CHAT: ONE}, running=timedelta(1))

        store.save({CHAT: TWO}, running=timedelta(2))

        assert store.load() == {CHAT: TWO}
        assert store.running() == timedelta(2)

    def test_a_save_leaves_the_fleets_that_it_is_not_given(self, reopened: Callable[[], Store]) -> None:
        store = reopened()
        store.save({CHAT: ONE, CODE: ONE}, running=timedelta(1))

        store.save({CODE: TWO}, running=timedelta(2))

        assert store.load() == {CHAT: ONE, CODE: TWO}

    def test_time_is_saved_where_no_memory_changed(self, reopened: Callable[[], Store]) -> None:
        reopened().save({}, running=timedelta(seconds=30))

        assert reopened().running() == timedelta(seconds=30)

    def test_fleets_of_one_name_in_two_namespaces_are_two(self, reopened: Callable[[], Store]) -> None:
        store = reopened()

        store.save({FleetRef("a", "chat"): ONE, FleetRef("b", "chat"): TWO}, running=timedelta(1))

        assert store.load() == {FleetRef("a", "chat"): ONE, FleetRef("b", "chat"): TWO}
