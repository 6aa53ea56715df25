"""Lesson 11: devices. Their properties, tests that need certain ones, and what they can do."""

from __future__ import annotations

import pytest

from example_suite.pages.settings import PACKAGE
from pytest_clawperator import Clawperator, DeviceInfo, expect


@pytest.mark.claw_device(api=">=21")
def test_properties_of_the_device(clawperator: Clawperator, clawperator_device: DeviceInfo) -> None:
    """Properties of the device; the marker skips the test where they cannot be known."""
    assert clawperator_device.serial == clawperator.serial
    assert clawperator_device.api_level is not None
    assert clawperator_device.size is not None


@pytest.mark.claw_device(api=">=33")
@pytest.mark.claw_app(PACKAGE)
def test_only_on_android_13(clawperator: Clawperator) -> None:
    """On an older device this test is skipped, or fails with --claw-strict."""
    clawperator.device.set_app_locale(PACKAGE, "en-GB")

    assert clawperator.device.app_locale(PACKAGE) == "en-GB"


def test_the_device_is_turned(clawperator: Clawperator) -> None:
    """What a test changes on the device is restored after it."""
    clawperator.device.orientation = "landscape"

    assert clawperator.device.orientation == "landscape"


def test_keys_and_shell(clawperator: Clawperator) -> None:
    """Keys that have no action of their own, and the shell."""
    clawperator.open_app(PACKAGE)
    expect(clawperator).to_be_in_app(PACKAGE)

    clawperator.device.key_event("home")

    expect(clawperator).not_to_be_in_app(PACKAGE)
    assert clawperator.device.shell("getprop ro.build.version.sdk").stdout.strip().isdigit()
