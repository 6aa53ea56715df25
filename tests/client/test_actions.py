"""Each method sends its action, and returns what came back."""

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
    ShellError,
    StepFailedError,
    TransportError,
)
from tests.doubles.runner import PACKAGE, SHOP, Act, Phone, client, first, moving, page


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5", True])
def test_an_invalid_timeout_is_refused(timeout: Any) -> None:
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
FULL_ID = f"{PACKAGE}:id/list"
LIST = {"resourceId": FULL_ID}


@pytest.mark.parametrize(
    ("act", "kind", "params"),
    [
        (lambda claw: claw.click(text="Tea"), "click", {"matcher": TEA}),
        (lambda claw: claw.click(at=(3, 4)), "click", {"coordinate": {"x": 3, "y": 4}}),
        (lambda claw: claw.long_click(text="Tea"), "click",
         {"matcher": TEA, "clickType": "long_click"}),
        (lambda claw: claw.long_click(at=(3, 4)), "click",
         {"coordinate": {"x": 3, "y": 4}, "clickType": "long_click"}),
        (lambda claw: claw.focus(text="Tea"), "click", {"matcher": TEA, "clickType": "focus"}),
        (lambda claw: claw.enter_text("hi", text="Tea"), "enter_text",
         {"matcher": TEA, "text": "hi"}),
        (lambda claw: claw.enter_text("hi", text="Tea", submit=True), "enter_text",
         {"matcher": TEA, "text": "hi", "submit": True}),
        (lambda claw: claw.wait_for_node(text="Tea"), "wait_for_node",
         {"matcher": TEA, "timeoutMs": 6000}),
        (lambda claw: claw.wait_for_navigation(package="com.a", text="Tea", timeout=2),
         "wait_for_navigation",
         {"expectedPackage": "com.a", "expectedNode": TEA, "timeoutMs": 2000}),
        (lambda claw: claw.open_app("com.a"), "open_app", {"applicationId": "com.a"}),
        (lambda claw: claw.close_app("com.a"), "close_app", {"applicationId": "com.a"}),
        (lambda claw: claw.open_uri("shop://cart"), "open_uri", {"uri": "shop://cart"}),
        (lambda claw: claw.press_key("home"), "press_key", {"key": "home"}),
        (lambda claw: claw.back(), "press_key", {"key": "back"}),
        (lambda claw: claw.home(), "press_key", {"key": "home"}),
        (lambda claw: claw.recents(), "press_key", {"key": "recents"}),
        (lambda claw: claw.sleep(0.5), "sleep", {"durationMs": 500}),
        (lambda claw: claw.start_recording("s1"), "start_recording", {"sessionId": "s1"}),
        (lambda claw: claw.stop_recording(), "stop_recording", {}),
        (lambda claw: claw.click(text="a", text_contains="b", id="c:id/d", desc="e",
                                 desc_contains="f", role="button"), "click",
         {"matcher": {"resourceId": "c:id/d", "role": "button", "textEquals": "a",
                      "textContains": "b", "contentDescEquals": "e",
                      "contentDescContains": "f"}}),
        # Of a scroll the step is in its outcome.
        (lambda claw: claw.scroll("up", within={"id": FULL_ID}, distance_ratio=0.5,
                                  settle_delay=0.1).step, "scroll",
         {"direction": "up", "container": LIST, "distanceRatio": 0.5, "settleDelayMs": 100}),
        (lambda claw: claw.scroll_to_top(within={"id": FULL_ID}).step, "scroll_until",
         {"container": LIST, "direction": "up", "maxScrolls": 50, "maxDurationMs": 50_000,
          "noPositionChangeThreshold": 3}),
        (lambda claw: claw.scroll_and_click(text="Tea", direction="up", max_scrolls=3).step,
         "scroll_and_click", {"matcher": TEA, "direction": "up", "maxSwipes": 3}),
    ],
)  # fmt: skip
def test_each_method_sends_its_action_and_returns_the_step(
    act: Act, kind: str, params: dict[str, Any]
) -> None:
    """The action goes out as it was described, alone."""
    phone = Phone(data={kind: {"message": "something"}})

    step = act(first(phone))

    assert phone.executed == [kind]
    assert phone.params(kind) == [params]
    assert step.data["message"] == "something"


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


def test_a_container_may_be_named_by_its_short_id() -> None:
    """What cannot be sent to the device is looked up first."""
    phone = Phone(page("Tea"), data={"scroll": moving(1)})
    claw = client(phone)

    assert claw.scroll(within=claw.node(id="list")).moved
    assert phone.executed == ["snapshot_ui", "scroll"]
    assert phone.params("scroll")[0]["container"] == LIST


def test_a_simple_action_that_fails_needs_no_snapshot() -> None:
    """The error says what was tried."""
    phone = Phone(data={"open_app": {"error": "APP_NOT_FOUND"}})

    with pytest.raises(StepFailedError) as failed:
        client(phone).open_app("com.nowhere")

    assert "open_app 'com.nowhere'" in failed.value.message
    assert failed.value.code is ErrorCode.APP_NOT_FOUND
    assert phone.executed == ["open_app"]


def test_an_app_that_is_not_installed_cannot_be_closed() -> None:
    """To stop it would succeed, and so would a misspelt name; nothing is sent, not in a batch."""
    phone = Phone()
    claw = client(phone, answers={"pm list packages": "package:com.example.clinic\n"})

    with pytest.raises(ShellError) as alone:
        claw.close_app("com.example.clnic")
    with pytest.raises(ShellError) as in_batch, claw.batch() as b:
        b.close_app("com.example.clnic")

    for failed in (alone.value, in_batch.value):
        assert failed.code is ErrorCode.APP_NOT_FOUND
        assert "Did you mean 'com.example.clinic'?" in str(failed.hint)
    assert phone.executed == []


def test_a_long_sleep_is_split() -> None:
    """No execution lasts longer than two minutes."""
    phone = Phone()

    client(phone).sleep(150)

    assert [params["durationMs"] for params in phone.params("sleep")] == [60_000, 60_000, 30_000]


def test_snapshot_returns_a_tree() -> None:
    """Its nodes can be found."""
    assert client(Phone(SHOP)).snapshot().find(text="Milk")


def test_the_device_searches_a_list_by_itself() -> None:
    """It may take a second for each scroll."""
    found = {"termination_reason": "TARGET_FOUND", "scrolls_executed": "3", "direction": "down"}
    phone = Phone(data={"scroll_until": found})

    outcome = first(phone).scroll_until(text="Tea", click=True, max_scrolls=40)

    assert (outcome.found, outcome.scrolls_executed) == (True, 3)
    search = {"direction": "down", "maxScrolls": 40, "maxDurationMs": 40_000, "clickAfter": True}
    assert phone.params("scroll_until") == [{"matcher": TEA, **search}]


def test_scroll_and_click_waits_in_both_retry_objects() -> None:
    """Both last as long as was asked."""
    phone = Phone(data={"scroll_and_click": {"direction": "Up"}})

    assert first(phone).scroll_and_click(text="Tea", timeout=0).found

    params = phone.sent[0][0]["params"]
    assert params["scrollRetry"] == params["clickRetry"] == {"maxAttempts": 1}


@pytest.mark.parametrize(
    ("method", "answer", "code", "message"),
    [
        ("scroll_and_click", {"error": "NODE_NOT_FOUND"}, "NODE_NOT_FOUND", ""),
        ("scroll_until",
         {"termination_reason": "MAX_SCROLLS_REACHED", "scrolls_executed": "20"},
         "TARGET_NOT_FOUND", "MAX_SCROLLS_REACHED after 20 scrolls"),
    ],
)  # fmt: skip
def test_a_search_without_its_target_fails(
    method: str, answer: dict[str, str], code: str, message: str
) -> None:
    """Also if the device calls it a success; another search would start at the list's end."""
    phone = Phone(page("Tea"), data={method: answer})

    with pytest.raises(NodeNotFoundError) as missed:
        getattr(first(phone), method)(text="Bread", timeout=60)

    assert missed.value.code == code
    assert message in missed.value.message
    assert missed.value.step.success is False
    assert phone.executed == [method, "snapshot_ui"]


PNG = b"\x89PNG picture"


def test_a_screenshot_is_returned_and_written(tmp_path: Path) -> None:
    """It is written where it is wanted, in a new folder if need be."""
    phone = Phone(picture=PNG)
    path = tmp_path / "new" / "screen.png"

    assert client(phone).screenshot() == PNG
    client(phone).screenshot(path)

    assert path.read_bytes() == PNG
    assert phone.params("take_screenshot") == [{}, {}]
    with pytest.raises(ConfigurationError, match="cannot be written"):
        client(phone).screenshot(tmp_path)


def test_a_screenshot_without_bytes_is_an_error() -> None:
    """The error for a picture that stayed on another host has its path."""
    phone = Phone(data={"take_screenshot": {"path": "/far/away.png"}})

    with pytest.raises(TransportError) as lost:
        client(phone).screenshot()

    assert lost.value.details == {"path": "/far/away.png"}
