"""``dumpsys battery``."""

from __future__ import annotations

import pytest

from tests.simulator.android.phone import Phone


class TestBattery:
    """``dumpsys battery``."""

    def test_the_battery_level_is_read_set_and_reset(self) -> None:
        """The level can be read and set, and set back."""
        phone = Phone()
        assert "\n  level: 85\n" in phone.out("dumpsys battery")

        phone.out("dumpsys battery set level 7")
        assert "\n  level: 7\n" in phone.out("dumpsys battery")
        assert "UPDATES STOPPED" in phone.out("dumpsys battery")

        phone.out("dumpsys battery reset")
        assert "\n  level: 85\n" in phone.out("dumpsys battery")

    def test_an_unplugged_phone_does_not_charge(self) -> None:
        """An unplugged phone is charged by nothing."""
        phone = Phone()

        phone.out("dumpsys battery unplug")

        assert "\n  USB powered: false\n" in phone.out("dumpsys battery")
        assert "mIsPowered=false" in phone.out("dumpsys power")

    @pytest.mark.parametrize("words", ["set level x", "set wings 1", "explode"])
    def test_an_invalid_battery_value_changes_nothing(self, words: str) -> None:
        """What is invalid is reported, and nothing changes."""
        phone = Phone()

        assert phone.out(f"dumpsys battery {words}") != ""
        assert "\n  level: 85\n" in phone.out("dumpsys battery")
