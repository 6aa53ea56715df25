"""``operator setup`` and ``grant-device-permissions``, on a simulated phone."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pytest_clawperator.devices.file_lease import FileLeases
from pytest_clawperator.devices.inventory import read_device
from pytest_clawperator.transport.adb import AdbTransport
from tests.cli.conftest import Cli, Printed
from tests.doubles.operator_apk import operator_apk

OPERATOR = "com.clawperator.operator"

SetUp = Callable[..., Printed]


@pytest.fixture
def set_up(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SetUp:
    """Return the function that sets the Operator up from an APK."""
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    return lambda apk, *words: cli("operator", "setup", "--apk", str(apk), *words, "--json")


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
    set_up: SetUp, phone: AdbTransport, tmp_path: Path, package: str
) -> None:
    """It is installed, granted what it needs, and answers; a second setup changes nothing."""
    phone.shell(f"pm uninstall {OPERATOR}")
    apk = operator_apk(tmp_path, package)

    printed, again = set_up(apk), set_up(apk)

    done = printed.json
    assert printed.code == again.code == 0
    assert done["operatorPackage"] == package
    assert done["verification"] == {"ok": True, "packageInstalled": True}
    assert done["handshake"] == {"ok": True}
    assert printed.err.splitlines() == [f"[{phone.serial}] {one}" for one in done["changes"]]
    assert done["changes"][0] == "installed operator.apk"
    assert done["message"] == "Operator installed and ready. Run clawperator-py doctor to verify."
    unchanged = "Operator installed. Required permissions were already enabled."
    assert again.json["message"] == unchanged


def test_an_operator_is_set_up_from_a_url(
    set_up: SetUp, cli: Cli, files: str, tmp_path: Path
) -> None:
    """The file of the url is installed if it has the checksum."""
    sha256 = hashlib.sha256(operator_apk(tmp_path).read_bytes()).hexdigest()
    url = f"{files}/operator.apk"

    good = cli("operator", "install", "--apk", url, "--sha256", sha256, "--json")
    missing = set_up("/nowhere/operator.apk")

    assert (good.code, good.json["install"]) == (0, {"ok": True})
    assert set_up(url, "--sha256", "0" * 64).error == (1, "OPERATOR_CHECKSUM_MISMATCH")
    assert set_up(f"{files}/nowhere.apk").error == (1, "OPERATOR_APK_NOT_FOUND")
    assert missing.error == (1, "OPERATOR_APK_NOT_FOUND")
    assert missing.json["operatorPackage"] == "<unknown>"
    assert not missing.json["install"]["ok"]
    assert "--apk" in missing.json["hint"]
    assert "doctor" not in missing.json["hint"]


def test_another_operator_than_wanted_is_reported(
    set_up: SetUp, phone: AdbTransport, tmp_path: Path
) -> None:
    """An old version is set up, with a notice; another variant is granted nothing."""
    phone.shell("sim fault operator_version version=0.4.9")
    old = set_up(operator_apk(tmp_path))
    phone.shell("sim reset")
    phone.shell(f"pm uninstall {OPERATOR}")
    before = phone.shell("settings list secure").stdout
    other = set_up(operator_apk(tmp_path, f"{OPERATOR}.dev"), "--operator-package", OPERATOR)

    assert (old.code, old.json["compatibility"]["code"]) == (0, "VERSION_INCOMPATIBLE")
    assert "0.4.9" in old.err
    assert other.error == (1, "OPERATOR_VERIFY_FAILED")
    assert f"--operator-package {OPERATOR}.dev" in other.json["hint"]
    assert phone.shell("settings list secure").stdout == before


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("operator_absent", "OPERATOR_NOT_INSTALLED"),
        ("operator_variant", "OPERATOR_VARIANT_MISMATCH"),
    ],
)
def test_a_missing_operator_is_granted_nothing(
    cli: Cli, phone: AdbTransport, fault: str, expected: str
) -> None:
    """No setting names an app that is not installed."""
    phone.shell(f"sim fault {fault}")
    before = phone.shell("settings list secure").stdout

    printed = cli("grant-device-permissions", "--json")

    assert (printed.error, printed.err) == ((1, expected), "")
    assert phone.shell("settings list secure").stdout == before


def test_a_held_device_is_not_set_up(set_up: SetUp, phone: AdbTransport, tmp_path: Path) -> None:
    """Nothing is installed on a device that a run holds."""
    phone.shell(f"pm uninstall {OPERATOR}")
    leases = FileLeases(run_id="run", folder=tmp_path)
    hold = leases.try_take(read_device(phone, server=phone.server).key)
    assert hold is not None

    with hold:
        printed = set_up(operator_apk(tmp_path))

    assert printed.error == (1, "DEVICE_LEASED")
    assert phone.shell(f"pm list packages {OPERATOR}").stdout == ""


def test_an_operator_that_crashed_is_brought_back(cli: Cli, phone: AdbTransport) -> None:
    """Granting switches its service on again, and waits until it answers."""
    phone.shell(f"am crash {OPERATOR}")

    printed = cli("grant-device-permissions", "--json")

    assert printed.code == 0
    assert printed.json["handshake"] == {"ok": True}
    assert printed.json["message"].startswith("Required device permissions")
