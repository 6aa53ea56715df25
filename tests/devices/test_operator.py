"""The Operator app: found, installed, granted what it needs, pinged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.health import await_answer, check_ready, read_readiness
from pytest_clawperator.devices.operator import (
    components,
    find_operator,
    grant_operator,
    install_operator,
    permissions,
    restart_service,
    set_up_operator,
    version_problem,
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
from tests.doubles.clock import FakeTime
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
        """If both are installed, the wanted one is found with one command."""
        transport = with_packages(RELEASE, DEV)

        assert find_operator(transport, wanted) == wanted
        assert transport.calls == [LIST]

    @pytest.mark.parametrize(
        ("wanted", "there", "code", "texts"),
        [
            (RELEASE, (), ErrorCode.OPERATOR_NOT_INSTALLED, ["connect(operator_apk="]),
            (RELEASE, (f"{RELEASE}.other",), ErrorCode.OPERATOR_NOT_INSTALLED, []),
            (RELEASE, (f"x.{RELEASE}",), ErrorCode.OPERATOR_NOT_INSTALLED, []),
            (
                RELEASE,
                (DEV,),
                ErrorCode.OPERATOR_VARIANT_MISMATCH,
                [
                    f"the Operator {RELEASE} is not installed",
                    f"connect(operator_package='{DEV}')",
                ],
            ),
            (
                DEV,
                (RELEASE,),
                ErrorCode.OPERATOR_VARIANT_MISMATCH,
                [f"CLAWPERATOR_OPERATOR_PACKAGE asks for {DEV}"],
            ),
        ],
    )
    def test_a_missing_operator_is_an_error(
        self,
        monkeypatch: pytest.MonkeyPatch,
        wanted: str,
        there: tuple[str, ...],
        code: ErrorCode,
        texts: list[str],
    ) -> None:
        """A similar name is not the Operator; the other variant is named, or the variable."""
        monkeypatch.setenv("CLAWPERATOR_OPERATOR_PACKAGE", DEV)

        with pytest.raises(OperatorNotReadyError) as caught:
            find_operator(with_packages(*there), wanted)

        assert (caught.value.code, caught.value.serial) == (code, "PH1")
        for text in texts:
            assert text in str(caught.value)

    @pytest.mark.parametrize("answer", [ShellResult("", "", 127), ShellResult("", "broken", 1)])
    def test_a_package_manager_that_does_not_answer(self, answer: ShellResult) -> None:
        """No error claims that the Operator is absent when nothing was learned."""
        with pytest.raises(ShellError) as caught:
            find_operator(ScriptedTransport({LIST: answer}), RELEASE)

        assert caught.value.code is ErrorCode.DEVICE_COMMAND_FAILED

    def test_a_malformed_package_name_is_refused(self) -> None:
        """A package name from the environment is checked before it is used."""
        with pytest.raises(ConfigurationError):
            find_operator(ScriptedTransport(), "a.b; reboot")

    def test_faults_of_a_phone_have_their_codes(self, phone: AdbTransport) -> None:
        """The simulated phone lacks the Operator, or has its other variant."""
        assert find_operator(phone, RELEASE) == RELEASE

        for fault, code in (
            ("operator_variant", ErrorCode.OPERATOR_VARIANT_MISMATCH),
            ("operator_absent", ErrorCode.OPERATOR_NOT_INSTALLED),
        ):
            phone.shell(f"sim fault clear; sim fault {fault}")
            with pytest.raises(OperatorNotReadyError) as found:
                find_operator(phone, RELEASE)
            with pytest.raises(OperatorNotReadyError) as checked:
                check_ready(phone, RELEASE)
            assert found.value.code is checked.value.code is code


PUT = "settings put secure"


class TestGranting:
    """What the Operator is granted."""

    @pytest.mark.parametrize(
        ("services", "listeners", "switch", "package", "written"),
        [
            (
                "null",
                "null",
                "1",
                RELEASE,
                [
                    f"{PUT} accessibility_enabled 1",
                    f"{PUT} enabled_accessibility_services '{RELEASE}/{SERVICE}'",
                    f"pm grant {RELEASE} android.permission.POST_NOTIFICATIONS",
                    f"{PUT} enabled_notification_listeners '{RELEASE}/{LISTENER}'",
                ],
            ),
            (
                "a.b/.C:d.e/f.G",
                "h.i/.J",
                "1",
                DEV,
                [
                    f"{PUT} accessibility_enabled 1",
                    f"{PUT} enabled_accessibility_services 'a.b/.C:d.e/f.G:{DEV}/{SERVICE}'",
                    f"pm grant {DEV} android.permission.POST_NOTIFICATIONS",
                    f"{PUT} enabled_notification_listeners 'h.i/.J:{DEV}/{LISTENER}'",
                ],
            ),
            (
                f"a.b/.C:{RELEASE}/{SERVICE}",
                f"{RELEASE}/{LISTENER}",
                "1",
                RELEASE,
                [f"pm grant {RELEASE} android.permission.POST_NOTIFICATIONS"],
            ),
            (
                f"{RELEASE}/{SERVICE}",
                f"{RELEASE}/{LISTENER}",
                "0",
                RELEASE,
                [
                    f"{PUT} accessibility_enabled 1",
                    f"pm grant {RELEASE} android.permission.POST_NOTIFICATIONS",
                ],
            ),
        ],
        ids=["nothing is on", "others stay on", "all is on", "the main switch is off"],
    )
    def test_exactly_the_documented_commands_are_sent(
        self, services: str, listeners: str, switch: str, package: str, written: list[str]
    ) -> None:
        """Only what is missing is switched on."""
        answers = settings(services, listeners)
        answers["settings get secure accessibility_enabled"] = f"{switch}\n"
        transport = ScriptedTransport(answers)

        grant_operator(transport, package)

        assert [call for call in transport.calls if " get " not in call] == written

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

    @pytest.mark.parametrize("refused", [f"{PUT} .*", "pm grant .*", "settings get secure .*"])
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
        """Only the Operator's own service is removed from the list, and put back."""
        transport = ScriptedTransport(settings(f"{RELEASE}/{SERVICE}:a.b/.C"))

        restart_service(transport, RELEASE)

        assert transport.calls == [
            "settings get secure enabled_accessibility_services",
            f"{PUT} enabled_accessibility_services 'a.b/.C'",
            f"{PUT} accessibility_enabled 1",
            f"{PUT} enabled_accessibility_services 'a.b/.C:{RELEASE}/{SERVICE}'",
        ]


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
        """Each ping gets the seconds that are left, and the pauses between them grow."""
        fake, left = FakeTime(), list[float]()

        def ping(seconds: float) -> bool:
            left.append(seconds)
            fake.pass_by(1)
            return len(left) == 4

        wait_for_ping(ping, serial="PH1", timeout=60, clock=lambda: fake.now, pause=fake.wait)

        assert left == pytest.approx([60, 58.95, 57.85, 56.65])
        assert fake.pauses == [0.05, 0.1, 0.2]

    def test_an_operator_that_never_answers_is_an_error(self) -> None:
        """The pauses end with the timeout, and the error says what to do."""
        fake = FakeTime()

        with pytest.raises(OperatorNotReadyError, match="did not answer within 5 s") as caught:
            wait_for_ping(
                lambda _: False, serial="PH1", timeout=5, clock=lambda: fake.now, pause=fake.wait
            )

        assert fake.now == pytest.approx(5)
        assert caught.value.code is ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING


class TestSettingUp:
    """Installing, granting and verifying in one go."""

    @pytest.mark.parametrize("package", [RELEASE, DEV])
    def test_an_operator_is_installed_and_granted(
        self, phone: AdbTransport, tmp_path: Path, package: str
    ) -> None:
        """Each change is reported in its order, and the Operator answers; then nothing changes."""
        phone.shell(f"pm uninstall {RELEASE}")
        apk, reported = operator_apk(tmp_path, package), list[str]()

        done = set_up_operator(phone, apk, notify=reported.append)
        await_answer(phone, done.package, key="PH1", notify=reported.append)
        again = set_up_operator(phone, apk)

        assert (done.package, done.is_unchanged, again.is_unchanged) == (package, False, True)
        assert reported == [
            f"installed {apk.name}",
            "switched the Operator's accessibility service on",
            "made sure that the Operator may show notifications",
            "switched the Operator's notification listener on",
        ]
        assert permissions(again.grants) == {
            "accessibility": {"ok": True, "alreadyEnabled": True},
            "notification": {"ok": True, "skipped": False},
            "notificationListener": {"ok": True, "alreadyEnabled": True},
        }

    def test_an_unusable_file_is_refused(self, phone: AdbTransport, tmp_path: Path) -> None:
        """The error has the path of a missing file, or the device's own reason."""
        apk = tmp_path / "broken.apk"
        apk.write_bytes(b"PK no apk")

        with pytest.raises(OperatorNotReadyError, match="INSTALL_") as refused:
            set_up_operator(phone, apk)
        with pytest.raises(OperatorNotReadyError, match=r"nowhere\.apk") as missing:
            install_operator(phone, tmp_path / "nowhere.apk")

        assert refused.value.code is ErrorCode.OPERATOR_INSTALL_FAILED
        assert missing.value.code is ErrorCode.OPERATOR_APK_NOT_FOUND

    @pytest.mark.parametrize(
        ("there", "package", "message"),
        [
            ((), None, "no Operator is there"),
            ((RELEASE, DEV), None, "several variants are installed"),
            ((DEV,), RELEASE, "is not there after"),
        ],
    )
    def test_an_unclear_package_must_be_named(
        self, tmp_path: Path, there: tuple[str, ...], package: str | None, message: str
    ) -> None:
        """Unless exactly one variant is there, or the named one, the installation failed."""
        with pytest.raises(OperatorNotReadyError, match=message) as caught:
            set_up_operator(with_packages(*there), operator_apk(tmp_path), package)

        assert caught.value.code is ErrorCode.OPERATOR_VERIFY_FAILED
        assert "operator_package=" in str(caught.value.hint)

    def test_a_refused_grant_has_what_was_done_before(self, tmp_path: Path) -> None:
        """All grants are tried, and the error has the outcome of each."""
        answers = {
            **settings(),
            re.compile("pm list packages .*"): f"package:{RELEASE}\n",
            re.compile(f"{PUT} .*"): DENIED,
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
    problem = version_problem("com.clawperator.operator", version, serial="PH1")

    assert (problem and (str(problem.code), problem.serial)) == (code and (code, "PH1"))
