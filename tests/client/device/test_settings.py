"""Settings are read, written and refused as each Android does it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_clawperator.errors import ConfigurationError, ShellError
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.device import REFUSED, scripted, settings

SHOP = "com.example.shop"


@pytest.mark.parametrize("locale", ["de_DE", "de,", ",de", "x'; reboot", "-de", "de\n"])
def test_invalid_language_tags_are_refused(locale: str) -> None:
    """A device would ignore a language that is none."""
    with pytest.raises(ConfigurationError, match="is no list of languages"):
        scripted().set_app_locale(SHOP, locale)


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


def test_an_unknown_orientation_is_refused() -> None:
    """A word that is no orientation is refused with those that are."""
    with pytest.raises(ConfigurationError, match="portrait, landscape"):
        scripted().orientation = "sideways"  # type: ignore[assignment]


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
