from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autopilot.adapters.state import MemoryCodec, SqliteStore, open_state
from autopilot.control.codec import memory_from_json, memory_to_json
from autopilot.ports import Store
from tests.contract.store.store_contract import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def reopened(self, tmp_path: Path) -> Iterator[Callable[[], Store]]:
        opened: list[SqliteStore] = []

        def reopen() -> Store:
            for store in opened:
                store.close()
            opened.append(open_state(tmp_path / "state.db", MemoryCodec(memory_to_json, memory_from_json)).store)
            return opened[-1]

        yield reopen
        for store in opened:
            store.close()
