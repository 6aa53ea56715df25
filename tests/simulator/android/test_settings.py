"""``settings``, ``ime`` and the services of settings."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, SERVICE, Phone


class TestSettings:
    """The command."""

    def test_a_missing_value_prints_null(self) -> None:
        """A value is printed, and null where there is none."""
        phone = Phone()

        assert phone.out("settings get global development_settings_enabled") == "1\n"
        assert phone.out("settings get secure nothing_such") == "null\n"

    def test_operator_is_set_up(self) -> None:
        """A phone comes with the Operator's service switched on."""
        phone = Phone()

        assert phone.out("settings get secure enabled_accessibility_services") == f"{SERVICE}\n"
        assert phone.out("settings get secure accessibility_enabled") == "1\n"

    def test_without_the_operator_no_service_is_enabled(self) -> None:
        """Without the Operator no service is switched on."""
        out = Phone(operator="absent").out("settings get secure enabled_accessibility_services")

        assert out == "null\n"

    def test_put_and_delete(self) -> None:
        """A value is put silently; deleting tells how many rows went."""
        phone = Phone()

        assert phone.out("settings put system 'my key' 'a b'; settings get system 'my key'") == (
            "a b\n"
        )
        assert phone.out("settings delete system 'my key'") == "Deleted 1 rows\n"
        assert phone.out("settings delete system 'my key'") == "Deleted 0 rows\n"

    def test_a_table_is_listed_by_key(self) -> None:
        """A table is listed by key."""
        lines = Phone().out("settings list global").splitlines()

        assert "adb_enabled=1" in lines
        assert lines == sorted(lines)

    def test_the_user_option_is_accepted(self) -> None:
        """The user may be given."""
        assert Phone().out("settings --user 0 get global adb_enabled") == "1\n"
        assert Phone().out("settings get --user current global adb_enabled") == "1\n"

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("fly", "Invalid command: fly\n"),
            ("get nowhere x", "Invalid namespace 'nowhere'\n"),
            ("get global", "Bad arguments\n"),
            ("get global a b", "Too many arguments\n"),
            ("put global a", "Bad arguments\n"),
        ],
    )
    def test_invalid_arguments_are_reported_with_status_255(
        self, arguments: str, complaint: str
    ) -> None:
        """A mistake is reported, with status 255."""
        assert Phone().run(f"settings {arguments}") == (255, "", complaint)

    def test_the_font_scale_makes_texts_larger(self) -> None:
        """Texts are as large as the user wants them; what is no number is as if it was not set."""
        phone = Phone()

        phone.out("settings put system font_scale 1.3")
        large = phone.device.ui.display.font_scale
        phone.out("settings put system font_scale huge")

        assert (large, phone.device.ui.display.font_scale) == (1.3, 1.0)

    def test_the_rotation_setting_turns_the_screen(self) -> None:
        """Turning the screen by its setting turns it."""
        phone = Phone()

        phone.out("settings put system user_rotation 1")
        assert phone.device.ui.display.size == (2400, 1080)

        phone.out("settings put system user_rotation 0")
        assert phone.device.ui.display.size == (1080, 2400)


LATIN = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"


class TestIme:
    """Keyboards."""

    def test_enabled_keyboards_are_listed(self) -> None:
        """The enabled keyboards are listed, with -a all of them."""
        phone = Phone()

        assert phone.out("ime list -s") == f"{LATIN}\n"
        assert len(phone.out("ime list -s -a").splitlines()) == 2

    def test_a_keyboard_is_enabled_and_selected(self) -> None:
        """A keyboard is enabled and selected."""
        phone = Phone()
        other = phone.out("ime list -s -a").splitlines()[1]

        assert phone.out(f"ime enable {other}") == (
            f"Input method {other}: now enabled for user #0\n"
        )
        assert phone.out(f"ime enable {other}").count("already enabled") == 1
        assert phone.out(f"ime set {other}") == f"Input method {other} selected for user #0\n"
        assert phone.out("settings get secure default_input_method") == f"{other}\n"

    def test_an_unknown_keyboard_cannot_be_selected(self) -> None:
        """A keyboard that is not there cannot be selected."""
        assert Phone().run("ime set com.x/.Y") == (
            255,
            "",
            "Unknown input method com.x/.Y cannot be selected for user #0\n",
        )


SETTINGS = "com.android.settings"


class TestLocale:
    """Languages of single apps."""

    def test_set_and_get(self) -> None:
        """An app's languages can be set and read."""
        phone = Phone()

        phone.out(f"cmd locale set-app-locales {SETTINGS} --locales de-DE,en-GB")

        assert phone.out(f"cmd locale get-app-locales {SETTINGS}") == (
            f"Locales for {SETTINGS} for user 0 are [de-DE,en-GB]\n"
        )

    def test_an_unknown_package_is_named(self) -> None:
        """A package that is not there is named."""
        ended = Phone().run("cmd locale get-app-locales com.nope")

        assert ended == (255, "", "Unknown package com.nope for userId 0\n")


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


class TestRadios:
    """Aeroplane mode, Wi-Fi and the rest."""

    def test_airplane_mode_is_switched_and_read(self) -> None:
        """Aeroplane mode can be switched and read, and is a setting too."""
        phone = Phone()
        assert phone.out("cmd connectivity airplane-mode") == "disabled\n"

        phone.out("cmd connectivity airplane-mode enable")

        assert phone.out("cmd connectivity airplane-mode") == "enabled\n"
        assert phone.out("settings get global airplane_mode_on") == "1\n"


class TestAppOps:
    """What apps may do beyond permissions."""

    def test_a_mode_stays_as_it_was_set(self) -> None:
        """Without any mode there are no operations."""
        phone = Phone()
        assert phone.out(f"cmd appops get {OPERATOR}") == "No operations.\n"

        phone.out(f"cmd appops set {OPERATOR} SYSTEM_ALERT_WINDOW allow")

        assert phone.out(f"cmd appops get {OPERATOR}") == "SYSTEM_ALERT_WINDOW: allow\n"

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
    def test_unknown_operations_and_modes_are_reported(
        self, arguments: str, complaint: str
    ) -> None:
        """A mistake is reported, with status 255."""
        assert Phone().run(f"cmd appops {arguments}") == (255, "", complaint)
