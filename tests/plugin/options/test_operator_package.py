"""``--claw-operator-package``: which variant of the Operator is used."""

from __future__ import annotations

import pytest

from pytest_clawperator.transport.adb import AdbTransport
from tests.plugin.conftest import Run

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


def test_the_ini_twin_names_the_package(
    pytester: pytest.Pytester, run: Run, phone: AdbTransport
) -> None:
    """The ini twin names it, too."""
    pytester.makepyfile(TELLS_PACKAGE)
    pytester.makeini(f"[pytest]\nclaw_operator_package = {DEV}\n")
    phone.shell("sim fault operator_variant")

    result = run()

    result.assert_outcomes(passed=1)


def test_an_impossible_package_ends_the_run(pytester: pytest.Pytester, run: Run) -> None:
    """What no app can be called ends the run with what is allowed."""
    pytester.makepyfile(TELLS_PACKAGE)

    result = run("--claw-operator-package", "operator")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --claw-operator-package: 'operator' is not the name of an Android package. *"]
    )
