"""Secrets in files of JSON and XML, which stay readable for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from xml.parsers.expat import ExpatError, ParserCreate

from pytest_clawperator.redaction.finder import MARK
from pytest_clawperator.redaction.redaction import SECRETS, hide

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
