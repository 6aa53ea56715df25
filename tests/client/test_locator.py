"""Locators are data: they are resolved at each use, and say what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import Device, NoDevice
from pytest_clawperator.client.locator import Way, swipe_over
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import (
    ConfigurationError,
    NodeNotFoundError,
    SnapshotError,
    StepFailedError,
)
from pytest_clawperator.snapshot.tree import Bounds, Snapshot
from tests.doubles.runner import PACKAGE, SHOP, Phone, client, first, node, screen
from tests.doubles.transport import ScriptedTransport

EMPTY = screen()


def test_nothing_is_sent_for_a_description() -> None:
    """Describing costs nothing, and the description reads as it is written."""
    phone = Phone(SHOP)
    claw = client(phone)

    described = claw.node(id="row", has=claw.node(text="Milk")).node(role="button").nth(-1)

    assert repr(described) == "node(id='row', has=node(text='Milk')).node(role='button').nth(-1)"
    assert phone.executions == []


def test_resolved_at_each_use() -> None:
    """The same locator finds what is there now."""
    phone = Phone(EMPTY, SHOP)
    tea = client(phone).node(text="Tea")

    assert tea.exists() is False
    assert tea.exists() is True


def test_looks_do_not_wait() -> None:
    """Whether, which and how many are questions about now."""
    phone = Phone(EMPTY)
    tea = client(phone).node(text="Tea")

    assert (tea.exists(), tea.all(), tea.count()) == (False, [], 0)
    assert phone.types == [["snapshot_ui"]] * 3


def test_all_and_count() -> None:
    """All matching nodes, in order, and how many."""
    names = client(Phone(SHOP)).node(id="name")

    assert [n.label for n in names.all()] == ["Tea", "Milk", "Bread"]
    assert names.count() == 3
    assert repr(names) == "node(id='name') (1st of 3)"


def test_a_plain_one_is_sent_as_it_is() -> None:
    """What the device understands is left to the device."""
    phone = Phone(data={"read_text": {"text": "Tea"}})
    claw = first(phone)
    tea = claw.node(text="Tea")

    tea.click()
    tea.long_click()
    tea.enter_text("hi", submit=True)
    tea.read()
    assert tea.wait(timeout=1) is tea

    assert phone.types == [["click"], ["click"], ["enter_text"], ["read_text"], ["wait_for_node"]]


def test_one_of_several() -> None:
    """The second of three is clicked by what distinguishes it from the others."""
    phone = Phone(SHOP)

    client(phone).node(id="name").nth(1).click()

    assert phone.params("click") == [{"matcher": {"textEquals": "Milk"}}]


def test_one_of_one() -> None:
    """An index is given once."""
    with pytest.raises(ConfigurationError, match="is one node already"):
        client(Phone()).node(id="name").nth(1).nth(0)


def test_waiting_for_something_complex() -> None:
    """Waiting ends when the whole description fits."""
    phone = Phone(EMPTY, EMPTY, SHOP)
    claw = client(phone)

    claw.node(id="row", has={"text": "Milk"}).wait()

    assert phone.types == [["snapshot_ui"], *[["sleep", "snapshot_ui"]] * 2]


def test_bounds_are_returned_as_soon_as_the_node_is_there() -> None:
    """Where it is, as soon as it is there."""
    phone = Phone(EMPTY, SHOP)

    bounds = client(phone).node(text="Bread").bounds()

    assert bounds == (0, 400, 500, 450)
    assert bounds.center == (250, 425)


def test_bounds_of_nothing() -> None:
    """What does not come up has no bounds."""
    with pytest.raises(NodeNotFoundError, match="bounds: no node"):
        client(Phone(EMPTY)).node(text="Bread").bounds(timeout=0)


def test_bounds_of_a_node() -> None:
    """A node of a snapshot is where it was."""
    phone = Phone(SHOP)
    claw = client(phone)
    bread = claw.snapshot().find(text="Bread")

    assert claw.node(bread).bounds() == (0, 400, 500, 450)
    assert phone.types == [["snapshot_ui"]]


def test_scroll_into_view() -> None:
    """What it is inside of is what is scrolled."""
    found = {"termination_reason": "TARGET_FOUND", "scrolls_executed": "2"}
    phone = Phone(data={"scroll_until": found})

    outcome = client(phone).node(text="Bread").scroll_into_view(direction="up", max_scrolls=5)

    assert outcome.scrolls_executed == 2
    (params,) = phone.params("scroll_until")
    assert params["direction"] == "up"
    assert params["maxScrolls"] == 5


def test_scroll_into_view_within() -> None:
    """The container of a chain is the list."""
    phone = Phone(SHOP, EMPTY, data={"scroll": {"scroll_outcome": "edge_reached"}})
    claw = client(phone)
    chain = claw.node({"id": f"{PACKAGE}:id/list"}).node(text="Wine")

    with pytest.raises(NodeNotFoundError):
        chain.scroll_into_view()

    assert phone.params("scroll")[0]["container"] == {"resourceId": f"{PACKAGE}:id/list"}


class TestClear:
    """Emptying a field, which the Operator cannot."""

    FIELD = node(text="", id="field", kind="EditText")

    def cleared(self, after: str) -> tuple[Phone, ScriptedTransport]:
        """Clear a field that looks like this afterwards."""
        phone = Phone(after)
        claw = client(phone)
        transport = claw.device._transport
        assert isinstance(transport, ScriptedTransport)
        transport.answers = {
            "input keyevent KEYCODE_MOVE_END": "",
            "input keyevent KEYCODE_DEL": "",
        }
        claw.node({"id": f"{PACKAGE}:id/field"}).clear()
        return phone, transport

    def test_clear_enters_one_letter_and_deletes_it(self) -> None:
        """One letter is entered, and one key deletes it."""
        phone, transport = self.cleared(screen(self.FIELD))

        assert phone.params("enter_text")[0]["text"] == "x"
        assert transport.calls == ["input keyevent KEYCODE_MOVE_END", "input keyevent KEYCODE_DEL"]

    def test_clear_notices_a_key_that_did_not_arrive(self) -> None:
        """A key that did not arrive is noticed."""
        with pytest.raises(StepFailedError, match="was not emptied"):
            self.cleared(screen(self.FIELD.replace('text=""', 'text="x"')))

    def test_clear_enters_nothing_without_keys(self) -> None:
        """Where no key can be pressed nothing is entered."""
        phone = Phone()
        claw = Clawperator(phone, device=NoDevice("far", "it is far away"))

        with pytest.raises(ConfigurationError, match="far away"):
            claw.node(text="Tea").clear()

        assert phone.executions == []


class TestRolesThatOnlyTheDeviceKnows:
    """A snapshot does not show every role."""

    @pytest.mark.parametrize(("data", "there"), [({}, True), ({"error": "NODE_NOT_FOUND"}, False)])
    def test_exists_asks_the_device_once(self, data: Any, there: bool) -> None:
        """The device is asked, once."""
        phone = Phone(data={"wait_for_node": data})

        assert client(phone).node(role="listitem").exists() is there
        assert phone.sent[0][0]["params"]["retry"] == {"maxAttempts": 1}

    def test_count_is_refused_for_unknown_roles(self) -> None:
        """A wrong number would be worse than none."""
        with pytest.raises(ConfigurationError, match="does not show"):
            client(Phone(SHOP)).node(role="row").count()


def test_resolving_is_pure() -> None:
    """A locator can be asked about any snapshot."""
    phone = Phone()
    names = client(phone).node(id="name")

    found = names.resolve(Snapshot.from_xml(SHOP))

    assert [n.label for n in found] == ["Tea", "Milk", "Bread"]
    assert phone.executions == []
    assert repr(names) == "node(id='name')"


def test_equal_by_what_they_mean() -> None:
    """Two that mean the same are the same."""
    claw = client(Phone())

    assert claw.node(id="name") == claw.node(id="name")
    assert claw.node(id="name") != claw.node(id="name").nth(1)
    assert len({claw.node(id="name"), claw.node(id="name")}) == 1


class TestDamagedSnapshots:
    """A truncated snapshot does not decide whether a node exists."""

    BROKEN = SHOP[: SHOP.index("Bread") + 2]

    def test_a_node_before_the_break_exists(self) -> None:
        """What is before the break is there."""
        assert client(Phone(self.BROKEN)).node(id="buy").exists() is True

    def test_the_device_is_asked(self) -> None:
        """A matcher that the device understands is looked for there."""
        phone = Phone(self.BROKEN)

        assert client(phone).node(text="Cheese").exists() is True
        assert phone.types == [["snapshot_ui"], ["wait_for_node"]]

    def test_a_damaged_snapshot_is_an_error_not_an_absence(self) -> None:
        """What cannot be asked of the device is an error, not absent."""
        with pytest.raises(SnapshotError, match="breaks off"):
            client(Phone(self.BROKEN)).node(id="cheese").exists()


class TestMistakes:
    """A wrong use of a locator is refused at once."""

    def test_it_is_neither_true_nor_false(self) -> None:
        """A condition that forgot exists() does not pass unnoticed."""
        with pytest.raises(ConfigurationError, match="exists"):
            bool(client(Phone()).node(text="Nope"))

    @pytest.mark.parametrize("index", ["a", 1.0, True, None])
    def test_places_are_whole_numbers(self, index: Any) -> None:
        """Anything else is refused before the node is looked for."""
        with pytest.raises(ConfigurationError, match="whole number"):
            client(Phone()).node(text="Nope").nth(index)

    def test_of_a_node(self) -> None:
        """A locator that stands for a node of a snapshot is not printed as that node."""
        claw = client(Phone(SHOP))

        assert repr(claw.node(claw.snapshot().root)).startswith("<Locator of ")


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
    ("shown", "said"),
    [
        (SHOP, "3 nodes match"),
        (screen(node(text="Buy", kind="Button", enabled=False)), "it is disabled"),
    ],
)
def test_a_gesture_is_as_strict_as_a_click(glass: Glass, shown: str, said: str) -> None:
    """Nothing is touched if several nodes match, or if the node is disabled."""
    claw = client(Phone(shown))
    claw.device = Device(glass, DeviceInfo(serial="PH1", key="PH1"))

    with pytest.raises(StepFailedError, match=said):
        claw.node(text="Buy").double_click(timeout=0)

    assert glass.lines == []
