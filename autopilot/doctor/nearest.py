"""The names that are there and most like one that is not."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST = 3
_LIKE = 0.6  # difflib's own measure; under it words share letters by chance


def nearest(wanted: str, existing: Iterable[str]) -> tuple[str, ...]:
    """At most three, the likest first: the same but for case, then one that contains the other, then the rest."""
    names = sorted(set(existing) - {wanted, ""})
    folded = wanted.casefold()
    same = [name for name in names if name.casefold() == folded]
    inside = [name for name in names if folded and (folded in name.casefold() or name.casefold() in folded)]
    inside.sort(key=lambda name: abs(len(name) - len(wanted)))
    by_fold = {name.casefold(): name for name in reversed(names)}
    close = [by_fold[one] for one in get_close_matches(folded, by_fold, n=MOST, cutoff=_LIKE)]
    return tuple(dict.fromkeys([*same, *inside, *close]))[:MOST]


def spelt_alike(wanted: str, existing: Iterable[str]) -> bool:
    """Whether one of them is the same but for case, or one contains the other."""
    folded = wanted.casefold()
    return any(folded in name.casefold() or name.casefold() in folded for name in existing if folded and name)


def there_is(wanted: str, existing: Iterable[str]) -> str:
    """For a line: the nearest names, or how many others there are."""
    names = set(existing)
    found = nearest(wanted, names)
    if found:
        return f"there is {', '.join(map(_quoted, found))}"
    if not names:
        return "there is none"
    some = ", ".join(map(_quoted, sorted(names)[:MOST]))
    return f"there are {len(names)} others, such as {some}" if len(names) > MOST else f"there is {some}"


def _quoted(name: str) -> str:
    return f'"{name}"'
