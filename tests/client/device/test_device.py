"""The device beneath the client, in memory and on the simulated phone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.device.no_device import NoDevice
from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceNotFoundError,
    ErrorCode,
    ShellError,
    TransportTimeoutError,
)
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.interface import ShellResult
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.transport import Answer, ScriptedTransport

SHOP = "com.example.shop"
REFUSED = ShellResult("", "java.lang.SecurityException: Permission denial: settings\n", 255)
GONE = DeviceNotFoundError("it is gone", serial="PH1")


def scripted(answers: dict[Any, Answer] | None = None, **about: Any) -> Device:
    """Give a device that answers from a table."""
    info = DeviceInfo(serial="PH1", key="PH1", **about)
    return Device(ScriptedTransport(answers), info)


def settings(**values: str) -> dict[Any, Answer]:
    """Answer as the `settings` command does, and remember what is put."""

    def answer(command: str) -> str:
        _, verb, _, name, *value = command.split()
        if verb == "get":
            return values.get(name, "null") + "\n"
        if verb == "put":
            values[name] = value[0].strip("'")
        else:
            del values[name]
        return ""

    return {re.compile("settings .*"): answer}


def becomes(true: Callable[[], bool]) -> bool:
    """Tell whether something becomes true: a phone takes a moment to follow a key."""
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

    def test_shell(self, phone: Device) -> None:
        """A command that fails is an answer, not an error."""
        result = phone.shell("echo out; echo err >&2; exit 3")

        assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)
        assert not result.ok

    def test_commands_have_no_input(self, phone: Device) -> None:
        """A command that reads finds nothing and ends."""
        result = phone.shell("cat; echo over")

        assert result.stdout == "over\n"

    def test_files(self, phone: Device, tmp_path: Path) -> None:
        """Bytes and files come back as they were pushed, whatever their path is called."""
        source = tmp_path / "source"
        source.write_bytes(b"\0\xff\r\n" * 1000)
        path = "/data/local/tmp/it's; $HOME"

        phone.push(source, path)
        from_file = phone.pull(path)
        phone.push(b"bytes", path)

        assert from_file == source.read_bytes()
        assert phone.pull(path) == b"bytes"

    def test_apps(self, restored: Device) -> None:
        """An app is there until it is removed; its data can be cleared."""
        restored.clear_data(SHOP)
        before = restored.is_installed(SHOP)

        restored.uninstall(SHOP)

        assert before
        assert not restored.is_installed(SHOP)
        with pytest.raises(ShellError, match="is not installed") as caught:
            restored.clear_data(SHOP)
        assert caught.value.code is ErrorCode.APP_NOT_FOUND

    def test_grant(self, restored: Device) -> None:
        """A permission that an app asks for is granted, another one is refused."""
        restored.grant(SHOP, "android.permission.POST_NOTIFICATIONS")

        with pytest.raises(ShellError, match="has not requested permission"):
            restored.grant(SHOP, "android.permission.SEND_SMS")

        dump = restored.shell(f"dumpsys package {SHOP}").stdout
        assert "android.permission.POST_NOTIFICATIONS: granted=true" in dump

    def test_current_package(self, restored: Device) -> None:
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
        """A device may be told to turn its screen by itself."""
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


@pytest.mark.parametrize("locale", ["de_DE", "de,", ",de", "x'; reboot", "-de", "de\n"])
def test_no_language_tags(locale: str) -> None:
    """A device would ignore a language that is none."""
    with pytest.raises(ConfigurationError, match="is no list of languages"):
        scripted().set_app_locale(SHOP, locale)


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
def test_impossible_swipes(swipe: tuple[Any, Any, float]) -> None:
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
    """The window manager is asked where the activity manager does not tell."""
    dump = "  mCurrentFocus=Window{9 u0 NotificationShade}\n  mFocusedApp=AppWindowToken{1 "
    dump += "token=Token{2 ActivityRecord{3 u0 com.shown/.Main t9}}}"
    device = scripted({"dumpsys window": dump})

    assert device.current_package() == "com.shown"


def test_what_a_device_lacks_is_unknown() -> None:
    """Getters of a device without the commands say None."""
    device = scripted()

    assert device.current_package() is None
    assert device.orientation is None
    assert device.airplane_mode is None
    assert device.app_locale(SHOP) is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda device: setattr(device, "orientation", "landscape"), "no `settings`"),
        (lambda device: setattr(device, "airplane_mode", True), "does not tell its airplane mode"),
        (lambda device: device.set_app_locale(SHOP, "de"), "no `cmd locale`"),
        (lambda device: device.key_event("home"), "no `input`"),
        (lambda device: device.is_installed(SHOP), "no `pm`"),
    ],
)
def test_what_a_device_lacks_cannot_be_changed(change: Any, says: str) -> None:
    """Setters say which command is missing, and nothing is left to put back."""
    device = scripted()

    with pytest.raises(ShellError, match=says):
        change(device)

    device.restore()


def test_languages_came_with_android_13() -> None:
    """On an older device the hint says which one it would take."""
    missing = ShellResult("", "cmd: Can't find service: locale\n", 20)
    device = scripted({re.compile("cmd locale .*"): missing}, api_level=30)

    with pytest.raises(ShellError) as caught:
        device.set_app_locale(SHOP, "de")

    assert "this device has no `cmd locale`" in str(caught.value)
    assert "API 33); this device has API 30" in str(caught.value)


def test_a_tablet_lies_on_its_side() -> None:
    """Where the screen is wider than high, landscape is the natural orientation."""
    device = scripted(settings(user_rotation="0", accelerometer_rotation="0"), size=(2560, 1600))

    natural = device.orientation
    device.orientation = "portrait"

    assert natural == "landscape"
    assert device.shell("settings get system user_rotation").stdout == "3\n"


def test_a_setting_that_was_not_set_is_deleted() -> None:
    """Putting back leaves no trace of a setting that was not there."""
    values: dict[str, str] = {}
    device = scripted(settings(**values))
    device.orientation = "landscape"

    device.restore()

    assert device.shell("settings get system user_rotation").stdout == "null\n"


def test_no_orientation() -> None:
    """A word that is no orientation is refused with those that are."""
    with pytest.raises(ConfigurationError, match="portrait, landscape"):
        scripted().orientation = "sideways"  # type: ignore[assignment]


def test_a_refused_change_leaves_nothing_to_put_back() -> None:
    """What a guarded device refuses is told with a way out, and `restore` has nothing to do."""
    device = scripted(
        {re.compile("settings get .*"): "0\n", re.compile("settings put .*"): REFUSED}
    )

    with pytest.raises(ShellError, match="Permission denial") as caught:
        device.orientation = "landscape"

    assert "Security settings" in str(caught.value)
    device.restore()


def test_keyboard(restored: Device) -> None:
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


def test_airplane_mode_of_an_old_device() -> None:
    """Where there is no command, the setting is written and the system is told."""
    said = "Broadcasting: Intent\nBroadcast completed: result=0\n"
    old = {
        **settings(airplane_mode_on="0"),
        re.compile("cmd connectivity .*"): "No shell command implementation.\n",
        re.compile("am broadcast -a android.intent.action.AIRPLANE_MODE .*"): said,
    }
    device = scripted(old)

    device.airplane_mode = True
    on = device.airplane_mode
    device.restore()

    assert on is True
    assert device.airplane_mode is False


def test_airplane_mode_that_the_system_guards() -> None:
    """Where the system may not be told, the setting is written back and the error says so."""
    guarded = {
        **settings(airplane_mode_on="0"),
        re.compile("cmd connectivity .*"): ShellResult("", "Unknown command: airplane-mode", 255),
        re.compile("am broadcast .*"): REFUSED,
    }
    device = scripted(guarded)

    with pytest.raises(ShellError, match="only the system may switch airplane mode"):
        device.airplane_mode = True

    assert device.airplane_mode is False


def test_putting_back_goes_on_past_failures() -> None:
    """What cannot be put back is told at the end, and is tried again the next time."""
    answers = settings(user_rotation="0", accelerometer_rotation="0", airplane_mode_on="0")
    answers[re.compile("cmd connectivity airplane-mode")] = "disabled\n"
    answers[re.compile("cmd connectivity airplane-mode (en|dis)able")] = ""
    transport = ScriptedTransport(answers)
    device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
    device.orientation = "landscape"
    device.airplane_mode = True
    transport.answers["cmd connectivity airplane-mode disable"] = GONE

    told = r"could not put back: airplane mode \(it is gone\)"
    with pytest.raises(DeviceNotFoundError, match=told) as e:
        device.restore()
    rotation = device.orientation
    transport.answers["cmd connectivity airplane-mode disable"] = ""
    transport.calls.clear()
    device.restore()

    assert e.value.code is ErrorCode.DEVICE_NOT_FOUND
    assert rotation == "portrait"
    assert transport.calls == ["true", "cmd connectivity airplane-mode disable"]


def test_a_device_that_hangs_is_not_kept_waiting_for() -> None:
    """The first silence ends putting back; what was not tried is named, and tried later."""
    answers = settings(user_rotation="0", accelerometer_rotation="0", default_input_method="a/.A")
    answers[re.compile("ime .*")] = ""
    transport = ScriptedTransport(answers)
    device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
    device.orientation = "landscape"
    device.keyboard = "b/.B"
    transport.answers["true"] = TransportTimeoutError("the device did not answer", serial="PH1")
    transport.calls.clear()

    with pytest.raises(TransportTimeoutError) as caught:
        device.restore()
    asked = list(transport.calls)
    transport.answers["true"] = ""
    device.restore()

    assert asked == ["true"]
    told = "could not put back: keyboard (the device did not answer); orientation"
    assert caught.value.message == told
    assert device.orientation == "portrait"


class TestBlocks:
    """Changes that are put back at the end of a block."""

    def test_nested(self) -> None:
        """Each block ends with what there was when it began; `restore` puts back the rest."""
        device = scripted(settings(user_rotation="0", accelerometer_rotation="0"))
        found = []

        device.orientation = "landscape"
        with device.restoring():
            device.orientation = "reverse_portrait"
            with device.restoring():
                device.orientation = "reverse_landscape"
                device.orientation = "auto"
            found.append(device.orientation)
            device.orientation = "portrait"
        found.append(device.orientation)
        device.restore()

        assert [*found, device.orientation] == ["reverse_portrait", "landscape", "portrait"]

    def test_restore_within_one(self) -> None:
        """`restore` in a block goes back to where the block began."""
        device = scripted(settings(user_rotation="0", accelerometer_rotation="0"))
        device.orientation = "landscape"

        with device.restoring():
            device.orientation = "auto"
            device.restore()
            found = device.orientation

        assert (found, device.orientation) == ("landscape", "landscape")

    def test_after_an_error(self) -> None:
        """A block that fails is put back too, and its error stays."""
        device = scripted(settings(user_rotation="0", accelerometer_rotation="0"))

        def fail() -> None:
            with device.restoring():
                device.orientation = "landscape"
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

        assert device.orientation == "portrait"

    def test_what_is_left(self) -> None:
        """What a block could not put back is told, and is left to whoever restores next."""
        answers = settings(user_rotation="0", accelerometer_rotation="0")
        transport = ScriptedTransport(answers)
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
        back = "settings put system user_rotation '0'"

        def fail() -> None:
            with device.restoring(), device.restoring():
                device.orientation = "landscape"
                transport.answers[back] = REFUSED

        with pytest.raises(ShellError, match="could not put back: orientation"):
            fail()
        del transport.answers[back]
        device.restore()

        assert device.orientation == "portrait"

    def test_away_at_its_end(self) -> None:
        """What a block could not put back as the device was away, the next one begins with."""
        transport = ScriptedTransport(settings(user_rotation="0", accelerometer_rotation="0"))
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
        device.orientation = "landscape"

        def fail() -> None:
            with device.restoring():
                device.orientation = "reverse_portrait"
                transport.answers["true"] = GONE

        with pytest.raises(DeviceNotFoundError, match="could not put back: orientation"):
            fail()
        transport.answers["true"] = ""
        with device.restoring():
            found = device.orientation
        device.restore()

        assert (found, device.orientation) == ("landscape", "portrait")

    def test_owed_only_once(self) -> None:
        """What was put back later, or set anew, is not put back by the next block."""
        transport = ScriptedTransport(settings(user_rotation="0", accelerometer_rotation="0"))
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))

        def fail() -> None:
            with device.restoring():
                device.orientation = "reverse_portrait"
                transport.answers["true"] = GONE

        with pytest.raises(DeviceNotFoundError):
            fail()
        transport.answers["true"] = ""
        device.orientation = "landscape"
        with device.restoring():
            found = device.orientation

        assert found == "landscape"

    def test_a_refusal_is_not_tried_again(self) -> None:
        """What the device refused to put back keeps no later block from beginning."""
        transport = ScriptedTransport(settings(user_rotation="0", accelerometer_rotation="0"))
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))

        def fail() -> None:
            with device.restoring():
                device.orientation = "landscape"
                transport.answers["settings put system user_rotation '0'"] = REFUSED

        with pytest.raises(ShellError):
            fail()
        transport.calls.clear()
        with device.restoring():
            asked = list(transport.calls)

        assert asked == []


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
def test_no_device(use: Any, name: str) -> None:
    """Where there is no shell, whatever needs one is refused by its name."""
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
