"""``content`` for settings."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import Phone


class TestContent:
    """The command for content providers."""

    def test_a_setting_is_printed_as_a_row(self) -> None:
        """A setting can be asked for as a row."""
        out = Phone().out(
            "content query --uri content://settings/global --projection name:value"
            " --where \"name='adb_enabled'\""
        )

        assert out == "Row: 0 name=adb_enabled, value=1\n"

    def test_no_row_is_reported_in_words(self) -> None:
        """No row is reported in words."""
        out = Phone().out("content query --uri content://settings/global --where \"name='no'\"")

        assert out == "No result found.\n"

    def test_insert_and_delete(self) -> None:
        """A setting can be put and deleted."""
        phone = Phone()

        phone.out(
            "content insert --uri content://settings/system"
            " --bind name:s:user_rotation --bind value:i:1"
        )
        assert phone.device.ui.display.rotation == 1

        phone.out("content delete --uri content://settings/system/user_rotation")
        assert phone.out("settings get system user_rotation") == "null\n"

    @pytest.mark.parametrize(
        "arguments", ["", "fly", "query", "query --uri content://contacts/people"]
    )
    def test_unknown_providers_and_operations_are_reported(self, arguments: str) -> None:
        """What is not there is reported on standard error."""
        ended = Phone().run(f"content {arguments}")

        assert (ended.out, bool(ended.err)) == ("", True)
