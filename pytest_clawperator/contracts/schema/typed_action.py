"""What the classes of actions are made of: the row of an action type, and their wire form.

Times are seconds in Python and milliseconds on the wire; the conversion happens here only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar

from pydantic.alias_generators import to_camel

from pytest_clawperator.contracts import durations
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.schema.action_rules import ActionRule
from pytest_clawperator.contracts.schema.objects import WireObject


def to_milliseconds(seconds: Any) -> Any:
    """Convert seconds to the wire's milliseconds, whole ones: the Operator ignores fractions.

    Anything else than a number is returned as it is, for validation to refuse.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return seconds
    milliseconds = seconds * 1000
    if isinstance(milliseconds, int) or not math.isfinite(milliseconds):
        return milliseconds
    return max(round(milliseconds), 1) if seconds > 0 else round(milliseconds)


def to_point(point: Any) -> Any:
    """Convert a pair to wire form; anything else is left for validation to refuse."""
    if isinstance(point, (tuple, list)) and len(point) == 2:
        return {"x": point[0], "y": point[1]}
    return _to_wire(point)


def seconds_field(wire_name: str, **options: Any) -> Any:
    """Return a dataclass field whose value is converted to the wire's milliseconds."""
    return field(metadata={"wire_name": wire_name, "convert": to_milliseconds}, **options)


def _to_wire(value: Any) -> Any:
    if isinstance(value, (WireObject, Retry)):
        return value.to_wire()
    return dict(value) if isinstance(value, Mapping) else value


def _wire_fields(instance: Any) -> dict[str, Any]:
    """Return the fields that are not None under their wire names."""
    wire = {}
    for name, wire_name, convert in _wire_names(instance.__class__):
        value = getattr(instance, name)
        if value is not None:
            wire[wire_name] = convert(value)
    return wire


@cache
def _wire_names(kind: type[Any]) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """Return each field of a class with its wire name and what converts its value."""
    return tuple(
        (
            each.name,
            each.metadata.get("wire_name", to_camel(each.name)),
            each.metadata.get("convert", _to_wire),
        )
        for each in fields(kind)
    )


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How often an action is tried, and how long it pauses in between."""

    max_attempts: int | None = None
    initial_delay: float | None = seconds_field("initialDelayMs", default=None)
    max_delay: float | None = seconds_field("maxDelayMs", default=None)
    backoff_multiplier: float | None = None
    jitter_ratio: float | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the retry object as it travels."""
        return _wire_fields(self)


@dataclass(frozen=True)
class ActionType:
    """What is known of an action type, whoever wrote the action.

    ``aliases`` are accepted for its name; ``guesses`` are refused, with the name as the
    suggestion. ``rules`` check its parameters. ``longest`` returns the most seconds that it can
    keep the device busy, ``undeclared_ms`` the time it takes besides what its parameters
    declare. ``logs`` are the keys of its data, in the order in which the Operator's log prints
    them. ``taps`` says that the screen may be changing after it.
    """

    name: str
    _: KW_ONLY
    aliases: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    rules: tuple[ActionRule, ...] = ()
    longest: Callable[[ActionParams], float]
    undeclared_ms: Callable[[Mapping[Any, Any]], float] = durations.nothing_more
    logs: tuple[str, ...]
    taps: bool = False


@dataclass(frozen=True)
class TypedAction:
    """What all action classes share: a type, and an id that may be left to the framework."""

    spec: ClassVar[ActionType]
    type: ClassVar[str]

    id: str | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        cls.type = cls.spec.name

    def to_wire(self) -> dict[str, Any]:
        """Return the action as it travels."""
        params = _wire_fields(self)
        wire: dict[str, Any] = {"type": self.type}
        if self.id is not None:
            wire = {"id": params.pop("id"), **wire}
        return {**wire, "params": params} if params else wire
