"""Word values, choices and suggestions for messages."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible_line

_LONGEST_QUOTE = 60


def describe(value: Any) -> str:
    """Describe a value in a few words, whatever it is and however large."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int):
        return f"number {value}" if abs(value) < 10**21 else "a number of more than 21 digits"
    if isinstance(value, float):
        return f"number {value}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {len(value)} key(s)"
    return f"a Python {type(value).__name__}"


def shown(value: Any) -> str:
    """Return a value as Python writes it; in a few words if it is nested too deeply for that."""
    try:
        return repr(value)
    except RecursionError:
        return describe(value)


def quote(text: str) -> str:
    """Quote text for a message: one line, bounded, with invisible characters shown."""
    text = hide(text)
    cut = text[:_LONGEST_QUOTE]
    return visible_line(json.dumps(cut, ensure_ascii=False)) + ("..." if cut != text else "")


def listed(words: Iterable[str], limit: int = 10) -> str:
    """Join words for a message; after ``limit`` of them only the number of the rest is given."""
    every = list(words)
    shown = [_shown(word) for word in islice(every, limit)]
    rest = len(every) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _shown(word: str) -> str:
    return word if word.isidentifier() and len(word) <= _LONGEST_QUOTE else quote(word)


def suggestion(
    words: Sequence[str], options: Sequence[str], aliases: Mapping[str, str]
) -> str | None:
    """Return what the first few words were probably meant to be, or None."""
    near = [(word, closest(word, options, aliases)) for word in words[:5]]
    meant = [(word, option) for word, option in near if option is not None]
    if len(words) == 1 or not meant:
        return meant[0][1] if meant else None
    return ", ".join(f"{_shown(word)} -> {option}" for word, option in meant)


def closest(
    word: str, options: Iterable[str], aliases: Mapping[str, str] | None = None
) -> str | None:
    """Return the option that ``word`` was probably meant to be, or None.

    ``aliases`` are other spellings of the options: being close to one of them counts as well.
    """
    plain = {_plain(alias): option for alias, option in (aliases or {}).items()}
    plain.update((_plain(option), option) for option in options)
    near = difflib.get_close_matches(_plain(word[:64]), plain, n=1, cutoff=0.7)
    return plain[near[0]] if near else None


def _plain(word: str) -> str:
    return word.replace("_", "").replace("-", "").strip().lower()
