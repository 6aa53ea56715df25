"""Numbers on the command line, read as the reference host reads them."""

from __future__ import annotations

import math
import re

from pytest_clawperator.contracts.ecmascript import trim

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_OTHER_BASE = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", re.ASCII)
_INFINITY = re.compile(r"[+-]?Infinity")


def read_number(text: str) -> float:
    """Return the number that a text is; NaN where it is none, 0 where it is blank."""
    plain = trim(text)
    if not plain:
        return 0
    if _OTHER_BASE.fullmatch(plain):
        return float(int(plain, 0))
    if _DECIMAL.fullmatch(plain) or _INFINITY.fullmatch(plain):
        value = float(plain)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return math.nan
