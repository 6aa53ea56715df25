"""``pm``: listing, installing, removing, permissions and resolving."""

from __future__ import annotations

import contextlib
import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.android.pm import APP_ENTRY, InstallFailed, install_apk
from tests.doubles.simulator.android_phone import OPERATOR, SERVICE, Ended, Phone, Pieces

APP = """
package: com.example.notes
name: Notes
version: "2.1"
version_code: 21
start: main
screens:
  main:
    title: Notes
    items:
      - text: Nothing yet
"""


def zipped(**entries: str) -> bytes:
    """Make a zip; a double underscore in a name stands for its slash, one for its dot."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return data.getvalue()


def app_apk(text: str = APP) -> bytes:
    """Make the APK of a simulated app."""
    return zipped(**{"AndroidManifest.xml": "", APP_ENTRY: text})


def operator_apk(name: str = OPERATOR) -> bytes:
    """Make something that holds an Operator's name as a compiled manifest does."""
    return zipped(**{"AndroidManifest.xml": "\0".join([*name, ""])})


CONFORMANCE = "com.clawperator.conformance"

NOTES = "com.example.notes"


@pytest.fixture
def phone() -> Phone:
    """Return a phone."""
    return Phone()


def streamed(phone: Phone, apk: bytes, options: str = "-r") -> Ended:
    """Install as `adb install` does: from a stream that the host keeps open."""
    half = len(apk) // 2
    stdin = Pieces([apk[:half], apk[half:]])
    return phone.run(f"cmd package 'install' {options} -S {len(apk)}", stdin=stdin)


def test_questions_are_answered_as_android_does(phone: Phone) -> None:
    """Lists are filtered by any part of the name; what is not there is silence."""
    view = "cmd package resolve-activity --brief -a android.intent.action.VIEW -d"
    for command, ended in {
        "pm list packages clawperator.oper": (0, f"package:{OPERATOR}\n", ""),
        "pm list packages com.nope": (0, "", ""),
        "cmd package path com.android.settings": (
            0,
            "package:/system_ext/priv-app/Settings/Settings.apk\n",
            "",
        ),
        "pm path com.nope": (1, "", ""),
        "pm list packages -z": (255, "Error: Unknown option: -z\n", ""),
        "pm list birds": (255, "Error: only packages can be listed here\n", ""),
        "cmd package resolve-activity --brief com.nope": (0, "No activity found\n", ""),
    }.items():
        assert phone.run(command) == ended, command
    for command, answer in {
        "cmd package resolve-activity --brief com.android.settings": "\ncom.android.settings/.Set",
        f"{view} shop://cart": "com.example.shop/",
        f"pm list packages -f --show-versioncode {OPERATOR}": f"/base.apk={OPERATOR} versionCode:",
    }.items():
        assert answer in phone.out(command), command
    assert 'Argument expected after "path"' in phone.run("pm path").err


def test_every_package_is_the_users_or_the_systems(phone: Phone) -> None:
    """Both lists together are all packages."""
    users = phone.out("pm list packages -3").splitlines()
    system = phone.out("pm list packages -s").splitlines()

    assert f"package:{OPERATOR}" in users
    assert "package:com.android.settings" in system
    assert sorted(users + system) == sorted(phone.out("pm list packages").splitlines())


def test_what_is_uninstalled_is_gone(phone: Phone) -> None:
    """An app leaves the lists and the screen, the Operator its settings; system apps stay."""
    assert phone.out(f"pm clear {CONFORMANCE}") == "Success\n"
    assert phone.run("pm clear com.nope") == (1, "", "Failed\n")
    assert phone.out(f"pm uninstall {CONFORMANCE}; pm uninstall {OPERATOR}") == "Success\n" * 2
    assert phone.out(f"pm list packages {CONFORMANCE}") == ""
    assert CONFORMANCE not in phone.device.ui.apps
    assert OPERATOR not in phone.out("settings list secure")
    assert phone.run(f"pidof {OPERATOR}").status == 1
    for arguments, reason in {
        "com.nope": "DELETE_FAILED_INTERNAL_ERROR",
        "--user 0 com.nope": "not installed for 0",
        "com.android.systemui": "DELETE_FAILED_INTERNAL_ERROR",
    }.items():
        assert phone.run(f"pm uninstall {arguments}") == (1, f"Failure [{reason}]\n", "")


def test_a_described_app_is_installed_and_starts(phone: Phone) -> None:
    """It can be started, and its file lies where `pm path` says."""
    assert streamed(phone, app_apk()) == (0, "Success\n", "")

    assert "versionName=2.1" in phone.out(f"dumpsys package {NOTES}")
    phone.out(f"am start -n {NOTES}/.MainActivity")
    assert phone.device.ui.view.title() == "Notes"
    path = phone.out(f"pm path {NOTES}").strip().removeprefix("package:")
    assert phone.device.files.read(path) == app_apk()


def test_an_operator_apk_is_known_by_its_bytes_or_its_name() -> None:
    """It is not set up yet; the debug build is another package."""
    phone = Phone(operator="absent")
    phone.device.files.write(f"/data/local/tmp/{OPERATOR}.apk", b"PK")

    assert phone.out(f"pm install -r -t /data/local/tmp/{OPERATOR}.apk") == "Success\n"
    assert streamed(phone, operator_apk(f"{OPERATOR}.dev")).out == "Success\n"

    listed = phone.out(f"pm list packages {OPERATOR}")
    assert listed == f"package:{OPERATOR}\npackage:{OPERATOR}.dev\n"
    assert "versionName=0.5.3\n" in phone.out(f"dumpsys package {OPERATOR}")
    assert phone.out("settings get secure enabled_accessibility_services") == "null\n"


def test_an_update_keeps_what_was_decided(phone: Phone) -> None:
    """The Operator keeps its id and its permission, and stays set up."""
    app_id = phone.system.packages.get(OPERATOR)
    assert app_id is not None

    assert streamed(phone, operator_apk()).out == "Success\n"

    assert f"appId={app_id.app_id}\n" in phone.out(f"dumpsys package {OPERATOR}")
    assert SERVICE in phone.out("settings get secure enabled_accessibility_services")
    assert "POST_NOTIFICATIONS: granted=true" in phone.out(f"dumpsys package {OPERATOR}")


def test_an_installation_that_cannot_be_is_refused(phone: Phone) -> None:
    """The reason is in brackets."""
    for apk in (b"", b"PK\3\4 cut", b"just text", zipped(a="b")):
        ended = streamed(phone, apk)
        assert ended.status == 1
        assert ended.out.startswith("Failure [INSTALL_PARSE_FAILED_NOT_APK: "), apk
    malformed = streamed(phone, app_apk(APP.replace("start: main", "start: nowhere"))).out
    assert malformed.startswith("Failure [INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: ")
    assert f"{APP_ENTRY}:" in malformed
    for size in ("x", "-1", "999999999999999999999"):
        assert phone.run(f"pm install -S {size}").status == 255
    missing = phone.run("pm install /data/local/tmp/nope.apk")
    assert missing.status == 255
    assert "Error: Unable to open file: /data/local/tmp/nope.apk\n" in missing.err
    assert phone.run("pm install").out.startswith("Error: must either specify a package size")
    assert "FAILED_NOT_APK" in phone.run("pm install -S 1000", stdin=b"PK").out
    phone.device.faults.set("storage_full")
    assert "INSTALL_FAILED_INSUFFICIENT_STORAGE" in streamed(phone, app_apk()).out


@settings(max_examples=50, deadline=None)
@given(cut=st.integers(0, 400), junk=st.binary(max_size=12), at=st.integers(0, 400))
def test_a_broken_apk_is_refused_or_installed_but_never_crashes(
    cut: int, junk: bytes, at: int
) -> None:
    """A broken APK is refused, never more than that."""
    apk = app_apk()
    broken = (apk[:at] + junk + apk[at + len(junk) :])[: len(apk) - cut % 40]

    with contextlib.suppress(InstallFailed):
        install_apk(Phone().system, broken, file_name="a.apk")


def test_permissions_are_granted_and_revoked(phone: Phone) -> None:
    """A runtime permission comes and goes; what cannot be granted is refused as by Android."""
    permission = "android.permission.POST_NOTIFICATIONS"
    phone.out(f"pm revoke {OPERATOR} {permission}")
    assert f"{permission}: granted=false" in phone.out(f"dumpsys package {OPERATOR}")
    assert phone.out(f"pm grant {OPERATOR} {permission}") == ""
    assert f"{permission}: granted=true" in phone.out(f"dumpsys package {OPERATOR}")

    for name, complaint in {
        "NOPE": "IllegalArgumentException: Unknown permission: android.permission.NOPE",
        "CAMERA": f"SecurityException: Package {OPERATOR} has not requested permission",
        "INTERNET": "SecurityException: Permission android.permission.INTERNET requested by"
        f" {OPERATOR} is not a changeable permission type",
    }.items():
        ended = phone.run(f"pm grant {OPERATOR} android.permission.{name}")
        assert ended.status == 255
        assert f"executing 'grant':\njava.lang.{complaint}" in ended.err
    old = Phone(api=32).run(f"pm grant {OPERATOR} {permission}")
    assert "Unknown permission" in old.err
    assert phone.run("pm grant com.nope android.permission.CAMERA") == (
        1,
        "Failure [package not found]\n",
        "Error: package not found\n",
    )
