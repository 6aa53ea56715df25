"""NodeMatcher: which node on the screen is meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from typing_extensions import Self, override

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.aliases import MATCHER_ALIASES, canonical_matcher
from pytest_clawperator.contracts.schema import (
    Flaw,
    Text,
    WireObject,
    inspect_object,
    refuse,
    wire_names,
)
from pytest_clawperator.errors import ExecutionValidationError, Problem

MatcherText = Annotated[str | None, Text(limits.MAX_MATCHER_LENGTH)]


@dataclass(frozen=True, kw_only=True, repr=False)
class NodeMatcher(WireObject):
    """Which node is meant: every field that is given must fit.

    ``NodeMatcher(text_equals="Wi-Fi")`` uses the wire's own words in Python spelling;
    :meth:`of` takes the short keywords of the fluent API.
    """

    # The short keywords are no aliases on the wire, but a good clue to what was meant.
    aliases: ClassVar[Mapping[str, str]] = {
        **MATCHER_ALIASES,
        "desc": "contentDescEquals",
        "desc_contains": "contentDescContains",
    }
    example = '{"textEquals": "OK"}'

    resource_id: MatcherText = None
    role: MatcherText = None
    text_equals: MatcherText = None
    text_contains: MatcherText = None
    content_desc_equals: MatcherText = None
    content_desc_contains: MatcherText = None

    def __post_init__(self) -> None:
        names = wire_names(NodeMatcher)
        _check({names[k]: value for k, value in self.__dict__.items() if value is not None})

    @classmethod
    def of(
        cls,
        *,
        text: str | None = None,
        text_contains: str | None = None,
        id: str | None = None,
        desc: str | None = None,
        desc_contains: str | None = None,
        role: str | None = None,
    ) -> NodeMatcher:
        """Build a matcher from the keywords used everywhere in this package."""
        return cls(
            resource_id=id,
            role=role,
            text_equals=text,
            text_contains=text_contains,
            content_desc_equals=desc,
            content_desc_contains=desc_contains,
        )

    @classmethod
    def from_wire(cls, matcher: Mapping[str, Any]) -> NodeMatcher:
        """Read a matcher object; its aliases are understood."""
        given: Any = matcher
        wire = canonical_matcher(dict(given) if isinstance(given, Mapping) else given)
        _check(wire)
        return cls(**{name: wire.get(key) for name, key in wire_names(cls).items()})

    @classmethod
    @override
    def _from_fields(cls, given: dict[str, Any]) -> Self:
        if cls.flaw_of_whole(list(given.values())):
            raise refuse()
        return super()._from_fields(given)

    @classmethod
    @override
    def flaw_of_whole(cls, values: list[Any]) -> Flaw | None:
        if any(values):
            return None
        allowed = "at least one field that is not empty"
        return Flaw("Matcher must have at least one field", "no field with a value", allowed)

    def __str__(self) -> str:
        return ", ".join(f"{key}={value!r}" for key, value in self.to_wire().items())


def _check(wire: Any) -> None:
    problems: list[Problem] = []
    inspect_object(NodeMatcher, wire, "matcher", problems)
    if problems:
        raise ExecutionValidationError(problems)
