"""The client on a phone, with the Operator of the specification and with the published one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connecting import connect
from pytest_clawperator.contracts.events import Event, ExecutionFinished
from pytest_clawperator.errors import (
    ContainerNotFoundError,
    ErrorCode,
    NodeNotFoundError,
    StepFailedError,
    ValidatorMismatchError,
)
from pytest_clawperator.simulator import Simulator

SETTINGS = "com.android.settings"
SHOP = "com.example.shop"
LIST = {"id": f"{SETTINGS}:id/recycler_view"}
RAW_SEARCH = {"matcher": {"textEquals": "Nothing of the kind"}, "maxScrolls": 1}


@pytest.fixture
def settings(claw: Clawperator) -> Clawperator:
    """Open the settings."""
    claw.open_app(SETTINGS)
    claw.wait_for_node(text="Connections")
    return claw


@pytest.fixture
def cart(claw: Clawperator) -> Clawperator:
    """Put three products into the cart and open it."""
    for number in (3, 5, 8):
        claw.open_uri(f"shop://item/{number}")
        claw.wait_for_node(text=f"Item {number}")
        claw.click(text="Add to cart")
    claw.open_uri("shop://cart")
    claw.wait_for_node(text="Cart (3)")
    return claw


def test_signing_in(claw: Clawperator) -> None:
    """Short ids are found, texts entered and emptied, and what appears much later is found."""
    claw.open_app(SHOP)
    email = claw.node(id="email")
    email.enter_text("bob@example.com")
    email.clear()
    assert claw.snapshot().find(id="email", text="E-mail")
    email.enter_text("ada@example.com")
    claw.enter_text("secret", id="password")

    claw.click(text="Sign in", role="button")
    claw.wait_for_node(text="Item 3", timeout=10)

    assert claw.read_all_text(id="product_name")[:2] == ["Item 1", "Item 2"]
    claw.wait_for_node(text="Summer sale", timeout=30)  # longer than one retry object lasts


def test_rows_of_a_cart(cart: Clawperator) -> None:
    """One of several equal buttons is found by its row; locators follow the screen."""
    names = cart.node(id="line_name")
    assert (names.count(), names.nth(-1).read()) == (3, "Item 8")
    assert repr(names) == "node(id='line_name') (1st of 3)"
    assert cart.read_text(text_contains="$", within={"id": f"{SHOP}:id/total_row"})[0] == "$"
    with pytest.raises(ValidatorMismatchError, match="it reads 'Item 3'"):
        cart.read_text(text="Item 3", validator="version", timeout=0)
    line = cart.node(id="cart_line", has=cart.node(text="Item 5"))

    line.node(id="remove").click()
    cart.click(text="Remove", role="button")
    cart.wait_for_node(text="Cart (2)")

    assert cart.read_all_text(id="line_name") == ["Item 3", "Item 8"]
    assert cart.node(id="cart_line").nth(1).node(id="line_price").read() == "$8.00"
    assert cart.node(text="Item 5").exists() is False


def test_clicking_a_point(settings: Clawperator) -> None:
    """A point can be tapped, and a node of a snapshot."""
    row = settings.node(text="Connections")
    settings.click(at=row.bounds().center)
    settings.wait_for_node(text="Bluetooth devices")

    node = settings.snapshot().find(text="Bluetooth devices")
    settings.click(node)

    assert settings.wait_for_node(text="Device name").success


def test_a_missing_node(settings: Clawperator) -> None:
    """The error is the same whichever Operator answered, and shows the screen."""
    with pytest.raises(NodeNotFoundError) as missed:
        settings.click(text="connections", timeout=1)

    error = missed.value
    assert error.code is ErrorCode.NODE_NOT_FOUND
    assert error.message == "click: no node(text='connections') on the screen within 1 s"
    assert error.nearest[0].node.label == "Connections"
    assert error.snapshot.foreground_package == SETTINGS
    assert "text is `Connections`, wanted `connections`" in str(error)


@pytest.mark.parametrize("text", ["85%", "50% of 20%"])
def test_a_percent_sign_in_a_matcher_is_a_missing_node(settings: Clawperator, text: str) -> None:
    """A text that the published Operator's answer cannot carry is a missing node."""
    for method in (settings.click, settings.read_text, settings.scroll_and_click):
        with pytest.raises(NodeNotFoundError):
            method(text=text, timeout=0)

    settings.scroll_to_top()
    assert settings.node(text="Connections").exists()


def test_scrolling_a_list(settings: Clawperator) -> None:
    """Each scroll returns its outcome; a node is found by the device, or page by page."""
    assert settings.scroll().moved
    assert settings.scroll("up").moved
    end = settings.scroll_until(max_scrolls=50, within=LIST)
    assert (end.edge_reached, end.moved) == (True, True)
    assert settings.scroll_to_top().edge_reached

    assert settings.scroll_until(text="Software update", click=True).found
    settings.wait_for_node(text="Download and install")
    settings.back()
    settings.scroll_to_top()
    nested = settings.node(id="recycler_view").node(text="Printing")
    found = nested.scroll_into_view()
    assert (found.found, nested.exists()) == (True, True)
    assert found.scrolls_executed

    settings.scroll_to_top()
    seen: set[str] = set()
    for page in settings.pages(within=LIST, max_scrolls=30):
        seen.update(node.label for node in page.find_all(id="title"))
    assert {"Connections", "Software update", "About phone"} <= seen


def test_scrolling_to_nothing(settings: Clawperator) -> None:
    """A list that ends is the end of the search."""
    with pytest.raises(NodeNotFoundError) as missed:
        settings.scroll_until(text="Nothing of the kind", max_scrolls=30)

    assert "after scrolling" in missed.value.message
    assert missed.value.snapshot.find(text="About phone")


def test_observers_hear_of_a_missed_search_as_a_failure(simulator: Simulator) -> None:
    """The event has the code of the error, TARGET_NOT_FOUND; a raw payload keeps its answer."""
    events: list[Event] = []
    address = f"{simulator.adb_host}:{simulator.adb_port}"
    with connect(simulator.serials[0], adb=address, observe=events.append) as claw:
        claw.device.shell("sim reset")
        claw.open_app(SETTINGS)
        claw.wait_for_node(text="Connections")

        with pytest.raises(NodeNotFoundError):
            claw.scroll_until(text="Nothing of the kind", max_scrolls=1)
        with pytest.raises(NodeNotFoundError), claw.batch() as batch:
            batch.scroll_until(text="Nothing of the kind", max_scrolls=1)
        raw = claw.execute([{"type": "scroll_until", "params": RAW_SEARCH}])

    ended = [event for event in events if isinstance(event, ExecutionFinished)]
    codes = [
        event.result.code
        for event in ended
        if event.result is not None and event.execution.actions[0].type == "scroll_until"
    ]
    assert codes == [ErrorCode.TARGET_NOT_FOUND, ErrorCode.TARGET_NOT_FOUND, None]
    assert raw.ok


def test_a_scroll_without_a_list_is_explained(claw: Clawperator) -> None:
    """A scroll without a list is an error that names the cause."""
    claw.open_uri("conformance://row/row_3")
    claw.wait_for_node(text="Selected: row_3")

    with pytest.raises(ContainerNotFoundError) as missed:
        claw.scroll_and_click(text="Selected: row_3", timeout=0)

    assert "click() will do" in str(missed.value.hint)


def test_a_batch_that_fails(cart: Clawperator) -> None:
    """The failed step is known, and so are the results before it, on either Operator."""
    with pytest.raises(NodeNotFoundError) as failed, cart.batch() as b:  # noqa: PT012 - at its end
        total = b.read_value("Total")
        snapshot = b.snapshot()
        b.close_app(SETTINGS)
        names = b.read_all_text({"id": f"{SHOP}:id/line_name"})
        missing = b.click(text="Elsewhere", timeout=1)
        after = b.back()

    assert failed.value.message.startswith(
        "step 5 of 6 of the batch: click: no node(text='Elsewhere')"
    )
    assert total.value.startswith("$")
    assert snapshot.value.find(text="Cart (3)")
    assert names.value == ["Item 3", "Item 5", "Item 8"]
    assert not after.done
    assert missing.done is (failed.value.step is not None)


def test_closing_in_a_batch(claw: Clawperator) -> None:
    """An app is closed where the batch says, not before everything."""
    with claw.batch() as b:
        b.open_uri("shop://item/7")
        here = b.wait_for_node(text="Item 7")
        b.close_app(SHOP)
        b.home()
        gone = b.snapshot()

    assert here.result.success
    assert "Item 7" not in gone.value


def test_navigation_and_keys(settings: Clawperator) -> None:
    """Apps come to the front, and keys lead away."""
    settings.home()

    with settings.batch() as b:
        b.open_app(SETTINGS)
        arrived = b.wait_for_navigation(package=SETTINGS, text="Connections")
    settings.recents()
    settings.back()

    assert arrived.result.data["resolved_package"] == SETTINGS


def test_pictures_and_recordings(claw: Clawperator, tmp_path: Path) -> None:
    """A picture is a PNG, and a recording a file on the device."""
    claw.start_recording("lesson")

    picture = claw.screenshot(tmp_path / "home.png")
    recorded = claw.stop_recording()

    assert picture.startswith(b"\x89PNG")
    assert (tmp_path / "home.png").read_bytes() == picture
    assert recorded.data["filePath"].endswith("lesson.ndjson")


def test_an_address_with_percent_signs(claw: Clawperator) -> None:
    """An address that no app handles ends with a code, not with a crash of the Operator."""
    with pytest.raises(StepFailedError) as failed:
        claw.open_uri("nope://search?q=a%20b%20c")

    assert failed.value.code == ErrorCode.URI_NOT_HANDLED
    assert claw.snapshot().nodes
