"""Matchers: which node on the screen is meant, as an object or as keywords.

A key has three places in this module: its row, a field of :class:`NodeMatcher`, and a keyword
of :class:`MatcherKeywords`. How it is compared with a node is in
:mod:`pytest_clawperator.snapshot.query`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, TypedDict

from pydantic.alias_generators import to_camel
from typing_extensions import Self, Unpack, override

from pytest_clawperator.contracts import foreign_names, limits, schema
from pytest_clawperator.contracts.schema import WireObject
from pytest_clawperator.contracts.wording import closest, shown
from pytest_clawperator.errors import ConfigurationError, ExecutionValidationError, Problem


class MatcherKey(NamedTuple):
    """A key: its field, the keyword that stands for it in Python, and its names on the wire.

    ``aliases`` are accepted as well as the field's name in camel case. A key that
    ``takes_pattern`` accepts a compiled regular expression in place of text.
    """

    field: str
    keyword: str
    aliases: tuple[str, ...] = ()
    takes_pattern: bool = False


MATCHER_KEYS = (
    MatcherKey("text_equals", "text", aliases=("text",), takes_pattern=True),
    MatcherKey("text_contains", "text_contains", aliases=("text_contains",)),
    MatcherKey("resource_id", "id", aliases=("resource_id", "id"), takes_pattern=True),
    MatcherKey(
        "content_desc_equals",
        "desc",
        aliases=(
            "content_desc",
            "content_desc_equals",
            "description",
            "accessibility_label",
        ),
        takes_pattern=True,
    ),
    MatcherKey(
        "content_desc_contains",
        "desc_contains",
        aliases=(
            "content_desc_contains",
            "description_contains",
            "accessibility_label_contains",
        ),
    ),
    MatcherKey("role", "role"),
)

#: The keywords, and the field that each stands for.
KEYWORDS: Mapping[str, str] = {key.keyword: key.field for key in MATCHER_KEYS}
MATCHER_ALIASES: Mapping[str, str] = {
    alias: to_camel(key.field) for key in MATCHER_KEYS for alias in key.aliases
}


class MatcherKeywords(TypedDict, total=False):
    """The keywords that stand for a matcher everywhere in this package."""

    text: str | re.Pattern[str] | None
    text_contains: str | None
    id: str | re.Pattern[str] | None
    desc: str | re.Pattern[str] | None
    desc_contains: str | None
    role: str | None


MatcherText = Annotated[str | None, schema.Text(limits.MAX_MATCHER_LENGTH)]
MatcherPattern = Annotated[str | re.Pattern[str] | None, schema.Text(limits.MAX_MATCHER_LENGTH)]


@dataclass(frozen=True, kw_only=True, repr=False)
class NodeMatcher(WireObject):
    """Which node is meant: every field that is given must fit.

    ``NodeMatcher(text_equals="Wi-Fi")`` uses the wire's own words in Python spelling;
    :meth:`of` takes the short keywords of the fluent API. A compiled regular expression is
    searched for on a snapshot, and never sent.
    """

    aliases: ClassVar[Mapping[str, str]] = MATCHER_ALIASES
    # Keywords that are not accepted on the wire, but show what was meant.
    guesses: ClassVar[Mapping[str, str]] = {
        keyword: to_camel(field)
        for keyword, field in KEYWORDS.items()
        if keyword not in (*MATCHER_ALIASES, to_camel(field))
    }
    example = '{"textEquals": "OK"}'

    resource_id: MatcherPattern = None
    role: MatcherText = None
    text_equals: MatcherPattern = None
    text_contains: MatcherText = None
    content_desc_equals: MatcherPattern = None
    content_desc_contains: MatcherText = None

    def __post_init__(self) -> None:
        names = schema.wire_names(NodeMatcher)
        given = {names[k]: value for k, value in self.__dict__.items() if value is not None}
        _check(given)
        _refuse_blanks(given)

    @classmethod
    def of(cls, /, **keywords: Unpack[MatcherKeywords]) -> NodeMatcher:
        """Build a matcher from the keywords used everywhere in this package."""
        __tracebackhide__ = True
        check_matcher_keywords(keywords)
        if keywords and all(value is None for value in keywords.values()):
            raise ConfigurationError(
                f"no node is described: {', '.join(f'{word}=' for word in keywords)} is None",
                hint="Give a text; None means that it does not matter, so nothing is left.",
            )
        _refuse_blanks({f"{word}=": value for word, value in keywords.items()})
        given: dict[str, Any] = {KEYWORDS[word]: value for word, value in keywords.items()}
        return cls(**given)

    @classmethod
    def for_search(cls, /, **keywords: Unpack[MatcherKeywords]) -> NodeMatcher:
        """Build a matcher for a snapshot, on which texts may be longer than can be sent."""
        __tracebackhide__ = True
        short: Any = {
            word: value[: limits.MAX_MATCHER_LENGTH] if isinstance(value, str) else value
            for word, value in keywords.items()
        }
        matcher = cls.of(**short)  # all other rules are the same
        for word, value in keywords.items():
            object.__setattr__(matcher, KEYWORDS[word], value)
        return matcher

    @classmethod
    def from_wire(cls, matcher: Mapping[str, Any]) -> NodeMatcher:
        """Build a matcher from its wire form; aliases are understood."""
        given: Any = matcher
        wire = canonical_matcher(dict(given) if isinstance(given, Mapping) else given)
        _check(wire)
        return cls(**{name: wire.get(key) for name, key in schema.wire_names(cls).items()})

    @classmethod
    @override
    def _from_fields(cls, given: dict[str, Any]) -> Self:
        if cls.flaw_of_whole(list(given.values())):
            raise schema.refuse()
        return super()._from_fields(given)

    @classmethod
    @override
    def flaw_of_whole(cls, values: list[Any]) -> schema.Flaw | None:
        if any(values):
            return None
        allowed = "at least one field that is not empty"
        return schema.Flaw("Matcher must have at least one field", "no field with a value", allowed)

    @property
    def has_pattern(self) -> bool:
        """Whether one of its fields is a regular expression, which cannot be sent."""
        return any(isinstance(value, re.Pattern) for value in self.__dict__.values())

    @override
    def to_wire(self) -> dict[str, Any]:
        if not self.has_pattern:
            return super().to_wire()
        given = {k: v for k, v in self.__dict__.items() if isinstance(v, re.Pattern)}
        problems = [
            Problem(
                f"matcher.{to_camel(name)}",
                "a regular expression cannot be sent to the device",
                shown(pattern),
                "a text",
            )
            for name, pattern in given.items()
        ]
        raise ExecutionValidationError(
            problems,
            hint="The client's methods look it up on a snapshot: claw.click(text=re.compile(...))."
            " In payloads textContains may do, or a pattern's node found by"
            " claw.snapshot().find(...).matcher().",
        )

    def __str__(self) -> str:
        names = schema.wire_names(NodeMatcher)
        given = ((names[k], v) for k, v in self.__dict__.items() if v is not None)
        return ", ".join(f"{key}={value!r}" for key, value in given)


def canonical_matcher(matcher: Any) -> Any:
    """Rename the aliases of a matcher object; anything else is returned unchanged."""
    return schema.rename_keys(matcher, MATCHER_ALIASES) if isinstance(matcher, dict) else matcher


def is_short_id(id: str | re.Pattern[str] | None) -> bool:
    """Whether an id lacks its package: ``ok`` instead of ``com.example:id/ok``."""
    return isinstance(id, str) and ":id/" not in id


def check_matcher_keywords(keywords: Iterable[str], *, caller: str | None = None) -> None:
    """Raise ``ConfigurationError`` for a keyword by which no node is matched.

    ``caller`` is the method that was called with it, for the message.
    """
    __tracebackhide__ = True
    for name in keywords:
        if name not in KEYWORDS:
            near = closest(name, KEYWORDS)
            meant = f"Did you mean {near}=? " if near else ""
            if ours := foreign_names.KEYWORDS.get(foreign_names.plain_name(name)):
                meant = f"Here it is called {ours}. "
            raise ConfigurationError(
                f"{caller}() got an unexpected keyword: {name}"
                if caller
                else f"nodes are not matched by {name}=",
                hint=f"{meant}Nodes are matched by {', '.join(KEYWORDS)}.",
            )


# Nodes without a text exist; other values that are empty are ones that a node does not have.
_MAY_BE_EMPTY = ("text=", "textEquals")


def _refuse_blanks(given: Mapping[str, Any]) -> None:
    """Raise for a value that is empty or blank: it would match no node, or nearly every one.

    Only a text may be empty, beside another value. In payloads the contract allows them.
    """
    __tracebackhide__ = True
    for name, value in given.items():
        is_pattern = isinstance(value, re.Pattern)
        text = value.pattern if is_pattern else value
        if not isinstance(text, str) or (text if is_pattern else text.strip()):
            continue
        if is_pattern or text or name not in _MAY_BE_EMPTY or not any(given.values()):
            raise ConfigurationError(
                f"{name} must not be {'blank' if text else 'empty'}",
                hint="Leave it out if it does not matter. Nodes without a text are matched by id=,"
                ' desc= or role=, and by text="" beside one of them.',
            )


def _check(wire: Any) -> None:
    problems: list[Problem] = []
    if isinstance(wire, dict):
        wire = {key: _text_of(key, value) for key, value in wire.items()}
    schema.inspect_object(NodeMatcher, wire, "matcher", problems)
    if problems:
        raise ExecutionValidationError(problems)


def _text_of(name: str, value: Any) -> Any:
    """Return the text of a pattern, to check its length; refuse one if none is allowed."""
    if not isinstance(value, re.Pattern):
        return value
    key = next((key for key in MATCHER_KEYS if to_camel(key.field) == name), None)
    if key is None or not key.takes_pattern:
        word = name if key is None else f"{key.keyword}="
        raise ConfigurationError(
            f"{word} takes a text, not the pattern {shown(value)}",
            hint="Give it to text=, id= or desc=: it is searched for anywhere in them.",
        )
    if not isinstance(value.pattern, str):
        raise ConfigurationError(
            f"{key.keyword}= takes a pattern of text, not {shown(value)}",
            hint="Leave out the b: re.compile(r'Total: \\d+').",
        )
    return value.pattern
