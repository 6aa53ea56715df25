"""Gestures on nodes: which points the finger touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.gestures import Way, swipe_over
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import ConfigurationError, NodeNotFoundError, StepFailedError
from pytest_clawperator.snapshot.tree import Bounds
from tests.doubles.runner import SHOP, Phone, client, node, screen
from tests.doubles.transport import ScriptedTransport

ROW = Bounds(0, 100, 1000, 200)


class Glass(ScriptedTransport):
    """Takes every command, and remembers it."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def shell(self, command: str, **_: Any) -> Any:
        """Remember it."""
        self.lines.append(command)
        return super().shell("true", **_)


@pytest.fixture
def glass() -> Glass:
    """Return what the gestures of a test reach."""
    glass = Glass()
    glass.answers["true"] = ""
    return glass


@pytest.fixture
def claw(glass: Glass) -> Clawperator:
    """Return a client of a phone that shows the shop."""
    claw = client(Phone(SHOP))
    claw.device = Device(glass, DeviceInfo(serial="PH1", key="PH1"))
    return claw


@pytest.mark.parametrize(
    ("direction", "points"),
    [
        ("left", ((900, 150), (100, 150))),
        ("right", ((100, 150), (900, 150))),
        ("up", ((500, 190), (500, 110))),
        ("down", ((500, 110), (500, 190))),
    ],
)
def test_a_swipe_keeps_within_its_node(direction: Way, points: object) -> None:
    """The finger goes where it is told, and leaves a tenth at each end."""
    assert swipe_over(ROW, direction, 0.8) == points


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize("direction", ["left", "right", "up", "down"])
def test_a_whole_swipe_stays_on_its_node(direction: Way, size: int) -> None:
    """Even over all of a small node both ends are inside it."""
    part = Bounds(50, 60, 50 + size, 60 + size)

    for x, y in swipe_over(part, direction, 1):
        assert 50 <= x < 50 + size
        assert 60 <= y < 60 + size


@pytest.mark.parametrize(
    ("direction", "ratio", "told"),
    [
        ("Left", 0.5, "Did you mean left?"),
        ("sideways", 0.5, "left, right, up, down"),
        (5, 0.5, "left, right, up, down"),
        ("left", 0, "more than 0"),
        ("left", 1.5, "at most 1"),
        ("left", True, "at most 1"),
    ],
)
def test_impossible_swipes_are_refused(direction: Any, ratio: Any, told: str) -> None:
    """What is no direction, or no part of a node, is refused with what is allowed."""
    with pytest.raises(ConfigurationError) as caught:
        swipe_over(ROW, direction, ratio)

    assert told in str(caught.value.hint)


def test_gestures_go_to_where_the_node_is(claw: Clawperator, glass: Glass) -> None:
    """A fresh look tells the points; another node, or a point, is where a drag ends."""
    tea = claw.node(text="Tea")
    milk = claw.node(text="Milk").bounds().center
    x, y = tea.bounds().center

    tea.double_click()
    tea.drag_to(claw.node(text="Milk"))
    tea.drag_to((7, 8), duration=2)
    tea.swipe("right", distance_ratio=0.5, duration=1)

    assert glass.lines[0].startswith(f"input tap {x} {y} & ")
    assert glass.lines[1] == f"input draganddrop {x} {y} {milk[0]} {milk[1]} 1000"
    assert glass.lines[2] == f"input draganddrop {x} {y} 7 8 2000"
    assert glass.lines[3] == f"input swipe {x - 125} {y} {x + 125} {y} 1000"


def test_a_missing_node_is_not_touched(claw: Clawperator, glass: Glass) -> None:
    """Neither end of a drag may be missing."""
    uses: list[Callable[[], None]] = [
        lambda: claw.node(text="Coffee").double_click(timeout=0),
        lambda: claw.node(text="Tea").drag_to(claw.node(text="Coffee"), timeout=0),
        lambda: claw.node(text="Coffee").drag_to(claw.node(text="Tea"), timeout=0),
    ]
    for use in uses:
        with pytest.raises(NodeNotFoundError, match="Coffee"):
            use()

    assert glass.lines == []


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (SHOP, "3 nodes fit"),
        (screen(node(text="Buy", kind="Button", enabled=False)), "it is disabled"),
    ],
)
def test_a_gesture_is_as_strict_as_a_click(glass: Glass, shown: str, said: str) -> None:
    """Nothing is touched where several nodes fit, or where the node is disabled."""
    claw = client(Phone(shown))
    claw.device = Device(glass, DeviceInfo(serial="PH1", key="PH1"))

    with pytest.raises(StepFailedError, match=said):
        claw.node(text="Buy").double_click(timeout=0)

    assert glass.lines == []
