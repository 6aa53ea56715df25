"""JSON as the Operator reads it.

Every scalar is kept as its text, so numbers and booleans pass as strings, quoted numbers pass
as numbers, and ``null`` is the text "null".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pytest_clawperator.simulator.operator.payload.text_validators import parse_double

ARGUMENT = "java.lang.IllegalArgumentException"
STATE = "java.lang.IllegalStateException"
PATTERN = "java.util.regex.PatternSyntaxException"
SYNTAX = "kotlinx.serialization.json.internal.JsonDecodingException"

INT_MAX, LONG_MAX = 2**31 - 1, 2**63 - 1

_INTEGER = re.compile(r"\s*(-?\d+)(?:[eE]([+-]?\d{1,3}))?\s*", re.ASCII)
_MISSING = object()
_Word = TypeVar("_Word", bound=str)


class PayloadRefused(Exception):
    """The app throws this payload away; ``java_class`` is the exception that its log names."""

    def __init__(self, reason: str, *, java_class: str = ARGUMENT) -> None:
        super().__init__(reason)
        self.reason = reason
        self.java_class = java_class


def read_json(payload: str) -> Any:
    """Parse JSON with its numbers as they were written; PayloadRefused where it is none."""
    try:
        return json.loads(payload, strict=False, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as problem:
        raise PayloadRefused(
            f"Unexpected JSON token at offset {problem.pos}: {problem.msg} at path: $\n"
            f"JSON input: {payload[:200]}",
            java_class=SYNTAX,
        ) from problem
    except RecursionError as problem:
        raise PayloadRefused("the payload is nested too deeply", java_class=SYNTAX) from problem


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class JsonObject:
    """A JSON object, read as the app reads it."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise PayloadRefused(f"Element class {_element_class(value)} is not a JsonObject")
        self._values: dict[str, Any] = value

    def text(self, key: str, limit: int | None = None) -> str | None:
        """Return a scalar as text; None where the key is missing or holds no scalar."""
        value = self._values.get(key, _MISSING)
        if value is _MISSING or isinstance(value, (dict, list)):
            return None
        text = _content(value)
        if limit is not None and _length(text) > limit:
            raise PayloadRefused(f"{key} exceeds max length of {limit}")
        return text

    def required(self, key: str, limit: int) -> str:
        """Return a scalar that must be there and not be blank."""
        text = self.text(key)
        if text is None:
            raise PayloadRefused(f"{key} is required", java_class=STATE)
        if not text.strip():
            raise PayloadRefused(f"{key} must not be blank")
        if _length(text) > limit:
            raise PayloadRefused(f"{key} exceeds max length of {limit}")
        return text

    def optional(self, key: str, limit: int) -> str | None:
        """Return a scalar that may be missing but not blank."""
        text = self.text(key, limit)
        if text is not None and not text.strip():
            raise PayloadRefused(f"{key} must not be blank")
        return text

    def whole(self, key: str, limit: int = LONG_MAX) -> int | None:
        """Return a whole number; None where it is missing or written as something else."""
        text = self.text(key)
        found = _INTEGER.fullmatch(text) if text is not None and len(text) < 40 else None
        if found is None:
            return None
        number, exponent = int(found[1]), int(found[2] or 0)
        if exponent < 0:
            number, rest = divmod(number, 10**-exponent)
            if rest:
                return None
        else:
            number *= 10**exponent
        return number if -limit - 1 <= number <= limit else None

    def integer(self, key: str, default: int, low: int, high: int) -> int:
        """Return a whole number between two bounds, or the default."""
        number = self.whole(key)
        return default if number is None else min(max(number, low), high)

    def decimal(self, key: str, default: float, low: float, high: float) -> float:
        """Return a number between two bounds, or the default."""
        text = self.text(key)
        number = parse_double(text) if text is not None else None
        if number is None or number != number:
            return default
        return min(max(number, low), high)

    def flag(self, key: str, default: bool) -> bool:
        """Return a truth value, or the default where it is none."""
        return {"true": True, "false": False}.get((self.text(key) or "").lower(), default)

    def array(self, key: str) -> list[Any]:
        """Return an array that must be there."""
        if key not in self._values:
            raise PayloadRefused(f"{key} is required", java_class=STATE)
        value = self._values[key]
        if not isinstance(value, list):
            raise PayloadRefused(f"Element class {_element_class(value)} is not a JsonArray")
        return value

    def object(self, key: str) -> JsonObject | None:
        """Return an object; None where the key is missing, refused where it holds anything else."""
        return JsonObject(self._values[key]) if key in self._values else None

    def word(self, key: str, what: str, words: Mapping[str, _Word]) -> _Word | None:
        """Return what a word stands for, whatever its case; an unknown one is refused."""
        text = self.text(key)
        if text is None:
            return None
        if text.lower() not in words:
            raise PayloadRefused(f"unsupported {what}: {text}", java_class=STATE)
        return words[text.lower()]


def _content(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _element_class(value: Any) -> str:
    if isinstance(value, (dict, list)):
        name = "JsonObject" if isinstance(value, dict) else "JsonArray"
    else:
        name = "JsonNull" if value is None else "JsonLiteral"
    return f"class kotlinx.serialization.json.{name}"
