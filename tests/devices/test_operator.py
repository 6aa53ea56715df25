"""The Operator app: found, installed, granted what it needs, pinged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.health import await_answer, read_readiness
from pytest_clawperator.devices.operator import (
    components,
    find_operator,
    grant_operator,
    install_operator,
    judge_version,
    operator_version,
    permissions,
    restart_service,
    set_up_operator,
    wait_for_ping,
)
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    OperatorNotReadyError,
    ShellError,
)
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.operator_apk import operator_apk
from tests.doubles.transport import Answer, ScriptedTransport

RELEASE = "com.clawperator.operator"

DEV = "com.clawperator.operator.dev"

SERVICE = "clawperator.operator.accessibilityservice.OperatorAccessibilityService"

LISTENER = "action.notification.NotificationListenerService"

LIST = f"pm list packages '{RELEASE}'"

DENIED = ShellResult("", "java.lang.SecurityException: Permission denial: WRITE_SECURE\n", 255)


def with_packages(*names: str) -> ScriptedTransport:
    """Return a device on which these packages are installed."""
    listing = "".join(f"package:{name}\n" for name in names)
    return ScriptedTransport({re.compile("pm list packages .*"): listing})


def settings(services: str = "null", listeners: str = "null") -> dict[Any, Answer]:
    """Answer for a device with these services on."""
    return {
        "settings get secure enabled_accessibility_services": f"{services}\n",
        "settings get secure accessibility_enabled": "1\n",
        "settings get secure enabled_notification_listeners": f"{listeners}\n",
        re.compile("settings (put|delete) secure .*"): "",
        re.compile("pm grant .*"): "",
    }


class TestFinding:
    """Which variant is installed."""

    @pytest.mark.parametrize("wanted", [RELEASE, DEV])
    def test_the_wanted_variant_is_found(self, wanted: str) -> None:
        """Where both are installed, the wanted one is found with one command."""
        transport = with_packages(RELEASE, DEV)

        assert find_operator(transport, wanted) == wanted
        assert transport.calls == [LIST]

    @pytest.mark.parametrize("names", [(), (f"{RELEASE}.other",), ("x.com.clawperator.operator",)])
    def test_a_similar_package_is_not_the_operator(self, names: tuple[str, ...]) -> None:
        """A name that merely contains the Operator's is not it."""
        with pytest.raises(OperatorNotReadyError) as caught:
            find_operator(with_packages(*names), RELEASE)

        assert caught.value.code is ErrorCode.OPERATOR_NOT_INSTALLED
        assert "connect(operator_apk=" in str(caught.value)
        assert caught.value.serial == "PH1"

    @pytest.mark.parametrize(("wanted", "there"), [(RELEASE, DEV), (DEV, RELEASE)])
    def test_the_other_variant_is_named(self, wanted: str, there: str) -> None:
        """The error names it, and the keyword that would use it."""
        with pytest.raises(OperatorNotReadyError) as caught:
            find_operator(with_packages(there), wanted)

        assert caught.value.code is ErrorCode.OPERATOR_VARIANT_MISMATCH
        assert f"the Operator {wanted} is not installed" in str(caught.value)
        assert f"connect(operator_package='{there}')" in str(caught.value)

    def test_a_wrong_variable_is_what_to_correct(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where a variable asked for the wrong variant, it is what to correct."""
        monkeypatch.setenv("CLAWPERATOR_OPERATOR_PACKAGE", DEV)

        with pytest.raises(OperatorNotReadyError) as caught:
            find_operator(with_packages(RELEASE), DEV)

        assert f"CLAWPERATOR_OPERATOR_PACKAGE asks for {DEV}" in str(caught.value)

    @pytest.mark.parametrize("answer", [ShellResult("", "", 127), ShellResult("", "broken", 1)])
    def test_a_package_manager_that_does_not_answer(self, answer: ShellResult) -> None:
        """No error claims that the Operator is absent when nothing was learned."""
        with pytest.raises(ShellError) as caught:
            find_operator(ScriptedTransport({LIST: answer}), RELEASE)

        assert caught.value.code is ErrorCode.DEVICE_COMMAND_FAILED

    def test_a_name_that_is_no_package_is_refused(self) -> None:
        """A package name from the environment is checked before it is used."""
        with pytest.raises(ConfigurationError):
            find_operator(ScriptedTransport(), "a.b; reboot")

    def test_faults_of_a_phone_have_their_codes(self, phone: AdbTransport) -> None:
        """Each fault of the simulated phone has its own code."""
        found = find_operator(phone, RELEASE)

        phone.shell("sim fault operator_variant")
        with pytest.raises(OperatorNotReadyError) as other:
            find_operator(phone, RELEASE)
        phone.shell("sim fault clear; sim fault operator_absent")
        with pytest.raises(OperatorNotReadyError) as absent:
            find_operator(phone, RELEASE)

        assert found == RELEASE
        assert other.value.code is ErrorCode.OPERATOR_VARIANT_MISMATCH
        assert absent.value.code is ErrorCode.OPERATOR_NOT_INSTALLED


class TestGranting:
    """What the Operator is granted."""

    def test_exactly_the_documented_commands_are_sent(self) -> None:
        """A device with nothing switched on gets exactly the documented commands."""
        transport = ScriptedTransport(settings())

        grant_operator(transport, RELEASE)

        assert transport.calls == [
            "settings get secure enabled_accessibility_services",
            "settings put secure accessibility_enabled 1",
            f"settings put secure enabled_accessibility_services '{RELEASE}/{SERVICE}'",
            f"pm grant {RELEASE} android.permission.POST_NOTIFICATIONS",
            "settings get secure enabled_notification_listeners",
            f"settings put secure enabled_notification_listeners '{RELEASE}/{LISTENER}'",
        ]

    def test_other_services_stay_on(self) -> None:
        """The Operator's services are appended to those of others."""
        transport = ScriptedTransport(settings("a.b/.C:d.e/f.G", "h.i/.J"))

        grant_operator(transport, DEV)

        assert (
            "settings put secure enabled_accessibility_services "
            f"'a.b/.C:d.e/f.G:{DEV}/{SERVICE}'" in transport.calls
        )
        assert (
            f"settings put secure enabled_notification_listeners 'h.i/.J:{DEV}/{LISTENER}'"
            in transport.calls
        )

    def test_what_is_on_stays_as_it_is(self) -> None:
        """Where everything is on, nothing is written."""
        transport = ScriptedTransport(
            settings(f"a.b/.C:{RELEASE}/{SERVICE}", f"{RELEASE}/{LISTENER}")
        )

        grant_operator(transport, RELEASE)

        assert not [call for call in transport.calls if " put " in call]

    def test_a_listed_service_that_is_off_is_switched_on(self) -> None:
        """The main switch is turned on where only it is off."""
        answers = settings(f"{RELEASE}/{SERVICE}", f"{RELEASE}/{LISTENER}")
        transport = ScriptedTransport(
            {**answers, "settings get secure accessibility_enabled": "0\n"}
        )

        grant_operator(transport, RELEASE)

        assert [call for call in transport.calls if " put " in call] == [
            "settings put secure accessibility_enabled 1"
        ]

    @pytest.mark.parametrize(
        "answer",
        [
            "java.lang.IllegalArgumentException: Unknown permission: x",
            "java.lang.SecurityException: x is not a changeable permission type",
            "Permission already granted",
        ],
    )
    def test_a_permission_that_cannot_be_granted_is_fine(self, answer: str) -> None:
        """A device that does not know the permission, or not as one to grant, is fine."""
        answers = {**settings(), re.compile("pm grant .*"): ShellResult("", answer, 255)}

        grant_operator(ScriptedTransport(answers), RELEASE)

    @pytest.mark.parametrize(
        "refused", ["settings put secure .*", "pm grant .*", "settings get secure .*"]
    )
    def test_a_refused_grant_names_the_command(self, refused: str) -> None:
        """The error has the command and what to do by hand."""
        transport = ScriptedTransport({**settings(), re.compile(refused): DENIED})

        with pytest.raises(OperatorNotReadyError) as caught:
            grant_operator(transport, RELEASE)

        assert caught.value.code is ErrorCode.OPERATOR_GRANT_FAILED
        assert "Permission denial" in str(caught.value)
        assert "Security settings" in str(caught.value.hint)
        assert re.fullmatch(refused, caught.value.details["command"])

    def test_services_of_a_phone_are_switched_on(self, phone: AdbTransport) -> None:
        """A phone whose services are off has them on afterwards."""
        phone.shell(f"am force-stop {RELEASE}")
        before = read_readiness(phone, RELEASE)

        grant_operator(phone, RELEASE)

        after = read_readiness(phone, RELEASE)
        assert (before.service_on, before.stopped) == (False, True)
        assert (after.service_on, after.stopped) == (True, False)

    def test_only_the_operators_service_is_restarted(self) -> None:
        """Only the Operator's own service is taken out of the list, and put back."""
        transport = ScriptedTransport(settings(f"{RELEASE}/{SERVICE}:a.b/.C"))

        restart_service(transport, RELEASE)

        assert transport.calls == [
            "settings get secure enabled_accessibility_services",
            "settings put secure enabled_accessibility_services 'a.b/.C'",
            "settings put secure accessibility_enabled 1",
            f"settings put secure enabled_accessibility_services 'a.b/.C:{RELEASE}/{SERVICE}'",
        ]


def test_a_file_that_is_not_there_is_refused_first(tmp_path: Path) -> None:
    """Nothing is sent to the device."""
    transport = ScriptedTransport()

    with pytest.raises(OperatorNotReadyError, match=r"nowhere\.apk") as caught:
        install_operator(transport, tmp_path / "nowhere.apk")

    assert caught.value.code is ErrorCode.OPERATOR_APK_NOT_FOUND
    assert transport.calls == []


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ("    versionCode=503900 minSdk=21\n    versionName=0.5.3-d\n", "0.5.3-d"),
        ("Unable to find package: x\n", None),
        (ShellResult("", "", 127), None),
    ],
)
def test_the_version_is_what_the_device_says(
    answer: str | ShellResult, version: str | None
) -> None:
    """The version is what the device says, or unknown."""
    transport = ScriptedTransport({f"dumpsys package {RELEASE}": answer})

    assert operator_version(transport, RELEASE) == version


@pytest.mark.parametrize(
    ("value", "listed"),
    [
        ("null\n", []),
        ("", []),
        ("a.b/.C:d.e/f.G\n", ["a.b/a.b.C", "d.e/f.G"]),
        (":a.b/c.D:", ["a.b/c.D"]),
        ("nonsense", ["nonsense"]),
    ],
)
def test_components_are_read_with_full_names(value: str, listed: list[str]) -> None:
    """Short class names are completed; empty entries are left out."""
    assert components(value) == listed


class TestPing:
    """Waiting for an Operator that was just switched on."""

    def test_the_operator_is_pinged_until_it_answers(self) -> None:
        """The pauses between the pings grow."""
        answers = iter([False, False, False, True])
        pauses: list[float] = []

        wait_for_ping(lambda left: next(answers), serial="PH1", timeout=60, pause=pauses.append)

        assert pauses == [0.05, 0.1, 0.2]

    def test_an_operator_that_never_answers_is_an_error(self) -> None:
        """The pauses end with the timeout, and the error says what to do."""
        now = [100.0]

        def pause(seconds: float) -> None:
            now[0] += seconds

        with pytest.raises(OperatorNotReadyError) as caught:
            wait_for_ping(
                lambda left: False, serial="PH1", timeout=5, clock=lambda: now[0], pause=pause
            )

        assert now[0] == pytest.approx(105)
        assert caught.value.code is ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING
        assert "did not answer within 5 s" in str(caught.value)

    def test_each_ping_knows_the_time_left(self) -> None:
        """A ping gets the seconds that are left."""
        now, told = [0.0], []

        def ping(left: float) -> bool:
            told.append(left)
            now[0] += 1
            return len(told) == 3

        wait_for_ping(
            ping, serial="PH1", timeout=10, clock=lambda: now[0], pause=lambda seconds: None
        )

        assert told == [10, 9, 8]


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


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("0.5.3", None),
        ("0.5.3-d", None),
        ("0.5.99", None),
        ("0.4.9", "VERSION_INCOMPATIBLE"),
        ("0.6.0", "VERSION_INCOMPATIBLE"),
        ("1.5.3", "VERSION_INCOMPATIBLE"),
        ("0.5", "APK_VERSION_INVALID"),
        ("0.5.3-beta", "APK_VERSION_INVALID"),
        ("", "APK_VERSION_INVALID"),
        (None, "APK_VERSION_UNREADABLE"),
    ],
)
def test_major_and_minor_number_decide(version: str | None, code: str | None) -> None:
    """An Operator fits if its major and minor number are those that this package is made for."""
    found = judge_version("com.clawperator.operator", version, 503900, serial="PH1")

    assert found.is_compatible is (code is None)
    assert (found.problem and str(found.problem.code)) == code
    assert found.problem is None or found.problem.serial == "PH1"
