"""The typed action classes write what the wire wants."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import (
    Click,
    CloseApp,
    EnterText,
    OpenApp,
    OpenUri,
    PressKey,
    ReadKeyValuePair,
    ReadText,
    Retry,
    Scroll,
    ScrollAndClick,
    ScrollUntil,
    Sleep,
    SnapshotUi,
    StartRecording,
    StopRecording,
    TakeScreenshot,
    TypedAction,
    WaitForNavigation,
    WaitForNode,
    to_milliseconds,
)
from pytest_clawperator.contracts.completion import complete_execution
from pytest_clawperator.contracts.params import Coordinate
from pytest_clawperator.contracts.rules import ACTION_TYPES
from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.errors import ExecutionValidationError

OK = NodeMatcher.of(text="OK")
WIRE_OK = {"textEquals": "OK"}
RETRY = Retry(max_attempts=3, initial_delay=0.5, max_delay=3, backoff_multiplier=2.0)
WIRE_RETRY = {
    "maxAttempts": 3,
    "initialDelayMs": 500,
    "maxDelayMs": 3000,
    "backoffMultiplier": 2.0,
}

WRITTEN: list[tuple[TypedAction, str, dict[str, Any]]] = [
    (OpenApp("a"), "open_app", {"applicationId": "a"}),
    (OpenUri("u", retry=RETRY), "open_uri", {"uri": "u", "retry": WIRE_RETRY}),
    (CloseApp("a"), "close_app", {"applicationId": "a"}),
    (StartRecording("s"), "start_recording", {"sessionId": "s"}),
    (StopRecording(), "stop_recording", {}),
    (WaitForNode(OK, timeout=2.5), "wait_for_node", {"matcher": WIRE_OK, "timeoutMs": 2500}),
    (Click(OK, click_type="focus"), "click", {"matcher": WIRE_OK, "clickType": "focus"}),
    (Click(coordinate=(3, 4)), "click", {"coordinate": {"x": 3, "y": 4}}),
    (
        ScrollAndClick(OK, max_swipes=15, settle_delay=0.25, click_retry=RETRY),
        "scroll_and_click",
        {"matcher": WIRE_OK, "maxSwipes": 15, "settleDelayMs": 250, "clickRetry": WIRE_RETRY},
    ),
    (Scroll("up", distance_ratio=0.5), "scroll", {"direction": "up", "distanceRatio": 0.5}),
    (
        ScrollUntil(OK, container={"id": "list"}, max_duration=10, click_after=True),
        "scroll_until",
        {
            "matcher": WIRE_OK,
            "container": {"resourceId": "list"},
            "maxDurationMs": 10000,
            "clickAfter": True,
        },
    ),
    (
        ReadText(OK, validator="regex", validator_pattern="^x$"),
        "read_text",
        {"matcher": WIRE_OK, "validator": "regex", "validatorPattern": "^x$"},
    ),
    (
        EnterText(OK, "hi", submit=True),
        "enter_text",
        {"matcher": WIRE_OK, "text": "hi", "submit": True},
    ),
    (SnapshotUi(), "snapshot_ui", {}),
    (TakeScreenshot("/tmp/x.png"), "take_screenshot", {"path": "/tmp/x.png"}),
    (Sleep(1.5), "sleep", {"durationMs": 1500}),
    (PressKey("back"), "press_key", {"key": "back"}),
    (
        WaitForNavigation(expected_package="a", timeout=5),
        "wait_for_navigation",
        {"expectedPackage": "a", "timeoutMs": 5000},
    ),
    (ReadKeyValuePair(OK), "read_key_value_pair", {"labelMatcher": WIRE_OK}),
]


@pytest.mark.parametrize(("written", "type", "params"), WRITTEN, ids=lambda v: str(v)[:40])
def test_wire_form(written: TypedAction, type: str, params: dict[str, Any]) -> None:
    """Each class writes its type and parameters, and the payload accepts them."""
    action = complete_execution([written]).actions[0]

    assert action.type == type
    assert (action.params.to_wire() if action.params else {}) == params


def test_a_class_for_every_type() -> None:
    """No action type is without its class, and the test above has them all."""
    classes = {
        cls
        for cls in vars(actions).values()
        if isinstance(cls, type) and issubclass(cls, TypedAction) and cls is not TypedAction
    }

    assert {cls.type for cls in classes} == set(ACTION_TYPES)
    assert {type(written) for written, _, _ in WRITTEN} == classes


def test_own_id() -> None:
    """An id may be given, and comes first."""
    assert SnapshotUi(id="snap").to_wire() == {"id": "snap", "type": "snapshot_ui"}


@pytest.mark.parametrize(
    ("seconds", "milliseconds"),
    [(0, 0), (1, 1000), (0.1, 100), (0.29, 290), (1 / 3, 333), (0.0001, 1)],
)
def test_seconds_become_whole_milliseconds(seconds: float, milliseconds: float) -> None:
    """The Operator ignores fractions, so a third of a second is 333 ms, and never nothing."""
    converted = to_milliseconds(seconds)

    assert converted == milliseconds
    assert isinstance(converted, int)


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (Sleep("5"), "durationMs"),  # type: ignore[arg-type]  # the point
        (Sleep(True), "durationMs"),
        (Sleep(math.nan), "durationMs"),
        (Sleep(math.inf), "durationMs"),
        (WaitForNode(OK, timeout=timedelta(1)), "timeoutMs"),  # type: ignore[arg-type]  # likewise
        (Click(coordinate=(1,)), "coordinate"),  # type: ignore[arg-type]  # likewise
        (Click(coordinate={1, 2}), "coordinate"),  # type: ignore[arg-type]  # likewise
        (Click("OK"), "matcher"),  # type: ignore[arg-type]  # likewise
        (Click({"text": ("a", "b")}), "matcher.textEquals"),
    ],
    ids=str,
)
def test_nonsense_is_left_to_the_judge(written: TypedAction, path: str) -> None:
    """A value that cannot be converted is refused like any other, with its path."""
    with pytest.raises(ExecutionValidationError) as refused:
        complete_execution([written])

    assert refused.value.path == f"actions.0.params.{path}"


def test_points() -> None:
    """A point may be a pair or a coordinate object."""
    for point in ((3, 4), Coordinate(3, 4)):
        action = complete_execution([Click(coordinate=point)]).to_wire()["actions"][0]

        assert action["params"] == {"coordinate": {"x": 3, "y": 4}}
