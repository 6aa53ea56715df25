"""The smaller commands: locale, night, status bar, radios, app ops, keyboards, network."""

from __future__ import annotations

import pytest

from tests.simulator.android.phone import OPERATOR, Phone

SETTINGS = "com.android.settings"
LATIN = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"


class TestCmd:
    """The way to the services."""

    def test_list(self) -> None:
        """The services can be listed."""
        out = Phone().out("cmd -l")

        assert out.startswith("Currently running services:\n")
        assert "  package\n" in out

    def test_no_service(self) -> None:
        """A service must be named."""
        ended = Phone().run("cmd")

        assert ended == (20, "", "cmd: No service specified; use -l to list all services\n")


class TestLocale:
    """Languages of single apps."""

    def test_set_and_get(self) -> None:
        """An app's languages can be set and read."""
        phone = Phone()

        phone.out(f"cmd locale set-app-locales {SETTINGS} --locales de-DE,en-GB")

        assert phone.out(f"cmd locale get-app-locales {SETTINGS}") == (
            f"Locales for {SETTINGS} for user 0 are [de-DE,en-GB]\n"
        )

    def test_unknown(self) -> None:
        """A package that is not there is named."""
        ended = Phone().run("cmd locale get-app-locales com.nope")

        assert ended == (255, "", "Unknown package com.nope for userId 0\n")


class TestNight:
    """Dark and light."""

    def test_switch(self) -> None:
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

    def test_mistake(self) -> None:
        """What is no mode is refused with those there are."""
        ended = Phone().run("cmd uimode night maybe")

        assert ended.status == 255
        assert ended.err.startswith("Error: mode must be 'yes', 'no', or 'auto'")


class TestRadios:
    """Aeroplane mode, Wi-Fi and the rest."""

    def test_airplane(self) -> None:
        """Aeroplane mode can be switched and read, and is a setting too."""
        phone = Phone()
        assert phone.out("cmd connectivity airplane-mode") == "disabled\n"

        phone.out("cmd connectivity airplane-mode enable")

        assert phone.out("cmd connectivity airplane-mode") == "enabled\n"
        assert phone.out("settings get global airplane_mode_on") == "1\n"

    @pytest.mark.parametrize(
        ("radio", "key"),
        [("wifi", "wifi_on"), ("data", "mobile_data"), ("bluetooth", "bluetooth_on")],
    )
    def test_svc(self, radio: str, key: str) -> None:
        """Radios are switched without a word."""
        phone = Phone()

        assert phone.out(f"svc {radio} disable") == ""
        assert phone.out(f"settings get global {key}") == "0\n"
        phone.out(f"svc {radio} enable")
        assert phone.out(f"settings get global {key}") == "1\n"

    def test_wifi_status(self) -> None:
        """The state of the Wi-Fi can be asked for."""
        phone = Phone()
        assert phone.out("cmd wifi status").startswith("Wifi is enabled\n")

        phone.out("cmd wifi set-wifi-enabled disabled")
        assert phone.out("cmd wifi status") == "Wifi is disabled\n"

    def test_stay_on(self) -> None:
        """Staying on wakes the screen and is a setting."""
        phone = Phone()
        phone.out("input keyevent SLEEP; svc power stayon usb")

        assert phone.system.display.awake
        assert phone.out("settings get global stay_on_while_plugged_in") == "2\n"

    @pytest.mark.parametrize("arguments", ["wifi", "wifi maybe", "power stayon maybe", "fly"])
    def test_mistakes(self, arguments: str) -> None:
        """A mistake is answered with what there is."""
        ended = Phone().run(f"svc {arguments}")

        assert ended.status == 1
        assert "svc" in ended.err or "Available commands" in ended.err


class TestNetwork:
    """Addresses."""

    def test_address(self) -> None:
        """The phone has an address in its wireless network, by either command."""
        phone = Phone()
        address = phone.out("ifconfig wlan0").partition("inet addr:")[2].split()[0]

        assert address.startswith("192.168.")
        assert f"inet {address}/24" in phone.out("ip addr show dev wlan0")
        assert f"src {address}" in phone.out("ip route")

    def test_without_wifi(self) -> None:
        """Without Wi-Fi it has none."""
        phone = Phone()
        phone.out("svc wifi disable")

        assert phone.run("ifconfig wlan0").status == 1
        assert phone.run("ip addr show wlan0").status == 1


class TestAppOps:
    """What apps may do beyond permissions."""

    def test_set_get_reset(self) -> None:
        """A mode is kept until it is reset."""
        phone = Phone()
        assert phone.out(f"appops get {OPERATOR}") == "No operations.\n"

        phone.out(f"appops set {OPERATOR} SYSTEM_ALERT_WINDOW allow")
        assert phone.out(f"appops get {OPERATOR}") == "SYSTEM_ALERT_WINDOW: allow\n"

        phone.out(f"appops reset {OPERATOR}")
        assert phone.out(f"appops get {OPERATOR}") == "No operations.\n"

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("set com.nope CAMERA allow", "Error: No UID for com.nope in user 0\n"),
            (f"set {OPERATOR} FLY allow", "Error: Unknown operation string: FLY\n"),
            (
                f"set {OPERATOR} CAMERA maybe",
                "Error: Mode maybe is not valid, use one of"
                " allow, ignore, deny, default, foreground\n",
            ),
            (f"set {OPERATOR}", "Error: Operation or mode not specified.\n"),
            ("get", "Error: Package not specified.\n"),
        ],
    )
    def test_mistakes(self, arguments: str, complaint: str) -> None:
        """A mistake is told, with status 255."""
        assert Phone().run(f"appops {arguments}") == (255, "", complaint)


class TestIme:
    """Keyboards."""

    def test_list(self) -> None:
        """The enabled keyboards are listed, with -a all of them."""
        phone = Phone()

        assert phone.out("ime list -s") == f"{LATIN}\n"
        assert len(phone.out("ime list -s -a").splitlines()) == 2

    def test_choose(self) -> None:
        """A keyboard is enabled and selected."""
        phone = Phone()
        other = phone.out("ime list -s -a").splitlines()[1]

        assert phone.out(f"ime enable {other}") == (
            f"Input method {other}: now enabled for user #0\n"
        )
        assert phone.out(f"ime enable {other}").count("already enabled") == 1
        assert phone.out(f"ime set {other}") == f"Input method {other} selected for user #0\n"
        assert phone.out("settings get secure default_input_method") == f"{other}\n"

        phone.out("ime reset")
        assert phone.out("settings get secure default_input_method") == f"{LATIN}\n"

    def test_unknown(self) -> None:
        """A keyboard that is not there cannot be selected."""
        assert Phone().run("ime set com.x/.Y") == (
            255,
            "",
            "Unknown input method com.x/.Y cannot be selected for user #0\n",
        )
