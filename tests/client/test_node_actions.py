"""Each method sends its action and gives back what one wants of it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.errors import (
    ConfigurationError,
    EnvelopeMalformedError,
    ExecutionValidationError,
    StepFailedError,
)
from tests.doubles.runner import Phone, client

TEA = {"textEquals": "Tea"}


@pytest.mark.parametrize(
    ("method", "args", "keywords", "kind", "params"),
    [
        ("click", (), {"text": "Tea"}, "click", {"matcher": TEA}),
        ("click", (), {"at": (3, 4)}, "click", {"coordinate": {"x": 3, "y": 4}}),
        ("long_click", (), {"text": "Tea"}, "click", {"matcher": TEA, "clickType": "long_click"}),
        (
            "long_click",
            (),
            {"at": (3, 4)},
            "click",
            {"coordinate": {"x": 3, "y": 4}, "clickType": "long_click"},
        ),
        ("focus", (), {"text": "Tea"}, "click", {"matcher": TEA, "clickType": "focus"}),
        ("enter_text", ("hi",), {"text": "Tea"}, "enter_text", {"matcher": TEA, "text": "hi"}),
        (
            "enter_text",
            ("hi",),
            {"text": "Tea", "submit": True},
            "enter_text",
            {"matcher": TEA, "text": "hi", "submit": True},
        ),
        (
            "wait_for_node",
            (),
            {"text": "Tea"},
            "wait_for_node",
            {"matcher": TEA, "timeoutMs": 6000},
        ),
        (
            "wait_for_navigation",
            (),
            {"package": "com.a", "text": "Tea", "timeout": 2},
            "wait_for_navigation",
            {"expectedPackage": "com.a", "expectedNode": TEA, "timeoutMs": 2000},
        ),
    ],
)
def test_steps(method: str, args: Any, keywords: Any, kind: str, params: Any) -> None:
    """The action goes out with the matcher, and its step comes back."""
    phone = Phone(data={kind: {"told": "something"}})

    step = getattr(client(phone), method)(*args, **keywords)

    assert phone.types == [[kind]]
    assert phone.params(kind) == [params]
    assert step.data == {"told": "something"}


def test_all_keywords() -> None:
    """Every field of a matcher has its keyword."""
    phone = Phone()

    client(phone).click(
        text="a", text_contains="b", id="c:id/d", desc="e", desc_contains="f", role="button"
    )

    assert phone.params("click")[0]["matcher"] == {
        "resourceId": "c:id/d",
        "role": "button",
        "textEquals": "a",
        "textContains": "b",
        "contentDescEquals": "e",
        "contentDescContains": "f",
    }


def test_reading_a_text() -> None:
    """A read gives the text."""
    phone = Phone(data={"read_text": {"text": "Tea", "validator": "none"}})

    assert client(phone).read_text(text_contains="e") == "Tea"


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"validator": "version"}, {"validator": "version"}),
        ({"pattern": "[0-9]+"}, {"validator": "regex", "validatorPattern": "[0-9]+"}),
        (
            {"validator": "regex", "pattern": "x"},
            {"validator": "regex", "validatorPattern": "x"},
        ),
    ],
)
def test_reading_a_text_of_a_form(given: Any, sent: Any) -> None:
    """A pattern alone is a validator, too."""
    phone = Phone(data={"read_text": {"text": "1"}})

    client(phone).read_text(text="Tea", **given)

    assert phone.params("read_text") == [{"matcher": TEA, **sent}]


def test_reading_all_texts() -> None:
    """The Operator's list is read even where a text holds a raw line break."""
    phone = Phone(data={"read_text": {"text": '["a","say \\"b\\"","c\nd"]', "all": "true"}})

    texts = client(phone).read_all_text(text_contains="e")

    assert texts == ["a", 'say "b"', "c\nd"]
    assert phone.params("read_text")[0]["all"] is True


@pytest.mark.parametrize("text", ["", "[", "5"])
def test_a_list_that_cannot_be_read(text: str) -> None:
    """What is no list is told with the raw answer."""
    phone = Phone(data={"read_text": {"text": text}})

    with pytest.raises(EnvelopeMalformedError) as broken:
        client(phone).read_all_text(text_contains="e")

    assert broken.value.details == {"text": text}


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        (("Version",), {}),
        ((), {"label": "Version"}),
        ((), {"text": "Version"}),
        (({"text": "Version"},), {}),
        ((), {"label": {"text": "Version"}}),
    ],
)
def test_reading_a_value(args: Any, keywords: Any) -> None:
    """A label is a text, or whatever else a node may be said by."""
    phone = Phone(data={"read_key_value_pair": {"label": "Version", "value": "16"}})

    assert client(phone).read_value(*args, **keywords) == "16"
    assert phone.params("read_key_value_pair") == [{"labelMatcher": {"textEquals": "Version"}}]


@pytest.mark.parametrize("value", ["", " ", "\n"])
def test_blank_text_is_refused_before_it_is_sent(value: str) -> None:
    """The Operator would refuse the whole payload in silence."""
    phone = Phone()

    with pytest.raises(ExecutionValidationError) as refused:
        client(phone).enter_text(value, text="Tea")

    assert ".clear()" in str(refused.value)
    assert phone.executions == []


@pytest.mark.parametrize("extra", [{"text": "Tea"}, {"within": {"text": "Tea"}}])
def test_a_point_and_a_node(extra: Any) -> None:
    """It is either a point or a node."""
    with pytest.raises(ConfigurationError) as refused:
        client(Phone()).click(at=(1, 2), **extra)

    assert "which is meant" in refused.value.message


def test_a_point_that_is_none() -> None:
    """A point is two whole numbers; the payload's judge says so."""
    with pytest.raises(ExecutionValidationError) as refused:
        client(Phone()).click(at=(1.5, -2))  # type: ignore[arg-type]

    assert [problem.path for problem in refused.value.problems] == [
        "actions.0.params.coordinate.x",
        "actions.0.params.coordinate.y",
    ]


def test_navigation_to_what_cannot_be_looked_up() -> None:
    """A short id of a screen that is still to come is refused with what would do."""
    with pytest.raises(ConfigurationError) as refused:
        client(Phone()).wait_for_navigation(id="title")

    assert "whole id" in str(refused.value.hint)


def test_navigation_is_split_at_the_operators_limit() -> None:
    """Thirty seconds is the most that one wait may last."""
    phone = Phone(data={"wait_for_navigation": {"error": "NAVIGATION_TIMEOUT"}})

    with pytest.raises(AssertionError):
        client(phone).wait_for_navigation(package="com.a", timeout=45)

    waits = [params["timeoutMs"] for params in phone.params("wait_for_navigation")]
    assert waits[0] == 30_000
    assert 0 < waits[1] <= 15_000
    assert len(waits) == 2


class TestValidators:
    """What a text must look like is judged before it is read, and said when it does not."""

    @pytest.mark.parametrize("validator", ["version", "temperature"])
    def test_not_with_a_pattern(self, validator: Any) -> None:
        """A validator has a form of its own, so a pattern would be ignored."""
        with pytest.raises(ConfigurationError, match="Give either"):
            client(Phone()).read_text(text="x", validator=validator, pattern="zzz")

    def test_an_unknown_one(self) -> None:
        """A misspelt validator is told what it may have meant."""
        with pytest.raises(ConfigurationError, match="Did you mean 'version'"):
            client(Phone()).read_text(text="x", validator="versionn")  # type: ignore[arg-type]

    def test_the_error_says_what_was_wanted(self) -> None:
        """Both the text and the pattern are in the message."""
        phone = Phone(data={"read_text": {"error": "VALIDATOR_MISMATCH", "raw_text": "Tea"}})

        with pytest.raises(StepFailedError) as failed:
            client(phone).read_text(text="Tea", pattern="[0-9]", timeout=0)

        assert "it reads 'Tea', wanted a text that matches '[0-9]'" in failed.value.message
