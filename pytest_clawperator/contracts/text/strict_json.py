"""JSON as the standard defines it; Python's own parser also accepts NaN and Infinity."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def parse_json(text: str) -> Any:
    """Parse JSON text; raise ValueError or RecursionError where it is none."""
    return _STRICT.decode(text)


def why_not_json(error: ValueError | RecursionError) -> str:
    """Return in a few words why :func:`parse_json` failed."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, json.JSONDecodeError) or "JSON" in str(error):
        return str(error)
    return "it holds a number of too many digits"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_STRICT = json.JSONDecoder(parse_constant=_refuse_constant)
