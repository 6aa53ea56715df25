"""Texts of a file that know where they stand."""

from __future__ import annotations


class SourceText(str):
    """A text of a YAML file; ``place`` is its file, line and column: ``shop.yaml:7:12``."""

    __slots__ = ("place",)
    place: str

    @classmethod
    def at(cls, place: str, text: str) -> SourceText:
        """Return a text that stands at a place."""
        found = cls(text)
        found.place = place
        return found


def place_of(value: object) -> str:
    """Return where a text stands; empty for one that is from no file."""
    return value.place if isinstance(value, SourceText) else ""


def without_places(value: object) -> object:
    """Return a value with plain texts in it, as apps hold them."""
    if isinstance(value, SourceText):
        return str(value)
    if isinstance(value, list):
        return [without_places(entry) for entry in value]
    if isinstance(value, dict):
        return {without_places(key): without_places(entry) for key, entry in value.items()}
    return value
