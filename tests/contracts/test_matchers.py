"""Matchers from Python words, from keywords and from the wire."""

from __future__ import annotations

import pickle
import re
from dataclasses import fields
from typing import Any

import pytest

from pytest_clawperator.contracts.matchers import (
    MATCHER_KEYS,
    MatcherKeywords,
    NodeMatcher,
    check_matcher_keywords,
    is_short_id,
)
from pytest_clawperator.contracts.selector_flags import (
    flag_names,
    has_selector_flags,
    parse_selector_flags,
)
from pytest_clawperator.errors import ConfigurationError, ExecutionValidationError, PayloadError


def test_keywords_stand_for_the_fields_of_the_wire() -> None:
    """The short keywords stand for the wire's fields."""
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


def test_from_wire_understands_aliases() -> None:
    """A dict with aliases is the same matcher as its canonical form."""
    assert NodeMatcher.from_wire({"id": "x", "description": "y"}) == NodeMatcher(
        resource_id="x", content_desc_equals="y"
    )


def test_a_matcher_without_a_value_is_refused() -> None:
    """A matcher without a value is refused wherever it is made."""
    with pytest.raises(ExecutionValidationError, match="at least one field"):
        NodeMatcher()
    with pytest.raises(ExecutionValidationError, match="at least one field"):
        NodeMatcher.of(text="")
    with pytest.raises(ExecutionValidationError, match="at least one field"):
        NodeMatcher.from_wire({"role": ""})


@pytest.mark.parametrize("value", [None, "OK", 5, [("text", "OK")]])
def test_only_an_object_is_a_matcher(value: Any) -> None:
    """Anything else is refused with an example of what would do."""
    with pytest.raises(ExecutionValidationError) as refused:
        NodeMatcher.from_wire(value)

    assert '{"textEquals": "OK"}' in (refused.value.problems[0].allowed or "")


def test_own_keywords_are_recognised() -> None:
    """Keywords of Python code that stray into a payload are understood well enough to help."""
    with pytest.raises(ExecutionValidationError) as refused:
        NodeMatcher.from_wire({"desc": "OK"})

    assert refused.value.problems[0].suggestion == "contentDescEquals"


def test_wrong_words_are_explained() -> None:
    """An unknown field names the allowed ones and the nearest."""
    with pytest.raises(ExecutionValidationError) as refused:
        NodeMatcher.from_wire({"txt": "OK"})

    assert refused.value.path == "matcher"
    assert refused.value.problems[0].suggestion == "textEquals"


def test_wrong_values_are_explained() -> None:
    """A value of the wrong type or length is refused with its field's wire name."""
    with pytest.raises(ExecutionValidationError) as refused:
        NodeMatcher(text_equals=5, role="x" * 513)  # type: ignore[arg-type]  # the point

    assert [problem.path for problem in refused.value.problems] == [
        "matcher.role",
        "matcher.textEquals",
    ]


def test_is_a_value() -> None:
    """Matchers compare, hash, pickle and cannot be changed."""
    matcher = NodeMatcher.of(text="OK")

    assert matcher == NodeMatcher(text_equals="OK")
    assert hash(matcher) == hash(NodeMatcher(text_equals="OK"))
    assert pickle.loads(pickle.dumps(matcher)) == matcher
    with pytest.raises(AttributeError):
        matcher.text_equals = "other"  # type: ignore[misc]  # the point


def test_a_matcher_shows_only_what_was_given() -> None:
    """Only what was given is shown."""
    matcher = NodeMatcher.of(text="OK", role="button")

    assert repr(matcher) == "NodeMatcher(role='button', text_equals='OK')"
    assert str(matcher) == "role='button', textEquals='OK'"


@pytest.mark.parametrize(
    ("id", "is_short"), [("ok", True), ("com.a:id/ok", False), ("com.a:id/", False), (None, False)]
)
def test_a_short_id_lacks_its_package(id: str | None, is_short: bool) -> None:
    """An id with a package is whole, and no id is none to complete."""
    assert is_short_id(id) is is_short


def test_each_key_has_a_row_a_field_and_a_keyword() -> None:
    """The table, the matcher and the keywords of the typed API know the same keys."""
    assert {key.field for key in MATCHER_KEYS} == {each.name for each in fields(NodeMatcher)}
    assert [key.keyword for key in MATCHER_KEYS] == list(MatcherKeywords.__annotations__)


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
    """The message names the keyword and who got it, the hint those that there are."""
    with pytest.raises(ConfigurationError, match=message) as refused:
        check_matcher_keywords(["id", "txt"], caller=caller)

    assert refused.value.hint == (
        "Did you mean text=? "
        "Nodes are matched by text, text_contains, id, desc, desc_contains, role."
    )


@pytest.mark.parametrize("word", ["text", "id", "desc"])
def test_some_keywords_take_a_pattern(word: str) -> None:
    """A pattern is kept as it is, shown as it was written, and pickled with the matcher."""
    keywords: Any = {word: re.compile(r"\d+")}
    matcher = NodeMatcher.of(**keywords)

    assert matcher.has_pattern
    assert r"re.compile('\\d+')" in str(matcher)
    assert pickle.loads(pickle.dumps(matcher)) == matcher


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"text_contains": re.compile("x")}, "text_contains= takes a text"),
        ({"desc_contains": re.compile("x")}, "desc_contains= takes a text"),
        ({"role": re.compile("x")}, "role= takes a text"),
        ({"text": re.compile(b"x")}, "takes a pattern of text"),
        ({"text": re.compile("")}, "at least one field"),
        ({"text": re.compile("x" * 513)}, "at most 512 characters"),
    ],
)
def test_other_patterns_are_refused(keywords: Any, said: str) -> None:
    """What cannot be searched for is refused with what can."""
    with pytest.raises((ConfigurationError, ExecutionValidationError), match=said):
        NodeMatcher.of(**keywords)


def test_a_pattern_is_never_sent() -> None:
    """The wire form of a pattern is an error that names its field and the way out."""
    with pytest.raises(ExecutionValidationError, match="cannot be sent to the device") as caught:
        NodeMatcher(text_equals=re.compile("x"), role="button").to_wire()

    assert caught.value.path == "matcher.textEquals"
    assert "claw.click(text=re.compile(...))" in str(caught.value.hint)


@pytest.mark.parametrize("word", ["text", "text_contains", "id", "desc", "desc_contains", "role"])
@pytest.mark.parametrize("blank", [" ", "\n\t", "\u00a0"])
def test_a_blank_keyword_is_refused(word: str, blank: str) -> None:
    """It is a slip, and as a part of a text it would fit nearly every node."""
    with pytest.raises(ConfigurationError, match=f"{word}= must not be blank"):
        NodeMatcher.of(**{word: blank, "id": "ok"} if word != "id" else {word: blank})


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


def test_flags_stand_among_other_words() -> None:
    """Words that are no flags of this kind are left alone."""
    argv = ["down", "--text", "About", "--click", "--container-id", "android:id/list"]

    assert parse_selector_flags(argv) == {"textEquals": "About"}
    assert parse_selector_flags(argv, "container") == {"resourceId": "android:id/list"}


def test_without_flags_a_container_is_left_out() -> None:
    """An element that nothing describes is empty, a container is none at all."""
    assert parse_selector_flags(["down"]) == {}
    assert parse_selector_flags(["down"], "container") is None
    assert not has_selector_flags(["down", "--click"])


def test_another_spelling_is_the_flag_itself() -> None:
    """It makes the same matcher, and errors name the flag."""
    assert parse_selector_flags(["--resource-id", "a"]) == {"resourceId": "a"}
    with pytest.raises(PayloadError, match="--id must not appear more than once"):
        parse_selector_flags(["--resource-id", "a", "--id", "a"])


@pytest.mark.parametrize("value", ["-5", "--", "--json"])
def test_a_value_never_begins_with_a_dash(value: str) -> None:
    """A flag that is followed by another one has no value."""
    with pytest.raises(PayloadError) as caught:
        parse_selector_flags(["--desc", value])

    assert caught.value.message == "--desc requires a value"
    assert caught.value.code == "EXECUTION_VALIDATION_FAILED"


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "NaN", "\ufeff{}"])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    """However broken it is, the error is the same."""
    with pytest.raises(PayloadError, match="--container-selector must be valid JSON"):
        parse_selector_flags(["--container-selector", text], "container")


def test_every_flag_is_known_under_all_its_names() -> None:
    """The names are those of the element, each with the container's prefix."""
    assert [name.replace("--container-", "--") for name in flag_names("container")] == flag_names(
        "element"
    )
