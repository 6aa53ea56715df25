"""The keywords that name a node: the same in every method of this package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypedDict

from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.errors import ConfigurationError


class MatcherKeywords(TypedDict, total=False):
    """The keywords that stand for a matcher everywhere in this package."""

    text: str | None
    text_contains: str | None
    id: str | None
    desc: str | None
    desc_contains: str | None
    role: str | None


#: The field of a ``NodeMatcher`` that each keyword stands for.
FIELDS: Mapping[str, str] = {
    "text": "text_equals",
    "text_contains": "text_contains",
    "id": "resource_id",
    "desc": "content_desc_equals",
    "desc_contains": "content_desc_contains",
    "role": "role",
}


def check_keywords(keywords: Iterable[str], *, caller: str | None = None) -> None:
    """Raise for a keyword that matches no nodes; ``caller`` is the method that was given it."""
    __tracebackhide__ = True
    for name in keywords:
        if name not in FIELDS:
            near = closest(name, FIELDS)
            meant = f"Did you mean {near}=? " if near else ""
            raise ConfigurationError(
                f"nodes are not matched by {name}="
                if caller is None
                else f"{caller}() got an unexpected keyword: {name}",
                hint=f"{meant}Nodes are matched by {', '.join(FIELDS)}.",
            )


def is_short_id(id: str | None) -> bool:
    """Whether an id lacks its package: ``ok`` instead of ``com.example:id/ok``."""
    return id is not None and ":id/" not in id


def keywords_of(matcher: NodeMatcher) -> MatcherKeywords:
    """Return a matcher as the keywords that people write."""
    pairs = ((word, getattr(matcher, name)) for word, name in FIELDS.items())
    # The words are those of FIELDS, which a type checker cannot see in a loop.
    return {word: value for word, value in pairs if value is not None}  # type: ignore[return-value]
