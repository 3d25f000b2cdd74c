"""Finding and reading a journal that a daemon may be writing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from autopilot.adapters.journal import JournalReader, open_journal_to_read
from autopilot.cli.output import give_up
from autopilot.cli.run import ConfigPath
from autopilot.domain.workloads import FleetRef
from autopilot.ports import StateLost

JournalPath = Annotated[Path | None, typer.Option("--journal", help="The journal; without it the one beside the configured state.")]
MENTIONED = 2_000  # newest records looked through for the names of fleets

__all__ = ["ConfigPath", "JournalPath", "journal_of", "known_fleets", "reading"]


def journal_of(config: Path) -> Path:
    """Where the journal of this configuration is. Exits with 1 where the configuration does not load or keeps none."""
    from autopilot.cli.configured import configured

    if not config.is_file():
        give_up(f"{config}: there is no such file; name a journal with --journal, or the daemon's own file with --config")
    settings = configured(config)
    if settings.audit.sink != "sqlite":
        give_up(f'{config}: audit.sink is "{settings.audit.sink}", so no journal is kept in a file; ask the daemon with --server')
    return settings.journal


@contextmanager
def reading(path: Path) -> Iterator[JournalReader]:
    """An open journal. Exits with 1 where it cannot be opened or read."""
    try:
        if not path.is_file():
            give_up(f"{path}: there is no journal; name one with --journal, or the daemon's own file with --config")
        reader = open_journal_to_read(path)
        try:
            yield reader
        finally:
            reader.close()
    except StateLost as error:
        give_up(str(error))


def known_fleets(reader: JournalReader) -> str:
    """The fleets that were recorded lately, for a message."""
    names: set[FleetRef] = {line.fleet for line in reader.read(last=MENTIONED)}
    return ", ".join(str(name) for name in sorted(names)) or "none"
