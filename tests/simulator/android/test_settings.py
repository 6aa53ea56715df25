"""``settings``, ``ime``, ``wm``, parts of ``cmd``, and the tables of settings."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.settings_store import (
    SettingsStore,
    add_to_list,
    remove_from_list,
)
from tests.doubles.simulator.android_phone import OPERATOR, SERVICE, Phone

SETTINGS = "com.android.settings"
LATIN = "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME"


@pytest.fixture
def phone() -> Phone:
    """Return a phone."""
    return Phone()


def test_settings_are_read_and_written(phone: Phone) -> None:
    """The Operator's service is on from the start; a missing value is null."""
    for command, out in {
        "settings get global development_settings_enabled": "1\n",
        "settings get secure nothing_such": "null\n",
        "settings get secure enabled_accessibility_services": f"{SERVICE}\n",
        "settings get secure accessibility_enabled": "1\n",
        "settings put system 'my key' 'a b'; settings get system 'my key'": "a b\n",
        "settings delete system 'my key'; settings delete system 'my key'": (
            "Deleted 1 rows\nDeleted 0 rows\n"
        ),
        "settings --user 0 get global adb_enabled": "1\n",
        "settings get --user current global adb_enabled": "1\n",
    }.items():
        assert phone.out(command) == out, command
    lines = phone.out("settings list global").splitlines()
    assert "adb_enabled=1" in lines
    assert lines == sorted(lines)
    absent = Phone(operator="absent")
    assert absent.out("settings get secure enabled_accessibility_services") == "null\n"


def test_settings_change_the_screen(phone: Phone) -> None:
    """The font scale, the rotation and the dark theme take effect."""
    display = phone.device.ui.display
    phone.out("settings put system font_scale 1.3")
    assert display.font_scale == 1.3
    phone.out("settings put system font_scale huge")
    assert display.font_scale == 1.0
    phone.out("settings put system user_rotation 1")
    assert display.size == (2400, 1080)
    phone.out("wm user-rotation lock 0")
    assert display.size == (1080, 2400)
    assert phone.out("wm user-rotation") == "lock 0\n"
    assert (
        phone.out("cmd uimode night; cmd uimode night yes") == "Night mode: no\nNight mode: yes\n"
    )
    assert display.dark
    phone.out("cmd uimode night no")
    assert not display.dark
    assert Phone(dark=True).out("cmd uimode night") == "Night mode: yes\n"


def test_size_and_density_can_be_overridden() -> None:
    """An override is printed beside the panel's own, and stays within Android's limits."""
    phone = Phone(size=(720, 1600), density=320)
    physical = "Physical size: 720x1600\nPhysical density: 320\n"

    assert phone.out("wm size; wm density") == physical
    phone.out("wm size 600x1280; wm density 240")
    assert phone.out("wm size") == "Physical size: 720x1600\nOverride size: 600x1280\n"
    assert phone.out("wm density") == "Physical density: 320\nOverride density: 240\n"
    assert phone.device.ui.display.size == (600, 1280)
    phone.out("wm size 1x999999")
    assert phone.device.ui.display.size == (200, 3200)
    phone.out("wm size reset; wm density reset")
    assert phone.out("wm size -d 0; wm density -d 0") == physical
    assert phone.device.ui.display.size == (720, 1600)


def test_a_keyboard_is_enabled_and_selected(phone: Phone) -> None:
    """The enabled keyboards are listed, with -a all of them."""
    assert phone.out("ime list -s") == f"{LATIN}\n"
    first, other = phone.out("ime list -s -a").splitlines()

    enabled = f"Input method {other}: now enabled for user #0\n"
    assert first == LATIN
    assert phone.out(f"ime enable {other}") == enabled
    assert phone.out(f"ime enable {other}") == enabled.replace("now", "already")
    assert phone.out(f"ime set {other}") == f"Input method {other} selected for user #0\n"
    assert phone.out("settings get secure default_input_method") == f"{other}\n"


def test_apps_have_languages_and_operations(phone: Phone) -> None:
    """What is set is read back; so is the airplane mode, which is a setting too."""
    for command, out in {
        f"cmd locale set-app-locales {SETTINGS} --locales de-DE,en-GB": "",
        f"cmd locale get-app-locales {SETTINGS}": (
            f"Locales for {SETTINGS} for user 0 are [de-DE,en-GB]\n"
        ),
        f"cmd appops get {OPERATOR}": "No operations.\n",
        f"cmd appops set {OPERATOR} SYSTEM_ALERT_WINDOW allow": "",
        f"cmd appops get {OPERATOR} ": "SYSTEM_ALERT_WINDOW: allow\n",
        "cmd connectivity airplane-mode": "disabled\n",
        "cmd connectivity airplane-mode enable": "",
        "cmd connectivity airplane-mode ": "enabled\n",
        "settings get global airplane_mode_on": "1\n",
    }.items():
        assert phone.out(command) == out, command


def test_mistakes_are_reported_with_status_255(phone: Phone) -> None:
    """The message is Android's."""
    modes = "allow, ignore, deny, default, foreground"
    for command, complaint in {
        "settings fly": "Invalid command: fly",
        "settings get nowhere x": "Invalid namespace 'nowhere'",
        "settings get global": "Bad arguments",
        "settings get global a b": "Too many arguments",
        "ime set com.x/.Y": "Unknown input method com.x/.Y cannot be selected for user #0",
        "cmd locale get-app-locales com.nope": "Unknown package com.nope for userId 0",
        "cmd uimode night maybe": "Error: mode must be 'yes', 'no', or 'auto'",
        "cmd appops set com.nope CAMERA allow": "Error: No UID for com.nope in user 0",
        f"cmd appops set {OPERATOR} FLY allow": "Error: Unknown operation string: FLY",
        f"cmd appops set {OPERATOR} CAMERA maybe": (
            f"Error: Mode maybe is not valid, use one of {modes}"
        ),
        f"cmd appops set {OPERATOR}": "Error: Operation or mode not specified.",
        "wm size big": "Error: bad size big",
        "wm density 5": "Error: density must be >= 72",
        "wm user-rotation up": "Error: argument needs to be either -d, free or lock.",
    }.items():
        assert phone.run(command) == (255, "", f"{complaint}\n"), command


# The tables


def test_a_watcher_is_called_at_every_change() -> None:
    """What one phone changes stays on that phone."""
    store, other = SettingsStore(), SettingsStore()
    changes: list[tuple[str, str, str | None]] = []
    store.watch(lambda *change: changes.append(change))

    store.put("global", "adb_enabled", "0")
    store.delete("global", "adb_enabled")
    store.delete("global", "adb_enabled")

    assert changes == [("global", "adb_enabled", "0"), ("global", "adb_enabled", None)]
    assert other.get("global", "adb_enabled") == "1"


def test_components_are_added_once_and_removed_by_package() -> None:
    """A list of components has colons between them."""
    store = SettingsStore({})
    for item in ("a/x", "b/y", "a/x"):
        add_to_list(store, "secure", "k", item)

    assert store.get("secure", "k") == "a/x:b/y"
    assert remove_from_list(store, "secure", "k", package="a") == ["b/y"]
    assert store.get("secure", "k") == "b/y"


def test_accessibility_is_on_while_a_service_is_enabled() -> None:
    """A service counts only with the switch, which goes off with the last service."""
    settings = SettingsStore()
    one, two = "com.one/.Service", "com.two/.Service"
    settings_store.enable_accessibility_service(settings, one)
    settings_store.enable_accessibility_service(settings, two)
    assert settings_store.is_accessibility_service_on(settings, one)

    settings_store.disable_accessibility_services(settings, "com.three")
    settings_store.disable_accessibility_services(settings, "com.one")
    assert settings_store.enabled_accessibility_services(settings) == [two]
    assert settings_store.is_accessibility_on(settings)
    settings_store.disable_accessibility_services(settings, "com.two")
    assert not settings_store.is_accessibility_on(settings)
    settings_store.enable_accessibility_service(settings, one)
    settings.put("secure", settings_store.ACCESSIBILITY_SWITCH, "0")
    assert not settings_store.is_accessibility_service_on(settings, one)
