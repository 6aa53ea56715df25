"""``cmd uimode``."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone


class TestNight:
    """Dark and light."""

    def test_night_mode_makes_the_screen_dark(self) -> None:
        """Night mode makes the screen dark."""
        phone = Phone()
        assert phone.out("cmd uimode night") == "Night mode: no\n"

        assert phone.out("cmd uimode night yes") == "Night mode: yes\n"
        assert phone.device.ui.display.dark

        phone.out("cmd uimode night no")
        assert not phone.device.ui.display.dark

    def test_from_the_start(self) -> None:
        """A phone can be dark from the start."""
        phone = Phone(dark=True)

        assert phone.device.ui.display.dark
        assert phone.out("cmd uimode night") == "Night mode: yes\n"

    def test_an_unknown_mode_is_refused(self) -> None:
        """What is no mode is refused with those there are."""
        ended = Phone().run("cmd uimode night maybe")

        assert ended.status == 255
        assert ended.err.startswith("Error: mode must be 'yes', 'no', or 'auto'")
