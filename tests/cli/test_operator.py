"""``operator setup`` and ``grant-device-permissions``, on a simulated phone."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.transport.adb import AdbTransport
from tests.cli.conftest import Cli
from tests.doubles.operator_apk import operator_apk

OPERATOR = "com.clawperator.operator"

Run = Callable[..., "tuple[int, dict[str, Any], str]"]


@pytest.fixture
def program(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the function that runs a command; it returns exit code, document and stderr."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")

    def program(*words: str) -> tuple[int, dict[str, Any], str]:
        printed = cli(*words, "--json")
        return printed.code, printed.json, printed.err

    return program


@pytest.fixture
def files(tmp_path: Path) -> Iterator[str]:
    """Serve the files of the test's folder."""
    handler = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("package", [OPERATOR, f"{OPERATOR}.dev"])
def test_an_operator_is_set_up_from_a_file(
    program: Run, phone: AdbTransport, tmp_path: Path, package: str
) -> None:
    """It is installed, found, granted what it needs, and answers; each change is told."""
    phone.shell(f"pm uninstall {OPERATOR}")

    code, done, told = program("operator", "setup", "--apk", str(operator_apk(tmp_path, package)))

    assert code == 0
    assert done["operatorPackage"] == package
    assert done["verification"] == {"ok": True, "packageInstalled": True}
    assert done["handshake"] == {"ok": True}
    assert told.splitlines() == [f"[{phone.serial}] {change}" for change in done["changes"]]
    assert done["changes"][0] == "installed operator.apk"
    assert done["message"] == "Operator installed and ready. Run clawperator-py doctor to verify."


def test_a_setup_that_grants_nothing_new_reports_it(program: Run, tmp_path: Path) -> None:
    """The message of a second setup differs from that of the first."""
    apk = str(operator_apk(tmp_path))
    program("operator", "setup", "--apk", apk)

    code, done, _ = program("operator", "setup", "--apk", apk)

    assert code == 0
    assert done["message"] == "Operator installed. Required permissions were already enabled."


def test_an_operator_is_set_up_from_a_url(program: Run, files: str, tmp_path: Path) -> None:
    """The file of the url is installed if it has the checksum."""
    sha256 = hashlib.sha256(operator_apk(tmp_path).read_bytes()).hexdigest()
    url = f"{files}/operator.apk"

    good = program("operator", "install", "--apk", url, "--sha256", sha256)
    bad = program("operator", "install", "--apk", url, "--sha256", "0" * 64)
    missing = program("operator", "install", "--apk", f"{files}/nowhere.apk")

    assert (good[0], good[1]["install"]) == (0, {"ok": True})
    assert (bad[0], bad[1]["code"]) == (1, "OPERATOR_CHECKSUM_MISMATCH")
    assert (missing[0], missing[1]["code"]) == (1, "OPERATOR_APK_NOT_FOUND")


def test_another_variant_than_the_named_one_is_not_granted_anything(
    program: Run, phone: AdbTransport, tmp_path: Path
) -> None:
    """The APK is of the other variant: the error names it, and no setting was changed."""
    phone.shell(f"pm uninstall {OPERATOR}")
    before = phone.shell("settings list secure").stdout
    apk = str(operator_apk(tmp_path, f"{OPERATOR}.dev"))

    code, done, _ = program("operator", "setup", "--apk", apk, "--operator-package", OPERATOR)

    assert (code, done["code"]) == (1, "OPERATOR_VERIFY_FAILED")
    assert f"--operator-package {OPERATOR}.dev" in done["hint"]
    assert phone.shell("settings list secure").stdout == before


def test_an_operator_of_another_version_is_told(
    program: Run, phone: AdbTransport, tmp_path: Path
) -> None:
    """It is set up as was asked, and does not go unnoticed."""
    phone.shell("sim fault operator_version version=0.4.9")

    code, done, told = program("operator", "setup", "--apk", str(operator_apk(tmp_path)))

    assert (code, done["compatibility"]["code"]) == (0, "VERSION_INCOMPATIBLE")
    assert "0.4.9" in told


def test_a_mistake_about_the_file_does_not_lead_to_the_doctor(program: Run) -> None:
    """The doctor examines devices, and knows nothing about files."""
    _, done, _ = program("operator", "setup", "--apk", "/nowhere/operator.apk")

    assert "--apk" in done["hint"]
    assert "doctor" not in done["hint"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("operator_absent", "OPERATOR_NOT_INSTALLED"),
        ("operator_variant", "OPERATOR_VARIANT_MISMATCH"),
    ],
)
def test_an_operator_that_is_not_there_is_granted_nothing(
    program: Run, phone: AdbTransport, fault: str, expected: str
) -> None:
    """No setting names an app that is not installed."""
    phone.shell(f"sim fault {fault}")
    before = phone.shell("settings list secure").stdout

    code, done, told = program("grant-device-permissions")

    assert (code, done["code"], told) == (1, expected, "")
    assert phone.shell("settings list secure").stdout == before


def test_a_device_that_is_held_is_not_set_up(
    program: Run, phone: AdbTransport, tmp_path: Path
) -> None:
    """Nothing is installed on a device that a run holds."""
    phone.shell(f"pm uninstall {OPERATOR}")
    leases = FileLeases(run_id="run", folder=tmp_path)
    hold = leases.try_take(read_device(phone, server=phone.server).key)
    assert hold is not None

    with hold:
        code, done, _ = program("operator", "setup", "--apk", str(operator_apk(tmp_path)))

    assert (code, done["code"]) == (1, "DEVICE_LEASED")
    assert phone.shell(f"pm list packages {OPERATOR}").stdout == ""


def test_an_operator_that_crashed_is_brought_back(program: Run, phone: AdbTransport) -> None:
    """Granting switches its service on again, and waits until it answers."""
    phone.shell(f"am crash {OPERATOR}")

    code, done, _ = program("grant-device-permissions")

    assert code == 0
    assert done["handshake"] == {"ok": True}
    assert done["message"].startswith("Required device permissions")


def test_a_file_that_is_not_there_tells_what_was_done(program: Run) -> None:
    """The answer has the fields of the published program."""
    code, done, _ = program("operator", "setup", "--apk", "/nowhere/operator.apk")

    assert (code, done["code"]) == (1, "OPERATOR_APK_NOT_FOUND")
    assert done["operatorPackage"] == "<unknown>"
    assert not done["install"]["ok"]
