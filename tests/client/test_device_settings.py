"""Settings are read, written and refused as each Android does it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_clawperator.client.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import (
    ConfigurationError,
    DeviceNotFoundError,
    ErrorCode,
    ShellError,
    TransportTimeoutError,
)
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.device import GONE, REFUSED, scripted, settings
from tests.doubles.transport import ScriptedTransport

SHOP = "com.example.shop"


@pytest.mark.parametrize("locale", ["de_DE", "de,", ",de", "x'; reboot", "-de", "de\n"])
def test_invalid_language_tags_are_refused(locale: str) -> None:
    """A device would ignore an invalid language."""
    with pytest.raises(ConfigurationError, match="is not a list of languages"):
        scripted().set_app_locale(SHOP, locale)


def test_what_a_device_lacks_is_unknown() -> None:
    """Getters of a device without the commands say None."""
    device = scripted()

    assert device.current_package() is None
    assert device.orientation is None
    assert device.airplane_mode is None
    assert device.app_locale(SHOP) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda device: setattr(device, "orientation", "landscape"), "no `settings`"),
        (
            lambda device: setattr(device, "airplane_mode", True),
            "does not report its airplane mode",
        ),
        (lambda device: device.set_app_locale(SHOP, "de"), "no `cmd locale`"),
        (lambda device: device.key_event("home"), "no `input`"),
        (lambda device: device.is_installed(SHOP), "no `pm`"),
    ],
)
def test_what_a_device_lacks_cannot_be_changed(change: Any, message: str) -> None:
    """Setters say which command is missing, and nothing is left to put back."""
    device = scripted()

    with pytest.raises(ShellError, match=message):
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


def test_an_unknown_orientation_is_refused() -> None:
    """An unknown orientation is refused with a list of the known ones."""
    with pytest.raises(ConfigurationError, match="portrait, landscape"):
        scripted().orientation = "sideways"  # type: ignore[assignment]


def test_airplane_mode_of_an_old_device() -> None:
    """Without the command, the setting is written and broadcast."""
    completed = "Broadcasting: Intent\nBroadcast completed: result=0\n"
    old = {
        **settings(airplane_mode_on="0"),
        re.compile("cmd connectivity .*"): "No shell command implementation.\n",
        re.compile("am broadcast -a android.intent.action.AIRPLANE_MODE .*"): completed,
    }
    device = scripted(old)

    device.airplane_mode = True
    on = device.airplane_mode
    device.restore()

    assert on is True
    assert device.airplane_mode is False


def test_airplane_mode_that_the_system_guards() -> None:
    """If the broadcast is forbidden, the setting is written back and the error names the reason."""
    guarded = {
        **settings(airplane_mode_on="0"),
        re.compile("cmd connectivity .*"): ShellResult("", "Unknown command: airplane-mode", 255),
        re.compile("am broadcast .*"): REFUSED,
    }
    device = scripted(guarded)

    with pytest.raises(ShellError, match="only the system may switch airplane mode"):
        device.airplane_mode = True

    assert device.airplane_mode is False


def test_a_refused_change_leaves_nothing_to_put_back() -> None:
    """What a guarded device refuses is reported with a way out, and `restore` has nothing to do."""
    device = scripted(
        {re.compile("settings get .*"): "0\n", re.compile("settings put .*"): REFUSED}
    )

    with pytest.raises(ShellError, match="Permission denial") as caught:
        device.orientation = "landscape"

    assert "Security settings" in str(caught.value)
    device.restore()


@pytest.fixture
def transport() -> ScriptedTransport:
    """Return a phone that remembers its settings and can switch airplane mode."""
    values = {"user_rotation": "0", "accelerometer_rotation": "0", "default_input_method": "a/.A"}
    return ScriptedTransport(
        {
            **settings(**values, airplane_mode_on="0"),
            re.compile("cmd connectivity airplane-mode"): "disabled\n",
            re.compile("cmd connectivity airplane-mode (en|dis)able"): "",
            re.compile("ime .*"): "",
            "true": "",
        }
    )


@pytest.fixture
def device(transport: ScriptedTransport) -> Device:
    """Return that phone as a device."""
    return Device(transport, DeviceInfo(serial="PH1", key="PH1"))


def fail_in_block(
    device: Device, transport: ScriptedTransport, error: type[Exception], **answers: Any
) -> None:
    """Turn the screen in a block at whose end the device answers otherwise."""

    def block() -> None:
        with device.restoring():
            device.orientation = "reverse_portrait"
            transport.answers.update(answers)

    with pytest.raises(error, match="could not restore: orientation"):
        block()


def test_restoring_goes_on_after_a_failure(device: Device, transport: ScriptedTransport) -> None:
    """What cannot be restored is reported at the end, and is retried the next time."""
    device.orientation = "landscape"
    device.airplane_mode = True
    transport.answers["cmd connectivity airplane-mode disable"] = GONE

    with pytest.raises(DeviceNotFoundError) as caught:
        device.restore()
    rotation = device.orientation
    transport.answers["cmd connectivity airplane-mode disable"] = ""
    transport.calls.clear()
    device.restore()

    assert "could not restore: airplane mode (it is gone)" in caught.value.message
    assert caught.value.code is ErrorCode.DEVICE_NOT_FOUND
    assert rotation == "portrait"
    assert transport.calls == ["true", "cmd connectivity airplane-mode disable"]


def test_a_device_that_hangs_is_asked_once(device: Device, transport: ScriptedTransport) -> None:
    """The first timeout ends restoring; what was not tried is named, and tried later."""
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
    message = "could not restore: keyboard (the device did not answer); orientation"
    assert caught.value.message == message
    assert device.orientation == "portrait"


def test_nested_blocks_restore_their_own_changes(device: Device) -> None:
    """Each block ends with what there was when it began; `restore` puts back the rest."""
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
    with device.restoring():
        device.orientation = "auto"
        device.restore()
        found.append(device.orientation)
    device.restore()

    assert found == ["reverse_portrait", "landscape", "landscape"]
    assert device.orientation == "portrait"


def test_a_block_that_fails_is_restored(device: Device) -> None:
    """Its error stays."""

    def fail() -> None:
        with device.restoring():
            device.orientation = "landscape"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert device.orientation == "portrait"


def test_what_a_block_could_not_restore_is_left_to_the_next(
    device: Device, transport: ScriptedTransport
) -> None:
    """The next block begins with it, because the device was away."""
    device.orientation = "landscape"
    fail_in_block(device, transport, DeviceNotFoundError, true=GONE)
    transport.answers["true"] = ""

    with device.restoring():
        found = device.orientation
    device.restore()

    assert (found, device.orientation) == ("landscape", "portrait")


def test_what_was_set_again_is_not_restored(device: Device, transport: ScriptedTransport) -> None:
    """A change after the block counts more than what the block owed."""
    fail_in_block(device, transport, DeviceNotFoundError, true=GONE)
    transport.answers["true"] = ""

    device.orientation = "landscape"
    with device.restoring():
        assert device.orientation == "landscape"


def test_a_refusal_is_not_tried_again_by_a_block(
    device: Device, transport: ScriptedTransport
) -> None:
    """It keeps no later block from beginning; `restore` tries again."""
    back = "settings put system user_rotation '0'"
    fail_in_block(device, transport, ShellError, **{back: REFUSED})
    transport.calls.clear()

    with device.restoring():
        asked = list(transport.calls)
    del transport.answers[back]
    device.restore()

    assert asked == []
    assert device.orientation == "portrait"
