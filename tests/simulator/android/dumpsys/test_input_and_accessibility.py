"""``dumpsys accessibility``."""

from __future__ import annotations

from tests.doubles.simulator.android_phone import SERVICE, Phone


class TestServices:
    """The keyboard and the Operator's service."""

    def test_a_fault_leaves_the_service_enabled_but_not_bound(self) -> None:
        """The Operator's service is enabled, and bound unless a fault keeps it off."""
        phone = Phone()
        assert f"Enabled services:{{{{{SERVICE}}}}}" in phone.out("dumpsys accessibility")
        assert "Bound services:{Service[label=" in phone.out("dumpsys accessibility")

        phone.device.faults.set("service_off")
        assert "Bound services:{}" in phone.out("dumpsys accessibility")
