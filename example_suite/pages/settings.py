"""The Settings app, which every phone has, though not with the same rows."""

from __future__ import annotations

from pytest_clawperator import Clawperator, Locator

PACKAGE = "com.android.settings"


class Settings:
    """What can be done in Settings."""

    def __init__(self, claw: Clawperator) -> None:
        self.claw = claw
        self.rows = claw.node(id="title")

    def row(self, part: str) -> Locator:
        """Mean the row whose title has this in it, in any case."""
        return self.claw.node(text_contains=part)

    def open_about(self) -> None:
        """Go to “About phone”, which tablets and emulators call otherwise."""
        self.claw.scroll_and_click(text_contains="About", max_scrolls=25)
        self.claw.wait_for_node(text_contains="Android")

    def android_version(self) -> str:
        """Read the version on the page that “About phone” leads to."""
        version = self.claw.node(text="Android version")
        if not version.exists() and self.row("Software information").exists():
            self.row("Software information").click()
        self.claw.scroll_until(version)
        return self.claw.read_value(version)
