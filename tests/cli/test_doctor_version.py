"""``version``: of this package, and whether the Operator on a device fits."""

from __future__ import annotations

import pytest

from pytest_clawperator.transport.adb import AdbTransport
from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        ("true", None),
        ("sim fault operator_version version=0.5.9", None),
        ("sim fault operator_version version=0.6.0", "VERSION_INCOMPATIBLE"),
        ("sim fault operator_version version=new", "APK_VERSION_INVALID"),
        ("sim fault operator_absent", "OPERATOR_NOT_INSTALLED"),
        ("sim fault operator_variant", "OPERATOR_VARIANT_MISMATCH"),
        ("sim fault booting", "DEVICE_SHELL_UNAVAILABLE"),
    ],
)
def test_versions_are_compared(
    cli: Cli, phone: AdbTransport, trouble: str, code: str | None
) -> None:
    """Major and minor number decide; else the answer has the code and what to do."""
    phone.shell(trouble)

    printed = cli("version", "--check-compat", "--json")

    found = printed.json
    assert printed.code == (0 if code is None else 1)
    assert found["compatible"] is (code is None)
    assert found.get("error", {}).get("code") == code
    assert code is None or found["remediation"]


def test_the_version_needs_no_device(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a comparison nothing is asked of a device."""
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:127.0.0.1:1")

    printed = cli("version", "--json")

    assert printed.code == 0
    assert printed.json["supportedOperator"] == "0.5"
