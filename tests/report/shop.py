"""A test of the shop, recorded: it fails when the total is wrong, or passes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pytest_clawperator import Clawperator, connect, expect
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.simulator import Simulator
from tests.report.recording import Recording

PACKAGE = "com.example.shop"

NODEID = "tests/test_shop.py::TestCart::test_two_items_are_paid"


def record_shop(
    folder: Path, *, expected_total: str, has_pictures: bool = True, time_scale: float = 0.05
) -> None:
    """Fill a cart in the simulated shop, and write the trace of that into ``folder/trace``."""
    recording = Recording(folder / "trace", nodeid=NODEID, has_pictures=has_pictures)
    (folder / "battery.txt").write_text("level: 98\n", encoding="utf-8")
    error: Exception | None = None
    before = SECRETS.secrets
    with (
        Simulator(seed=1, time_scale=time_scale, chatter=1) as simulator,
        connect(
            adb=f"{simulator.adb_host}:{simulator.adb_port}", observe=recording.observe
        ) as claw,
    ):
        recording.start(claw)
        try:
            buy(recording, claw, expected_total)
        except AssertionError as exc:
            error = exc
        recording.end(error, artefact=folder / "battery.txt")
    # The password that was typed is a secret of this run, not of the tests that come later.
    SECRETS.secrets = before


def buy(record: Recording, claw: Clawperator, total: str) -> None:
    """Sign in, put two items into the cart, and check the total."""
    record.act("open_app com.example.shop", lambda: claw.open_app(PACKAGE))
    with record.step("Sign in"):
        record.act(
            'enter_text id="email"',
            lambda: claw.enter_text("ada@example.com", id="email"),
        )
        record.act(
            'enter_text id="password"',
            lambda: claw.enter_text("secret", id="password"),
        )
        record.act(
            'click text="Sign in"',
            lambda: claw.click(role="button", text="Sign in"),
        )
        record.expect(
            'expect id="product_list" to be visible',
            lambda: expect(claw.node(id="product_list")).to_be_visible(),
        )
    with record.step("Dismiss the offer"):
        record.expect(
            'expect text="Summer sale" to be visible',
            lambda: expect(claw.node(text="Summer sale")).to_be_visible(),
        )
        record.act('click text="Not now"', lambda: claw.click(text="Not now"))
    record.note("the log stream was opened again")
    with record.step("Fill the cart"):
        for number in (2, 4):
            with record.step(f"Add item {number}"):
                name = f"Item {number}"
                record.act(f'click text="{name}"', partial(claw.click, text=name))
                record.act(
                    'click text="Add to cart"',
                    lambda: claw.click(text="Add to cart"),
                )
                record.act("press_key back", claw.back)
    with record.step("Check the cart"):
        record.act(
            'click id="cart_button"',
            lambda: claw.click(id="cart_button"),
            until=lambda: expect(claw.node(id="cart_total")).to_be_visible(),
        )
        record.expect(
            f'expect id="cart_total" to have text "{total}"',
            lambda: expect(claw.node(id="cart_total")).to_have_text(total, timeout=1),
        )
    record.act('click text="Checkout"', lambda: claw.click(text="Checkout"))
