"""A command of the simulated phone has a caller, or it is not there."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions
from pytest_clawperator.transport.adb_program import find_adb

TOP = Path(__file__).parents[2]


# Groups of files; the simulator and its own tests are not callers.
ADB, ADBUTILS, PACKAGE, TESTS = "adb", "adbutils", "package", "tests"

#: Who sends each command: a group of files, and what one of them holds.
CALLERS: dict[str, tuple[str, str]] = {
    "[": (PACKAGE, 'if [ "$(getprop'),
    "am": (PACKAGE, "am force-stop "),
    "cat": (PACKAGE, "cat /proc/sys/kernel/random/boot_id"),
    "cd": (TESTS, "cd /sdcard; pwd"),
    "cmd": (PACKAGE, "cmd package resolve-activity"),
    "date": (PACKAGE, "date +%s"),
    "df": (PACKAGE, "df -k /data"),
    "dumpsys": (PACKAGE, "dumpsys package {"),
    "echo": (PACKAGE, "; echo {mark}:$?"),
    "exec": (PACKAGE, "exec sh -c '"),
    "exit": (TESTS, "echo err >&2; exit 3"),
    "export": (ADB, "export ANDROID_LOG_TAGS="),
    "false": (TESTS, '"echo", "false",'),
    "getprop": (PACKAGE, "getprop ro.build.fingerprint"),
    "grep": (PACKAGE, "dumpsys window | grep "),
    "id": (TESTS, 'device.shell("id")'),
    "ime": (TESTS, "ime list -a -s"),
    "input": (PACKAGE, "input keyevent "),
    "kill": (PACKAGE, 'f"kill -{name} {pid}"'),
    "log": (TESTS, "log -t marker "),
    "logcat": (PACKAGE, "logcat -g"),
    "ls": (TESTS, "ls /data/local/tmp | grep "),
    "mkdir": (TESTS, '"log", "mkdir",'),
    "pidof": (TESTS, "pidof screenrecord"),
    "pm": (PACKAGE, "pm list packages"),
    "ps": (PACKAGE, "else ps -A -o USER,PID"),
    "pwd": (TESTS, "cd /sdcard; pwd"),
    "reboot": (ADBUTILS, 'self.shell("reboot")'),
    "rm": (PACKAGE, 'f"rm -f {'),
    "screencap": (PACKAGE, '"screencap -p"'),
    "screenrecord": (PACKAGE, "exec screenrecord --bit-rate"),
    "setprop": (PACKAGE, "setprop log.tag V"),
    "settings": (PACKAGE, "settings put global "),
    "sh": (PACKAGE, '"exec:sh"'),
    "sim": (TESTS, "sim fault "),
    "sleep": (TESTS, '"sleep 321"'),
    "touch": (TESTS, '"sleep", "touch"'),
    "true": (PACKAGE, '.shell("true"'),
    "wm": (PACKAGE, "wm size"),
}


def text_of(group: str) -> str:
    """Return everything that a group of callers holds."""
    if group == ADB:
        return find_adb().read_bytes().decode("latin-1")
    folder = {
        ADBUTILS: Path(str(files("adbutils"))),
        PACKAGE: TOP / "pytest_clawperator",
        TESTS: TOP / "tests",
    }[group]
    return "\n".join(
        path.read_text(encoding="utf-8")
        for path in folder.rglob("*.py")
        if path.relative_to(folder).parts[0] != "simulator"
    )


def test_every_command_has_a_caller() -> None:
    """Each offered command is in the table, and the caller named there really sends it."""
    phone = Device(DeviceOptions(serial_number="SIM0001"))
    texts = {group: text_of(group) for group in (ADB, ADBUTILS, PACKAGE, TESTS)}

    assert set(phone.make_shell().commands) == set(CALLERS)
    for name, (group, sent) in CALLERS.items():
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", sent), (
            f"{name} is not in {sent!r}"
        )
        assert sent in texts[group], f"{name}: no file of {group} holds {sent!r}"
