"""Whether the version of an installed Operator fits."""

from __future__ import annotations

import pytest

from pytest_clawperator.devices.operator import judge_version


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
