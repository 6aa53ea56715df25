"""Lesson 1: open an app, act, and expect a result."""

from __future__ import annotations

from example_suite.pages.settings import PACKAGE, Settings
from pytest_clawperator import Clawperator, expect


def test_the_settings_app_opens(clawperator: Clawperator) -> None:
    """The fixture is a client on a ready device; `expect` waits."""
    clawperator.open_app(PACKAGE)

    expect(clawperator).to_be_in_app(PACKAGE)


def test_home_leaves_the_app(clawperator: Clawperator) -> None:
    """Every expectation has an opposite that begins with `not_`."""
    clawperator.open_app(PACKAGE)
    clawperator.home()

    expect(clawperator).not_to_be_in_app(PACKAGE)


def test_the_android_version_is_read(clawperator: Clawperator, settings: Settings) -> None:
    """Values are read as text, for plain asserts; the page object knows where they are."""
    clawperator.close_app(PACKAGE)  # so that it begins with its first screen
    clawperator.open_app(PACKAGE)
    settings.open_about()

    version = settings.android_version()

    assert int(version.split(".")[0]) >= 5
