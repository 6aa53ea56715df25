"""Tests on phones of many makers: the same work under each quirk."""

from __future__ import annotations

import pytest

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.connect import connect
from pytest_clawperator.devices.screen_state import screen_state
from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.quirks import QUIRKS

SETTINGS = "com.android.settings"
# Here nothing can work: what the Operator answers never comes into the log.
HOPELESS = {"log-suppressed"}


@pytest.mark.parametrize("quirk", [name for name in QUIRKS if name not in HOPELESS])
def test_a_test_passes_on_a_phone_with_the_quirk(quirk: str) -> None:
    """An app is used, the picture is not dark, and the phone tells whether its screen is on."""
    with Simulator(devices=1, time_scale=0.1, quirks=[quirk]) as simulator:
        address = f"{simulator.adb_host}:{simulator.adb_port}"
        with connect(simulator.serials[0], adb=address) as claw:
            claw.open_app(SETTINGS)
            claw.scroll_and_click(text="About phone")
            expect(claw.node(text="Android version")).to_be_visible()
            picture = claw.screenshot()
            awake = screen_state(claw.device)
            claw.device.shell("input keyevent SLEEP")
            asleep = screen_state(claw.device)

    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(picture) > 10_000
    assert (awake.on, asleep.on) == (True, False)


def test_a_log_without_the_operators_lines_is_told_as_such() -> None:
    """The error says that the log is the trouble, and not the Operator."""
    with Simulator(devices=1, time_scale=0.1, quirks=["log-suppressed"]) as simulator:
        address = f"{simulator.adb_host}:{simulator.adb_port}"
        with (
            connect(simulator.serials[0], adb=address) as claw,
            pytest.raises(ClawperatorError) as caught,
        ):
            claw.open_app(SETTINGS)

    assert caught.value.code == ErrorCode.LOGCAT_UNAVAILABLE
