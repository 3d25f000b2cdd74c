"""A disk of one MiB that a test can fill up or make read-only: needs the right to mount."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


class TinyDisk:
    """A mounted tmpfs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        """Leave no free byte."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (2**16, 2**12, 1):
                self._pour(file.write, bytes(size))

    def free(self) -> None:
        """Give back what `fill` took."""
        self._filler.unlink()

    def remount(self, option: str) -> None:
        """Mount again with the option `ro` or `rw`."""
        subprocess.run(["mount", "-o", f"remount,{option}", str(self.path)], check=True, capture_output=True)

    @staticmethod
    def _pour(write: Callable[[bytes], object], chunk: bytes) -> None:
        try:
            while True:
                write(chunk)
        except OSError:
            return


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[TinyDisk]:
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("a full disk needs the right to mount one")
    yield TinyDisk(path)
    subprocess.run(["umount", "--lazy", str(path)], check=True, capture_output=True)
