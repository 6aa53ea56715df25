"""The forms in which a text travels: escaped, quoted or encoded by whoever passes it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from urllib.parse import quote, quote_plus

from pytest_clawperator.visible_text import visible, visible_in_xml, visible_line

# Both quotes in front make Python escape the single one, as it does inside of longer texts.
_QUOTES = "'\""


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
    """Return how half characters look in a file that is read in this way."""
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
