"""``am``: starting, stopping, broadcasting."""

from __future__ import annotations

import asyncio

import pytest

from tests.doubles.simulator.android_phone import (
    ACTION,
    HOME,
    OPERATOR,
    SERVICE,
    Phone,
    broadcast,
    payload,
)

SETTINGS = "com.android.settings"
START = f"am start -n {SETTINGS}/.Settings"


@pytest.fixture
def phone() -> Phone:
    """Return a phone."""
    return Phone()


def front(phone: Phone) -> str:
    """Return the package in front."""
    return phone.device.ui.view.foreground_package()


def test_a_broadcast_is_acknowledged_and_executed(phone: Phone) -> None:
    """It prints its two lines, and the Operator answers in the log."""

    async def act() -> tuple[object, str]:
        ended = await phone.shell(broadcast(HOME))
        return ended, await phone.logged("[Clawperator-Result]")

    ended, answer = asyncio.run(act())

    assert ended == (
        0,
        f"Broadcasting: Intent {{ act={ACTION} flg=0x400000 pkg={OPERATOR} (has extras) }}\n"
        "Broadcast completed: result=0\n",
        "",
    )
    assert '"status":"success"' in answer
    assert (phone.device.stats.broadcasts, phone.device.stats.executions) == (1, 1)


def test_a_payload_passes_the_shell_unchanged(phone: Phone) -> None:
    """Quotes, dollars, backticks, newlines and emoji arrive as they were sent."""
    text = "it's $HOME `id` \\n 🎉"
    action = {"type": "open_uri", "params": {"uri": f"nobody:{text}", "retry": {}}}

    async def act() -> str:
        await phone.shell(broadcast(payload(action).replace("'", "'\"'\"'")))
        return await phone.logged("[Clawperator-Result]")

    assert "URI_NOT_HANDLED" in asyncio.run(act())
    assert any(f"Opening URI: nobody:{text}" in message for message in phone.messages())


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(f"-a {ACTION} --es payload x", id="not addressed"),
        pytest.param(f"-a com.other.ACTION -p {OPERATOR} --es payload x", id="other action"),
        pytest.param(f"-a {ACTION} -p {OPERATOR}.dev --es payload x", id="other variant"),
        pytest.param(f"-a {ACTION} -n {OPERATOR}/.Nope --es payload x", id="other class"),
    ],
)
def test_a_misaddressed_broadcast_is_acknowledged_and_received_by_no_app(
    phone: Phone, arguments: str
) -> None:
    """The Operator gets only what is addressed to it."""
    assert "Broadcast completed: result=0\n" in phone.out(f"am broadcast {arguments}")
    assert not any("[Operator-Receiver]" in text for text in phone.messages())


def test_a_broadcast_without_a_text_reaches_the_operator(phone: Phone) -> None:
    """The receiver may be named outright, and a number is not a payload."""
    receiver = f"{OPERATOR}/clawperator.operator.runtime.OperatorCommandReceiver"
    number = f"-a {ACTION} -p {OPERATOR} --ei payload 5"

    phone.out(f"am broadcast -n {receiver}; am broadcast {number}")

    missing = [text for text in phone.messages() if "Missing required agent payload" in text]
    assert len(missing) == 2


def test_a_start_shows_the_app_in_front(phone: Phone) -> None:
    """What is on top already, or runs behind another app, is a warning and not a failure."""
    new = phone.run(START)
    again = phone.run(START)
    phone.out("input keyevent HOME")
    behind = phone.run(START)

    assert new == (0, f"Starting: Intent {{ cmp={SETTINGS}/.Settings }}\n", "")
    assert again.status == 0
    assert again.err.startswith("Warning: Activity not started, intent has been delivered")
    assert behind.err.startswith("Warning: Activity not started, its current task has been brought")
    assert front(phone) == SETTINGS
    phone.run("am start -a android.intent.action.MAIN -c android.intent.category.HOME")
    assert front(phone) == "com.google.android.apps.nexuslauncher"


def test_start_with_w_reports_the_launch(phone: Phone) -> None:
    """With -W it says how the start went."""
    lines = phone.out(f"am start -W {SETTINGS}/.Settings").splitlines()

    assert lines[0].startswith("Starting: Intent { act=android.intent.action.MAIN cat=[")
    assert lines[1:4] == ["Status: ok", "LaunchState: COLD", f"Activity: {SETTINGS}/.Settings"]
    assert [line.split(":")[0] for line in lines[4:]] == ["TotalTime", "WaitTime", "Complete"]


def test_what_cannot_be_started_fails(phone: Phone) -> None:
    """Classes that do not exist, links that no app takes, and invalid arguments."""
    view = "act=android.intent.action.VIEW dat=nobody://host/a"
    for arguments, status, complaint in [
        *(
            (f"-n {package}/{cls}", 1, f"Error type 3\nError: Activity class {{{package}/{package}")
            for package, cls in ((SETTINGS, ".Nope"), ("com.nope", ".Main"))
        ),
        ("-d nobody://host/a -a android.intent.action.VIEW", 1, "Error: Activity not started,"
         f" unable to resolve Intent {{ {view} flg=0x10000000 }}"),
        ("", 255, "IllegalArgumentException: No intent supplied"),
        ("--nope", 255, "IllegalArgumentException: Unknown option: --nope"),
        ("-n", 255, 'IllegalArgumentException: Argument expected after "-n"'),
        ("-n nope", 255, "IllegalArgumentException: Bad component name: nope"),
        ("-f x -a y", 255, 'java.lang.NumberFormatException: For input string: "x"'),
    ]:  # fmt: skip
        ended = phone.run(f"am start {arguments}")
        assert ended.status == status, arguments
        assert complaint in ended.err, arguments
    ended = phone.run("am broadcast -a android.intent.action.BOOT_COMPLETED")
    assert ended.status == 255
    assert "java.lang.SecurityException: Permission Denial: not allowed" in ended.err
    assert phone.run("am fly") == (255, "Unknown command: fly\n", "")
    assert phone.run("am").out.startswith("Commands: broadcast, ")


def test_a_stopped_app_leaves_screen_and_processes(phone: Phone) -> None:
    """It goes without a word, and so does one that is not there."""
    phone.out(START)

    assert phone.out(f"am force-stop {SETTINGS}; am force-stop com.nope") == ""
    assert phone.run(f"pidof {SETTINGS}").status == 1
    assert front(phone) != SETTINGS


def test_a_stopped_operator_gets_no_broadcast_until_it_is_started(phone: Phone) -> None:
    """It loses its accessibility service; switching that on brings it back, with another pid."""
    before = phone.out(f"pidof {OPERATOR}")
    phone.out(f"am force-stop {OPERATOR}")
    phone.device.log.clear(["main", "system"])

    assert (phone.run(broadcast(HOME)).status, phone.messages()) == (0, [])
    assert phone.out("settings get secure accessibility_enabled") == "0\n"
    assert phone.out("settings get secure enabled_accessibility_services") == "\n"
    phone.out(
        "settings put secure accessibility_enabled 1;"
        f" settings put secure enabled_accessibility_services {SERVICE}"
    )
    assert phone.out(f"pidof {OPERATOR}") not in ("", before)
    phone.out(f"am force-stop {OPERATOR}")
    phone.out(f"am start -n {OPERATOR}/clawperator.activity.MainActivity")
    assert "stopped=false" in phone.out(f"dumpsys package {OPERATOR}")


def test_kill_spares_the_app_in_front(phone: Phone) -> None:
    """Only what is in the background is killed."""
    phone.out(f"{START}; am kill {SETTINGS}")
    assert front(phone) == SETTINGS

    phone.out(f"input keyevent HOME; am kill {SETTINGS}")
    assert SETTINGS not in phone.device.ui.processes.running_packages()


def test_a_crash_is_logged_with_its_process(phone: Phone) -> None:
    """The process dies, of an app or of the Operator."""
    phone.out(START)
    pid = phone.out(f"pidof {SETTINGS}").strip()

    phone.out(f"am crash {SETTINGS}; am crash {OPERATOR}; am crash com.nope")

    crash = next(line for line in phone.device.log.since(1) if line.buffer == "crash")
    assert crash.message.startswith(f"FATAL EXCEPTION: main\nProcess: {SETTINGS}, PID: {pid}\n")
    assert phone.run(f"pidof {SETTINGS}").status == 1
    assert any(f"Process: {OPERATOR}, PID:" in text for text in phone.messages())


def test_an_app_stays_in_the_bucket_it_is_put_into(phone: Phone) -> None:
    """A bucket is set by its name or its number, and printed as a number."""
    for word, number in (("active", "10"), ("rare", "40"), ("45", "45")):
        phone.out(f"am set-standby-bucket {OPERATOR} {word}")
        assert phone.out(f"am get-standby-bucket {OPERATOR}") == f"{number}\n"
