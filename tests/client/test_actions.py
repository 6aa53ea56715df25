"""The default timeout that all action methods share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.contracts.actions import EnterText
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionValidationError,
    NodeNotFoundError,
    StepFailedError,
    TransportError,
)
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, first, moving, page


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5", True])
def test_a_timeout_that_is_no_number_of_seconds_is_refused(timeout: Any) -> None:
    """The default is checked where it is given, and where it is changed."""
    claw = client(Phone())

    with pytest.raises(ConfigurationError, match="timeout= must be"):
        client(Phone(), timeout=timeout)
    with pytest.raises(ConfigurationError, match="timeout= must be"):
        claw.timeout = timeout

    assert claw.timeout == 5.0


def test_a_batch_takes_the_clients_timeout() -> None:
    """A batch begins with the client's default, and has its own from then on."""
    claw = client(Phone(), timeout=2)

    batch = claw.batch()
    claw.timeout = 3

    assert batch.timeout == 2


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
    phone = Phone(data={kind: {"message": "something"}})

    step = getattr(first(phone), method)(*args, **keywords)

    assert phone.types == [[kind]]
    assert phone.params(kind) == [params]
    assert step.data == {"message": "something"}


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


FULL_ID = f"{PACKAGE}:id/list"


def test_scroll_sends_every_option_of_a_gesture() -> None:
    """One gesture, with everything that can be said about it."""
    phone = Phone(data={"scroll": moving(1)})

    outcome = client(phone).scroll(
        "up", within={"id": FULL_ID}, distance_ratio=0.5, settle_delay=0.1
    )

    assert outcome.moved
    assert phone.params("scroll") == [
        {
            "direction": "up",
            "container": {"resourceId": FULL_ID},
            "distanceRatio": 0.5,
            "settleDelayMs": 100,
        }
    ]


def test_a_container_by_its_short_id() -> None:
    """What cannot be sent to the device is looked up first."""
    phone = Phone(page("Tea"), data={"scroll": moving(1)})
    claw = client(phone)

    claw.scroll(within=claw.node(id="list"))

    assert phone.types == [["snapshot_ui"], ["scroll"]]
    assert phone.params("scroll")[0]["container"] == {"resourceId": FULL_ID}


def test_scroll_to_top() -> None:
    """The way back is the specification's."""
    phone = Phone(data={"scroll_until": {"termination_reason": "EDGE_REACHED"}})

    outcome = client(phone).scroll_to_top(within={"id": FULL_ID})

    assert outcome.edge_reached
    assert phone.params("scroll_until") == [
        {
            "container": {"resourceId": FULL_ID},
            "direction": "up",
            "maxScrolls": 50,
            "maxDurationMs": 50_000,
            "noPositionChangeThreshold": 3,
        }
    ]


@pytest.mark.parametrize(
    ("method", "args", "kind", "params"),
    [
        ("open_app", ("com.a",), "open_app", {"applicationId": "com.a"}),
        ("close_app", ("com.a",), "close_app", {"applicationId": "com.a"}),
        ("open_uri", ("shop://cart",), "open_uri", {"uri": "shop://cart"}),
        ("press_key", ("home",), "press_key", {"key": "home"}),
        ("back", (), "press_key", {"key": "back"}),
        ("home", (), "press_key", {"key": "home"}),
        ("recents", (), "press_key", {"key": "recents"}),
        ("sleep", (0.5,), "sleep", {"durationMs": 500}),
        ("start_recording", ("s1",), "start_recording", {"sessionId": "s1"}),
        ("stop_recording", (), "stop_recording", {}),
    ],
)
def test_each_simple_method_sends_its_action(
    method: str, args: Any, kind: str, params: Any
) -> None:
    """One action, and its step."""
    phone = Phone(data={kind: {"message": "something"}})

    step = getattr(client(phone), method)(*args)

    assert phone.params(kind) == [params]
    assert step.data == {"message": "something"}


def test_a_simple_action_that_fails() -> None:
    """The error says what was tried; the screen is not looked at for it."""
    phone = Phone(data={"open_app": {"error": "APP_NOT_FOUND"}})

    with pytest.raises(StepFailedError) as failed:
        client(phone).open_app("com.nowhere")

    assert "open_app 'com.nowhere'" in failed.value.message
    assert failed.value.code is ErrorCode.APP_NOT_FOUND
    assert phone.types == [["open_app"]]


def test_a_long_sleep_is_split() -> None:
    """No execution lasts longer than two minutes."""
    phone = Phone()

    client(phone).sleep(150)

    assert [params["durationMs"] for params in phone.params("sleep")] == [60_000, 60_000, 30_000]


def test_snapshot_returns_a_tree() -> None:
    """A snapshot is a tree."""
    phone = Phone(SHOP)

    assert client(phone).snapshot().find(text="Milk")


def test_scroll_until_lets_the_device_search() -> None:
    """The device searches by itself; it may take a second for each scroll."""
    found = {"termination_reason": "TARGET_FOUND", "scrolls_executed": "3", "direction": "down"}
    phone = Phone(data={"scroll_until": found})

    outcome = first(phone).scroll_until(text="Bread", click=True, max_scrolls=40)

    assert outcome.found
    assert outcome.scrolls_executed == 3
    assert phone.params("scroll_until") == [
        {
            "matcher": {"textEquals": "Bread"},
            "direction": "down",
            "maxScrolls": 40,
            "maxDurationMs": 40_000,
            "clickAfter": True,
        }
    ]


def test_scroll_and_click_waits_in_both_retry_objects() -> None:
    """Both of its retry objects last as long as was asked."""
    phone = Phone(data={"scroll_and_click": {"direction": "Up"}})

    outcome = first(phone).scroll_and_click(text="Tea", direction="up", max_scrolls=3, timeout=0)

    assert outcome.found
    assert phone.sent[0][0]["params"] == {
        "matcher": {"textEquals": "Tea"},
        "direction": "up",
        "maxSwipes": 3,
        "scrollRetry": {"maxAttempts": 1},
        "clickRetry": {"maxAttempts": 1},
    }


def test_a_target_that_is_not_in_the_list_is_not_waited_for() -> None:
    """After a whole list was searched another search would start at its end."""
    missing = {"error": "NODE_NOT_FOUND"}
    phone = Phone(page("Tea"), data={"scroll_and_click": missing})

    with pytest.raises(NodeNotFoundError):
        first(phone).scroll_and_click(text="Bread", timeout=60)

    assert phone.types == [["scroll_and_click"], ["snapshot_ui"]]


def test_a_search_that_the_device_calls_a_success() -> None:
    """To the specification the end of a list is a success; without its target it is none."""
    ended = {"termination_reason": "MAX_SCROLLS_REACHED", "scrolls_executed": "20"}
    phone = Phone(page("Tea"), data={"scroll_until": ended})

    with pytest.raises(NodeNotFoundError) as missed:
        client(phone).scroll_until(text="Bread")

    assert missed.value.code is ErrorCode.TARGET_NOT_FOUND
    assert "MAX_SCROLLS_REACHED after 20 scrolls" in missed.value.message
    assert missed.value.step.success is False


PNG = b"\x89PNG picture"


def test_screenshot_returns_the_bytes_of_a_png() -> None:
    """A screenshot is the bytes of a PNG."""
    phone = Phone(picture=PNG)

    assert client(phone).screenshot() == PNG
    assert phone.params("take_screenshot") == [{}]


def test_screenshot_to_a_file(tmp_path: Path) -> None:
    """It is written where it is wanted, in a new folder if need be."""
    path = tmp_path / "new" / "screen.png"

    client(Phone(picture=PNG)).screenshot(path)

    assert path.read_bytes() == PNG


def test_screenshot_that_cannot_be_written(tmp_path: Path) -> None:
    """A path that is a folder is refused with that reason."""
    with pytest.raises(ConfigurationError, match="cannot be written"):
        client(Phone(picture=PNG)).screenshot(tmp_path)


def test_screenshot_without_bytes() -> None:
    """The error for a picture that stayed on another host has its path."""
    phone = Phone(data={"take_screenshot": {"path": "/far/away.png"}})

    with pytest.raises(TransportError) as lost:
        client(phone).screenshot()

    assert lost.value.details == {"path": "/far/away.png"}
