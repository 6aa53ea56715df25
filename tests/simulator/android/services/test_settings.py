"""``settings``, ``content``, ``getprop`` and ``setprop``."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import SERVICE, Phone


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
