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


class TestBroadcast:
    """Handing commands to the Operator."""

    def test_acknowledged_and_executed(self) -> None:
        """A broadcast prints its two lines, and the Operator answers in the log."""
        phone = Phone()

        async def act() -> tuple[object, str]:
            ended = await phone.shell(broadcast(HOME))
            return ended, await phone.logged("[Clawperator-Result]")

        ended, answer = asyncio.run(act())

        assert ended == (
            0,
            f"Broadcasting: Intent {{ act={ACTION} flg=0x10400000 pkg={OPERATOR} (has extras) }}\n"
            "Broadcast completed: result=0\n",
            "",
        )
        assert '"status":"success"' in answer

    def test_a_broadcast_to_nobody_is_still_acknowledged(self) -> None:
        """A broadcast to a package that is not there looks just the same and reaches nobody."""
        phone = Phone(operator="absent")

        ended = phone.run(broadcast(HOME))

        assert ended.status == 0
        assert ended.out.endswith("\nBroadcast completed: result=0\n")
        assert phone.messages() == []

    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param(f"-a {ACTION} --es payload x", id="not addressed"),
            pytest.param(f"-a com.other.ACTION -p {OPERATOR} --es payload x", id="other action"),
            pytest.param(f"-a {ACTION} -p {OPERATOR}.dev --es payload x", id="other variant"),
            pytest.param(f"-a {ACTION} -n {OPERATOR}/.Nope --es payload x", id="other class"),
        ],
    )
    def test_a_misaddressed_broadcast_does_not_reach_the_operator(self, arguments: str) -> None:
        """The Operator gets only what is addressed to it."""
        phone = Phone()

        assert phone.run(f"am broadcast {arguments}").status == 0
        assert not any("[Operator-Receiver]" in text for text in phone.messages())

    def test_a_broadcast_may_name_the_receiver(self) -> None:
        """The receiver may be named outright."""
        phone = Phone()
        receiver = f"{OPERATOR}/clawperator.operator.runtime.OperatorCommandReceiver"

        phone.out(f"am broadcast -n {receiver}")

        assert any("Missing required agent payload extra" in text for text in phone.messages())

    def test_extra_that_is_no_text(self) -> None:
        """A payload that is sent as a number is none."""
        phone = Phone()

        phone.out(f"am broadcast -a {ACTION} -p {OPERATOR} --ei payload 5")

        assert any("Missing required agent payload extra" in text for text in phone.messages())

    def test_payload_through_the_shell(self) -> None:
        """Quotes, dollars, backticks, newlines and emoji arrive as they were sent."""
        text = "it's $HOME `id` \\n 🎉"
        phone = Phone()
        action = {"type": "open_uri", "params": {"uri": f"nobody:{text}"}}
        quoted = payload({**action, "params": {**action["params"], "retry": {}}})  # type: ignore[dict-item]  # any JSON will do

        async def act() -> str:
            await phone.shell(broadcast(quoted.replace("'", "'\"'\"'")))
            return await phone.logged("[Clawperator-Result]")

        assert "URI_NOT_HANDLED" in asyncio.run(act())
        assert any(f"Opening URI: nobody:{text}" in message for message in phone.messages())

    def test_broadcasts_and_executions_are_counted(self) -> None:
        """Broadcasts and executions are counted."""
        phone = Phone()

        async def act() -> None:
            await phone.shell(broadcast(HOME))
            await phone.logged("completed successfully")

        asyncio.run(act())

        assert (phone.device.stats.broadcasts, phone.device.stats.executions) == (1, 1)

    def test_the_shell_may_not_send_system_broadcasts(self) -> None:
        """The shell may not pretend to be the system."""
        ended = Phone().run("am broadcast -a android.intent.action.BOOT_COMPLETED")

        assert ended.status == 255
        assert "java.lang.SecurityException: Permission Denial: not allowed" in ended.err


class TestStart:
    """Starting activities."""

    def test_an_activity_started_by_name_is_in_front(self) -> None:
        """An activity is started by its name and is then in front."""
        phone = Phone()

        ended = phone.run(f"am start -n {SETTINGS}/.Settings")

        assert ended == (0, f"Starting: Intent {{ cmp={SETTINGS}/.Settings }}\n", "")
        assert phone.device.ui.view.foreground_package() == SETTINGS

    def test_start_with_w_reports_the_launch(self) -> None:
        """With -W it says how the start went."""
        lines = Phone().out(f"am start -W {SETTINGS}/.Settings").splitlines()

        assert lines[0].startswith("Starting: Intent { act=android.intent.action.MAIN cat=[")
        assert lines[1:4] == [
            "Status: ok",
            "LaunchState: COLD",
            f"Activity: {SETTINGS}/.Settings",
        ]
        assert [line.split(":")[0] for line in lines[4:]] == ["TotalTime", "WaitTime", "Complete"]

    def test_on_top_already(self) -> None:
        """Starting what is in front is reported as a warning, and is no failure."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        ended = phone.run(f"am start -n {SETTINGS}/.Settings")

        assert ended.status == 0
        assert ended.err.startswith("Warning: Activity not started, intent has been delivered")

    def test_from_its_task(self) -> None:
        """An app that runs behind another is brought to the front."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings; input keyevent HOME")

        ended = phone.run(f"am start -n {SETTINGS}/.Settings")

        assert ended.err == (
            "Warning: Activity not started, its current task has been brought to the front\n"
        )
        assert phone.device.ui.view.foreground_package() == SETTINGS

    @pytest.mark.parametrize("component", ["com.nope/.Main", f"{SETTINGS}/.Nope"])
    def test_no_such_class(self, component: str) -> None:
        """A class that is not there is named whole, with status 1."""
        ended = Phone().run(f"am start -n {component}")

        package, _, cls = component.partition("/")
        assert ended.status == 1
        assert ended.err == (
            f"Error type 3\nError: Activity class {{{package}/{package}{cls}}} does not exist.\n"
        )

    def test_link_that_nobody_takes(self) -> None:
        """A link that no app takes cannot be resolved; its private part is not printed."""
        ended = Phone().run("am start -a android.intent.action.VIEW -d 'nobody://host/a?secret=1'")

        assert ended.status == 1
        assert ended.err == (
            "Error: Activity not started, unable to resolve Intent { "
            "act=android.intent.action.VIEW dat=nobody://host/... flg=0x10000000 }\n"
        )

    def test_the_home_screen_can_be_started(self) -> None:
        """The home screen is an activity too."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        ended = phone.run("am start -a android.intent.action.MAIN -c android.intent.category.HOME")

        assert ended.status == 0
        assert phone.device.ui.view.foreground_package() == "com.google.android.apps.nexuslauncher"

    def test_starting_the_operator_ends_its_stopped_state(self) -> None:
        """The Operator's own activity can be started, which ends its stopped state."""
        phone = Phone()
        phone.out(f"am force-stop {OPERATOR}")

        phone.out(f"am start -n {OPERATOR}/clawperator.activity.MainActivity")

        assert "stopped=false" in phone.out(f"dumpsys package {OPERATOR}")
        assert phone.out(f"pidof {OPERATOR}").strip().isdigit()

    def test_start_with_s_stops_the_app_first(self) -> None:
        """With -S the app is stopped before it is started."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        ended = phone.run(f"am start -S -n {SETTINGS}/.Settings")

        assert ended.out.startswith(f"Stopping: {SETTINGS}\nStarting: Intent {{ cmp=")
        assert ended.err == ""

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ("", "java.lang.IllegalArgumentException: No intent supplied"),
            ("--nope", "java.lang.IllegalArgumentException: Unknown option: --nope"),
            ("-n", 'java.lang.IllegalArgumentException: Argument expected after "-n"'),
            ("-n nope", "java.lang.IllegalArgumentException: Bad component name: nope"),
            ("-f x -a y", 'java.lang.NumberFormatException: For input string: "x"'),
        ],
    )
    def test_invalid_arguments_are_an_exception_with_status_255(
        self, arguments: str, complaint: str
    ) -> None:
        """A mistake in the arguments is an exception with its stack, and status 255."""
        ended = Phone().run(f"am start {arguments}")

        assert ended.status == 255
        assert ended.err.startswith(
            f"\nException occurred while executing 'start':\n{complaint}\n\tat "
        )


class TestStop:
    """Ending apps."""

    def test_a_stopped_app_leaves_screen_and_processes(self) -> None:
        """A stopped app leaves the screen and the processes, silently."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")

        assert phone.out(f"am force-stop {SETTINGS}") == ""
        assert phone.run(f"pidof {SETTINGS}").status == 1
        assert phone.device.ui.view.foreground_package() != SETTINGS

    def test_a_stopped_operator_gets_no_broadcast(self) -> None:
        """A stopped Operator gets no broadcast and has lost its accessibility service."""
        phone = Phone()
        phone.out(f"am force-stop {OPERATOR}")
        phone.device.log.clear(["main", "system"])

        ended = phone.run(broadcast(HOME))

        assert (ended.status, phone.messages()) == (0, [])
        assert phone.out("settings get secure accessibility_enabled") == "0\n"
        assert phone.out("settings get secure enabled_accessibility_services") == "\n"

    def test_service_switched_on_again(self) -> None:
        """Switching the service on again brings the Operator back, with another pid."""
        phone = Phone()
        before = phone.out(f"pidof {OPERATOR}")
        phone.out(f"am force-stop {OPERATOR}")

        phone.out(
            "settings put secure accessibility_enabled 1;"
            f" settings put secure enabled_accessibility_services {SERVICE}"
        )

        assert phone.out(f"pidof {OPERATOR}") not in ("", before)

    def test_stopping_an_unknown_package_succeeds(self) -> None:
        """Stopping what is not there is no failure."""
        assert Phone().out("am force-stop com.nope") == ""

    def test_kill_spares_the_front(self) -> None:
        """Only what is in the background is killed."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings; am kill {SETTINGS}")
        assert phone.device.ui.view.foreground_package() == SETTINGS

        phone.out(f"input keyevent HOME; am kill {SETTINGS}")
        assert SETTINGS not in phone.device.ui.processes.running_packages()

    def test_a_crash_is_logged_with_its_process(self) -> None:
        """A crash is reported in the crash log with the process that died."""
        phone = Phone()
        phone.out(f"am start -n {SETTINGS}/.Settings")
        pid = phone.out(f"pidof {SETTINGS}").strip()

        phone.out(f"am crash {SETTINGS}")

        crash = next(line for line in phone.device.log.since(1) if line.buffer == "crash")
        assert crash.message.startswith(f"FATAL EXCEPTION: main\nProcess: {SETTINGS}, PID: {pid}\n")
        assert phone.run(f"pidof {SETTINGS}").status == 1

    def test_a_crash_of_the_operator_is_logged_once(self) -> None:
        """A crash of the Operator is reported by itself."""
        phone = Phone()

        phone.out(f"am crash {OPERATOR}")

        assert any(f"Process: {OPERATOR}, PID:" in text for text in phone.messages())


class TestOthers:
    """The rest of the command."""

    def test_without_a_command_it_prints_the_usage(self) -> None:
        """Without a command it prints what there is, and fails."""
        ended = Phone().run("am")

        assert ended.status == 255
        assert ended.out.startswith("Activity manager (activity) commands:\n")

    def test_an_unknown_command_is_named(self) -> None:
        """A command that does not exist is named."""
        assert Phone().run("am fly") == (255, "Unknown command: fly\n", "")


@pytest.mark.parametrize(("word", "number"), [("rare", "40"), ("45", "45"), ("active", "10")])
def test_an_app_stays_in_the_bucket_it_is_put_into(word: str, number: str) -> None:
    """A bucket is set by its name or its number, and printed as a number."""
    phone = Phone()
    assert phone.out(f"am get-standby-bucket {OPERATOR}") == "10\n"

    phone.out(f"am set-standby-bucket {OPERATOR} {word}")

    assert phone.out(f"am get-standby-bucket {OPERATOR}") == f"{number}\n"
