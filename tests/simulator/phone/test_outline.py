"""The outline of the screen."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone

SETTINGS = "com.android.settings"


class TestScreen:
    """``sim screen``."""

    def test_the_outline_names_app_windows_and_nodes(self) -> None:
        """The outline names app, windows, roles, texts and bounds."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        lines = phone.out("sim screen").splitlines()

        assert lines[0] == f"{SETTINGS}/{SETTINGS}.Settings"
        assert f"application window of {SETTINGS}, active" in lines
        assert any("'Connected devices'" in line and line.endswith("]") for line in lines)
