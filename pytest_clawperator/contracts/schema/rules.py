"""Rules for a single value of the payload: text, numbers, flags, words, JSON.

A problem is *fatal* when it leaves later checks nothing to work on: a wrong type, a
missing key, a value outside an enumeration. A wrong length, range or key is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import override

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.text.ecmascript import (
    LARGEST_EXACT_INTEGER,
    LARGEST_NUMBER,
    number_to_string,
    utf16_length,
)
from pytest_clawperator.contracts.text.wording import closest, describe, listed
from pytest_clawperator.errors import Problem


@dataclass(frozen=True)
class Flaw:
    """Why a rule refuses a value; the sentence goes on from the field's name."""

    sentence: str
    found: str
    allowed: str | None = None
    suggestion: str | None = None
    fatal: bool = True


def refuse() -> PydanticCustomError:
    """Return the error that makes pydantic's core refuse a value."""
    # The core only has to stop: `inspect` words the refusal.
    return PydanticCustomError("refused", "refused")


class Rule:
    """What one field may hold.

    A rule says its ``flaws``, or, where it stands for a whole object, how to ``inspect`` one.
    """

    def flaws(self, value: Any) -> Iterable[Flaw]:
        """Return everything that is wrong with ``value``."""
        raise NotImplementedError

    def allowed(self) -> str:
        """Return what the field may hold, in words."""
        raise NotImplementedError

    def accept(self, value: Any) -> Any:
        """Return the value as it will be kept, or raise the refusal."""
        for _ in self.flaws(value):
            raise refuse()
        return value

    def core_schema(self) -> CoreSchema:
        """Return the rule in the form that pydantic's core runs."""
        return core_schema.no_info_plain_validator_function(self.accept)

    def inspect(self, value: Any, path: str, problems: list[Problem]) -> bool:
        """Append every problem of ``value``; True when one of them is fatal."""
        name = path.rpartition(".")[2]
        fatal = False
        for flaw in self.flaws(value):
            sentence = f"{name} {flaw.sentence}"
            problems.append(Problem(path, sentence, flaw.found, flaw.allowed, flaw.suggestion))
            fatal = fatal or flaw.fatal
        return fatal


@dataclass(frozen=True)
class Text(Rule):
    """A string whose length is counted in UTF-16 units."""

    longest: int | None = None
    shortest: int = 0
    length_is_fatal: bool = False

    @override
    def core_schema(self) -> CoreSchema:
        # A string of n characters has at most 2n units, so few need counting. The core
        # knows no lone surrogates, which are legal here: those strings are left to `accept`.
        surely_fits = None if self.longest is None else self.longest // 2
        return core_schema.union_schema(
            [
                core_schema.str_schema(
                    strict=True, min_length=self.shortest, max_length=surely_fits
                ),
                super().core_schema(),
            ],
            mode="left_to_right",
        )

    @override
    def flaws(self, value: Any) -> Iterable[Flaw]:
        if not isinstance(value, str):
            yield Flaw("must be a string", describe(value), self.allowed())
        elif len(value) < self.shortest:
            yield Flaw("must not be empty", describe(value), self.allowed(), fatal=False)
        elif self.longest is not None and (units := utf16_length(value)) > self.longest:
            found = f"{units} characters"
            sentence = f"must be at most {self.longest} characters long"
            yield Flaw(sentence, found, self.allowed(), fatal=self.length_is_fatal)

    @override
    def allowed(self) -> str:
        if self.longest is None:
            return "any string"
        return f"a string of {self.shortest} to {self.longest} characters (UTF-16 units)"


@dataclass(frozen=True)
class Number(Rule):
    """A number within bounds; ``10.0`` is the whole number 10."""

    least: int | None = None
    most: int | None = None
    whole: bool = False

    @override
    def accept(self, value: Any) -> Any:
        return _as_double(super().accept(value))

    @override
    def flaws(self, value: Any) -> Iterable[Flaw]:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            yield Flaw(f"must be {self.allowed()}", describe(value), self.allowed())
            return
        if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
            value = math.inf if value > 0 else -math.inf
        found = describe(value)
        if self.whole and not (isinstance(value, int) or value.is_integer()):
            yield Flaw("must be a whole number", found, self.allowed(), fatal=False)
        if self.least is not None and value < self.least:
            yield Flaw(f"must be at least {self.least}", found, self.allowed(), fatal=False)
        if self.most is not None and value > self.most:
            yield Flaw(f"must be at most {self.most}", found, self.allowed(), fatal=False)

    @override
    def allowed(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        if self.least is not None and self.most is not None:
            return f"{kind} from {self.least} to {self.most}"
        return kind if self.least is None else f"{kind} of at least {self.least}"


def _as_double(value: int | float) -> int | float:
    """Return the number that a program with only doubles would read."""
    if isinstance(value, int) and abs(value) <= LARGEST_EXACT_INTEGER:
        return value
    text = number_to_string(value)
    return int(text) if text.lstrip("-").isdigit() else float(text)


@dataclass(frozen=True)
class Flag(Rule):
    """True or false."""

    @override
    def core_schema(self) -> CoreSchema:
        return core_schema.bool_schema(strict=True)

    @override
    def flaws(self, value: Any) -> Iterable[Flaw]:
        if not isinstance(value, bool):
            yield Flaw("must be true or false", describe(value), self.allowed())

    @override
    def allowed(self) -> str:
        return "true, false"


@dataclass(frozen=True)
class OneOf(Rule):
    """One of a few strings."""

    options: tuple[str, ...]

    @override
    def flaws(self, value: Any) -> Iterable[Flaw]:
        if not isinstance(value, str) or value not in self.options:
            near = closest(value, self.options) if isinstance(value, str) else None
            kind = "must be" if len(self.options) == 1 else "must be one of"
            yield Flaw(f"{kind} {self.allowed()}", describe(value), self.allowed(), near)

    @override
    def allowed(self) -> str:
        return listed(self.options)


@dataclass(frozen=True)
class JsonObject(Rule):
    """Any JSON object; the Operator reads from it what it knows. A copy of it is kept."""

    @override
    def accept(self, value: Any) -> Any:
        return copy_json(super().accept(value))

    @override
    def flaws(self, value: Any) -> Iterable[Flaw]:
        if not isinstance(value, dict):
            yield Flaw("must be an object", describe(value), self.allowed())
        elif (odd := _not_json(value)) is not None:
            yield Flaw("must hold JSON values only", odd, self.allowed())

    @override
    def allowed(self) -> str:
        return "an object of JSON values"


def _not_json(value: Any) -> str | None:
    """Describe the first thing inside ``value`` that JSON cannot carry."""
    level = [value]
    visited = 0
    for _ in range(limits.MAX_NESTING):
        inside: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                for key in item:
                    if not isinstance(key, str):
                        return f"{describe(key)} as a key"
                inside.extend(item.values())
            elif isinstance(item, list):
                inside.extend(item)
            elif not isinstance(item, (str, int, float, type(None))) or item != item:
                return describe(item)
        if not inside:
            return None
        visited += len(inside)
        if visited > limits.MAX_PAYLOAD_BYTES:
            return f"more than {limits.MAX_PAYLOAD_BYTES} values"
        level = inside
    return f"more than {limits.MAX_NESTING} levels of nesting"


def copy_json(value: Any) -> Any:
    """Return a deep copy of a JSON value, with the numbers that a program of doubles reads."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return _as_double(value) if is_number else value
