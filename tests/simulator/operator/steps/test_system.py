"""The steps press_key, take_screenshot and doctor_ping."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import (
    PROFILES,
    Bench,
    action,
)


@pytest.mark.parametrize("profile", PROFILES)
class TestSystem:
    """What the specification and the published app agree upon."""

    def test_take_screenshot_is_left_to_the_host(self, profile: Profile) -> None:
        """A take_screenshot step fails in the known way, and the run goes on."""
        envelope = Bench(profile=profile).execute(action("take_screenshot"), action("scroll_until"))

        assert envelope["stepResults"][0]["data"]["error"] == "UNSUPPORTED_RUNTIME_SCREENSHOT"
        assert len(envelope["stepResults"]) == 2

    def test_press_key_presses_each_key(self, profile: Profile) -> None:
        """Each key is pressed."""
        for key in ("back", "home", "recents"):
            bench = Bench(profile=profile)
            assert bench.step("press_key", key=key)["data"] == {"key": key}
            assert bench.ui.done == [key]

    def test_doctor_ping_reads_the_developer_settings(self, profile: Profile) -> None:
        """Developer options and USB debugging are read from the settings."""
        bench = Bench(profile=profile)
        bench.settings.put("global", "adb_enabled", "0")

        assert bench.step("doctor_ping")["data"] == {
            "developer_options_enabled": "true",
            "usb_debugging_enabled": "false",
        }
