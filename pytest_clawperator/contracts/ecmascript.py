"""Text, numbers, JSON and patterns as the reference host, a JavaScript program, understands them.

The contract counts string lengths in UTF-16 units, trims by ECMAScript's idea of white
space, and turns values into text by ``String(value)``. Python differs in all three; its JSON
parser also accepts NaN and Infinity.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from json import JSONEncoder
from typing import Any, NoReturn

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

LARGEST_NUMBER = 1.7976931348623157e308
LARGEST_EXACT_INTEGER = 2**53 - 1

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING_ENCODER = JSONEncoder(ensure_ascii=False)


def utf16_length(text: str) -> int:
    """Count UTF-16 units: an emoji is two."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def trim(text: str) -> str:
    """Strip white space as ``String.prototype.trim`` does."""
    return text.strip(WHITESPACE)


def is_blank(text: str) -> bool:
    """Whether nothing is left after trimming."""
    return not text.strip(WHITESPACE)


def number_to_string(number: int | float) -> str:
    """Write a number as ``String(number)`` does: every number is a double."""
    try:
        value = float(number)
    except OverflowError:
        return "Infinity" if number > 0 else "-Infinity"
    if value != value:
        return "NaN"
    if abs(value) == float("inf"):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int), "only NaN and infinities have a letter here"
    return ("-" if sign else "") + _place_point("".join(map(str, digits)), exponent)


def _place_point(digits: str, exponent: int) -> str:
    point = len(digits) + exponent
    if 0 < point <= 21:
        if exponent >= 0:
            return digits + "0" * exponent
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}e{point - 1:+d}"


def to_string(value: Any) -> str:
    """Turn a JSON value into text as ``String(value)`` does."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_to_string(value)
    if isinstance(value, list):
        return ",".join("" if item is None else to_string(item) for item in value)
    return "[object Object]"


def stringify(value: Any) -> str:
    """Write compact JSON as ``JSON.stringify`` does, lone surrogates escaped."""
    if value is None or isinstance(value, bool):
        return to_string(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, (int, float)):
        text = number_to_string(value)
        return "null" if text[-1] in "yN" else text
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(stringify, value)) + "]"
    return "{" + ",".join(f"{_quote(k)}:{stringify(v)}" for k, v in value.items()) + "}"


def _quote(text: str) -> str:
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _LONE_SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", _STRING_ENCODER.encode(paired))


def parse_json(text: str) -> Any:
    """Parse JSON text; raise ValueError or RecursionError if it is invalid."""
    return _STRICT_JSON.decode(text)


def why_not_json(error: ValueError | RecursionError) -> str:
    """Return in a few words why :func:`parse_json` failed."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, json.JSONDecodeError) or "JSON" in str(error):
        return str(error)
    return "it holds a number of too many digits"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_STRICT_JSON = json.JSONDecoder(parse_constant=_refuse_constant)

_PATTERN_TOKEN = re.compile(
    r"""
      (?P<text>    \\Q .*? (?: \\E | \Z ) )
    | (?P<escape>  \\ (?: k<\w+> | [pPuxN]\{[^}]*\} | c. | . ) )
    | (?P<flags>   \(\? [a-zA-Z]* (?: -[a-zA-Z]+ )? \) )
    | (?P<open>    \( (?: \? (?: [:=!>] | <[=!] | <(?P<name>[^\W\d]\w*)>
                                  | [a-zA-Z]*(?:-[a-zA-Z]+)?: )
                        | (?!\?) ) )
    | (?P<close>   \) )
    | (?P<class>   \[ \^? (?P<inside> (?: \\. | [^\]\\] )* ) \] )
    | (?P<count>   \{ (?P<least>\d+) (?: , (?P<most>\d*) )? \} [?+]? )
    | (?P<repeat>  [*+?] [?+]? )
    | (?P<either>  \| )
    | (?P<broken>  [\[(\\] )
    | (?P<other>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
# A range between two plain characters; after an escaped class a dash is only a dash.
_CLASS_RANGE = re.compile(r"\\.|(?P<first>[^\\])-(?P<last>[^\\\]])|.", re.DOTALL)


def is_pattern(pattern: str) -> bool:
    """Whether ``pattern`` could be a regular expression of the device.

    It runs on the device in Java's dialect, and the reference host checks it in JavaScript's.
    Python can compile neither, so this finds only what is broken in both: unbalanced groups, open
    classes, reversed ranges, quantifiers with nothing to repeat, repeated group names.
    """
    depth, repeatable = 0, False
    names: list[str] = []
    for token in _PATTERN_TOKEN.finditer(pattern):
        kind = token.lastgroup
        if _is_broken(token, depth=depth, repeatable=repeatable):
            return False
        if token["name"]:
            names.append(token["name"])
        depth += (kind == "open") - (kind == "close")
        if kind != "count":
            repeatable = kind not in ("open", "flags", "repeat", "either")
    # Newer JavaScript lets two alternatives have groups of one name.
    is_ambiguous = len(set(names)) < len(names) and "|" not in pattern
    return depth == 0 and not is_ambiguous


def _is_broken(token: re.Match[str], *, depth: int, repeatable: bool) -> bool:
    kind = token.lastgroup
    if kind == "count":
        return not repeatable or not _count_fits(token["least"], token["most"])
    if kind == "class":
        return not _ranges_fit(token["inside"])
    return (
        kind == "broken"
        or (kind == "close" and depth == 0)
        or (kind == "repeat" and not repeatable)
    )


def _ranges_fit(inside: str) -> bool:
    ranges = (found for found in _CLASS_RANGE.finditer(inside) if found["first"])
    return all(found["first"] <= found["last"] for found in ranges)


def _count_fits(least: str, most: str | None) -> bool:
    # Compared as text: the numbers may be longer than Python reads.
    longest = max(len(least), len(most or ""))
    return not most or least.zfill(longest) <= most.zfill(longest)
