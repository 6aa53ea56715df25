"""Hide secrets in everything that leaves the process: messages, reports, files, pages.

Screenshots are handled elsewhere: ``blackened`` in ``pictures.py``, ``without_secrets`` in
``plugin/evidence.py``, and ``secret_places`` in ``snapshot/tree.py``.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import takewhile
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus
from xml.parsers.expat import ExpatError, ParserCreate

from pytest_clawperator.text import visible, visible_in_xml, visible_line

# Both quotes in front make Python escape the single one, as it does inside of longer texts.
_QUOTES = "'\""


# The forms in which a text travels: escaped, quoted or encoded by programs that pass it on.


@cache
def forms_of(text: str) -> frozenset[str]:
    """Return the text as it is, and as it looks after one or two of the ways to write it."""
    once = {way(text) for way in _WAYS}
    return frozenset({text, *once}.union(way(form) for form in once for way in _WAYS))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that has several: logs and messages put something between."""
    lines = text.splitlines()
    return lines if len(lines) > 1 else []


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _escaped(text: str) -> str:
    return repr(_QUOTES + text)[4:-1]


def _ascii(text: str) -> str:
    return ascii(_QUOTES + text)[4:-1]


def _of_bytes(text: str) -> str:
    return repr((_QUOTES + text).encode("utf-8", "surrogatepass"))[5:-1]


def _replacing(pairs: Iterable[tuple[str, str]]) -> Callable[[str], str]:
    def way(text: str) -> str:
        for old, new in pairs:
            text = text.replace(old, new)
        return text

    return way


def _decoded(errors: str) -> Callable[[str], str]:
    """Return how lone surrogates look in a file that is read in this way."""
    return lambda text: text.encode("utf-8", "surrogatepass").decode("utf-8", errors)


_XML = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
_DOUBLE = ('"', "&quot;")
_BREAKS = (("\t", "&#9;"), ("\n", "&#10;"), ("\r", "&#13;"))

_WAYS: tuple[Callable[[str], str], ...] = (
    _json,
    lambda text: json.dumps(text)[1:-1],
    lambda text: _json(text).replace("/", "\\/"),
    _escaped,
    lambda text: _escaped(text).replace("\\'", "'"),
    _ascii,
    lambda text: _ascii(text).replace("\\'", "'"),
    _of_bytes,
    lambda text: _of_bytes(text).replace("\\'", "'"),
    _replacing(_XML),
    _replacing((*_XML, _DOUBLE)),
    _replacing((*_XML, _DOUBLE, *_BREAKS)),
    _replacing((*_XML, _DOUBLE, ("'", "&apos;"))),
    _replacing((*_XML, _DOUBLE, ("'", "&#x27;"))),
    _replacing((*_XML, _DOUBLE, ("'", "&#39;"))),
    _replacing((("'", "'\"'\"'"),)),
    _replacing((("'", "'\\''"),)),
    lambda text: quote(text, safe="", errors="backslashreplace"),
    lambda text: quote(text, errors="backslashreplace"),
    lambda text: quote_plus(text, errors="backslashreplace"),
    lambda text: text.encode("utf-8", "backslashreplace").decode(),
    visible,
    visible_line,
    lambda text: visible_in_xml(f'"{text}"')[1:-1],
    _decoded("replace"),
    _decoded("surrogateescape"),
)

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
# When Python prints a long text in several lines, it breaks it after a space.
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


class Redaction:
    """Secrets, and what hides them; nothing is searched while there are none."""

    def __init__(self) -> None:
        self._finder = Finder(Secrets())
        self._adding = threading.Lock()

    @property
    def secrets(self) -> Secrets:
        """What is hidden; it can be put back later."""
        return self._finder.secrets

    @secrets.setter
    def secrets(self, secrets: Secrets) -> None:
        self._finder = Finder(secrets)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to hide."""
        return not any(self.secrets)

    def add(self, text: str, *, on_screen: bool = True) -> None:
        """Hide a text from now on; ``on_screen``: a screen may show it."""
        with self._adding:
            known = self.secrets
            on_screen = known.on_screen or on_screen
            if text.strip() and (text not in known.texts or on_screen != known.on_screen):
                self.secrets = known._replace(texts=known.texts | {text}, on_screen=on_screen)

    def remove(self, text: str) -> None:
        """Hide a text no longer."""
        with self._adding:
            self.secrets = self.secrets._replace(texts=self.secrets.texts - {text})

    def add_pattern(self, pattern: re.Pattern[str]) -> None:
        """Hide from now on what a regular expression matches."""
        with self._adding:
            known = self.secrets
            if pattern not in known.patterns:
                patterns = (*known.patterns, pattern)
                self.secrets = known._replace(patterns=patterns, on_screen=True)

    def add_matches(self, text: str) -> None:
        """Hide in all its forms what a pattern matches in a text."""
        for pattern in self.secrets.patterns:
            for found in pattern.finditer(text):
                self.add(found[0])

    def is_in(self, text: str) -> bool:
        """Whether a text is or holds a secret."""
        return text in self.secrets.texts or self.hide(text) != text

    def hide(self, text: str) -> str:
        """Return a text with a mark in the place of each secret."""
        return text if self.is_empty else self._finder.hide(text)

    def hide_bytes(self, content: bytes) -> bytes:
        """Return the content of a text file with a mark in the place of each secret."""
        if self.is_empty:
            return content
        text = content.decode("utf-8", "surrogateescape")
        return self.hide(text).encode("utf-8", "surrogateescape")

    def hide_across(self, parts: Sequence[str]) -> list[str]:
        """Return the parts of a text that was cut, with a mark also where a secret was cut.

        Text at the cuts may be lost: a part may end or begin in the middle of a secret.
        """
        if self.is_empty:
            return list(parts)
        finder = self._finder
        hidden = finder.hide_across(parts)
        last = len(hidden) - 1
        for place, part in enumerate(hidden):
            ended = finder.hide_beginning(part) if place < last else part
            hidden[place] = finder.hide_end(ended) if place else ended
        return hidden


#: The secrets of this process: no report may show a secret that any client typed.
SECRETS = Redaction()


def hide(text: str) -> str:
    """Return a text with a mark in the place of each secret of this process."""
    return SECRETS.hide(text)


# Words and signs that any report may have. Each is short: some patterns take long for long texts.
_ORDINARY = (
    "test", "passed", "failed", "clawperator", "android", "true", "false", "none",
    "null", "enabled", "disabled", "default", "debug", "release", "local", "localhost",
    "development", "staging", "production", "./test.py:12", "- true",
)  # fmt: skip
_ADVICE = (
    "allowed is a regular expression of the secret alone: write what it begins with, as in"
    " '\\bsk-[A-Za-z0-9]+', or how long it is, as in '[0-9a-f]{32}'"
)
_ENVIRONMENT = "env:"
_NAME = re.compile(r"[A-Za-z0-9_*?]+")


def check_rule(text: str) -> str:
    """Return a rule; raise ``ValueError`` with what was found and what is allowed."""
    if text.startswith(_ENVIRONMENT):
        if not _NAME.fullmatch(text.removeprefix(_ENVIRONMENT)):
            raise ValueError(
                f"found {text!r}, allowed is env: and the name of an environment variable, in"
                " which * and ? stand for others, as in env:*_TOKEN"
            )
        return text
    try:
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError) as exc:
        raise ValueError(f"{text!r} is not a regular expression: {exc}") from exc
    if pattern.search(""):
        raise ValueError(f"{text!r} matches an empty text, which is everywhere; {_ADVICE}")
    for ordinary in _ORDINARY:
        if found := pattern.search(ordinary):
            raise ValueError(
                f"{text!r} matches {found[0]!r} in {ordinary!r}, which is ordinary text, and"
                f" would hide it all over the reports; {_ADVICE}"
            )
    return text


def apply_rule(rule: str, secrets: Redaction, environment: Mapping[str, str]) -> list[str]:
    """Hide what a rule describes; return the variables whose values are ordinary text instead."""
    if not rule.startswith(_ENVIRONMENT):
        secrets.add_pattern(re.compile(rule))
        return []
    wanted = rule.removeprefix(_ENVIRONMENT)
    values = {name: value for name, value in environment.items() if fnmatchcase(name, wanted)}
    left_out = [name for name, value in values.items() if _is_ordinary(value)]
    for name in values.keys() - left_out:
        secrets.add(values[name])
    return left_out


def _is_ordinary(value: str) -> bool:
    """Whether a value is an ordinary word, or so short that it is part of other texts.

    An empty one is neither: it hides nothing, which needs no warning.
    """
    word = value.strip().casefold()
    return 0 < len(word) < SHORTEST or word in _ORDINARY


def hide_in(value: Any, *, packages: Collection[str] = (), kept: Collection[str] = ()) -> Any:
    """Return the value with hidden secrets: lists, tuples and dicts are copied.

    Objects are changed in place if their class is of one of these packages, except for the
    attributes in ``kept``.
    """
    if SECRETS.is_empty:
        return value
    return _Walk(frozenset(packages), frozenset(kept)).hidden(value)


class _Walk:
    def __init__(self, packages: frozenset[str], kept: frozenset[str]) -> None:
        self._packages = packages
        self._kept = kept
        self._changed: set[int] = set()

    def hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return hide(value)
        if isinstance(value, list):
            return [self.hidden(one) for one in value]
        if type(value) is tuple:
            return tuple(self.hidden(one) for one in value)
        if isinstance(value, dict):
            return {self.hidden(key): self.hidden(one) for key, one in value.items()}
        if type(value).__module__.partition(".")[0] in self._packages:
            self._change(value)
        return value

    def _change(self, thing: Any) -> None:
        fields = getattr(thing, "__dict__", None)
        if fields is None or id(thing) in self._changed:
            return
        self._changed.add(id(thing))
        for name, value in list(fields.items()):
            if name not in self._kept:
                fields[name] = self.hidden(value)


_JSON_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')
_XML_VALUE = re.compile(r""""[^"]*"|'[^']*'|>[^<]*<""")


def hide_in_document(content: bytes, *, name: str) -> bytes:
    """Return the content of a text file with a mark in the place of each secret.

    A secret may also be part of what makes the file JSON or XML, as ``password`` and ``0000``
    are in ``password="true"`` and ``30000``. Such a file is searched value by value.
    """
    hidden = SECRETS.hide_bytes(content)
    if hidden == content:
        return content
    if name.endswith("json") and _is_json(content) and not _is_json(hidden):
        return _in_values(content, _JSON_VALUE, _hidden_json)
    # Comments and the like have no values.
    is_plain = name.endswith("xml") and b"<!" not in content
    if is_plain and _is_xml(content) and not _is_xml(hidden):
        return _in_values(content, _XML_VALUE, _hidden_between)
    return hidden


def _in_values(
    content: bytes, value: re.Pattern[str], hidden: Callable[[re.Match[str]], str]
) -> bytes:
    return value.sub(hidden, content.decode()).encode()


def _hidden_json(value: re.Match[str]) -> str:
    """Hide secrets in a string, and a number that is a secret itself."""
    if value[0].startswith('"'):
        return _hidden_between(value)
    return f'"{MARK}"' if hide(value[0]) == MARK else value[0]


def _hidden_between(value: re.Match[str]) -> str:
    """Hide secrets between the first and the last character, which belong to the format."""
    first, last, hidden = value[0][0], value[0][-1], hide(value[0])
    if hidden.startswith(first) and hidden.endswith(last):
        return hidden
    return f"{first}{MARK}{last}"


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content.decode())
    except (ValueError, RecursionError):
        return False
    return True


def _is_xml(content: bytes) -> bool:
    try:
        content.decode()
        ParserCreate().Parse(content, True)
    except (ValueError, ExpatError):
        return False
    return True
