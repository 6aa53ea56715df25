"""The Settings app: every phone has it, but with different rows."""

from __future__ import annotations

from pytest_clawperator import Clawperator, Locator

PACKAGE = "com.android.settings"


class Settings:
    """What can be done in Settings."""

    def __init__(self, claw: Clawperator) -> None:
        self.claw = claw
        self.rows = claw.node(id="title")

    def row(self, part: str) -> Locator:
        """Return the locator of the row whose title contains this, in upper or lower case."""
        return self.claw.node(text_contains=part)

    def open_about(self) -> None:
        """Open “About phone”, which has another name on tablets and emulators."""
        self.claw.scroll_and_click(text_contains="About", max_scrolls=25)
        self.claw.wait_for_node(text_contains="Android")

    def android_version(self) -> str:
        """Read the Android version, on the page “About phone” or one below it."""
        version = self.claw.node(text="Android version")
        if not version.exists() and self.row("Software information").exists():
            self.row("Software information").click()
        self.claw.scroll_until(version)
        return self.claw.read_value(version)
