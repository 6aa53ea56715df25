"""Setting the Operator up: installed, found, granted, verified, waited for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_clawperator.devices.health import await_answer, read_readiness
from pytest_clawperator.devices.operator import permissions, set_up_operator
from pytest_clawperator.errors import ErrorCode, OperatorNotReadyError
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from tests.devices.test_operator import DENIED, DEV, RELEASE, settings, with_packages
from tests.doubles.operator_apk import operator_apk
from tests.doubles.transport import ScriptedTransport


class TestSettingUp:
    """Installing, granting and verifying in one go."""

    @pytest.mark.parametrize("package", [RELEASE, DEV])
    def test_an_operator_is_installed_and_granted(
        self, phone: AdbTransport, tmp_path: Path, package: str
    ) -> None:
        """A phone without an Operator has the one of the file afterwards, allowed to work."""
        phone.shell(f"pm uninstall {RELEASE}")

        found = set_up_operator(phone, operator_apk(tmp_path, package))

        assert found.package == package
        assert read_readiness(phone, package).service_on is True

    def test_a_refused_file_has_the_devices_reason(
        self, phone: AdbTransport, tmp_path: Path
    ) -> None:
        """The error has the device's own reason."""
        apk = tmp_path / "broken.apk"
        apk.write_bytes(b"PK no apk")

        with pytest.raises(OperatorNotReadyError, match="INSTALL_") as caught:
            set_up_operator(phone, apk)

        assert caught.value.code is ErrorCode.OPERATOR_INSTALL_FAILED

    @pytest.mark.parametrize(
        ("there", "says"),
        [((), "no Operator is there"), ((RELEASE, DEV), "several variants are installed")],
    )
    def test_an_unclear_package_must_be_named(
        self, tmp_path: Path, there: tuple[str, ...], says: str
    ) -> None:
        """Unless exactly one variant is there, the package must be named."""
        with pytest.raises(OperatorNotReadyError, match=says) as caught:
            set_up_operator(with_packages(*there), operator_apk(tmp_path))

        assert caught.value.code is ErrorCode.OPERATOR_VERIFY_FAILED
        assert "operator_package=" in str(caught.value.hint)

    def test_a_package_that_the_file_lacks_is_an_error(self, tmp_path: Path) -> None:
        """A package that was named must be there after the installation."""
        transport = ScriptedTransport(
            {**settings(), re.compile("pm list packages .*"): f"package:{DEV}\n"}
        )

        with pytest.raises(OperatorNotReadyError, match="is not there after") as caught:
            set_up_operator(transport, operator_apk(tmp_path), RELEASE)

        assert caught.value.code is ErrorCode.OPERATOR_VERIFY_FAILED


class TestWhatWasDone:
    """What was done before an error is told, and so is each change."""

    def test_each_change_is_told(self, phone: AdbTransport, tmp_path: Path) -> None:
        """Installing and each grant is told, in its order."""
        phone.shell(f"pm uninstall {RELEASE}")
        told: list[str] = []

        done = set_up_operator(phone, operator_apk(tmp_path), tell=told.append)

        assert told == [
            "installed operator.apk",
            "switched the Operator's accessibility service on",
            "made sure that the Operator may show notifications",
            "switched the Operator's notification listener on",
        ]
        assert not done.is_unchanged

    def test_an_operator_that_has_all_is_unchanged(
        self, phone: AdbTransport, tmp_path: Path
    ) -> None:
        """An Operator that was set up before keeps what it has."""
        done = set_up_operator(phone, operator_apk(tmp_path))

        assert done.is_unchanged
        assert permissions(done.grants) == {
            "accessibility": {"ok": True, "alreadyEnabled": True},
            "notification": {"ok": True, "skipped": False},
            "notificationListener": {"ok": True, "alreadyEnabled": True},
        }

    def test_a_refused_grant_has_what_was_done_before(self, tmp_path: Path) -> None:
        """All grants are tried, and the error tells how each went."""
        answers = {
            **settings(),
            re.compile("pm list packages .*"): f"package:{RELEASE}\n",
            re.compile("settings put secure .*"): DENIED,
            re.compile("pm grant .*"): ShellResult("", "Unknown permission: x", 255),
        }

        with pytest.raises(OperatorNotReadyError) as caught:
            set_up_operator(ScriptedTransport(answers), operator_apk(tmp_path))

        details = caught.value.details
        assert caught.value.code is ErrorCode.OPERATOR_GRANT_FAILED
        assert details["operatorPackage"] == RELEASE
        assert details["install"] == {"ok": True}
        assert not details["permissions"]["accessibility"]["ok"]
        assert details["permissions"]["notification"]["skipped"]
        assert not details["permissions"]["notificationListener"]["ok"]

    def test_the_operator_answers_in_the_end(self, phone: AdbTransport, tmp_path: Path) -> None:
        """Setting up ends when the Operator answers."""
        phone.shell(f"pm uninstall {RELEASE}")
        told: list[str] = []

        done = set_up_operator(phone, operator_apk(tmp_path))
        await_answer(phone, done.package, key="PH1", tell=told.append)

        assert told == []
