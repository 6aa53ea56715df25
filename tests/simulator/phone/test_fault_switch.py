"""Faults that change which Operator is installed."""

from __future__ import annotations

from tests.simulator.android.phone import (
    Phone,
)


class TestOperatorFaults:
    """Whether the Operator is there, and which, can be changed while the phone runs."""

    def packages(self, phone: Phone) -> list[str]:
        """List the variants of the Operator that are installed."""
        listed = phone.run("pm list packages com.clawperator.operator").out
        return sorted(line.removeprefix("package:") for line in listed.split())

    def test_absent_and_back(self) -> None:
        """The fault takes the Operator away; clearing it brings it back, set up as before."""
        phone = Phone()
        enabled = phone.run("settings get secure enabled_accessibility_services").out

        phone.run("sim fault operator_absent")
        gone = self.packages(phone)
        phone.run("sim fault clear")

        assert gone == []
        assert self.packages(phone) == ["com.clawperator.operator"]
        assert phone.run("settings get secure enabled_accessibility_services").out == enabled

    def test_only_the_other_variant_is_installed(self) -> None:
        """Only the variant that was not asked for is installed."""
        phone = Phone()

        phone.run("sim fault operator_variant")

        assert self.packages(phone) == ["com.clawperator.operator.dev"]
