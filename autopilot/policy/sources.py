"""The files that policies are in."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from autopilot.policy.load import LARGEST, Unreadable

ENDINGS = frozenset({".yaml", ".yml"})


def read_sources(paths: Sequence[Path]) -> dict[str, bytes | Unreadable]:
    """The bytes of these files, and of every YAML file under these directories, by path, in order.

    Reads no more of a file than tells that it is too large. What starts with a dot is skipped: it is an
    editor's, or a Kubernetes volume's inner works. Never raises.
    """
    return {str(file): read_source(file) for path in paths for file in files_under(path)}


def files_under(path: Path) -> Iterator[Path]:
    """A file as it is; of a directory, every YAML file, sorted."""
    if not path.is_dir():
        yield path
        return
    found = (file for file in path.rglob("*") if file.suffix in ENDINGS and not _hidden(file.relative_to(path)))
    yield from sorted(file for file in found if file.is_file())


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def read_source(path: Path) -> bytes | Unreadable:
    """At most one byte more than a file may have."""
    try:
        if not path.is_file():
            return Unreadable("this is no file")
        with path.open("rb") as stream:
            return stream.read(LARGEST + 1)
    except OSError as error:
        return Unreadable(f"cannot be read: {error.strerror or error}")
