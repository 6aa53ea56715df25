"""Connecting to the Operator: ``--claw-operator-apk`` and ``--claw-operator-package``."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

RELEASE = "com.clawperator.operator"

USES_DEVICE = "def test_it(clawperator):\n    assert clawperator.home().success\n"


@pytest.fixture
def apk(tmp_path: Path) -> Path:
    """Write what the simulated phone takes for the Operator's APK."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("AndroidManifest.xml", "\0".join([*RELEASE, ""]))
    path = tmp_path / "operator.apk"
    path.write_bytes(data.getvalue())
    return path


def test_an_absent_operator_is_installed(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport, apk: Path
) -> None:
    """An absent Operator is told with the option, which installs it and says so."""
    pytester.makepyfile(USES_DEVICE)
    phone.shell("sim fault operator_absent")

    without = run()
    result = run("--claw-operator-apk", str(apk))

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


def test_the_path_of_the_ini_twin_starts_from_its_file(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport, apk: Path
) -> None:
    """The path of the ini twin starts from the configuration file's folder."""
    pytester.makepyfile(USES_DEVICE)
    pytester.makeini("[pytest]\nclaw_operator_apk = files/operator.apk\n")
    apk.rename(pytester.mkdir("files") / "operator.apk")
    phone.shell("sim fault operator_absent")
    (pytester.path / "elsewhere").mkdir()

    result = run("--rootdir", str(pytester.path), str(pytester.path))

    result.assert_outcomes(passed=1)


DEV = "com.clawperator.operator.dev"

TELLS_PACKAGE = "def test_it(clawperator_device):\n    print(clawperator_device.operator_package)\n"


def test_the_named_variant_is_used(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """The named variant is used; without the option its absence is told with the option."""
    pytester.makepyfile(TELLS_PACKAGE)
    phone.shell("sim fault operator_variant")

    wrong = run()
    right = run("-s", "--claw-operator-package", DEV)

    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines(
        ["*OPERATOR_VARIANT_MISMATCH: *", f"*hint: Use that one: --claw-operator-package {DEV};*"]
    )
    right.assert_outcomes(passed=1)
    right.stdout.fnmatch_lines([f"*{DEV}*"])
