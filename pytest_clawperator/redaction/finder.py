"""Finding secrets in a text, in every form in which they travel."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from pytest_clawperator.redaction.forms import forms_of, lines_of

#: What stands in the place of a secret. It has no letter, so that no secret is part of it.
MARK = "[***]"
#: A shorter secret is part of too many other texts: it is hidden only where it stands alone.
SHORTEST = 4
# The least of a secret that is recognised where a text was cut.
_LEAST_PART = 3
_CUT = re.compile(r"\.\.\.|…")
# Where Python prints a long text in several lines, it breaks it after a space.
_SPACE = re.escape(" ")
_BROKEN_SPACE = _SPACE + r"""(?:['"]\n[ E+\-]*['"])?"""
# Before and after a secret that stands alone.
_BEFORE, _AFTER = r"""(["']|\btext=)""", r"""(?=\\*["']|[\s,)\]}]|$)"""
# A part of a secret is found by any so many characters of it, and hidden if it has twice as many.
_WINDOW = 8
_NOTHING: re.Pattern[str] = re.compile(r"(?!)")


class Secrets(NamedTuple):
    """What is hidden: whole texts, and patterns."""

    texts: frozenset[str] = frozenset()
    patterns: tuple[re.Pattern[str], ...] = ()


class Finder:
    """Replaces these secrets by a mark."""

    def __init__(self, secrets: Secrets) -> None:
        self.secrets = secrets

    def hide(self, text: str) -> str:
        """Return the text with marks, also for what is left of a secret that was cut."""
        text = self._anywhere.sub(MARK, text)
        text = self._alone.sub(lambda found: found[1] + MARK, text)
        for pattern in self.secrets.patterns:
            text = pattern.sub(MARK, text)
        return self._hide_parts(self._hide_cut(text))

    def hide_across(self, parts: Sequence[str]) -> list[str]:
        """Return the parts of a text with marks, also where a cut goes through a secret."""
        joined = "".join(parts)
        hidden = bytearray(len(joined))
        for pattern in (self._anywhere, *self.secrets.patterns):
            for found in pattern.finditer(joined):
                hidden[found.start() : found.end()] = b"\x01" * (found.end() - found.start())
        return [self.hide(part) for part in _marked(parts, hidden)]

    def hide_beginning(self, text: str) -> str:
        """Hide the beginning of a secret at the end of a text that was cut there."""
        if not self._beginnings.search(text, max(len(text) - self._longest, 0)):
            return text
        size = max(_shared(text, form) for form in self._forms)
        return text[:-size] + MARK if size else text

    def hide_end(self, text: str) -> str:
        """Hide the end of a secret at the beginning of a text that was cut there."""
        if not self._ends.search(text, 0, self._longest):
            return text
        size = max(_shared(form, text) for form in self._forms)
        return MARK + text[size:] if size else text

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

    def _hide_parts(self, text: str) -> str:
        """Hide what is a part of a long secret: diffs and excerpts show such."""
        if not self._windows:
            return text
        shown, end = [], 0
        for place in range(0, len(text) - _WINDOW + 1, _WINDOW):
            form, at = self._windows.get(text[place : place + _WINDOW], ("", 0))
            if not form or place < end:
                continue
            start = place - _same(reversed(text[end:place]), reversed(form[:at]))
            stop = place + _same(text[place : place + len(form)], form[at:])
            if stop - start >= 2 * _WINDOW:
                shown += [text[end:start], MARK]
                end = stop
        return "".join([*shown, text[end:]])

    @cached_property
    def _forms(self) -> list[str]:
        """The forms of secrets that are hidden anywhere."""
        texts = {one for text in self.secrets.texts for one in (text, *lines_of(text))}
        return _all_forms(text for text in texts if not _is_short(text))

    @cached_property
    def _longest(self) -> int:
        return len(self._forms[0])

    @cached_property
    def _windows(self) -> dict[str, tuple[str, int]]:
        """The forms of long secrets, and places in them, by the characters at that place."""
        return {
            form[at : at + _WINDOW]: (form, at)
            for form in self._forms
            if len(form) > 2 * _WINDOW
            for at in range(len(form) - _WINDOW + 1)
        }

    @cached_property
    def _anywhere(self) -> re.Pattern[str]:
        return _any_of(self._forms, breakable=True)

    @cached_property
    def _alone(self) -> re.Pattern[str]:
        forms = _all_forms(text for text in self.secrets.texts if _is_short(text))
        if not forms:
            return _NOTHING
        return re.compile(f"{_BEFORE}(?:{_any_of(forms).pattern}){_AFTER}")

    @cached_property
    def _beginnings(self) -> re.Pattern[str]:
        return _any_of({form[:_LEAST_PART] for form in self._forms})

    @cached_property
    def _ends(self) -> re.Pattern[str]:
        return _any_of({form[-_LEAST_PART:] for form in self._forms})


def _is_short(text: str) -> bool:
    return len(text.strip()) < SHORTEST


def _all_forms(texts: Iterator[str]) -> list[str]:
    """Return the forms of all texts, the longest first: one may be part of another."""
    forms = {form for text in texts for form in forms_of(text)}
    return sorted(forms, key=lambda form: (-len(form), form))


def _any_of(texts: Collection[str], *, breakable: bool = False) -> re.Pattern[str]:
    words = [re.escape(text) for text in texts]
    if breakable:
        words = [word.replace(_SPACE, _BROKEN_SPACE) for word in words]
    return re.compile("|".join(words)) if words else _NOTHING


def _shared(before: str, after: str) -> int:
    """Return how many characters both the end of one text and the beginning of another are."""
    sizes = range(min(len(before), len(after)), _LEAST_PART - 1, -1)
    return next((size for size in sizes if before.endswith(after[:size])), 0)


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


def _marked(parts: Sequence[str], hidden: bytearray) -> Iterator[str]:
    """Yield the parts with marks in place of the characters that are hidden."""
    start = 0
    for part in parts:
        flags = hidden[start : start + len(part)]
        start += len(part)
        text, place = [], 0
        for run in re.finditer(rb"\x01+", flags):
            text += [part[place : run.start()], MARK]
            place = run.end()
        yield "".join([*text, part[place:]])
