"""``pm grant`` and ``pm revoke``."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone


class TestPermissions:
    """Granting and revoking."""

    def test_grant_and_revoke(self) -> None:
        """A runtime permission comes and goes."""
        phone = Phone()
        permission = "android.permission.POST_NOTIFICATIONS"

        phone.out(f"pm revoke {OPERATOR} {permission}")
        assert f"{permission}: granted=false" in phone.out(f"dumpsys package {OPERATOR}")

        assert phone.out(f"pm grant {OPERATOR} {permission}") == ""
        assert f"{permission}: granted=true" in phone.out(f"dumpsys package {OPERATOR}")

    @pytest.mark.parametrize(
        ("permission", "complaint"),
        [
            (
                "android.permission.NOPE",
                "java.lang.IllegalArgumentException: Unknown permission: android.permission.NOPE",
            ),
            (
                "android.permission.CAMERA",
                f"java.lang.SecurityException: Package {OPERATOR} has not requested permission"
                " android.permission.CAMERA",
            ),
            (
                "android.permission.INTERNET",
                "java.lang.SecurityException: Permission android.permission.INTERNET requested by"
                f" {OPERATOR} is not a changeable permission type",
            ),
        ],
    )
    def test_what_cannot_be_granted_is_refused(self, permission: str, complaint: str) -> None:
        """What cannot be granted is refused in Android's words."""
        ended = Phone().run(f"pm grant {OPERATOR} {permission}")

        assert ended.status == 255
        assert ended.err.startswith(f"\nException occurred while executing 'grant':\n{complaint}\n")

    def test_notifications_need_no_permission_before_api_33(self) -> None:
        """Before API 33 nobody knew of a permission for notifications."""
        ended = Phone(api=32).run(f"pm grant {OPERATOR} android.permission.POST_NOTIFICATIONS")

        assert "Unknown permission" in ended.err

    def test_no_such_package(self) -> None:
        """A package that is not there is reported twice, as Android does."""
        assert Phone().run("pm grant com.nope android.permission.CAMERA") == (
            1,
            "Failure [package not found]\n",
            "Error: package not found\n",
        )

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [("", "Error: no package specified\n"), (OPERATOR, "Error: no permission specified\n")],
    )
    def test_package_and_permission_are_required(self, arguments: str, complaint: str) -> None:
        """Package and permission must be given."""
        assert Phone().run(f"pm grant {arguments}") == (1, "", complaint)
