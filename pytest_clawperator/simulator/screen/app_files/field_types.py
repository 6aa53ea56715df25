"""The types of the values in app files: names, packages, durations."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from pytest_clawperator.simulator.screen.app_files.language.parser import KEYWORDS
from pytest_clawperator.simulator.screen.app_files.source_text import without_places

_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$|android$")
_NAME = re.compile(r"[a-z_][a-z0-9_]*$")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min)$")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}
_RESERVED = KEYWORDS | {"index", "number", "item"}


class WrongKey(ValueError):
    """A key that does not belong where it stands; ``key`` helps to find its line."""

    def __init__(self, key: object, message: str, *, known: Iterable[str]) -> None:
        names = sorted(known)
        close = difflib.get_close_matches(str(key), names, n=1)
        hint = f"did you mean `{close[0]}`? " if close else ""
        super().__init__(f"{message}; {hint}allowed: {', '.join(names)}")
        self.key = key


def _duration(value: object) -> float:
    found = _DURATION.match(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{value!r} is not a duration; write it as 800ms, 2s or 1.5min")
    return float(found[1]) * _SECONDS[found[2]]


def _name(value: object) -> str:
    if not isinstance(value, str) or not _NAME.match(value) or value in _RESERVED:
        raise ValueError(
            f"{value!r} is not a name; names are lower-case letters, digits and `_`,"
            f" and none of {', '.join(sorted(_RESERVED))}"
        )
    return value


def _word(value: object) -> str:
    if not isinstance(value, str) or not _NAME.match(value):
        raise ValueError(f"{value!r} is not a name; names are lower-case letters, digits and `_`")
    return value


def _package(value: object) -> str:
    if not isinstance(value, str) or not _PACKAGE.match(value):
        raise ValueError(f"{value!r} is not a package name such as com.example.shop")
    return value


Duration = Annotated[float, BeforeValidator(_duration)]
Name = Annotated[str, BeforeValidator(_name)]
Word = Annotated[str, BeforeValidator(_word)]
Package = Annotated[str, BeforeValidator(_package)]
Scalar = Annotated[bool | int | float | str, BeforeValidator(without_places)]
Variables = dict[Name, Annotated[Any, BeforeValidator(without_places)]]


class AppFileModel(BaseModel):
    """A part of an app file; unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        populate_by_name=True,
        defer_build=True,
    )
