"""Our frozen dataclasses as JSON and back, bit for bit.

Durations are seconds, exact to the microsecond within 270 years; infinities and NaN are the strings that pydantic
reads back as floats, so that every text is JSON by the standard; alternatives are told apart by their `kind`.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, overload

from pydantic import ConfigDict, TypeAdapter

from autopilot.domain.memory import SCHEMA, Memory

T = TypeVar("T")

_CONFIG = ConfigDict(ser_json_timedelta="float", ser_json_inf_nan="strings")


class UnknownSchema(ValueError):  # noqa: N818  # as the ports' errors: it reads as what it says
    """A Memory was written by a version of the autopilot that this one cannot read."""


@dataclass(frozen=True, slots=True)
class _Versioned:
    """The one field that every version of Memory has."""

    schema: int


def memory_to_json(memory: Memory) -> str:
    """One Memory as JSON."""
    return encode(memory, Memory)


def memory_from_json(text: str) -> Memory:
    """Read what `memory_to_json` wrote. Raises UnknownSchema, or ValueError for anything that is no Memory."""
    schema = decode(text, _Versioned).schema
    if schema != SCHEMA:
        message = f"a memory of schema {schema} was found, this version reads schema {SCHEMA}"
        raise UnknownSchema(message)
    return decode(text, Memory)


def encode(value: object, form: Any) -> str:
    """A value of the dataclass, or union of dataclasses, `form` as JSON. It must be one: a stranger's fields are left out."""
    return _adapter(form).dump_json(value).decode()


@overload
def decode(text: str, form: type[T]) -> T: ...
@overload
def decode(text: str, form: Any) -> Any: ...
def decode(text: str, form: Any) -> Any:
    """Read what `encode` wrote with the same `form`. Raises ValueError (pydantic's) for anything else."""
    value = _adapter(form).validate_json(text)
    if value is None:
        message = "null stands where a value was expected"
        raise ValueError(message)
    return value


@cache
def _adapter(form: Any) -> TypeAdapter[Any]:
    # pydantic refuses a config beside a bare dataclass; a union takes one, and hands it down to its members.
    return TypeAdapter(form | None, config=_CONFIG)
