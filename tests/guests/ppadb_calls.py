"""Calls of pure-python-adb, each a test in the order of the file; ``test_ppadb.py`` runs them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from ppadb.client import Client

SHOP = "com.example.shop"
SETTINGS = "com.android.settings"
GUEST = "com.example.guest"


@pytest.fixture
def phone() -> Any:
    """Return the phone of the environment."""
    client = Client("127.0.0.1", int(os.environ["ANDROID_ADB_SERVER_PORT"]))
    return client.device(os.environ["ANDROID_SERIAL"])


def test_version(phone: Any) -> None:
    """The server tells its version."""
    assert phone.client.version() > 30


def test_devices(phone: Any) -> None:
    """The phone is listed."""
    assert os.environ["ANDROID_SERIAL"] in [device.serial for device in phone.client.devices()]


def test_get_state(phone: Any) -> None:
    """The phone is ready."""
    assert phone.get_state() == "device"


def test_get_serial_no(phone: Any) -> None:
    """The phone has a serial."""
    assert phone.get_serial_no() == os.environ["ANDROID_SERIAL"]


def test_shell(phone: Any) -> None:
    """The output of a command comes back."""
    assert phone.shell("echo hello") == "hello\n"


def test_shell_with_handler(phone: Any) -> None:
    """The output can be read as it comes."""
    read: list[bytes] = []
    phone.shell("echo hello", handler=lambda connection: read.append(connection.read_all()))
    assert read == [b"hello\n"]


def test_push_and_pull(phone: Any, tmp_path: Path) -> None:
    """A file goes to the phone and comes back."""
    sent, got = tmp_path / "sent.txt", tmp_path / "got.txt"
    sent.write_text("hello")
    phone.push(str(sent), "/data/local/tmp/sent.txt")
    phone.pull("/data/local/tmp/sent.txt", str(got))
    assert got.read_text() == "hello"


def test_push_folder(phone: Any, tmp_path: Path) -> None:
    """A folder goes to the phone with the files that are in it."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("a")

    phone.push(str(tmp_path / "folder"), "/data/local/tmp")

    assert phone.shell("cat /data/local/tmp/folder/a.txt") == "a"


def test_push_deep_folder(phone: Any, tmp_path: Path) -> None:
    """A folder goes to the phone with its folders."""
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "deep" / "a.txt").write_text("a")

    phone.push(str(tmp_path / "folder"), "/data/local/tmp")

    assert phone.shell("cat /data/local/tmp/folder/deep/a.txt") == "a"


def test_screencap(phone: Any) -> None:
    """A picture comes back."""
    assert bytes(phone.screencap()).startswith(b"\x89PNG")


def test_list_features(phone: Any) -> None:
    """The hardware is listed."""
    assert phone.list_features()["android.hardware.touchscreen"] is True


def test_list_packages(phone: Any) -> None:
    """The apps are listed."""
    assert SHOP in phone.list_packages()


def test_get_properties(phone: Any) -> None:
    """The properties come back."""
    assert phone.get_properties()["ro.build.version.sdk"] == "36"


def test_install(phone: Any) -> None:
    """An app is installed."""
    assert phone.install(os.environ["GUEST_APK"], reinstall=True) is True
    assert phone.is_installed(GUEST)


def test_uninstall(phone: Any) -> None:
    """An app is removed."""
    assert phone.uninstall(GUEST)
    assert not phone.is_installed(GUEST)


def test_clear(phone: Any) -> None:
    """The data of an app are removed."""
    assert phone.clear(SHOP) is True


def test_forward(phone: Any) -> None:
    """A port leads to the phone, until it is removed."""
    phone.forward("tcp:0", "tcp:7000")
    (local,) = phone.list_forward()
    phone.killforward(local)
    assert not phone.list_forward()


def test_reverse(phone: Any) -> None:
    """A port of the phone leads to the machine."""
    phone.reverse("tcp:17001", "tcp:17002")
    assert {"remote": "tcp:17001", "local": "tcp:17002"} in phone.list_reverses()


def test_root(phone: Any) -> None:
    """A build for users has no root, and says so."""
    with pytest.raises(RuntimeError, match="production builds"):
        phone.root()


def test_remount(phone: Any) -> None:
    """Remounting is answered."""
    assert phone.remount() is True


def test_wait_boot_complete(phone: Any) -> None:
    """The phone has booted."""
    assert phone.wait_boot_complete(timeout=5) is True


def test_get_battery_level(phone: Any) -> None:
    """The battery tells its level."""
    assert phone.get_battery_level() == 85


def test_get_batterystats(phone: Any) -> None:
    """The use of the battery comes back."""
    assert phone.get_batterystats()


def test_wm_size(phone: Any) -> None:
    """The screen has a size."""
    assert phone.wm_size().width > 100


def test_wm_density(phone: Any) -> None:
    """The screen has a density."""
    assert phone.wm_density() >= 1


def test_get_top_activity(phone: Any) -> None:
    """The app in front is told."""
    phone.shell(f"am start -W -n {SETTINGS}/.Settings")
    assert phone.get_top_activity().package == SETTINGS


def test_get_pid(phone: Any) -> None:
    """An app that runs has a number."""
    assert int(phone.get_pid(SETTINGS)) > 0


def test_get_uid(phone: Any) -> None:
    """An app has a user."""
    assert int(phone.get_uid(SETTINGS)) >= 1000


def test_get_package_version_name(phone: Any) -> None:
    """An app has a version."""
    assert phone.get_package_version_name(SHOP)


def test_get_meminfo(phone: Any) -> None:
    """The memory of an app is told."""
    assert phone.get_meminfo(SETTINGS).pss > 0


def test_cpu_count(phone: Any) -> None:
    """The processor has cores."""
    assert phone.cpu_count() == 8


def test_cpu_times(phone: Any) -> None:
    """The time of the processor is told."""
    assert phone.cpu_times().total() > 0


def test_cpu_percent(phone: Any) -> None:
    """The load of the processor is told."""
    assert 0 <= phone.cpu_percent(interval=0.2) <= 100


def test_get_pid_cpu(phone: Any) -> None:
    """The time of an app is told."""
    assert "settings" in phone.get_pid_cpu(phone.get_pid(SETTINGS)).name


def test_get_tids(phone: Any) -> None:
    """The threads of an app are listed."""
    pid = phone.get_pid(SETTINGS)
    assert pid in phone.get_tids(pid)


def test_get_traffic(phone: Any) -> None:
    """The traffic of an app is told."""
    assert phone.get_traffic(SETTINGS)


def test_input_keyevent(phone: Any) -> None:
    """A key is pressed: home leaves the app."""
    end = time.monotonic() + 20
    phone.input_keyevent("KEYCODE_HOME")
    while phone.get_top_activity().package == SETTINGS:
        assert time.monotonic() < end, "Settings stays in front"
        time.sleep(0.05)


def test_input_tap(phone: Any) -> None:
    """A tap is taken without complaint."""
    assert phone.input_tap(100, 100) == ""


def test_input_swipe(phone: Any) -> None:
    """A swipe is taken without complaint."""
    assert phone.input_swipe(300, 1200, 300, 400, 100) == ""


def test_input_text(phone: Any) -> None:
    """A text is taken without complaint."""
    assert phone.input_text("hello") == ""


def test_reboot(phone: Any) -> None:
    """The phone goes down and comes back."""
    assert phone.reboot() is True
