"""Apps, keys, snapshots and single scrolls: what is sent and what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.errors import ErrorCode, StepFailedError
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, moving, page

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
    """What the device cannot be told is looked up first."""
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
    phone = Phone(data={kind: {"told": "something"}})

    step = getattr(client(phone), method)(*args)

    assert phone.params(kind) == [params]
    assert step.data == {"told": "something"}


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
