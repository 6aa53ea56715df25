"""The state of a phone, kept and brought back."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from pytest_clawperator.simulator.android.managers.apk import APP_ENTRY, install_apk
from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.options import DeviceOptions
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
