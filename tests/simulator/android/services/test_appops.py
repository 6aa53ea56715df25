"""``cmd appops``."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone


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
