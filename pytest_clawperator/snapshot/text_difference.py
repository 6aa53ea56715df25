"""Where two texts differ, for messages in which both would look the same."""

from __future__ import annotations

import unicodedata

from pytest_clawperator.redaction import SECRETS

_AROUND = 12
_NAMED = 3


def first_difference(wanted: str, found: str) -> int:
    """Return the place of the first character that differs."""
    pairs = enumerate(zip(wanted, found, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(wanted), len(found)))


def surroundings(text: str, at: int) -> str:
    """Return the part of a text around a place, with dots where it was cut.

    A part of a secret might not be recognised, so that such a text is returned whole.
    """
    if SECRETS.is_in(text):
        return text
    start, end = max(0, at - _AROUND), at + 2 * _AROUND
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def lookalikes(wanted: str, found: str) -> str | None:
    """Name the characters that differ but may look alike; None where others differ."""
    if wanted == found or len(wanted) != len(found) or not (wanted + found).isprintable():
        return None
    if SECRETS.is_in(wanted) or SECRETS.is_in(found):
        return None
    differing = [n for n, (a, b) in enumerate(zip(wanted, found, strict=True)) if a != b]
    if any(not _may_look_alike(wanted[n], found[n]) for n in differing):
        return None
    named = [
        f"character {n + 1} is {_named(found[n])}, wanted {_named(wanted[n])}"
        for n in differing[:_NAMED]
    ]
    rest = len(differing) - len(named)
    return "; ".join(named) + (f"; and {rest} more" if rest else "")


def _may_look_alike(one: str, other: str) -> bool:
    """Whether two characters come from different alphabets, as Latin and Cyrillic a."""
    if one.isascii() and other.isascii():
        return False
    return _alphabet(one) != _alphabet(other)


def _alphabet(character: str) -> str:
    if character.isascii():
        return "LATIN"
    return unicodedata.name(character, "").partition(" ")[0]


def _named(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
