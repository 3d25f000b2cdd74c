"""The documents in force, read again whenever their content changes; what does not load keeps its last good version.

Loading goes on beside the ticks, which work with the newest documents that are loaded.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime
from pathlib import Path

import structlog

from autopilot.adapters.calendar import open_windows
from autopilot.policy.book import Book, Entry
from autopilot.policy.load import Unreadable, load_documents
from autopilot.policy.loaded import Loaded, book_of, carried_over
from autopilot.policy.sources import read_sources
from autopilot.policy.surroundings import Surroundings

BRIEFLY = 0.2  # seconds that a tick waits for files of ordinary size, so that it works with them already

log = structlog.get_logger()


class PolicyFiles:
    """Polls the resolved content: a ConfigMap changes by a swap of symlinks, and an inode says nothing then."""

    def __init__(self, paths: Sequence[Path], around: Surroundings, on_entries: Callable[[tuple[Entry, ...]], None]) -> None:
        self._paths = tuple(paths)
        self._around = around
        self._on_entries = on_entries
        self._digest = b""
        self._loaded = Loaded()
        self._book = Book()
        self._loading: Future[Loaded] | None = None
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="documents")

    def book(self) -> Book:
        """The newest documents that are read to the end. Only the first call waits for that: a large file takes seconds."""
        if self._loading is None:
            self._poll()
        if self._loading is not None and (self._loading.done() or not self._book.entries):
            loading, self._loading = self._loading, None
            self._take(loading.result())
        return self._book

    def _poll(self) -> None:
        sources = read_sources(self._paths)
        digest = _digest(sources)
        if digest != self._digest:
            self._digest = digest
            self._loading = self._loader.submit(load_documents, sources, self._around)
            wait([self._loading], timeout=BRIEFLY)

    def _take(self, loaded: Loaded) -> None:
        self._loaded = carried_over(self._loaded, loaded)
        self._book = book_of(self._loaded)
        for problem in self._book.problems:
            log.error("document_refused", problem=problem)
        files = len({document.file for document in loaded.documents})
        log.info("documents_loaded", fleets=len(self._book.entries), problems=len(self._book.problems), files=files)
        self._on_entries(self._book.entries)


class PolicyCalendar:
    """The calendar windows of policies."""

    def open_windows(self, entry: Entry, at: datetime) -> tuple[str, ...]:
        """The names of the policy's windows that are open at wall time `at`, sorted."""
        windows = dict(entry.policy.windows) if entry.policy is not None else {}
        return tuple(sorted(open_windows(windows, at)))


def _digest(sources: Mapping[str, bytes | Unreadable]) -> bytes:
    total = hashlib.sha256()
    for name, content in sources.items():
        body = content if isinstance(content, bytes) else repr(content).encode()
        total.update(name.encode() + b"\0" + hashlib.sha256(body).digest())
    return total.digest()
