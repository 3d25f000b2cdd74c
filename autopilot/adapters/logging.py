"""One JSON line per event on standard output, ours and the libraries' alike."""

import logging
import sys
from collections.abc import Sequence

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import Processor

# What they tell at info is every job and every request; what matters of it is in our own lines.
_QUIET = ("apscheduler", "uvicorn.access", "urllib3", "kubernetes")

_EVERY_EVENT: Sequence[Processor] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
)


def log_json(level: str) -> None:
    """Write JSON lines, for machines. `level` is debug, info, warning, error or critical; ValueError for others."""
    # Locals would show credentials and whole answers of Prometheus.
    traceback = structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False))
    _configure(level, [traceback, structlog.processors.JSONRenderer()])


def log_for_people(level: str) -> None:
    """Write aligned lines, for a terminal. `level` as in `log_json`."""
    _configure(level, [structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty(), exception_formatter=structlog.dev.plain_traceback)])


def _configure(level: str, rendering: Sequence[Processor]) -> None:
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        message = f'"{level}" is not a level, write debug, info, warning, error or critical'
        raise ValueError(message)
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_EVERY_EVENT, structlog.stdlib.PositionalArgumentsFormatter()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    logging.basicConfig(handlers=[handler], level=number, force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    # Through the standard library's handler: it survives a standard output that is closed or full.
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_EVERY_EVENT, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
