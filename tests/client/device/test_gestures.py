"""Gestures as the lines that the device's shell gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.errors import ConfigurationError, ShellError
from tests.doubles.device import REFUSED, scripted
from tests.doubles.transport import ScriptedTransport


@pytest.mark.parametrize(
    ("use", "line"),
    [
        (lambda d: d.swipe((1, 2), (3.4, 4.6)), "input swipe 1 2 3 5 300"),
        (lambda d: d.swipe((1, 2), (3, 4), duration=2), "input swipe 1 2 3 4 2000"),
        (lambda d: d.drag((1, 2), (3, 4)), "input draganddrop 1 2 3 4 1000"),
        (lambda d: d.drag((1, 2), (3, 4), duration=0.5), "input draganddrop 1 2 3 4 500"),
        (lambda d: d.double_tap((1, 2)), "input tap 1 2 & sleep 0.1; input tap 1 2; wait"),
    ],
)
def test_a_gesture_is_one_line(use: Callable[[Device], None], line: str) -> None:
    """Each gesture is one command line, so that nothing comes between its parts."""
    device = scripted({line: ""})
    transport = device._transport
    assert isinstance(transport, ScriptedTransport)

    use(device)

    assert transport.calls == [line]


@pytest.mark.parametrize(
    "use",
    [
        lambda d: d.drag((-1, 0), (1, 1)),
        lambda d: d.drag((0, 0), (1, 1), duration=-1),
        lambda d: d.double_tap((1, "2; reboot")),
        lambda d: d.double_tap("ab"),
        lambda d: d.double_tap((1, float("inf"))),
    ],
)
def test_what_is_no_point_never_reaches_the_shell(use: Callable[[Any], None]) -> None:
    """Points and times are checked before anything is sent."""
    transport = ScriptedTransport()
    device = Device(transport, scripted().info)

    with pytest.raises(ConfigurationError, match=r"cannot (drag|tap twice)"):
        use(device)

    assert transport.calls == []


def test_a_refused_gesture_is_an_error() -> None:
    """A phone that lets nobody inject touches says so, with the switch that allows it."""
    line = "input draganddrop 1 2 3 4 1000"

    with pytest.raises(ShellError, match="draganddrop") as caught:
        scripted({line: REFUSED}).drag((1, 2), (3, 4))

    assert "USB debugging (Security settings)" in str(caught.value)


@pytest.mark.parametrize(
    ("use", "line"),
    [
        (lambda d: d.swipe((1, 2), (3, 4)), "input -d 2 swipe 1 2 3 4 300"),
        (lambda d: d.drag((1, 2), (3, 4)), "input -d 2 draganddrop 1 2 3 4 1000"),
        (
            lambda d: d.double_tap((1, 2)),
            "input -d 2 tap 1 2 & sleep 0.1; input -d 2 tap 1 2; wait",
        ),
        (lambda d: d.key_event("enter"), "input -d 2 keyevent KEYCODE_ENTER"),
    ],
)
def test_touches_and_keys_go_to_the_chosen_display(
    use: Callable[[Device], None], line: str
) -> None:
    """They belong to the display that pictures are taken of."""
    device = scripted({line: ""})
    transport = device._transport
    assert isinstance(transport, ScriptedTransport)
    transport.display = 2

    use(device)

    assert transport.calls == [line]
