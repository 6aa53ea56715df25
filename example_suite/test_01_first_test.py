"""Lesson 1: open an app, do something, say what should be so."""

from __future__ import annotations

from example_suite.pages.settings import PACKAGE, Settings
from pytest_clawperator import Clawperator, expect


def test_settings_opens(clawperator: Clawperator) -> None:
    """The fixture is a device that is ready; `expect` waits until it is so."""
    clawperator.open_app(PACKAGE)

    expect(clawperator).to_be_in_app(PACKAGE)


def test_home_leaves_the_app(clawperator: Clawperator) -> None:
    """Every expectation has an opposite."""
    clawperator.open_app(PACKAGE)
    clawperator.home()

    expect(clawperator).not_to_be_in_app(PACKAGE)


def test_android_version(clawperator: Clawperator, settings: Settings) -> None:
    """What is read is text, for plain asserts; how to get there is the page object's business."""
    clawperator.close_app(PACKAGE)  # so that it begins with its first screen
    clawperator.open_app(PACKAGE)
    settings.open_about()

    version = settings.android_version()

    assert int(version.split(".")[0]) >= 5
