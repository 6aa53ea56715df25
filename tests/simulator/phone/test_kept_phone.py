"""The state of a phone, kept and brought back."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from pytest_clawperator.simulator.android.pm import APP_ENTRY, install_apk
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions
from tests.doubles.simulator.android_phone import TurnedClock

SETTINGS = "com.android.settings"

OPERATOR = "com.clawperator.operator"

NOTES = """
package: com.example.notes
name: Notes
start: main
saved: {signed_in: false}
state: {draft: ""}
screens:
  main:
    title: Notes
    items:
      - field: Draft
        id: draft
"""


def new_phone(*, seed: int = 0, operator: Any = "release") -> tuple[Device, TurnedClock]:
    """Return a phone and its clock."""
    clock = TurnedClock()
    options = DeviceOptions(serial_number="x", seed=seed, operator=operator)
    return Device(options, clock=clock), clock


def stored(phone: Device) -> dict[str, Any]:
    """Return the state as it comes back from a file."""
    state: dict[str, Any] = json.loads(json.dumps(phone.kept()))
    return state


def notes_apk() -> bytes:
    """Return the file of an app."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(APP_ENTRY, NOTES)
    return file.getvalue()


def used_phone() -> Device:
    """Return a phone with an app of the user's in front, settings and files."""
    phone, clock = new_phone()
    install_apk(phone.system, notes_apk(), file_name="notes.apk")
    phone.ui.launching.start_app(SETTINGS)
    clock.now += 5
    phone.ui.launching.start_app("com.example.notes")
    clock.now += 5
    phone.system.settings.put("global", "mine", "1")
    phone.files.write("/sdcard/Download/note.txt", b"hello")
    return phone


def test_a_state_that_was_brought_back_is_the_same() -> None:
    """Another phone that takes it over keeps exactly the same state."""
    state = stored(used_phone())
    other, _ = new_phone(seed=7, operator="absent")

    other.bring_back(state)

    assert stored(other) == state
    assert other.ui.view.foreground_package() == "com.example.notes"
    assert other.operators.pid_of(OPERATOR) == state["operators"][OPERATOR]


def test_what_came_later_is_gone() -> None:
    """Settings, files and apps that were not there when the state was kept are removed."""
    phone = used_phone()
    early = stored(new_phone()[0])

    phone.bring_back(early)

    assert phone.system.settings.get("global", "mine") is None
    assert phone.system.packages.get("com.example.notes") is None
    assert not phone.files.exists("/sdcard/Download/note.txt")
    assert stored(phone) == early


def test_a_restart_keeps_what_outlives_it() -> None:
    """Files, settings and apps are there; nothing runs, and it is another boot."""
    state = stored(used_phone())
    other, _ = new_phone(seed=7, operator="absent")

    other.bring_back(state, running=False)

    kept = stored(other)
    assert all(kept[part] == state[part] for part in ("files", "packages", "settings"))
    assert other.ui.view.foreground_package() not in (SETTINGS, "com.example.notes")
    assert kept["boot_id"] != state["boot_id"]


def test_hosts_are_disconnected_when_a_state_is_brought_back() -> None:
    """They have to connect again, as to a phone that was restarted."""
    phone, _ = new_phone()
    dropped: list[bool] = []
    phone.cable.disconnect = lambda: dropped.append(True)

    phone.bring_back(stored(phone))

    assert dropped == [True]


def test_the_log_goes_back_with_the_phone() -> None:
    """It is that of the moment, with its times; a restart begins with an empty one."""
    phone, clock = new_phone()
    phone.log.write("I", "tag", "before", pid=1)
    state = stored(phone)
    clock.now += 5
    phone.log.write("I", "tag", "after", pid=1)

    phone.bring_back(state)
    restored = [(line.message, clock.now - line.time) for line in phone.log.since(0)]
    phone.bring_back(state, running=False)

    assert ("before", 5.0) in restored
    assert "after" not in [message for message, _ in restored]
    assert "before" not in [line.message for line in phone.log.since(0)]


def test_phones_of_one_image_have_the_same_build() -> None:
    """Chance, which differs from start to start, does not make another image."""
    builds = [
        Device(DeviceOptions(serial_number="x", seed=seed, image=image)).system.properties.get(
            "ro.build.fingerprint"
        )
        for seed, image in ((1, "a"), (2, "a"), (2, "b"))
    ]

    assert builds[0] == builds[1] != builds[2]
