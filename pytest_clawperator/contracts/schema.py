"""What payloads are made of: rules for single values, and objects whose fields have rules.

Objects are frozen dataclasses with annotated fields. pydantic's core runs the rules' fast form
over each payload and builds the objects; nearly always that is all. When it refuses, ``inspect``
walks the same rules in their written order and lists every problem, with what was found and
what is allowed.

A problem is *fatal* when it leaves later checks nothing to work on: a wrong type, a missing
key, a value outside an enumeration. A wrong length, range or key is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, NamedTuple, get_type_hints

from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import Self, override

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.ecmascript import (
    LARGEST_EXACT_INTEGER,
    LARGEST_NUMBER,
    number_to_string,
    utf16_length,
)
from pytest_clawperator.contracts.wording import closest, describe, listed, suggestion
from pytest_clawperator.errors import ExecutionValidationError, Problem
from pytest_clawperator.redaction import hide


@dataclass(frozen=True)
class Flaw:
    """Why a rule refuses a value; the sentence continues after the field's name."""

    sentence: str
    found: str
    allowed: str | None = None
    suggestion: str | None = None
    fatal: bool = True


def refuse() -> PydanticCustomError:
    """Return the error that makes pydantic's core refuse a value."""
    # The core only has to stop: `inspect` writes the messages.
    return PydanticCustomError("refused", "refused")


class Rule:
    """What one field may hold.

    A rule for a value implements ``flaws``; a rule for a whole object implements ``inspect``.
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
        # A string of n characters has at most 2n units, so few need counting. The core refuses
        # lone surrogates, which are legal here: those strings are left to `accept`.
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
        if self.whole and not (isinstance(value, int) or value.is_integer()):
            yield self._flaw("must be a whole number", value)
        if self.least is not None and value < self.least:
            yield self._flaw(f"must be at least {self.least}", value)
        if self.most is not None and value > self.most:
            yield self._flaw(f"must be at most {self.most}", value)

    def _flaw(self, sentence: str, value: float) -> Flaw:
        return Flaw(sentence, describe(value), self.allowed(), fatal=False)

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
    """Any JSON object, of which a copy is kept; the Operator reads the keys it knows."""

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
    """Return a deep copy of a JSON value, with its numbers as doubles."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return _as_double(value) if is_number else value


#: What is allowed instead of data that are nested too deeply.
NESTING = "a flat list of actions"


class WireObject:
    """A frozen dataclass that travels: camelCase on the wire, snake_case in Python."""

    #: Other spellings of keys: those that are accepted, and in ``guesses`` those that are refused
    #: with a suggestion.
    aliases: ClassVar[Mapping[str, str]] = {}
    guesses: ClassVar[Mapping[str, str]] = {}
    example: ClassVar[str] = ""

    @classmethod
    def core_schema(cls) -> CoreSchema:
        """Return the schema for pydantic's core: known keys, turned into an instance."""
        read_fields = {
            name: core_schema.typed_dict_field(
                rule.core_schema(), required=required, validation_alias=wire_name
            )
            for name, wire_name, required, rule in field_rules(cls)
        }
        given = core_schema.typed_dict_schema(read_fields, strict=True, extra_behavior="forbid")
        return core_schema.no_info_after_validator_function(cls._from_fields, given)

    @classmethod
    def _from_fields(cls, given: dict[str, Any]) -> Self:
        """Make an instance from checked fields; the others keep their defaults."""
        instance = object.__new__(cls)
        instance.__dict__.update(given)
        return instance

    @classmethod
    def flaw_of_whole(cls, values: list[Any]) -> Flaw | None:
        """Return what is wrong with the values together, once each is of the right type."""
        return None

    def __repr__(self) -> str:
        given = (f"{k}={v!r}" for k, v in self.__dict__.items() if v is not None)
        return hide(f"{type(self).__name__}({', '.join(given)})")

    def to_wire(self) -> dict[str, Any]:
        """Return the wire form: canonical names, only what was given."""
        names = wire_names(type(self))
        return {
            names[name]: _to_wire(value)
            for name, value in self.__dict__.items()
            if value is not None
        }


def _to_wire(value: Any) -> Any:
    if isinstance(value, WireObject):
        return value.to_wire()
    if isinstance(value, tuple):
        return [item.to_wire() for item in value]
    if not isinstance(value, dict):
        return value
    try:
        return copy_json(value)
    except RecursionError as exc:
        problem = Problem("", "the payload is nested too deeply", describe(value), NESTING)
        raise ExecutionValidationError([problem]) from exc


class FieldRule(NamedTuple):
    """A field of an object, under its two names, and what it may hold."""

    name: str
    wire_name: str
    required: bool
    rule: Rule


_RULES: dict[type[Any], tuple[FieldRule, ...]] = {}
_WIRE_NAMES: dict[type[Any], dict[str, str]] = {}


def field_rules(cls: type[Any]) -> tuple[FieldRule, ...]:
    """Return the fields' rules in the order in which they are checked."""
    if cls not in _RULES:
        hints = get_type_hints(cls, include_extras=True)
        _RULES[cls] = tuple(
            FieldRule(field.name, to_camel(field.name), field.default is MISSING, rule)
            for field in fields(cls)
            for rule in hints[field.name].__metadata__
        )
    return _RULES[cls]


def wire_names(cls: type[Any]) -> dict[str, str]:
    """Return the wire names of the fields by their Python names."""
    if cls not in _WIRE_NAMES:
        _WIRE_NAMES[cls] = {each.name: each.wire_name for each in field_rules(cls)}
    return _WIRE_NAMES[cls]


@dataclass(frozen=True)
class Nested(Rule):
    """An object whose fields have rules."""

    cls: type[WireObject]

    @override
    def core_schema(self) -> CoreSchema:
        return self.cls.core_schema()

    @override
    def allowed(self) -> str:
        return "an object"

    @override
    def inspect(self, value: Any, path: str, problems: list[Problem]) -> bool:
        return inspect_object(self.cls, value, path, problems)


@dataclass(frozen=True)
class ListOf(Rule):
    """A list of objects of one kind."""

    cls: type[WireObject]
    least: int
    most: int

    @override
    def core_schema(self) -> CoreSchema:
        items = core_schema.tuple_variable_schema(self.cls.core_schema())
        return core_schema.no_info_before_validator_function(self.accept, items)

    @override
    def flaws(self, value: Any) -> Iterable[Flaw]:
        allowed = self.allowed()
        if not isinstance(value, list):
            yield Flaw("must be a list", describe(value), allowed)
        elif len(value) < self.least:
            sentence = f"must have at least {self.least} entry"
            yield Flaw(sentence, "an empty list", allowed, fatal=False)
        elif len(value) > self.most:
            sentence = f"must have at most {self.most} entries"
            yield Flaw(sentence, f"{len(value)} entries", allowed, fatal=False)

    @override
    def allowed(self) -> str:
        return f"a list of {self.least} to {self.most}"

    @override
    def inspect(self, value: Any, path: str, problems: list[Problem]) -> bool:
        if super().inspect(value, path, problems):
            return True
        inspected = value[: limits.MAX_INSPECTED]
        fatal = [
            inspect_object(self.cls, item, f"{path}.{index}", problems)
            for index, item in enumerate(inspected)
        ]
        if any(fatal):
            return True
        problems.extend(self.problems_of_whole(inspected, path))
        return False

    def problems_of_whole(self, items: list[Any], path: str) -> Iterable[Problem]:
        """Return what is wrong with the list as a whole, once its entries are of the right type."""
        return ()


def inspect_object(cls: type[WireObject], value: Any, path: str, problems: list[Problem]) -> bool:
    """Append every problem of an object, fields first; True when one of them is fatal."""
    if not isinstance(value, dict):
        name = path.rpartition(".")[2]
        what = f"entry {name}" if name.isdigit() else name or "the payload"
        allowed = f"an object such as {cls.example}" if cls.example else "an object"
        problems.append(Problem(path, f"{what} must be an object", describe(value), allowed))
        return True
    fatal = False
    for _, name, required, rule in field_rules(cls):
        where = f"{path}.{name}" if path else name
        if name in value:
            fatal = rule.inspect(value[name], where, problems) or fatal
        elif required:
            problems.append(Problem(where, f"{name} is required", "nothing", rule.allowed()))
            fatal = True
    _inspect_keys(cls, value, path, problems)
    values = [value.get(each.wire_name) for each in field_rules(cls)]
    if not fatal and (flaw := cls.flaw_of_whole(values)):
        problems.append(Problem(path, flaw.sentence, flaw.found, flaw.allowed))
    return fatal


def _inspect_keys(
    cls: type[WireObject], value: dict[Any, Any], path: str, problems: list[Problem]
) -> None:
    names = [each.wire_name for each in field_rules(cls)]
    unknown = tuple(_spelled(key) for key in value if key not in names)
    if not unknown:
        return
    problems.append(
        Problem(
            path,
            f"unknown {'key' if len(unknown) == 1 else 'keys'} {listed(unknown)}",
            found=listed(unknown),
            allowed=listed(names, limit=len(names)),
            suggestion=suggestion(unknown, names, {**cls.aliases, **cls.guesses}),
            unknown_keys=unknown,
        )
    )


def _spelled(key: Any) -> str:
    return key if isinstance(key, str) else describe(key)


def rename_keys(given: dict[Any, Any], aliases: Mapping[str, str]) -> dict[Any, Any]:
    """Rename the aliases among the keys; the same object is returned if there are none.

    A canonical key beats every alias of it in the same object; of several aliases the last
    one wins; a renamed key keeps the place where its alias stood.
    """
    if given.keys().isdisjoint(aliases):
        return given
    renamed = {}
    for key, value in given.items():
        canonical = aliases.get(key)
        if canonical is None:
            renamed[key] = value
        elif canonical not in given:
            renamed[canonical] = value
    return renamed
