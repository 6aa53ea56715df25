"""Connecting to the Operator: ``--claw-operator-apk`` and ``--claw-operator-package``."""

from __future__ import annotations

import zipfile

import pytest

from pytest_clawperator.errors import ClawperatorError, DeviceUnavailableError, LeaseError
from pytest_clawperator.plugin import ladder
from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

DEV = "com.clawperator.operator.dev"


def test_an_absent_operator_is_installed(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """The error for an absent one names the option; the path of the ini twin starts there."""
    pytester.makepyfile("def test_it(clawperator):\n    assert clawperator.home().success\n")
    phone.shell("sim fault operator_absent")
    without = run()
    with zipfile.ZipFile(pytester.mkdir("files") / "operator.apk", "w") as archive:
        archive.writestr("AndroidManifest.xml", "\0".join([*"com.clawperator.operator", ""]))
    pytester.makeini("[pytest]\nclaw_operator_apk = files/operator.apk\n")

    result = run("--rootdir", str(pytester.path), str(pytester.path))

    without.assert_outcomes(errors=1)
    without.stdout.fnmatch_lines(
        [
            "*OPERATOR_NOT_INSTALLED: the Operator app com.clawperator.operator is not installed",
            "*hint: Install *: --claw-operator-apk=path/to/operator.apk; or *--claw-doctor`.",
        ]
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "clawperator: *, no Operator, adb *",
            f"clawperator: [[]{phone.serial}] installing operator.apk ...",
        ]
    )


def test_the_named_variant_is_used(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """The error for another variant names the option."""
    pytester.makepyfile(f"def test_it(clawperator_device):\n"
                        f"    assert clawperator_device.operator_package == {DEV!r}\n")  # fmt: skip
    phone.shell("sim fault operator_variant")

    wrong = run()
    right = run("--claw-operator-package", DEV)

    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines(
        ["*OPERATOR_VARIANT_MISMATCH: *", f"*hint: Use that one: --claw-operator-package {DEV};*"]
    )
    right.assert_outcomes(passed=1)


def test_a_service_that_is_off_is_switched_on(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """With a notice."""
    pytester.makepyfile("def test_it(clawperator):\n    assert clawperator.home().success\n")
    phone.shell("settings put secure enabled_accessibility_services null")

    result = run()

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*has its accessibility service switched off; it is switched on"])


@pytest.mark.parametrize(
    ("error", "is_put_aside"),
    [(DeviceUnavailableError("it is offline"), True), (LeaseError("it is taken"), False)],
)
def test_a_device_that_cannot_be_connected_is_put_aside(
    pytester: pytest.Pytester,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    error: ClawperatorError,
    is_put_aside: bool,
) -> None:
    """Its worker has no other one; but not a device that another run uses."""

    def fail(*_: object, **__: object) -> None:
        raise error

    pytester.makepyfile("def test_it(clawperator): pass")
    monkeypatch.setattr(ladder, "connect_healed", fail)

    result = run()

    result.assert_outcomes(errors=1)
    assert error.details.get("put_aside", False) is is_put_aside


def test_settings_reach_the_client(pytester: pytest.Pytester, run: Run) -> None:
    """And the transport."""
    pytester.makepyfile(
        """
        def test_it(clawperator, clawperator_transport):
            assert (clawperator.timeout, clawperator.matchers) == (1.5, "first")
            assert clawperator_transport.display == 0
        """
    )

    result = run("--claw-timeout=1.5", "--claw-matchers=first", "--claw-display=0")

    result.assert_outcomes(passed=1)
