"""``cmd bluetooth_manager``, ``cmd connectivity`` and ``cmd wifi``."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone


class TestRadios:
    """Aeroplane mode, Wi-Fi and the rest."""

    def test_airplane_mode_is_switched_and_read(self) -> None:
        """Aeroplane mode can be switched and read, and is a setting too."""
        phone = Phone()
        assert phone.out("cmd connectivity airplane-mode") == "disabled\n"

        phone.out("cmd connectivity airplane-mode enable")

        assert phone.out("cmd connectivity airplane-mode") == "enabled\n"
        assert phone.out("settings get global airplane_mode_on") == "1\n"
