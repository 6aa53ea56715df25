"""``svc``: radios and power."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import Phone


class TestSvc:
    """Switching radios, and staying awake."""

    @pytest.mark.parametrize(
        ("radio", "key"),
        [("wifi", "wifi_on"), ("data", "mobile_data"), ("bluetooth", "bluetooth_on")],
    )
    def test_svc_switches_radios_silently(self, radio: str, key: str) -> None:
        """Radios are switched silently."""
        phone = Phone()

        assert phone.out(f"svc {radio} disable") == ""
        assert phone.out(f"settings get global {key}") == "0\n"
        phone.out(f"svc {radio} enable")
        assert phone.out(f"settings get global {key}") == "1\n"

    def test_svc_stayon_wakes_the_screen(self) -> None:
        """Staying on wakes the screen and is a setting."""
        phone = Phone()
        phone.out("input keyevent SLEEP; svc power stayon usb")

        assert phone.system.display.awake
        assert phone.out("settings get global stay_on_while_plugged_in") == "2\n"

    @pytest.mark.parametrize("arguments", ["wifi", "wifi maybe", "power stayon maybe", "fly"])
    def test_invalid_arguments_print_the_usage(self, arguments: str) -> None:
        """A mistake is answered with what there is."""
        ended = Phone().run(f"svc {arguments}")

        assert ended.status == 1
        assert "svc" in ended.err or "Available commands" in ended.err
