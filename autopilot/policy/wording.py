"""What pydantic found, as complaints in words that say what to write instead."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from autopilot.policy.problems import Complaint, Path, did_you_mean, nearest, one_of, quoted
from autopilot.policy.schema_conditions import CONDITION_KEYS
from autopilot.policy.shapes import FLEET_NAME, LABEL_NAME, NAME, WORD

Model = TypeVar("Model", bound=BaseModel)

_PATTERNS = {
    NAME: "write lower-case letters, digits and dashes",
    WORD: "write letters, digits, dashes and underscores",
    LABEL_NAME: "write a label's name: letters, digits and underscores",
    FLEET_NAME: "write it as namespace/name",
}
_KINDS = {
    "string_type": "write text",
    "int_type": "write a whole number",
    "float_type": "write a number",
    "bool_type": "write true or false",
    "model_type": "write a mapping",
    "model_attributes_type": "write a mapping",
    "dict_type": "write a mapping",
    "tuple_type": "write a list",
    "timezone_aware": 'write it with its offset, such as "2026-12-18T18:00:00+01:00"',
    "datetime_parsing": 'write a moment with its offset, such as "2026-12-18T18:00:00+01:00"',
    "datetime_from_date_parsing": 'write a moment with its offset, such as "2026-12-18T18:00:00+01:00"',
    "recursion_loop": "write a condition that ends",
}
_LIMITS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def validated(model: type[Model], value: object) -> Model | tuple[Complaint, ...]:
    """The value as a model, or everything that is wrong with it."""
    try:
        return model.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        found: dict[Path, dict[str, None]] = defaultdict(dict)
        for complaint in _complaints(error, model, value):
            found[complaint.path][complaint.what] = None  # each member of a union complains
        return tuple(Complaint(path, "; or ".join(whats)) for path, whats in found.items())


def _complaints(error: ValidationError, model: type[BaseModel], value: object) -> Iterator[Complaint]:
    for found in error.errors(include_url=False):
        # Where an item of a list is refused, pydantic may call the list too short as well.
        if not (found["type"] == "too_short" and found.get("input")):
            path = _path(found["loc"], value, missing=found["type"] == "missing")
            yield Complaint(path, _what(found, path, model))


def _path(loc: Sequence[str | int], value: Any, *, missing: bool) -> Path:
    """The place in the file: pydantic's location without the names of union members."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        inside = _holds(value, part)
        if inside:
            value = value[part]
        if inside or (missing and index == len(loc) - 1):
            path.append(part)
    return tuple(path)


def _holds(value: Any, part: str | int) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value)


def _what(found: Mapping[str, Any], path: Path, model: type[BaseModel]) -> str:
    kind, context, given = found["type"], found.get("ctx", {}), found.get("input")
    match kind:
        case "missing":
            return f"required here, write {path[-1]}: and its value"
        case "extra_forbidden":
            return f"unknown key, {did_you_mean(str(path[-1]), known_keys(model, found['loc'][:-1]))}"
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            return f"{quoted(given)} is not known here, {_choice(given, context['expected'])}"
        case "union_tag_not_found" | "union_tag_invalid":
            return f"a condition starts with {one_of(CONDITION_KEYS)}"
        case _:
            return _limit(kind, context, given)


def _limit(kind: str, context: Mapping[str, Any], given: object) -> str:
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        percent = f", or {given}%" if name in ("lt", "le") and context[name] == 1 and _looks_like_percent(given) else ""
        return f"{quoted(given)} is out of range, write {words} {_number(context[name])}{percent}"
    if kind in _KINDS:
        return f"{quoted(given)} does not fit, {_KINDS[kind]}"
    match kind:
        case "string_pattern_mismatch":
            return f"{quoted(given)} does not fit, {_PATTERNS.get(context['pattern'], 'write it to match ' + context['pattern'])}"
        case "too_short" | "string_too_short":
            return "nothing is in here, write at least one"
        case "too_long" | "string_too_long":
            return f"too long, write at most {context['max_length']}"
        case _:
            return f"{quoted(given)} does not fit: {kind.replace('_', ' ')}"


def _looks_like_percent(given: object) -> bool:
    return isinstance(given, int | float) and 1 < given <= 100


def _choice(given: object, expected: str) -> str:
    names = re.findall(r"'([^']*)'|\b(True|False)\b", expected)
    known = [name or boolean.lower() for name, boolean in names]
    guess = nearest(given, known) if isinstance(given, str) else None
    return f"did you mean {guess}? ({one_of(known)})" if guess else f"write {one_of(known)}"


def _number(limit: object) -> str:
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def known_keys(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The keys that the mapping at this location of a model knows."""
    here: list[type[BaseModel]] = [model]
    for part in loc:
        deeper = [inner for shape in here for inner in _inside(shape, part)]
        here = deeper or here  # an index or the name of a union's member leads to the same models
    return [_alias(name, shape) for shape in here for name in shape.model_fields]


def _alias(name: str, shape: type[BaseModel]) -> str:
    return shape.model_fields[name].alias or name


def _inside(shape: type[BaseModel], part: str | int) -> list[type[BaseModel]]:
    for name, info in shape.model_fields.items():
        if part in (name, _alias(name, shape)):
            return list(_models(info.annotation))
    return []


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
