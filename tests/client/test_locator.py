"""Locators are data: they are resolved at each use, and say what they mean."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device, NoDevice
from pytest_clawperator.client.locator import Way, swipe_over
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import (
    ConfigurationError,
    ExpectationError,
    NodeNotFoundError,
    SnapshotError,
    StepFailedError,
)
from pytest_clawperator.snapshot.tree import Bounds, Snapshot
from tests.doubles.runner import PACKAGE, SHOP, Act, Phone, client, first, node, screen
from tests.doubles.transport import ScriptedTransport

EMPTY = screen()


def test_a_locator_is_only_a_description() -> None:
    """It reads as it is written, resolves any snapshot, and sends nothing."""
    phone = Phone(SHOP)
    claw = client(phone)
    described = claw.node(id="row", has=claw.node(text="Milk")).node(role="button").nth(-1)
    names = claw.node(id="name")

    assert repr(described) == "node(id='row', has=node(text='Milk')).node(role='button').nth(-1)"
    labels = [one.label for one in names.resolve(Snapshot.from_xml(SHOP))]
    assert labels == ["Tea", "Milk", "Bread"]
    assert repr(names) == "node(id='name')"
    assert phone.executions == []
    assert repr(claw.node(claw.snapshot().root)).startswith("<Locator of ")


def test_locators_are_equal_by_what_they_mean() -> None:
    """So they can be in a set."""
    claw = client(Phone())

    assert claw.node(id="name") == claw.node(id="name")
    assert claw.node(id="name") != claw.node(id="name").nth(1)
    assert len({claw.node(id="name"), claw.node(id="name")}) == 1


def test_it_is_looked_up_at_each_use_without_waiting() -> None:
    """Whether, which and how many are questions about now."""
    phone = Phone(EMPTY, EMPTY, EMPTY, SHOP)
    names = client(phone).node(id="name")

    assert (names.exists(), names.all(), names.count()) == (False, [], 0)
    assert (names.exists(), names.count()) == (True, 3)
    assert [one.label for one in names.all()] == ["Tea", "Milk", "Bread"]
    assert repr(names) == "node(id='name') (1st of 3)"
    assert phone.executed == ["snapshot_ui"] * 6


def payee(name: str, top: int) -> str:
    """Make a row of a list of payees."""
    title = node(text=name, id="title", kind="TextView", bounds=f"[0,{top}][500,{top + 50}]")
    return node(title, id="payee", bounds=f"[0,{top}][1080,{top + 90}]")


PAYEES = screen(payee("Ann", 100), payee("Bob", 200), payee("Cas", 5000), node(text="Dan"))
CHECKS: dict[str, Callable[[LocatorAssertions], None]] = {
    "visible": lambda checks: checks.to_be_visible(),
    "hidden": lambda checks: checks.to_be_hidden(),
    "in the tree": lambda checks: checks.to_exist(),
    "not in the tree": lambda checks: checks.not_to_exist(),
    "one": lambda checks: checks.to_have_count(1),
    "two": lambda checks: checks.to_have_count(2),
    "Ann and Bob": lambda checks: checks.to_have_text(["Ann", "Bob"]),
    "Bob": lambda checks: checks.to_have_text("Bob"),
}


@pytest.mark.parametrize(
    ("wanted", "holding"),
    [
        (lambda claw: claw.node(id="payee").node(text="Bob"),
         {"visible", "in the tree", "one", "Bob"}),
        (lambda claw: claw.node(text="Bob", within=claw.node(id="payee")),
         {"visible", "in the tree", "one", "Bob"}),
        (lambda claw: claw.node(id="payee").nth(1).node(id="title"),
         {"visible", "in the tree", "one", "Bob"}),
        (lambda claw: claw.node(id="payee").first.node(text="Bob"), {"hidden", "not in the tree"}),
        (lambda claw: claw.node(id="payee").node(id="title"),
         {"visible", "in the tree", "two", "Ann and Bob"}),
        (lambda claw: claw.node(id="payee").node(id="payee"), {"hidden", "not in the tree"}),
        (lambda claw: claw.node(id="payee").node(text="Dan"), {"hidden", "not in the tree"}),
        (lambda claw: claw.node(id="payee").node(text="Cas"), {"hidden", "in the tree"}),
        (lambda claw: claw.node(id="payee", has={"text": "Cas"}), {"hidden", "in the tree"}),
        (lambda claw: claw.node(claw.node(id="payee", has={"text": "Ann"}), has={"text": "Bob"}),
         {"hidden", "not in the tree"}),
    ],
)  # fmt: skip
def test_checks_of_a_nested_node(wanted: Act, holding: set[str]) -> None:
    """Each check, and each check of the opposite, sees the nodes in every parent."""
    passed = set()
    for name, check in CHECKS.items():
        expect = Expect()
        expect.configure(linger=0)
        with contextlib.suppress(ExpectationError):
            check(expect(wanted(client(Phone(PAYEES), timeout=0))))
            passed.add(name)

    assert passed == holding


def test_a_plain_locator_is_sent_as_it_is() -> None:
    """What the device understands is left to the device."""
    phone = Phone(data={"read_text": {"text": "Tea"}})
    tea = first(phone).node(text="Tea")

    tea.click()
    tea.long_click()
    tea.enter_text("hi", submit=True)
    tea.read()
    assert tea.wait(timeout=1) is tea

    assert phone.executed == ["click", "click", "enter_text", "read_text", "wait_for_node"]


def test_waiting_ends_when_the_whole_description_matches() -> None:
    """What the device cannot find is looked for on snapshots."""
    phone = Phone(EMPTY, EMPTY, SHOP)

    client(phone).node(id="row", has={"text": "Milk"}).wait()

    assert phone.executed == ["snapshot_ui", *["sleep snapshot_ui"] * 2]


def test_bounds_are_those_of_a_node_that_is_there() -> None:
    """It is waited for; a node of a snapshot is where it was."""
    phone = Phone(EMPTY, SHOP)
    claw = client(phone)

    bounds = claw.node(text="Bread").bounds()

    assert (bounds, bounds.center) == ((0, 400, 500, 450), (250, 425))
    assert claw.node(claw.snapshot().find(text="Bread")).bounds() == bounds
    assert phone.executed == ["snapshot_ui", "sleep snapshot_ui", "snapshot_ui"]
    with pytest.raises(NodeNotFoundError, match="bounds: no node"):
        client(Phone(EMPTY)).node(text="Bread").bounds(timeout=0)


def test_scroll_into_view() -> None:
    """What it is inside of is what is scrolled."""
    found = {"termination_reason": "TARGET_FOUND", "scrolls_executed": "2"}
    phone = Phone(SHOP, EMPTY, data={"scroll_until": found, "scroll": {"scroll_outcome": ""}})
    claw = client(phone)

    outcome = claw.node(text="Bread").scroll_into_view(direction="up", max_scrolls=5)
    with pytest.raises(NodeNotFoundError):
        claw.node({"id": f"{PACKAGE}:id/list"}).node(text="Wine").scroll_into_view()

    assert outcome.scrolls_executed == 2
    (params,) = phone.params("scroll_until")
    assert (params["direction"], params["maxScrolls"]) == ("up", 5)
    assert phone.params("scroll")[0]["container"] == {"resourceId": f"{PACKAGE}:id/list"}


@pytest.mark.parametrize(
    ("shown", "scrolled"),
    [
        # The list around the rows, by its matcher unless it is what the device would choose.
        (SHOP, None),
        (SHOP.replace("<node ", '<node scrollable="true" ', 1),
         {"resourceId": f"{PACKAGE}:id/list"}),
    ],
)  # fmt: skip
def test_scrolling_a_list_of_containers(shown: str, scrolled: object) -> None:
    """A node in any row is brought into view by scrolling what the rows are in."""
    later = shown.replace("Tea", "Wine")
    phone = Phone(shown, later, data={"scroll": {"scroll_outcome": "moved"}})

    outcome = client(phone).node(id="row").node(text="Wine").scroll_into_view()

    assert outcome.scrolls_executed == 1
    assert phone.params("scroll")[0].get("container") == scrolled


def cleared(after: str, **field: str) -> tuple[Phone, ScriptedTransport]:
    """Clear a field that has this text afterwards."""
    phone = Phone(screen(node(text=after, id="field", kind="EditText", focused=True)))
    claw = client(phone)
    transport = claw.device._transport
    assert isinstance(transport, ScriptedTransport)
    transport.answers = {"input keyevent KEYCODE_MOVE_END": "", "input keyevent KEYCODE_DEL": ""}
    claw.node(field or {"id": f"{PACKAGE}:id/field"}).clear()
    return phone, transport


def test_clear_enters_one_letter_and_deletes_it() -> None:
    """The Operator cannot empty a field; a key that did not arrive is noticed."""
    phone, transport = cleared("")

    assert phone.params("enter_text")[0]["text"] == "x"
    assert transport.calls == ["input keyevent KEYCODE_MOVE_END", "input keyevent KEYCODE_DEL"]
    cleared("", text="ada")
    for field in ({}, {"text": "ada"}):
        with pytest.raises(StepFailedError, match="was not emptied"):
            cleared("x", **field)


def test_clear_enters_nothing_without_keys() -> None:
    """The reason is given before anything is changed."""
    phone = Phone()
    claw = Clawperator(phone, device=NoDevice("far", "it is far away"))

    with pytest.raises(ConfigurationError, match="far away"):
        claw.node(text="Tea").clear()

    assert phone.executions == []


@pytest.mark.parametrize(("data", "there"), [({}, True), ({"error": "NODE_NOT_FOUND"}, False)])
def test_the_device_is_asked_for_a_role_that_only_it_knows(data: Any, there: bool) -> None:
    """Once, without waiting."""
    phone = Phone(data={"wait_for_node": data})

    assert client(phone).node(role="listitem").exists() is there
    assert phone.sent[0][0]["params"]["retry"] == {"maxAttempts": 1}


def test_a_damaged_snapshot_does_not_decide_whether_a_node_exists() -> None:
    """The device is asked for what is behind the break, or the damage is an error."""
    phone = Phone(SHOP[: SHOP.index("Bread") + 2])
    claw = client(phone)

    assert claw.node(id="buy").exists() is True
    assert claw.node(text="Cheese").exists() is True
    assert phone.executed == ["snapshot_ui", "snapshot_ui", "wait_for_node"]
    with pytest.raises(SnapshotError, match="breaks off"):
        claw.node(id="cheese").exists()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda claw: bool(claw.node(text="Tea")), "exists"),
        (lambda claw: claw.node(id="name").nth(1).nth(0), "is one node already"),
        (lambda claw: claw.node(role="row").count(), "does not show"),
        *[(lambda claw, index=index: claw.node(text="Tea").nth(index), "whole number")
          for index in ("a", 1.0, True, None)],
    ],
)  # fmt: skip
def test_a_wrong_use_is_refused(act: Act, message: str) -> None:
    """A condition that forgot exists() does not pass unnoticed."""
    with pytest.raises(ConfigurationError, match=message):
        act(client(Phone(SHOP)))


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
    """The finger goes in the given direction, and leaves a tenth at each end."""
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
    ("direction", "ratio", "message"),
    [
        ("Left", 0.5, "Did you mean left?"),
        ("sideways", 0.5, "left, right, up, down"),
        (5, 0.5, "left, right, up, down"),
        ("left", 0, "more than 0"),
        ("left", 1.5, "at most 1"),
        ("left", True, "at most 1"),
    ],
)
def test_impossible_swipes_are_refused(direction: Any, ratio: Any, message: str) -> None:
    """A wrong direction or ratio is refused with what is allowed."""
    with pytest.raises(ConfigurationError) as caught:
        swipe_over(ROW, direction, ratio)

    assert message in str(caught.value.hint)


def test_gestures_go_to_where_the_node_is(claw: Clawperator, glass: Glass) -> None:
    """A fresh snapshot gives the points; a drag ends at another node, or at a point."""
    tea = claw.node(text="Tea")
    milk = claw.node(text="Milk").bounds().center
    x, y = tea.bounds().center

    tea.double_click()
    tea.drag_to(claw.node(text="Milk"))
    tea.drag_to((7, 8), duration=2)
    tea.swipe("right", distance_ratio=0.5, duration=1)

    assert glass.lines[0].startswith(f"input tap {x} {y} | ")
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
    ("shown", "message"),
    [
        (SHOP, "3 nodes match"),
        (screen(node(text="Buy", kind="Button", enabled=False)), "it is disabled"),
    ],
)
def test_a_gesture_is_as_strict_as_a_click(glass: Glass, shown: str, message: str) -> None:
    """Nothing is touched if several nodes match, or if the node is disabled."""
    claw = client(Phone(shown))
    claw.device = Device(glass, DeviceInfo(serial="PH1", key="PH1"))

    with pytest.raises(StepFailedError, match=message):
        claw.node(text="Buy").double_click(timeout=0)

    assert glass.lines == []
