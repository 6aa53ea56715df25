"""Objects of the payload: frozen dataclasses whose fields are annotated with rules.

pydantic's core runs the rules' fast form over each payload and builds the objects, which
nearly always is all that happens. When it refuses, ``inspect`` walks the same rules in their
written order and lists every problem, with what was found and what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, NamedTuple, get_type_hints

from pydantic.alias_generators import to_camel as to_camel
from pydantic_core import CoreSchema, core_schema
from typing_extensions import Self, override

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.schema.rules import Flaw, Rule, copy_json
from pytest_clawperator.contracts.text.wording import describe, listed, suggestion
from pytest_clawperator.errors import ExecutionValidationError, Problem
from pytest_clawperator.redaction import hide

#: What is allowed where data are nested too deeply.
NESTING = "a flat list of actions"


class WireObject:
    """A frozen dataclass that travels: camelCase on the wire, snake_case in Python."""

    #: Other spellings of keys: accepted ones, and in ``guesses`` those that are only understood
    #: well enough to suggest the right one.
    aliases: ClassVar[Mapping[str, str]] = {}
    guesses: ClassVar[Mapping[str, str]] = {}
    example: ClassVar[str] = ""

    @classmethod
    def core_schema(cls) -> CoreSchema:
        """Return the form for pydantic's core: a JSON object with known keys, made an instance."""
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
        """Make an instance of fields that were checked; the rest keeps its default."""
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
    """An object with rules of its own."""

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
    """Rename the aliases among the keys; the same object comes back where there are none.

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
