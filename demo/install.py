"""Install what the demo runs: vLLM for the processor, the router, Prometheus and Alertmanager.

`python3 -m demo.install [--only engine|router|prometheus] [--json]`. The standard library is enough. What is there
already is left alone: each finished step leaves a stamp, a step that was interrupted or asks for something else is done
again, and when nothing is missing the run takes a moment. pip is used as the user configured it.
"""
# ruff: noqa: TID251 - installing takes real seconds; the product's clock is not its clock

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from demo import environments, prometheus
from demo.environments import Environment, Step
from demo.progress import Command, InstallError, JsonLines, Lines, Progress, complaint, run

CACHE = Path(__file__).parent.parent / ".cache"
PARTS = ("engine", "router", "prometheus")
APT_SECONDS = 600.0  # 30 MB, also from a slow mirror
WAIT_SECONDS = 3600.0  # for an installation that another process has begun
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Job:
    """A piece of work that is missing: its name, what to expect of it, and how to do it."""

    what: str
    size: str
    do: Callable[[Progress], None]


def install(parts: tuple[str, ...], cache: Path, show: Callable[[int], Progress]) -> None:
    """Do all that is missing of these parts; `show` makes the progress for a number of steps.

    Raises InstallError with one line that says what failed and what to do.
    """
    with _alone(cache):
        jobs = missing(parts, cache)
        progress = show(len(jobs))
        for job in jobs:
            began = time.monotonic()
            progress.started(job.what, job.size)
            job.do(progress)
            progress.ended(job.what, time.monotonic() - began)


def missing(parts: tuple[str, ...], cache: Path) -> list[Job]:
    """List what there is to do for these parts, in order; empty when all is there."""
    jobs: list[Job] = []
    if "engine" in parts:
        jobs += _missing_of(environments.engine(cache, sys.executable), cache)
    if "router" in parts:
        jobs += _missing_of(environments.router(cache, sys.executable), cache)
    if "prometheus" in parts and prometheus.find(cache) is None:
        size = "30 MB to download from Debian"
        jobs.append(Job("prometheus: Prometheus and Alertmanager", size, lambda progress: _fetch_prometheus(cache, progress)))
    return jobs


def _missing_of(environment: Environment, cache: Path) -> list[Job]:
    marks = environments.fingerprints(environment)
    done = 0
    if (environment.folder / "bin" / "python").exists():
        while done < len(marks) and _read(environment.stamp(environment.steps[done])) == marks[done]:
            done += 1
    left = list(zip(environment.steps, marks, strict=True))[done:]
    return [_job(environment, step, mark, cache) for step, mark in left]


def _job(environment: Environment, step: Step, mark: str, cache: Path) -> Job:
    def do(progress: Progress) -> None:
        _require_room(environment)
        stamp = environment.stamp(step)
        stamp.unlink(missing_ok=True)
        _try(environment, step, cache / "logs" / f"{environment.name}-{step.name}.log", progress)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(mark)  # last of all: without it the step counts as not done

    return Job(f"{environment.name}: {step.what}", step.size, do)


def _try(environment: Environment, step: Step, log: Path, progress: Progress) -> None:
    """Make the step's attempts until one succeeds; the time bound holds for all of them together."""
    ends = time.monotonic() + step.bound_seconds
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    for attempt in step.attempts:
        if all(run(Command(argv, log, ends - time.monotonic()), progress) for argv in attempt):
            return
    cause = complaint(log) if time.monotonic() < ends else f"not done after {step.bound_seconds:.0f} s"
    raise InstallError(f"{environment.name}: {step.name}: {cause}; see {log}, then run the same command again{_hint(step)}")


def _hint(step: Step) -> str:
    if step.name == "torch":
        return f" (another index with {environments.TORCH}: set {environments.TORCH_INDEX_VARIABLE})"
    return " (Debian: apt-get install python3-venv)" if step.name == "venv" else ""


def _require_room(environment: Environment) -> None:
    if (environment.folder / ".stamps").exists():
        return  # begun already: what is there counts against the room it needs
    free = shutil.disk_usage(environment.folder.parent).free
    if free < environment.room_bytes:
        need, have = environment.room_bytes / 1e9, free / 1e9
        raise InstallError(f"{environment.name}: {need:.0f} GB of disk are needed in {environment.folder.parent}, {have:.1f} GB are free")


def _fetch_prometheus(cache: Path, progress: Progress) -> None:
    """Unpack Debian's packages into the cache: beside their place first, so that an interrupted run leaves no half."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise InstallError(f"prometheus: not found, and there is no apt-get to fetch it with: {prometheus.ADVICE}")
    target = prometheus.unpacked(cache)
    draft = target.with_suffix(".new")
    debs = draft / "debs"
    for folder in (draft, target):
        shutil.rmtree(folder, ignore_errors=True)
    debs.mkdir(parents=True)
    log = cache / "logs" / "prometheus.log"
    if not _download(debs, log, progress):
        raise InstallError(f"prometheus: {complaint(log)}; see {log}; run 'apt-get update' as root and try again, or {prometheus.ADVICE}")
    for deb in sorted(debs.glob("*.deb")):
        run(Command(("dpkg-deb", "-x", str(deb), str(draft)), log, APT_SECONDS), progress)
    draft.rename(target)
    if prometheus.find(cache) is None:
        raise InstallError(f"prometheus: the packages lack a program; see {log}; {prometheus.ADVICE}")


def _download(debs: Path, log: Path, progress: Progress) -> bool:
    """Fetch the packages into a folder; as root, with fresh package lists when the ones here do not do."""
    # apt-get download writes where it stands; as root, _apt may not write there, which apt only warns about.
    fetch = Command(("sh", "-c", 'cd "$0" && apt-get download "$@"', str(debs), *prometheus.PACKAGES), log, APT_SECONDS)
    if run(fetch, progress):
        return True
    update = Command(("apt-get", "update"), log, APT_SECONDS)
    return os.geteuid() == 0 and run(update, progress) and run(fetch, progress)


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Let one installation at a time work in this cache; the lock goes with the process, however it ends."""
    cache.mkdir(parents=True, exist_ok=True)
    ends = time.monotonic() + WAIT_SECONDS
    with (cache / "install.lock").open("w") as lock:
        while not _locked(lock.fileno()):
            if time.monotonic() > ends:
                raise InstallError(f"another installation still works in {cache} after {WAIT_SECONDS:.0f} s: end it and try again")
            time.sleep(1.0)
        yield


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def main() -> int:
    """Read the command line, install, and say in one line how it ended."""
    parser = argparse.ArgumentParser(prog="demo.install", description=__doc__)
    parser.add_argument("--only", choices=PARTS, default=None, help="one part instead of all three")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of text")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where to install (default: .cache in the checkout)")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that pip, in a group of its own, ends with us
    began = time.monotonic()
    try:
        install((asked.only,) if asked.only else PARTS, asked.cache.resolve(), JsonLines if asked.json else Lines)
    except InstallError as error:
        print(json.dumps({"event": "failed", "error": str(error)}) if asked.json else f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: run the same command again to go on where it stopped", file=sys.stderr)
        return 130
    seconds = round(time.monotonic() - began, 2)
    print(json.dumps({"event": "ready", "seconds": seconds}) if asked.json else f"ready after {seconds} s")
    return 0


if __name__ == "__main__":
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"error: Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed, this is {sys.version.split()[0]}")
    sys.exit(main())
