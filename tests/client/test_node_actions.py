"""Each method sends its action and gives back what one wants of it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.actions import EnterText
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import ExecutionValidationError
from tests.doubles.runner import Phone, client, first

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
def test_each_method_sends_its_action_and_returns_the_step(
    method: str, args: Any, keywords: Any, kind: str, params: Any
) -> None:
    """The action goes out with the matcher, and its step comes back."""
    phone = Phone(data={kind: {"told": "something"}})

    step = getattr(first(phone), method)(*args, **keywords)

    assert phone.types == [[kind]]
    assert phone.params(kind) == [params]
    assert step.data == {"told": "something"}


def test_every_field_of_a_matcher_has_a_keyword() -> None:
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


def test_a_secret_is_sent_as_it_is_and_shown_nowhere() -> None:
    """A secret changes nothing on the wire; what is printed of it has a mark."""
    phone = Phone()
    claw = client(phone)

    claw.enter_text("hunter2", text="Tea")
    claw.enter_text("hunter2", text="Tea", secret=True)
    claw.node(text="Tea").enter_text("hunter2", secret=True)
    with claw.batch() as batch:
        batch.enter_text("hunter2", text="Tea", secret=True)

    assert phone.params("enter_text") == [{"matcher": TEA, "text": "hunter2"}] * 4
    action = EnterText(NodeMatcher.of(text="hunter2"), "hunter2")
    things = [*phone.executions, action, claw.node(text="hunter2"), NodeMatcher.of(id="hunter2")]
    assert not [thing for thing in things if "hunter2" in repr(thing)]


def test_a_text_that_is_refused_is_not_shown_if_it_is_a_secret() -> None:
    """The error about a secret that no field can hold does not show it."""
    with pytest.raises(ExecutionValidationError) as caught:
        client(Phone()).enter_text("hunter2\0", text="Tea", secret=True)

    assert "hunter2" not in f"{caught.value} {caught.value!r}"
