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

    def test_the_wifi_status_is_printed(self) -> None:
        """The state of the Wi-Fi can be asked for."""
        phone = Phone()
        assert phone.out("cmd wifi status").startswith("Wifi is enabled\n")

        phone.out("cmd wifi set-wifi-enabled disabled")
        assert phone.out("cmd wifi status") == "Wifi is disabled\n"


def test_other_radios_and_the_location_are_switched() -> None:
    """Each switch is that of the settings."""
    phone = Phone()

    assert phone.out("cmd location is-location-enabled") == "true\n"
    phone.out("cmd location set-location-enabled false; cmd phone data disable")
    assert phone.out("cmd bluetooth_manager disable") == "disable: Success\n"

    assert phone.out("cmd location is-location-enabled") == "false\n"
    assert (
        phone.out("settings get global mobile_data; settings get global bluetooth_on") == "0\n0\n"
    )
    assert phone.run("cmd phone data perhaps").status == 255
