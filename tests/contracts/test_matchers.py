"""Matchers from Python words, from keywords and from the wire."""

from __future__ import annotations

import pickle
import re
from dataclasses import fields
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from pytest_clawperator.contracts.matchers import (
    MATCHER_KEYS,
    MatcherKey,
    MatcherKeywords,
    NodeMatcher,
    check_matcher_keywords,
    is_short_id,
)
from pytest_clawperator.contracts.selector_flags import parse_selector_flags
from pytest_clawperator.errors import ConfigurationError, ExecutionValidationError, PayloadError


def test_keywords_stand_for_the_fields_of_the_wire() -> None:
    """Keywords, and aliases in a dict, stand for the wire's fields; each field has a keyword."""
    matcher = NodeMatcher.of(
        text="a", text_contains="b", id="c", desc="d", desc_contains="e", role="f"
    )

    assert matcher.to_wire() == {
        "resourceId": "c",
        "role": "f",
        "textEquals": "a",
        "textContains": "b",
        "contentDescEquals": "d",
        "contentDescContains": "e",
    }
    assert NodeMatcher.from_wire({"id": "x", "description": "y"}) == NodeMatcher(
        resource_id="x", content_desc_equals="y"
    )
    assert {key.field for key in MATCHER_KEYS} == {each.name for each in fields(NodeMatcher)}
    assert [key.keyword for key in MATCHER_KEYS] == list(MatcherKeywords.__annotations__)


def test_a_matcher_without_a_value_is_refused() -> None:
    """A matcher without a value is refused wherever it is made."""
    with pytest.raises(ExecutionValidationError, match="at least one field"):
        NodeMatcher()
    with pytest.raises(ExecutionValidationError, match="at least one field"):
        NodeMatcher.from_wire({"role": ""})


def test_a_wrong_matcher_is_explained() -> None:
    """The refusal has an example, the nearest field, or the wire names of the wrong fields."""
    others: tuple[Any, ...] = (None, "OK", 5, [("text", "OK")])
    for value in others:
        with pytest.raises(ExecutionValidationError) as refused:
            NodeMatcher.from_wire(value)
        assert '{"textEquals": "OK"}' in (refused.value.problems[0].allowed or "")
    for word, meant in (("desc", "contentDescEquals"), ("txt", "textEquals")):
        with pytest.raises(ExecutionValidationError) as refused:
            NodeMatcher.from_wire({word: "OK"})
        assert refused.value.path == "matcher"
        assert refused.value.problems[0].suggestion == meant
    with pytest.raises(ExecutionValidationError) as refused:
        NodeMatcher(text_equals=5, role="x" * 513)  # type: ignore[arg-type]  # the point
    assert [problem.path for problem in refused.value.problems] == [
        "matcher.role",
        "matcher.textEquals",
    ]


def test_is_a_value() -> None:
    """Matchers compare, hash, pickle, cannot be changed, and show only what was given."""
    matcher = NodeMatcher.of(text="OK", role="button")

    assert matcher == NodeMatcher(text_equals="OK", role="button")
    assert hash(matcher) == hash(NodeMatcher(text_equals="OK", role="button"))
    assert pickle.loads(pickle.dumps(matcher)) == matcher
    assert repr(matcher) == "NodeMatcher(role='button', text_equals='OK')"
    assert str(matcher) == "role='button', textEquals='OK'"
    with pytest.raises(AttributeError):
        matcher.text_equals = "other"  # type: ignore[misc]  # the point


def test_a_short_id_lacks_its_package() -> None:
    """An id with a package is whole; without an id there is nothing to complete."""
    ids = ("ok", "com.a:id/ok", "com.a:id/", None)
    assert [*map(is_short_id, ids)] == [True, False, False, False]


@pytest.mark.parametrize(
    ("caller", "message"),
    [
        (None, "nodes are not matched by txt="),
        ("click", r"click\(\) got an unexpected keyword: txt"),
    ],
)
def test_an_unknown_keyword_is_refused_with_the_likely_one(
    caller: str | None, message: str
) -> None:
    """The message names the keyword and the method, the hint the keywords that exist."""
    with pytest.raises(ConfigurationError, match=message) as refused:
        check_matcher_keywords(["id", "txt"], caller=caller)

    assert refused.value.hint == (
        "Did you mean text=? "
        "Nodes are matched by text, text_contains, id, desc, desc_contains, role."
    )


def test_some_keywords_take_a_pattern_that_is_never_sent() -> None:
    """A pattern is kept as written and pickled with the matcher; sending it is refused."""
    for word in ("text", "id", "desc"):
        keywords: Any = {word: re.compile(r"\d+")}
        matcher = NodeMatcher.of(**keywords)

        assert matcher.has_pattern
        assert r"re.compile('\\d+')" in str(matcher)
        assert pickle.loads(pickle.dumps(matcher)) == matcher
    with pytest.raises(ExecutionValidationError, match="cannot be sent to the device") as caught:
        NodeMatcher(text_equals=re.compile("x"), role="button").to_wire()

    assert caught.value.path == "matcher.textEquals"
    assert "claw.click(text=re.compile(...))" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"text_contains": re.compile("x")}, "text_contains= takes a text"),
        ({"desc_contains": re.compile("x")}, "desc_contains= takes a text"),
        ({"role": re.compile("x")}, "role= takes a text"),
        ({"text": re.compile(b"x")}, "takes a pattern of text"),
        ({"text": re.compile("")}, "text= must not be empty"),
        ({"id": "ok", "desc": re.compile("")}, "desc= must not be empty"),
        ({"text": re.compile("x" * 513)}, "at most 512 characters"),
    ],
)
def test_other_patterns_are_refused(keywords: Any, said: str) -> None:
    """What cannot be searched for is refused with what can."""
    with pytest.raises((ConfigurationError, ExecutionValidationError), match=said):
        NodeMatcher.of(**keywords)


@pytest.mark.parametrize("key", MATCHER_KEYS, ids=lambda key: key.keyword)
def test_a_blank_value_is_refused(key: MatcherKey) -> None:
    """It is a slip: it would match no node, or as a part of a text nearly every one."""
    wire = to_camel(key.field)
    for blank, said in [("", "empty"), (" ", "blank"), ("\n\t", "blank"), ("\u00a0", "blank")]:
        if (key.keyword, blank) == ("text", ""):
            continue  # nodes without a text exist
        keywords: Any = {"id": "ok", "role": "button", key.keyword: blank}
        fields: Any = {"role": "button", "resource_id": "ok", key.field: blank}
        for make in (NodeMatcher.of, NodeMatcher.for_search):
            with pytest.raises(ConfigurationError, match=f"{key.keyword}= must not be {said}"):
                make(**keywords)
        with pytest.raises(ConfigurationError, match=f"{wire} must not be {said}"):
            NodeMatcher(**fields)
        with pytest.raises(ConfigurationError, match=f"{wire} must not be {said}"):
            NodeMatcher.from_wire({"role": "button", "resourceId": "ok", wire: blank})


def test_a_text_may_be_empty_beside_another_value() -> None:
    """It then means a node without a text; alone it is a slip."""
    assert NodeMatcher.of(id="search", text="") == NodeMatcher(resource_id="search", text_equals="")
    for slip in ({"text": ""}, {"text": "", "id": None}):
        with pytest.raises(ConfigurationError, match="text= must not be empty"):
            NodeMatcher.of(**slip)


def test_a_pattern_may_be_a_space() -> None:
    """It is searched for in a text, and not every text has one."""
    assert NodeMatcher.of(text=re.compile(" ")).has_pattern


def test_a_search_takes_what_is_too_long_to_be_sent() -> None:
    """The limit is the wire's; all other rules hold."""
    long = "x" * 600

    assert NodeMatcher.for_search(text=long).text_equals == long
    with pytest.raises(ExecutionValidationError):
        NodeMatcher.of(text=long)
    with pytest.raises(ConfigurationError, match="must not be blank"):
        NodeMatcher.for_search(text=" ")
    with pytest.raises(ExecutionValidationError):
        NodeMatcher.for_search()


def test_selector_flags_stand_among_other_words() -> None:
    """Other words are left alone; without flags an element is empty and a container None."""
    argv = ["down", "--text", "About", "--click", "--container-id", "android:id/list"]

    assert parse_selector_flags(argv) == {"textEquals": "About"}
    assert parse_selector_flags(argv, "container") == {"resourceId": "android:id/list"}
    assert parse_selector_flags(["--resource-id", "a"]) == {"resourceId": "a"}
    assert parse_selector_flags(["down"]) == {}
    assert parse_selector_flags(["down"], "container") is None


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--resource-id", "a", "--id", "a"], "--id must not appear more than once"),
        *((["--desc", value], "--desc requires a value") for value in ("-5", "--", "--json")),
        *(
            (["--container-selector", text], "--container-selector must be valid JSON")
            for text in ("[" * 100_000, "{", "NaN", "\ufeff{}")
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_selector_flags_are_refused(argv: list[str], message: str) -> None:
    """Another spelling is the flag itself; a value is there, is not a flag, and is valid."""
    with pytest.raises(PayloadError) as caught:
        parse_selector_flags(argv, "container" if "container" in message else "element")

    assert caught.value.message.startswith(message)
    assert caught.value.code == "EXECUTION_VALIDATION_FAILED"
