"""Finding secrets in a text, in every form in which they travel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from pytest_clawperator.redaction.forms import forms_of, lines_of

#: What stands in the place of a secret. It has no letter, so that no secret is part of it.
MARK = "[***]"
#: A shorter secret is part of too many other texts: it is hidden only where it stands alone.
SHORTEST = 4
# A secret is looked up by a few of its first characters, at every so many of the text; and a
# part of it by more of them, which is hidden if it has twice as many.
_STRIDE, _WINDOW = 4, 8
_LEAST_SOUGHT = 2 * _STRIDE - 1
# The least of a secret that is recognised where a text was cut.
_LEAST_PART = 3
_CUT = re.compile(r"\.\.\.|…")
# Where Python prints a long text in several lines, it breaks it after a space.
_SPACE = re.escape(" ")
_BROKEN_SPACE = _SPACE + r"""(?:['"]\n[ E+\-]*['"])?"""
# Before and after a secret that stands alone.
_BEFORE, _AFTER = r"""(["']|\btext=)""", r"""(?=\\*["']|[\s,)\]}]|$)"""
_NOTHING: re.Pattern[str] = re.compile(r"(?!)")


class Secrets(NamedTuple):
    """What is hidden: whole texts, and patterns; ``on_screen``: a screen may show one of them."""

    texts: frozenset[str] = frozenset()
    patterns: tuple[re.Pattern[str], ...] = ()
    on_screen: bool = False


class Finder:
    """Replaces these secrets by a mark; a run may have thousands of them."""

    def __init__(self, secrets: Secrets) -> None:
        self.secrets = secrets

    def hide(self, text: str) -> str:
        """Return the text with marks, also for what is left of a secret that was cut."""
        (text,) = _marked([text], self._flags(text))
        text = self._alone.sub(lambda found: found[1] + MARK, text)
        for pattern in self.secrets.patterns:
            text = pattern.sub(MARK, text)
        return self._hide_cut(text)

    def hide_across(self, parts: Sequence[str]) -> list[str]:
        """Return the parts of a text with marks, also where a cut goes through a secret."""
        joined = "".join(parts)
        flags = self._flags(joined)
        for pattern in self.secrets.patterns:
            for found in pattern.finditer(joined):
                _flag(flags, *found.span())
        return [self.hide(part) for part in _marked(parts, flags)]

    def hide_beginning(self, text: str) -> str:
        """Hide the beginning of a secret at the end of a text that was cut there."""
        for place in range(max(len(text) - self._longest, 0), len(text) - _LEAST_PART + 1):
            forms = self._by_beginning.get(text[place : place + _LEAST_PART], ())
            if any(form.startswith(text[place:]) for form in forms):
                return text[:place] + MARK
        return text

    def hide_end(self, text: str) -> str:
        """Hide the end of a secret at the beginning of a text that was cut there."""
        for place in range(min(len(text), self._longest), _LEAST_PART - 1, -1):
            forms = self._by_end.get(text[place - _LEAST_PART : place], ())
            if any(form.endswith(text[:place]) for form in forms):
                return MARK + text[place:]
        return text

    def _flags(self, text: str) -> bytearray:
        """Return a 1 for each character of the text that is part of a secret."""
        flags = bytearray(len(text))
        for found in self._others.finditer(text):
            _flag(flags, *found.span())
        if self._by_start:
            for place in range(0, len(text), _STRIDE):
                for form, at in self._by_start.get(text[place : place + _STRIDE], ()):
                    if place >= at and text.startswith(form, place - at):
                        _flag(flags, place - at, place - at + len(form))
        if self._windows:
            for place in range(0, len(text), _WINDOW):
                form, at = self._windows.get(text[place : place + _WINDOW], ("", 0))
                if form and not flags[place]:
                    _flag(flags, *_extended(text, place, form, at))
        return flags

    def _hide_cut(self, text: str) -> str:
        """Hide what is left of a secret before and after dots that stand for the rest."""
        if not self._forms or not _CUT.search(text):
            return text
        pieces = list(_split(text))
        last = len(pieces) - 1
        for place in range(0, last + 1, 2):
            if place > 0:
                pieces[place] = self.hide_end(pieces[place])
            if place < last:
                pieces[place] = self.hide_beginning(pieces[place])
        return "".join(pieces)

    @cached_property
    def _forms(self) -> list[str]:
        """The forms of secrets that are hidden anywhere."""
        texts = {one for text in self.secrets.texts for one in (text, *lines_of(text))}
        return _all_forms(text for text in texts if not _is_short(text))

    @cached_property
    def _longest(self) -> int:
        return len(self._forms[0]) if self._forms else 0

    @cached_property
    def _others(self) -> re.Pattern[str]:
        """Match forms that are too short to be looked up, or that may be broken at a space."""
        forms = [form for form in self._forms if len(form) < _LEAST_SOUGHT or " " in form]
        words = [re.escape(form).replace(_SPACE, _BROKEN_SPACE) for form in forms]
        return re.compile("|".join(words)) if words else _NOTHING

    @cached_property
    def _alone(self) -> re.Pattern[str]:
        forms = _all_forms(text for text in self.secrets.texts if _is_short(text))
        words = "|".join(map(re.escape, forms))
        return re.compile(f"{_BEFORE}(?:{words}){_AFTER}") if forms else _NOTHING

    @cached_property
    def _by_start(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for form in self._forms:
            for at in range(_STRIDE if len(form) >= _LEAST_SOUGHT else 0):
                found.setdefault(form[at : at + _STRIDE], []).append((form, at))
        return found

    @cached_property
    def _windows(self) -> dict[str, tuple[str, int]]:
        return {
            form[at : at + _WINDOW]: (form, at)
            for form in self._forms
            if len(form) > 2 * _WINDOW
            for at in range(len(form) - _WINDOW + 1)
        }

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        return _grouped((form[:_LEAST_PART], form) for form in self._forms)

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        return _grouped((form[-_LEAST_PART:], form) for form in self._forms)


def _is_short(text: str) -> bool:
    return len(text.strip()) < SHORTEST


def _all_forms(texts: Iterable[str]) -> list[str]:
    """Return the forms of all texts, the longest first: one may be part of another."""
    forms = {form for text in texts for form in forms_of(text)}
    return sorted(forms, key=lambda form: (-len(form), form))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, form in pairs:
        found.setdefault(key, []).append(form)
    return found


def _flag(flags: bytearray, start: int, end: int) -> None:
    flags[start:end] = b"\1" * (end - start)


def _extended(text: str, place: int, form: str, at: int) -> tuple[int, int]:
    """Return how far a text is a part of a secret around a place; nothing if that is short."""
    before = text[max(place - at, 0) : place]
    start = place - _same(reversed(before), reversed(form[:at]))
    end = place + _same(text[place : place + len(form)], form[at:])
    return (start, end) if end - start >= 2 * _WINDOW else (place, place)


def _same(one: Iterable[str], other: Iterable[str]) -> int:
    """Return how many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _split(text: str) -> Iterator[str]:
    """Yield what stands before, between and after dots, and the dots in turn."""
    end = 0
    for found in _CUT.finditer(text):
        yield text[end : found.start()]
        yield found[0]
        end = found.end()
    yield text[end:]


def _marked(parts: Sequence[str], flags: bytearray) -> Iterator[str]:
    """Yield the parts of a text with marks in place of the characters that are flagged."""
    start = 0
    for part in parts:
        shown, place = [], 0
        for run in re.finditer(rb"\x01+", flags[start : start + len(part)]):
            shown += [part[place : run.start()], MARK]
            place = run.end()
        yield "".join([*shown, part[place:]])
        start += len(part)
