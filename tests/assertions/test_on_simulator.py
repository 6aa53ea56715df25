"""Expectations against a simulated phone, over the real wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.assertions.checks.label_value import value_of
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.store import GoldenStore
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connect import connect
from pytest_clawperator.errors import ClawperatorError, ExpectationError, StepFailedError
from pytest_clawperator.simulator import Simulator

SETTINGS, SHOP = "com.android.settings", "com.example.shop"


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    """Give two phones: one to use, one to break."""
    with Simulator(devices=2, seed=1, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def claw(simulator: Simulator) -> Iterator[Clawperator]:
    """Give a client of the first phone."""
    with connect(simulator.serials[0], adb=f"127.0.0.1:{simulator.adb_port}") as claw:
        yield claw


@pytest.fixture
def expect() -> Expect:
    """Give an expect that does not linger."""
    expect = Expect()
    expect.configure(linger=0)
    return expect


def test_what_comes_up_later_is_waited_for(expect: Expect, claw: Clawperator) -> None:
    """A list that takes a moment to load is waited for, and its progress to go away."""
    claw.close_app(SHOP)
    claw.open_app(SHOP)
    claw.enter_text("ada@example.com", id="email")
    claw.enter_text("secret", id="password")
    claw.click(id="sign_in")

    expect(claw.node(text="Item 1")).to_be_visible()

    expect(claw.node(id="loading")).to_be_hidden()
    expect(claw.node(id="product_list").node(id="product_name").nth(1)).to_have_text("Item 2")
    expect(claw).to_be_in_app(SHOP)
    expect(claw.node(text="Shop").nth(-1)).to_be_selected()


def read(claw: Clawperator, label: str) -> str | None:
    """Read a value on the device, once; None where there is none."""
    try:
        return claw.read_value(label=label, timeout=0)
    except StepFailedError as error:
        if error.code != "VALUE_NODE_NOT_FOUND":
            raise
        return None


def test_values_are_those_that_the_device_reads(expect: Expect, claw: Clawperator) -> None:
    """The value beside a label is the one that the Operator finds, if it finds one."""
    claw.close_app(SETTINGS)
    claw.open_app(SETTINGS)
    claw.scroll_and_click(text="About phone")
    expect(claw.node(text="Android version")).to_be_visible()
    labels = [node for node in claw.snapshot().find_all(id="title") if node.label]

    found = {label.label: value_of(label) for label in labels}

    assert found == {text: read(claw, text) for text in found}
    assert None in found.values()
    expect(claw.node(text="Android version")).to_have_value(found["Android version"] or "")


def test_screen_is_kept_and_recognised(expect: Expect, claw: Clawperator, tmp_path: Path) -> None:
    """What was written down of a screen, as a tree and as a picture, fits it again."""
    claw.close_app(SETTINGS)
    claw.open_app(SETTINGS)
    expect(claw.node(text="Connections")).to_be_visible()
    before = goldens.use(GoldenStore(tmp_path, update=True))
    expect(claw).to_match_tree("settings")
    expect(claw).to_match_screenshot("settings")

    goldens.use(GoldenStore(tmp_path))
    try:
        expect(claw).to_match_tree("settings", exact=True)
        expect(claw).to_match_screenshot("settings", mask=[claw.node(text="Settings")])
        claw.click(text="Connections")
        expect(claw).not_to_match_tree("settings")
        with pytest.raises(ExpectationError, match="pixels that differ"):
            expect(claw).to_match_screenshot("settings", timeout=0)
    finally:
        goldens.use(before)

    names = {path.name for path in (tmp_path / "__screens__").iterdir()}
    assert names == {"settings.yaml", "settings-1080x2400-420dpi.png", "failed"}


def test_lost_device_ends_it_as_such(expect: Expect, simulator: Simulator) -> None:
    """A device that goes away is an error of the lab, told at once and not as a failure."""
    address = f"127.0.0.1:{simulator.adb_port}"
    with connect(simulator.serials[1], adb=address) as claw:
        claw.device.shell("sim fault offline ms=60000")

        with pytest.raises(ClawperatorError) as caught:
            expect(claw.node(text="Nowhere")).to_be_visible(timeout=600)

    assert not isinstance(caught.value, AssertionError)
    assert caught.value.serial == simulator.serials[1]
