"""The device beneath the client, in memory and on the simulated phone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.client.device import Device, NoDevice, check_uri
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


class TestOnAPhone:
    """What `claw.device` does on the simulated phone."""

    def test_a_failed_command_is_returned_not_raised(self, phone: Device) -> None:
        """A command that fails is an answer, not an error."""
        result = phone.shell("echo out; echo err >&2; exit 3")

        assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)
        assert not result.ok

    def test_each_command_starts_in_the_same_folder(self, phone: Device) -> None:
        """A change of folder ends with its command."""
        assert phone.shell("cd /sdcard; pwd").stdout.strip() != "/"
        assert phone.shell("pwd").stdout == "/\n"

    def test_commands_have_no_input(self, phone: Device) -> None:
        """A command that reads finds nothing and ends."""
        result = phone.shell("cat; echo over")

        assert result.stdout == "over\n"

    def test_pushed_files_are_pulled_unchanged(self, phone: Device, tmp_path: Path) -> None:
        """Bytes and files come back as they were pushed, whatever their path is called."""
        source = tmp_path / "source"
        source.write_bytes(b"\0\xff\r\n" * 1000)
        path = "/data/local/tmp/it's; $HOME"

        phone.push(source, path)
        from_file = phone.pull(path)
        phone.push(b"bytes", path)

        assert from_file == source.read_bytes()
        assert phone.pull(path) == b"bytes"

    def test_apps_are_installed_cleared_and_removed(self, restored: Device) -> None:
        """An app is there until it is removed; its data can be cleared."""
        restored.clear_data(SHOP)
        before = restored.is_installed(SHOP)

        restored.uninstall(SHOP)

        assert before
        assert not restored.is_installed(SHOP)
        with pytest.raises(ShellError, match="is not installed") as caught:
            restored.clear_data(SHOP)
        assert caught.value.code is ErrorCode.APP_NOT_FOUND

    def test_only_requested_permissions_are_granted(self, restored: Device) -> None:
        """A permission that an app asks for is granted, another one is refused."""
        restored.grant(SHOP, "android.permission.POST_NOTIFICATIONS")

        with pytest.raises(ShellError, match="has not requested permission"):
            restored.grant(SHOP, "android.permission.SEND_SMS")

        dump = restored.shell(f"dumpsys package {SHOP}").stdout
        assert "android.permission.POST_NOTIFICATIONS: granted=true" in dump

    def test_the_app_in_front_is_named(self, restored: Device) -> None:
        """The app in the foreground is named."""
        restored.shell("am start -W -n com.android.settings/.Settings")

        assert restored.current_package() == "com.android.settings"

    def test_keys_and_swipes(self, restored: Device) -> None:
        """A key goes home, and a swipe moves what is on the screen."""
        restored.shell("am start -W -n com.android.settings/.Settings")
        before = restored.shell("sim screen").stdout

        restored.swipe((540, 1800), (540, 600), duration=0.05)
        swiped = restored.shell("sim screen").stdout
        restored.key_event("home")

        assert swiped != before
        assert becomes(lambda: restored.current_package() != "com.android.settings")

    def test_what_is_changed_is_put_back(self, restored: Device) -> None:
        """Rotation, airplane mode and languages are as before after `restore`."""
        restored.orientation = "landscape"
        restored.orientation = "reverse_portrait"
        restored.airplane_mode = True
        restored.set_app_locale(SHOP, "de-DE,fr")
        changed = (restored.orientation, restored.airplane_mode, restored.app_locale(SHOP))

        restored.restore()

        assert changed == ("reverse_portrait", True, "de-DE,fr")
        assert (restored.orientation, restored.airplane_mode, restored.app_locale(SHOP)) == (
            "portrait",
            False,
            "",
        )

    def test_following_the_sensor(self, restored: Device) -> None:
        """A device may be set to turn its screen by itself."""
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


@pytest.mark.parametrize(
    ("dump", "package"),
    [
        ("  mResumedActivity: ActivityRecord{1f u0 com.old/.Main t12}", "com.old"),
        ("  mFocusedActivity: ActivityRecord{1f u0 com.older/.Main t1}", "com.older"),
        ("  ResumedActivity: ActivityRecord{1f u10 com.new/com.x.Main t1}", "com.new"),
        ("  ResumedActivity: ActivityRecord{1 u0 a.b/.C t1}\n"
         "  topResumedActivity=ActivityRecord{1 u0 c.d/.E t1}", "c.d"),
    ],
)  # fmt: skip
def test_the_foreground_in_the_words_of_many_androids(dump: str, package: str) -> None:
    """What is called differently from one Android to the next is found all the same."""
    device = scripted({"dumpsys activity activities": dump})

    assert device.current_package() == package


def test_the_foreground_from_the_window_manager() -> None:
    """The window manager is asked if the activity manager does not report the app."""
    dump = "  mCurrentFocus=Window{9 u0 NotificationShade}\n  mFocusedApp=AppWindowToken{1 "
    dump += "token=Token{2 ActivityRecord{3 u0 com.shown/.Main t9}}}"
    device = scripted({"dumpsys window": dump})

    assert device.current_package() == "com.shown"


def test_a_keyboard_is_used_until_restored(restored: Device) -> None:
    """Another keyboard is used until `restore`; one that is not there is refused."""
    before = restored.keyboard
    other = next(name for name in keyboards(restored) if name != before)

    restored.keyboard = other
    changed = restored.keyboard
    restored.restore()

    assert (changed, restored.keyboard) == (other, before)
    with pytest.raises(ShellError, match="Unknown input method") as caught:
        restored.keyboard = "com.example/.Keyboard"
    assert "ime list" in str(caught.value.hint)
    assert restored.keyboard == before


def keyboards(device: Device) -> list[str]:
    """List the keyboards that a device has."""
    return device.shell("ime list -a -s").stdout.split()


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

ASKED = f"cmd package resolve-activity --brief -a android.intent.action.VIEW -d '{ADDRESS}'"


def device_that_says(answer: str) -> Device:
    """Make a device that answers the question who handles the address."""
    return Device(ScriptedTransport({ASKED: answer}), DeviceInfo(serial="PH1", key="PH1"))


def test_no_app_handles_it() -> None:
    """It is refused with the code that the Operator would have used."""
    with pytest.raises(StepFailedError) as failed:
        check_uri(device_that_says("No activity found\n"), ADDRESS)

    assert failed.value.code == ErrorCode.URI_NOT_HANDLED
    assert failed.value.serial == "PH1"


@pytest.mark.parametrize("answer", ["com.example.shop/.Main", ""])
def test_sent_as_it_is(answer: str) -> None:
    """An address is sent if an app handles it, or if the device does not know."""
    check_uri(device_that_says(answer), ADDRESS)


def test_harmless_addresses_are_not_checked() -> None:
    """Without a percent sign, or without a shell, nothing is asked."""
    transport = ScriptedTransport()

    check_uri(Device(transport, DeviceInfo(serial="PH1", key="PH1")), "shop://cart")
    check_uri(NoDevice("PH1", "it is far away"), ADDRESS)

    assert transport.calls == []
