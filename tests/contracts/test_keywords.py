"""The keywords that name a node, checked before any screen exists."""

from __future__ import annotations

import pytest

from pytest_clawperator.contracts.keywords import (
    FIELDS,
    MatcherKeywords,
    check_keywords,
    is_short_id,
    keywords_of,
)
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.errors import ConfigurationError


def test_every_keyword_stands_for_a_field_of_a_matcher() -> None:
    """The table, the type and the matcher's own constructor agree."""
    every = {word: word for word in FIELDS}

    matcher = NodeMatcher.of(**every)

    assert list(FIELDS) == list(MatcherKeywords.__annotations__)
    assert {name: getattr(matcher, name) for name in FIELDS.values()} == {
        name: word for word, name in FIELDS.items()
    }
    assert keywords_of(matcher) == every


@pytest.mark.parametrize(
    ("caller", "said"),
    [
        ("click", "click() got an unexpected keyword: txt"),
        (None, "nodes are not matched by txt="),
    ],
)
def test_an_unknown_keyword_is_refused_with_the_likely_one(caller: str | None, said: str) -> None:
    """The message names the method, if one is known, and the hint lists the keywords."""
    with pytest.raises(ConfigurationError) as refused:
        check_keywords(["id", "txt"], caller=caller)

    assert refused.value.message == said
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("Did you mean text=? Nodes are matched by text, ")


@pytest.mark.parametrize(
    ("id", "is_short"), [("ok", True), ("com.a:id/ok", False), ("com.a:id/", False), (None, False)]
)
def test_a_short_id_lacks_its_package(id: str | None, is_short: bool) -> None:
    """An id with a package is whole, and no id is none to complete."""
    assert is_short_id(id) is is_short
