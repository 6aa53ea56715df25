"""Where snapshots come from: a device, with bounded looks, or a snapshot, which never waits."""

from __future__ import annotations

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.connect import connect
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import ClawperatorError, ConfigurationError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.expecting import FORM, failure
from tests.doubles.runner import SHOP, Phone, client

SHOP_APP = "com.example.shop"


def test_what_comes_up_later_is_waited_for(real_expect: Expect, claw: Clawperator) -> None:
    """A list that takes a moment to load is waited for, and its progress bar to go away."""
    claw.close_app(SHOP_APP)
    claw.open_app(SHOP_APP)
    claw.enter_text("ada@example.com", id="email")
    claw.enter_text("secret", id="password")
    claw.click(id="sign_in")

    real_expect(claw.node(text="Item 1")).to_be_visible()

    name = claw.node(id="product_list").node(id="product_name").nth(1)
    real_expect(claw.node(id="loading")).to_be_hidden()
    real_expect(name).to_have_text("Item 2")
    real_expect(claw).to_be_in_app(SHOP_APP)
    real_expect(claw.node(text="Shop").nth(-1)).to_be_selected()


def test_a_lost_device_is_no_failed_expectation(real_expect: Expect, simulator: Simulator) -> None:
    """A device that goes away is an infrastructure error, raised at once."""
    address = f"127.0.0.1:{simulator.adb_port}"
    with connect(simulator.serials[1], adb=address) as claw:
        claw.device.shell("sim fault offline ms=60000")

        with pytest.raises(ClawperatorError) as caught:
            real_expect(claw.node(text="Nowhere")).to_be_visible(timeout=600)

    assert not isinstance(caught.value, AssertionError)
    assert caught.value.serial == simulator.serials[1]


def test_later_looks_are_bounded_by_the_time_left() -> None:
    """The execution of a look may not take longer than the time that is left."""
    time = FakeTime()
    seconds = iter([190.0])

    def look(_: Action) -> dict[str, str]:
        time.pass_by(next(seconds, 0.0))
        return {"text": SHOP, "foreground_package": SHOP_APP}

    phone = Phone(data={"snapshot_ui": look})

    failure(lambda: Expect(clock=time.clock)(client(phone)).to_be_in_app("x", timeout=200))

    timeouts = [each.timeout_ms for each in phone.executions]
    assert timeouts[0] <= 120_000
    assert all(1_000 <= each <= 10_000 for each in timeouts[1:])
    assert timeouts[-1] == 1_000


def test_a_timeout_for_a_snapshot_is_refused() -> None:
    """A timeout for what never changes is a mistake of the test."""
    found = Snapshot.from_xml(FORM).find(id="wifi")

    with pytest.raises(ConfigurationError, match="a snapshot stays as it is"):
        Expect()(found).to_be_checked(timeout=3)
