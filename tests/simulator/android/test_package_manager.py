"""Installing an APK, and granting permissions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.pm import InstallFailed, install_apk
from tests.doubles.simulator.android_phone import OPERATOR, Phone
from tests.simulator.android.apks import app_apk


@settings(max_examples=150, deadline=None)
@given(cut=st.integers(0, 400), junk=st.binary(max_size=12), at=st.integers(0, 400))
def test_a_broken_apk_is_refused_or_installed_but_never_crashes(
    cut: int, junk: bytes, at: int
) -> None:
    """A broken APK is refused, never more than that."""
    apk = app_apk()
    broken = (apk[:at] + junk + apk[at + len(junk) :])[: len(apk) - cut % 40]

    try:
        install_apk(Phone().system, broken, file_name="a.apk")
    except InstallFailed as failure:
        refusal = str(failure)
    else:
        refusal = "INSTALL_SUCCEEDED"

    assert refusal.startswith("INSTALL_")


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
