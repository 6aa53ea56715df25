"""The device beneath the client, in memory and on the simulated phone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.client.device import Device, NoDevice, check_app, check_uri
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import ConfigurationError, ErrorCode, ShellError, StepFailedError
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.device import scripted
from tests.doubles.transport import ScriptedTransport

SHOP = "com.example.shop"


def becomes(true: Callable[[], bool]) -> bool:
    """Whether something becomes true: a phone takes a moment to follow a key."""
    deadline = time.monotonic() + 10
    while not true():
        if time.monotonic() > deadline:
            return False
    return True


@pytest.fixture(scope="module")
def phone() -> Iterator[Device]:
    """Start a simulated phone for the tests of this module together."""
    with Simulator(seed=1, time_scale=0.05) as simulator:
        server = AdbServer(simulator.adb_host, simulator.adb_port)
        transport = AdbTransport(server, simulator.serials[0])
        serial = simulator.serials[0]
        yield Device(transport, DeviceInfo(serial=serial, key=serial, size=(1080, 2400)))
        transport.close()


@pytest.fixture
def restored(phone: Device) -> Iterator[Device]:
    """Set the simulated phone back afterwards."""
    yield phone
    phone.shell("sim reset")


def test_commands_of_the_shell(phone: Device) -> None:
    """A failure is an answer; each command starts in the same folder, and has no input."""
    failed = phone.shell("echo out; echo err >&2; exit 3")

    assert (failed.stdout, failed.stderr, failed.exit_code) == ("out\n", "err\n", 3)
    assert not failed.ok
    assert not failed
    assert phone.shell("true")
    assert phone.shell("cd /sdcard; pwd").stdout.strip() != "/"
    assert phone.shell("pwd").stdout == "/\n"
    assert phone.shell("cat; echo over").stdout == "over\n"


def test_pushed_files_are_pulled_unchanged(phone: Device, tmp_path: Path) -> None:
    """Bytes and files come back as they were pushed, whatever their path is called."""
    source = tmp_path / "source"
    source.write_bytes(b"\0\xff\r\n" * 1000)
    path = "/data/local/tmp/it's; $HOME"

    phone.push(source, path)
    from_file = phone.pull(path)
    phone.push(b"bytes", path)

    assert from_file == source.read_bytes()
    assert phone.pull(path) == b"bytes"


def test_apps_on_a_phone(restored: Device) -> None:
    """Only requested permissions are granted; an app that was removed is an error."""
    restored.clear_data(SHOP)
    restored.grant(SHOP, "android.permission.POST_NOTIFICATIONS")
    with pytest.raises(ShellError, match="has not requested permission"):
        restored.grant(SHOP, "android.permission.SEND_SMS")
    dump = restored.shell(f"dumpsys package {SHOP}").stdout
    before = restored.is_installed(SHOP)

    restored.uninstall(SHOP)

    assert "android.permission.POST_NOTIFICATIONS: granted=true" in dump
    assert (before, restored.is_installed(SHOP)) == (True, False)
    with pytest.raises(ShellError, match="is not installed") as caught:
        restored.clear_data(SHOP)
    assert caught.value.code is ErrorCode.APP_NOT_FOUND


def test_keys_and_swipes(restored: Device) -> None:
    """A swipe moves what is on the screen, and a key goes home."""
    restored.shell("am start -W -n com.android.settings/.Settings")
    before = restored.shell("sim screen").stdout
    in_front = restored.current_package()

    restored.swipe((540, 1800), (540, 600), duration=0.05)
    swiped = restored.shell("sim screen").stdout
    restored.key_event("home")

    assert in_front == "com.android.settings"
    assert swiped != before
    assert becomes(lambda: restored.current_package() != "com.android.settings")


def test_settings_are_restored(restored: Device) -> None:
    """Rotation, airplane mode, languages and keyboard are as before after `restore`."""

    def state() -> tuple[object, ...]:
        app_locale = restored.app_locale(SHOP)
        return restored.orientation, restored.airplane_mode, app_locale, restored.keyboard

    before = state()
    other = next(n for n in restored.shell("ime list -a -s").stdout.split() if n != before[-1])

    restored.orientation = "landscape"
    restored.orientation = "reverse_portrait"
    restored.airplane_mode = True
    restored.set_app_locale(SHOP, "de-DE,fr")
    restored.keyboard = other
    changed = state()
    restored.restore()

    assert changed == ("reverse_portrait", True, "de-DE,fr", other)
    assert state() == before == ("portrait", False, "", before[-1])
    with pytest.raises(ShellError, match="Unknown input method") as caught:
        restored.keyboard = "com.example/.Keyboard"
    assert "ime list" in str(caught.value.hint)
    assert state() == before


def test_the_screen_may_follow_the_sensor(restored: Device) -> None:
    """Then the device turns it by itself."""
    restored.orientation = "auto"

    assert restored.orientation == "auto"
    assert restored.shell("wm user-rotation").stdout == "free\n"


@pytest.mark.parametrize("name", ["a.b; reboot", "$(reboot).a", "-a.b"])
def test_hostile_names_never_reach_the_shell(name: str) -> None:
    """Whatever names an app is checked before anything is sent."""
    transport = ScriptedTransport()
    device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))

    for call in (
        device.uninstall,
        device.clear_data,
        device.grant,
        device.is_installed,
        device.app_locale,
        lambda name: device.set_app_locale(name, "de"),
        lambda name: device.grant("a.b", name),
    ):
        with pytest.raises(ConfigurationError):
            call(name)

    assert transport.calls == []


@pytest.mark.parametrize(
    "swipe",
    [
        ((-1, 0), (1, 1), 0.3),
        ((0, 0), (float("nan"), 1), 0.3),
        ((0, 0), (1, 1), -1),
        ((0,), (1, 1), 0.3),
        ((0, 0, 0), (1,), 0.3),
        ("ab", "cd", 0.3),
        (5, (1, 1), 0.3),
        ((0, 0), (1, 1), None),
    ],
)
def test_impossible_swipes_are_refused(swipe: tuple[Any, Any, float]) -> None:
    """Points off the screen's top left, and times before now, are refused."""
    with pytest.raises(ConfigurationError, match="cannot swipe"):
        scripted().swipe(swipe[0], swipe[1], duration=swipe[2])


@pytest.mark.parametrize(
    "use",
    [
        lambda device: device.shell(""),
        lambda device: device.shell(" \n"),
        lambda device: device.shell(None),
        lambda device: device.shell(["echo"]),
        lambda device: device.shell("echo", timeout=None),
        lambda device: device.shell("echo", timeout=0),
        lambda device: device.push(5, "/x"),
        lambda device: device.grant(SHOP),
        lambda device: setattr(device, "airplane_mode", "off"),
    ],
)
def test_what_makes_no_sense_never_reaches_the_device(use: Callable[[Device], Any]) -> None:
    """A wrong argument is refused with what is allowed."""
    transport = ScriptedTransport()
    device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))

    with pytest.raises(ConfigurationError) as caught:
        use(device)

    assert caught.value.hint
    assert transport.calls == []


WINDOWS = (
    "  mCurrentFocus=Window{9 u0 NotificationShade}\n  mFocusedApp=AppWindowToken{1 "
    "token=Token{2 ActivityRecord{3 u0 com.shown/.Main t9}}}"
)


@pytest.mark.parametrize(
    ("dump", "package"),
    [
        ("", "com.shown"),  # the window manager knows it
        ("  mResumedActivity: ActivityRecord{1f u0 com.old/.Main t12}", "com.old"),
        ("  mFocusedActivity: ActivityRecord{1f u0 com.older/.Main t1}", "com.older"),
        ("  ResumedActivity: ActivityRecord{1f u10 com.new/com.x.Main t1}", "com.new"),
        ("  ResumedActivity: ActivityRecord{1 u0 a.b/.C t1}\n"
         "  topResumedActivity=ActivityRecord{1 u0 c.d/.E t1}", "c.d"),
    ],
)  # fmt: skip
def test_the_foreground_in_the_words_of_many_androids(dump: str, package: str) -> None:
    """What is called differently from one Android to the next is found all the same."""
    answers: dict[Any, Any] = {"dumpsys window": WINDOWS}
    device = scripted(answers | ({"dumpsys activity activities": dump} if dump else {}))

    assert device.current_package() == package


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda device: device.shell("id"), "shell"),
        (lambda device: device.install("a.apk"), "install"),
        (lambda device: device.current_package(), "current_package"),
        (lambda device: device.orientation, "orientation"),
        (lambda device: setattr(device, "airplane_mode", True), "airplane_mode"),
    ],
)
def test_each_use_without_adb_is_refused_by_name(use: Any, name: str) -> None:
    """Without a shell, whatever needs one is refused by its name."""
    device = NoDevice("PH1", "http://lab:3000 runs executions and nothing else")

    with pytest.raises(ConfigurationError) as caught:
        use(device)

    assert f"device.{name} is not possible here: http://lab:3000" in str(caught.value)
    assert caught.value.code is ErrorCode.DEVICE_SHELL_UNAVAILABLE


def test_no_device_refuses_everything() -> None:
    """No method of a device is forgotten; its name and putting back are harmless."""
    device = NoDevice("PH1", "far away")
    harmless = {"info", "serial", "restore", "restoring"}
    names = {name for name in vars(Device) if not name.startswith("_")} - harmless

    with device.restoring():
        device.restore()

    assert device.serial == device.info.serial == "PH1"
    assert names <= vars(NoDevice).keys()


ADDRESS = "shop://search?q=a%20b"
QUESTION = f"cmd package resolve-activity --brief -a android.intent.action.VIEW -d '{ADDRESS}'"


def test_an_address_that_no_app_handles_is_refused() -> None:
    """With the code that the Operator would have used."""
    with pytest.raises(StepFailedError) as failed:
        check_uri(scripted({QUESTION: "No activity found\n"}), ADDRESS)

    assert failed.value.code == ErrorCode.URI_NOT_HANDLED
    assert failed.value.serial == "PH1"


def test_other_addresses_are_sent() -> None:
    """If an app handles it, or the device does not know; some are not even asked about."""
    check_uri(scripted({QUESTION: "com.example.shop/.Main"}), ADDRESS)
    check_uri(scripted({QUESTION: ""}), ADDRESS)
    check_uri(NoDevice("PH1", "it is far away"), ADDRESS)
    without_percent = ScriptedTransport()
    check_uri(Device(without_percent, DeviceInfo(serial="PH1", key="PH1")), "shop://cart")

    assert without_percent.calls == []


PACKAGES: dict[Any, Any] = {
    "pm path com.example.shop": "package:/a.apk\n",
    "pm list packages": f"package:{SHOP}\n",
}


def test_an_app_that_is_not_installed_is_refused() -> None:
    """With the code of the other methods, and the app that may be meant."""
    with pytest.raises(ShellError, match=r"com\.example\.shp is not installed") as failed:
        check_app(scripted(PACKAGES), "com.example.shp")

    assert failed.value.code == ErrorCode.APP_NOT_FOUND
    assert f"Did you mean '{SHOP}'?" in str(failed.value.hint)


def test_an_app_is_looked_for_once() -> None:
    """Unless it was uninstalled; a device that lists no apps, or cannot be asked, is believed."""
    transport = ScriptedTransport({**PACKAGES, f"pm uninstall {SHOP}": "Success\n"})
    device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))

    for _ in range(2):
        check_app(device, SHOP)
    device.uninstall(SHOP)
    check_app(device, SHOP)
    check_app(scripted({}), SHOP)
    check_app(NoDevice("PH1", "it is far away"), SHOP)

    assert transport.calls.count(f"pm path {SHOP}") == 2
