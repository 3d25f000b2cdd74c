"""A ratio as files spell it: `60%` or `0.6`."""

import math
import re
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*", re.ASCII)


def parse_ratio(value: object) -> object:
    """Turn `60%` into 0.6; leave numbers to be checked. Raises ValueError for any other text, NaN and booleans."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    found = _PERCENT.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    if found is None:
        shown = f'"{value[:60]}"' if isinstance(value, str) else "this value"
        raise ValueError(f"{shown} is not a ratio, write it as 60% or 0.6")
    return round(float(found.group(1)) / 100.0, 12)


Ratio = Annotated[
    float,
    BeforeValidator(parse_ratio),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*%\s*$"}],
            "description": "a ratio: 60% or 0.6",
        }
    ),
]
