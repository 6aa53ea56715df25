"""``sim``: faults, counters, and setting everything back."""

from __future__ import annotations

import asyncio
import json

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.faults import FAULTS, LASTING_FAULTS, Stats, parse_fault
from tests.doubles.simulator.android_phone import DEADLINE, HOME, OPERATOR, Phone, broadcast

SETTINGS = "com.android.settings"


@pytest.fixture
def phone() -> Phone:
    """Return a phone."""
    return Phone()


def operators(phone: Phone) -> list[str]:
    """List the variants of the Operator that are installed."""
    listed = phone.out("pm list packages com.clawperator.operator")
    return sorted(line.removeprefix("package:") for line in listed.split())


# Faults


def test_faults_are_set_listed_and_cleared(phone: Phone) -> None:
    """A fault acts immediately and stays until it is cleared, alone or with all others."""
    phone.out("sim fault late_envelope times=2 ms=5; sim fault booting; sim fault offline")

    assert phone.out("sim fault list") == "booting\nlate_envelope times=2 ms=5\noffline ms=0\n"
    assert phone.run("pm list packages").status == 20
    assert phone.out("sim fault clear booting; sim fault list").startswith("late_envelope ")
    assert phone.out("sim fault clear; sim fault list") == ""
    assert parse_fault(["late_envelope", "times=1"]).options == {"ms": "2000"}
    with pytest.raises(ConfigurationError):
        parse_fault([])


def test_every_fault_can_be_set_with_its_defaults(phone: Phone) -> None:
    """The help has each of them."""
    help_ = phone.out("sim help")
    for name in sorted(FAULTS):
        count = "" if name in LASTING_FAULTS else "times=3"
        assert phone.out(f"sim fault {name} {count}") == "", name
        assert f"\n  {name} " in help_
    assert help_ == phone.out("sim")


def test_invalid_arguments_are_refused_and_set_nothing(phone: Phone) -> None:
    """A mistake says what was found and what is allowed."""
    for arguments, complaint in {
        "fault nope": "there is no fault 'nope'. Known faults: booting, container_lost, ",
        "fault clear nope": "there is no fault 'nope'. Known faults: ",
        "fault booting x": "'x' is not an option. Options are written as key=value",
        "fault booting ms=5": "fault 'booting' has no option 'ms'. Its options: times.\n",
        "fault booting times=0": "times=0 is not a number of occasions. times takes a whole",
        "fault booting times=x": "times=x is not a number of occasions.",
        "fault offline times=1": "fault 'offline' has no occasions to count. Give its duration",
        "fault late_envelope ms=soon": "ms=soon is not a whole number. The default is ms=",
        "fault disconnect after=lunch": "fault 'disconnect' has no after 'lunch'. Allowed: exec",
        "fault forged_lines kind=x": "fault 'forged_lines' has no kind 'x'. Allowed: all,",
        "profile 9.9": "there is no profile '9.9'. Profiles: documented, 0.5.3.\n",
        "anr": "no package is named. Write: sim anr com.example.shop.\n",
        "crash": "sim crash does not say what crashes, or how. Write: sim crash com.example.shop,",
        "crash a.b softly": "sim crash a.b softly does not say what crashes, or how. ",
        "crash a.b": "there is no app 'a.b'. See: pm list packages.\n",
        "die": "no package is named. Write: sim die com.example.shop.\n",
        "alert": "the dialog has no title. Write: sim alert Battery low.\n",
        "reset now": "'now' is one word too many. 'sim help' shows what is allowed.\n",
        "fly": "there is no command 'fly'. Commands: fault, stats, chatter, anr, crash, die, ",
        **{f"chatter {rate}": f"'{rate}' is not a rate. " for rate in ("x", "-1", "1e9", "nan")},
    }.items():
        ended = phone.run(f"sim {arguments}")
        assert (ended.status, ended.out) == (1, ""), arguments
        assert ended.err.startswith(f"sim: {complaint}"), arguments
    assert phone.out("sim fault list") == ""


def test_the_operator_can_be_absent_or_another_one(phone: Phone) -> None:
    """Clearing the fault brings it back, set up as before."""
    enabled = phone.out("settings get secure enabled_accessibility_services")
    version = f"dumpsys package {OPERATOR} | grep versionName"

    phone.out("sim fault operator_absent")
    assert operators(phone) == []
    phone.out("sim fault clear; sim fault operator_variant")
    assert operators(phone) == [f"{OPERATOR}.dev"]
    phone.out("sim fault clear; sim fault operator_version version=0.6.0")
    assert phone.out(version).strip() == "versionName=0.6.0"
    phone.out("sim fault clear")
    assert operators(phone) == [OPERATOR]
    assert phone.out("settings get secure enabled_accessibility_services") == enabled
    assert phone.out(version).strip() == "versionName=0.5.3"


def test_a_lock_is_dismissed_unless_it_asks_for_a_code(phone: Phone) -> None:
    """The window policy reports the lock screen, which lies over everything."""
    locked = "showing=true"
    before = phone.device.ui.view.active_root()

    assert locked in phone.out("sim fault locked; dumpsys window policy")
    root = phone.device.ui.view.active_root()
    assert root is not None
    assert "Swipe up to open" in [node.text for node in root.walk()]
    assert {node.package for node in root.walk()} == {"com.android.systemui"}
    assert locked not in phone.out("wm dismiss-keyguard; dumpsys window policy")
    assert str(phone.device.ui.view.active_root()) == str(before)
    dismissed = "sim fault locked code=1; wm dismiss-keyguard"
    assert locked in phone.out(f"{dismissed}; dumpsys window policy")


def test_another_test_tool_holds_the_device_until_it_is_stopped(phone: Phone) -> None:
    """No accessibility service is bound as long as its process runs."""
    look, tool = "dumpsys accessibility; ps -A -o NAME", "io.appium.uiautomator2.server"

    held = phone.out(f"sim fault ui_automation; {look}")
    free = phone.out(f"am force-stop {tool}; {look}")

    for text in ("Ui Automation[", "Bound services:{}", tool):
        assert text in held
        assert text not in free
    assert "Bound services:{Service[" in free


def test_cutting_the_log_ends_the_streams_that_are_open(phone: Phone) -> None:
    """They end with status 0."""

    async def act() -> int:
        reader = asyncio.create_task(phone.shell("logcat"))
        while not phone.device.stats.commands["logcat"]:
            await asyncio.sleep(0)
        await phone.shell("sim fault log_cut times=1")
        return (await asyncio.wait_for(reader, DEADLINE)).status

    assert asyncio.run(act()) == 0


def test_the_clock_can_be_set_back(phone: Phone) -> None:
    """The clock and the log go back together, and are set right with the fault or a reset."""
    back = "sim fault time_set_back s=3600"
    before, first, cleared, second, right = (
        int(phone.out(f"{act}; date +%s"))
        for act in ("true", back, "sim fault clear time_set_back", back, "sim reset")
    )
    phone.out("sim fault time_set_back s=7200; log hello")

    assert -3600 <= first - before < -3500
    assert -3600 <= second - before < -3500
    assert 0 <= cleared - before < 100
    assert 0 <= right - before < 100
    assert phone.device.log.since(1)[-1].time < before - 7000
    assert phone.out("sim fault list") == "time_set_back s=7200\n"


# Counters


def test_commands_are_counted_by_name(phone: Phone) -> None:
    """The counters are one line of JSON, and can be set back."""
    phone.run("echo a; echo b | cat; pm list packages x")

    printed = phone.out("sim stats")

    counted = json.loads(printed)["commands"]
    assert printed.count("\n") == 1
    assert (counted["cat"], counted["pm"], counted["sim"]) == (1, 1, 1)
    zeros = dict.fromkeys(("executions", "overlaps", "in_flight", "max_in_flight"), 0)
    others = {"commands": {"sim": 1}, "broadcasts": 0, "screenshots": 0}
    assert json.loads(phone.out("sim stats reset; sim stats")) == {**zeros, **others}


def test_two_executions_at_a_time_are_an_overlap() -> None:
    """What is under way when counters are set back is still under way."""
    counters = Stats()
    for count in (
        *(counters.execution_started, counters.execution_started, counters.execution_ended),
        *(counters.execution_ended, counters.execution_started),
    ):
        count()

    assert (counters.executions, counters.overlaps, counters.max_in_flight) == (3, 1, 2)
    counters.reset()
    counters.execution_started()
    assert (counters.executions, counters.overlaps, counters.max_in_flight) == (1, 1, 2)


# The rest


def test_a_changed_profile_acts_immediately(phone: Phone) -> None:
    """The Operator that runs changes its habits."""
    phone.out("sim profile 0.5.3")
    text = HOME.replace('"press_key"', '"wait_for_node"').replace(
        '"key": "home"', '"matcher": {"textEquals": "nowhere"}, "retry": {}'
    )

    async def act() -> str:
        await phone.shell(broadcast(text))
        return await phone.logged("[Clawperator-Result]")

    assert '"stepResults":[]' in asyncio.run(act())
    assert phone.out("sim profile") == "0.5.3\n"


def test_reset_restores_everything(phone: Phone) -> None:
    """Settings, apps, files, faults, counters, screen and log are as at the start."""
    look = "settings list secure; pm list packages; getprop; ps -A | grep -v ^shell; sim screen"
    before = phone.out(look)
    phone.run(
        f"am start -n {SETTINGS}/.Settings; settings put secure x 1; echo y > /sdcard/y;"
        f" pm uninstall com.clawperator.conformance; am force-stop {OPERATOR};"
        " sim fault booting; sim chatter 5; sim profile 0.5.3; input keyevent POWER"
    )

    # A shell that was open before sees the phone as it is after.
    seen = phone.out("echo y > /sdcard/z; sim reset; settings get secure x; ls /sdcard")

    assert seen.splitlines()[0] == "null"
    assert not {"y", "z"} & set(seen.split())
    assert phone.messages() == []
    assert phone.out(look) == before
    assert phone.out("sim fault list; sim chatter; sim profile") == "0\ndocumented\n"
    assert phone.system.display.awake

    async def act() -> str:
        await phone.shell(broadcast(HOME))
        return await phone.logged("[Clawperator-Result]")

    assert '"status":"success"' in asyncio.run(act())


def test_the_chatter_rate_is_read_and_set(phone: Phone) -> None:
    """It is in lines per second."""
    assert phone.out("sim chatter; sim chatter 12.5; sim chatter") == "0\n12.5\n"


def test_the_system_reports_an_app_that_does_not_respond(phone: Phone) -> None:
    """The report comes from the system's own process; a dialog lets the user wait, or close it."""
    start = f"am start -n {SETTINGS}/.Settings"
    pid = phone.out(f"{start} >/dev/null; pidof {SETTINGS}").strip()
    shown = phone.out(f"sim anr {SETTINGS}; sim screen")

    (report,) = (line for line in phone.device.log.since(1) if line.message.startswith("ANR"))
    assert report.message.startswith(f"ANR in {SETTINGS} ({SETTINGS}/.MainActivity)\nPID: {pid}\n")
    assert str(report.pid) == phone.out("pidof system_server").strip()
    assert "Settings isn't responding" in shown
    assert all(f"android:id/{name}" in shown for name in ("alertTitle", "aerr_wait", "aerr_close"))


def test_apps_crash_and_die_as_on_android(phone: Phone) -> None:
    """With a report, or without a word; one that is stopped is killed by the system."""
    start = f"am start -n {SETTINGS}/.Settings >/dev/null"
    pids = [phone.out(f"{start}; pidof {SETTINGS}; {end}").split()[0] for end in (
        f"sim crash {SETTINGS}", f"sim crash {SETTINGS} native", f"sim die {SETTINGS}",
        f"am force-stop {SETTINGS}",
    )]  # fmt: skip

    lines = [line for line in phone.device.log.since(1) if SETTINGS in line.message]
    told = [(line.tag, line.message) for line in lines if "Start proc" not in line.message]
    exception, native = (message for tag, message in told if tag in ("AndroidRuntime", "DEBUG"))
    assert exception.startswith(f"FATAL EXCEPTION: main\nProcess: {SETTINGS}, PID: {pids[0]}\n")
    assert "\n\tat com.android.settings.MainActivity.onClick(MainActivity.kt:42)\n" in exception
    assert f"pid: {pids[1]}, tid: " in native
    assert f">>> {SETTINGS} <<<\nsignal 11 (SIGSEGV)" in native
    manager = [message for tag, message in told if tag == "ActivityManager"]
    assert manager[:3] == [f"Process {SETTINGS} (pid {pid}) has died: prcp TOP" for pid in pids[:3]]
    assert manager[3].startswith(f"Killing {pids[3]}:{SETTINGS}/")


def test_the_system_shows_a_dialog(phone: Phone) -> None:
    """Until its button is pressed."""
    shown = phone.out("sim alert Battery low; sim screen")

    assert shown.startswith("com.android.systemui/")
    assert "system window of com.android.systemui, active" in shown
    assert "'Battery low' id=android:id/alertTitle" in shown
    assert "Battery low" not in phone.out("input keyevent BACK; sim screen")


def test_the_outline_names_app_windows_and_nodes(phone: Phone) -> None:
    """It has roles, texts and bounds."""
    lines = phone.run(f"am start -n {SETTINGS}/.Settings; sim screen").out.splitlines()[1:]

    assert lines[0] == f"{SETTINGS}/{SETTINGS}.Settings"
    assert f"application window of {SETTINGS}, active" in lines
    assert any("'Connected devices'" in line and line.endswith("]") for line in lines)
