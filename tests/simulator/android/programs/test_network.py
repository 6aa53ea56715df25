"""``ifconfig`` and ``ip``."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import Phone


class TestNetwork:
    """Addresses."""

    def test_both_commands_print_the_wireless_address(self) -> None:
        """The phone has an address in its wireless network, by either command."""
        phone = Phone()
        address = phone.out("ifconfig wlan0").partition("inet addr:")[2].split()[0]

        assert address.startswith("192.168.")
        assert f"inet {address}/24" in phone.out("ip addr show dev wlan0")
        assert f"src {address}" in phone.out("ip route")

    def test_without_wifi_there_is_no_address(self) -> None:
        """Without Wi-Fi it has none."""
        phone = Phone()
        phone.out("svc wifi disable")

        assert phone.run("ifconfig wlan0").status == 1
        assert phone.run("ip addr show wlan0").status == 1
