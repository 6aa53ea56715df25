"""NodeMatcher: which node on the screen is meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from typing_extensions import Self, override

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.aliases import MATCHER_ALIASES, canonical_matcher
from pytest_clawperator.contracts.schema import Flaw, Text, WireObject, inspect_object, refuse
from pytest_clawperator.errors import ExecutionValidationError, Problem

MatcherText = Annotated[str | None, Text(limits.MAX_MATCHER_LENGTH)]


@dataclass(frozen=True, kw_only=True, repr=False)
class NodeMatcher(WireObject):
    """Which node is meant: every field that is given must fit.

    ``NodeMatcher(text_equals="Wi-Fi")`` uses the wire's own words in Python spelling;
    :meth:`of` takes the short keywords of the fluent API.
    """

    aliases = MATCHER_ALIASES

    resource_id: MatcherText = None
    role: MatcherText = None
    text_equals: MatcherText = None
    text_contains: MatcherText = None
    content_desc_equals: MatcherText = None
    content_desc_contains: MatcherText = None

    def __post_init__(self) -> None:
        _check(self.to_wire())

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
        wire = canonical_matcher(dict(matcher))
        _check(wire)
        return cls(**{_PYTHON_NAMES[key]: value for key, value in wire.items()})

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


_PYTHON_NAMES = {
    "resourceId": "resource_id",
    "role": "role",
    "textEquals": "text_equals",
    "textContains": "text_contains",
    "contentDescEquals": "content_desc_equals",
    "contentDescContains": "content_desc_contains",
}


def _check(wire: dict[str, Any]) -> None:
    problems: list[Problem] = []
    inspect_object(NodeMatcher, wire, "matcher", problems)
    if problems:
        raise ExecutionValidationError(problems)
