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
