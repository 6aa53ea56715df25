"""The Operator app from the broadcast to the envelope."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pytest_clawperator.simulator.screen.events import AccessibilityEvent
from tests.simulator.operator.fakes import (
    MISSING,
    NOON,
    OK,
    PACKAGE,
    Bench,
    action,
    all_done,
    button,
    command,
    node,
    screen,
)

HOME = action("press_key", key="home")
IDS = "commandId=c1 taskId=t1"


def test_the_lines_of_a_command() -> None:
    """A command that works is logged from its start to its end, in this order."""
    bench = Bench()

    bench.send(command({"id": "s", "type": "sleep", "params": {"durationMs": 40}}, HOME))

    value = (
        "UiActionExecutionResult(commandId=c1, taskId=t1, stepResults=["
        "UiActionStepResult(id=s, actionType=sleep, success=true, data={duration_ms=40}), "
        "UiActionStepResult(id=a1, actionType=press_key, success=true, data={key=home})])"
    )
    result = (
        '{"commandId":"c1","taskId":"t1","status":"success","stepResults":['
        '{"id":"s","actionType":"sleep","success":true,"data":{"duration_ms":"40"}},'
        '{"id":"a1","actionType":"press_key","success":true,"data":{"key":"home"}}],"error":null}'
    )
    done = "stage_id=pause, requested_ms=40, elapsed_ms=40, attempt=1"
    assert bench.lines() == [
        f"I [Clawperator-Command] start {IDS} source=test timeoutMs=30000 actionCount=2",
        "D [TaskRunnerManager] Task execution started",
        "D [UiActionEngine] step_start id=s type=Sleep",
        f"D [Clawperator-Command] stage-start {IDS} id=pause label=Pausing for 40ms",
        "D [TaskScope] Pausing for 40ms...",
        "D [TaskScope] Paused for 40ms",
        f"D [Clawperator-Command] stage-success {IDS} id=pause data={{{done}}}",
        "D [UiActionEngine] step_success id=s type=Sleep data={duration_ms=40}",
        "D [UiActionEngine] step_start id=a1 type=PressKey",
        "D [UiActionEngine] step_success id=a1 type=PressKey data={key=home}",
        f"D [TaskRunnerManager] Task completed successfully in 40ms with value: {value}",
        f"I [Clawperator-Command] success {IDS} stepCount=2",
        f"I [Clawperator-Result] {result}",
        f"D [Operator-Receiver] Agent command completed successfully {IDS}",
    ]
    assert {entry.pid for entry in bench.entries()} == {bench.app.pid}


def test_the_lines_of_a_hard_failure() -> None:
    """A command that the published app gives up on is logged in this order, with stack traces."""
    bench = Bench(profile="0.5.3")
    retry = {"maxAttempts": 2, "initialDelayMs": 70}

    bench.send(command(action("click", matcher=OK, retry=retry)))

    matcher = (
        "NodeMatcher(resourceId=null, role=null, textEquals=OK, textContains=null, "
        "contentDescEquals=null, contentDescContains=null)"
    )
    stage, reason = f"click({matcher})", f"No UI node found matching criteria: {matcher}"
    context = f"matcher={matcher}, failure_point=timeout, attempt=2"
    failed = f"Task execution failed: {reason}"
    envelope = {"commandId": "c1", "taskId": "t1", "status": "failed", "stepResults": []}
    result = json.dumps({**envelope, "error": failed}, separators=(",", ":"))
    assert [line.partition("\n")[0] for line in bench.lines()][2:] == [
        "D [UiActionEngine] step_start id=a1 type=Click",
        "D [TaskScope] Executing UI operations",
        f"D [Clawperator-Command] stage-start {IDS} id={stage} label={stage}",
        f"D [TaskUiScope] Clicking node matching: {matcher}",
        f"D [Clawperator-Command] stage-retry {IDS} id={stage} attempt=1/2 delayMs=70",
        f"D [TaskUiScope] {stage} attempt 1 failed: {reason}; retrying in 70ms",
        f"D [TaskUiScope] Clicking node matching: {matcher}",
        "E [TaskUiScope]",
        f"E [Clawperator-Command] stage-failure {IDS} id={stage} reason={reason}",
        f"D [Clawperator-Command] stage-log {IDS} message=StageFailure context: {context}",
        "E [TaskRunner]",
        f"E [TaskRunnerManager] Task failed after 70ms: {failed}",
        f"E [Clawperator-Command] failure {IDS} reason={failed}",
        f"I [Clawperator-Result] {result}",
        f"E [Operator-Receiver] Agent command failed {IDS}: {failed}",
    ]
    traces = [line for line in bench.lines() if "\n\tat " in line]
    assert len(traces) == 2
    assert all(f"\njava.lang.IllegalStateException: {reason}\n" in trace for trace in traces)


def test_debug_tags() -> None:
    """In a debug build tags are class names."""
    bench = Bench(screen(button()))

    bench.send(command(action("wait_for_node", matcher=OK), action("snapshot_ui")))

    tags = {line.message.partition(" ")[0]: line.tag for line in bench.entries()}
    assert tags["[Clawperator-Result]"] == "AgentCommandExecutorDefault$execute"
    assert tags["[Clawperator-Command]"] == "AgentCommandExecutorDefault$execute"
    assert tags["[TaskRunnerManager]"] == "TaskRunnerManagerDefault"
    assert tags["[UiActionEngine]"] == "UiActionEngineDefault"
    assert tags["[TaskScope]"] == "TaskScopeDefault"
    assert tags["[TaskUiScope]"] == "TaskUiScopeDefault$waitForNode$operation"
    assert tags["[Operator-Receiver]"] == "OperatorCommandReceiver$onReceive"
    stages = {line.tag for line in bench.entries() if " stage-" in line.message}
    assert stages == {"LoggingTaskStatusSink"}


def test_release_tags() -> None:
    """In a release build classes have other names, but the messages are the same."""
    bench, debug = Bench(release_tags=True), Bench()

    for either in (bench, debug):
        either.send(command(action("snapshot_ui"), HOME))

    tags = {line.message.partition(" ")[0]: line.tag for line in bench.entries()}
    assert tags["[TaskRunnerManager]"] == "w"
    assert tags["[TaskScope]"] == "E"
    assert {line.tag for line in bench.entries() if "stage-" in line.message} == {"o"}
    assert bench.results() == debug.results()
    assert not any("type=SnapshotUi" in line for line in bench.lines())


@pytest.mark.parametrize("payload", [None, "", " \n"])
def test_a_broadcast_without_payload(payload: str | None) -> None:
    """What brings no payload is remarked upon and forgotten."""
    bench = Bench()

    bench.send(payload)

    assert bench.lines() == ["E [Operator-Receiver] Missing required agent payload extra: payload"]
    assert bench.entries()[0].tag == "OperatorCommandReceiver"


@pytest.mark.parametrize(
    ("payload", "java"),
    [
        ("{", "kotlinx.serialization.json.internal.JsonDecodingException: Unexpected JSON token"),
        ("{}", "java.lang.IllegalStateException: commandId is required\n"),
        (
            command(HOME, taskId=" "),
            "java.lang.IllegalArgumentException: taskId must not be blank\n",
        ),
    ],
)
def test_a_refused_payload(payload: str, java: str) -> None:
    """A payload that does not parse is answered by silence and a stack trace."""
    bench = Bench()

    bench.send(payload)

    (line,) = bench.lines()
    assert line.startswith(f"E [Operator-Receiver] Failed to parse agent command payload\n{java}")
    assert bench.stats.executions == 0


def test_a_payload_refused_on_demand() -> None:
    """The fault refuses a payload that is in order."""
    bench = Bench()
    bench.faults.set("payload_refused", times=1)

    bench.send(command(HOME), command(HOME))

    assert "Failed to parse agent command payload\njava.lang." in bench.lines()[0]
    assert len(bench.envelopes()) == 1


@pytest.mark.parametrize(
    "switch_off",
    [
        lambda bench: bench.faults.set("service_off"),
        lambda bench: bench.settings.put("secure", "accessibility_enabled", "0"),
        lambda bench: bench.settings.put("secure", "enabled_accessibility_services", "a/b:c/d"),
        lambda bench: bench.settings.delete("secure", "enabled_accessibility_services"),
    ],
)
def test_without_the_service(switch_off: Any) -> None:
    """A service that is not connected is answered at once, before any loop turns."""
    bench = Bench()
    switch_off(bench)

    bench.app.receive(command(HOME))

    assert bench.lines() == [
        f"E [Operator-Receiver] Accessibility service is not available {IDS}",
        'I [Clawperator-Result] {"commandId":"c1","taskId":"t1","status":"failed",'
        '"stepResults":[],"error":"Accessibility service is not available",'
        '"errorCode":"SERVICE_UNAVAILABLE"}',
    ]
    assert bench.shades_dismissed == 0


def test_without_the_service_and_without_sense() -> None:
    """A broken payload then has no envelope at all."""
    bench = Bench()
    bench.faults.set("service_off")

    bench.send("{}")

    (line,) = bench.lines()
    assert line.startswith(
        "E [Operator-Receiver] Accessibility service is not available and failed to parse agent "
        "command payload\njava.lang."
    )


def test_the_service_among_others() -> None:
    """The service may be one of several that are switched on."""
    bench = Bench()
    name = bench.settings.get("secure", "enabled_accessibility_services")
    bench.settings.put("secure", "enabled_accessibility_services", f"com.x/.Y:{name}")

    assert bench.is_service_enabled()


def test_the_service_goes_away_in_the_middle() -> None:
    """A key cannot be pressed then, and the whole command fails."""
    documented, published = Bench(), Bench(profile="0.5.3")

    for bench in (documented, published):

        async def switch_off_in_between(bench: Bench = bench) -> None:
            bench.app.receive(command(action("sleep", durationMs=100), HOME))
            await asyncio.sleep(0)
            bench.faults.set("service_off")
            await all_done()

        asyncio.run(switch_off_in_between())

    (envelope,) = documented.envelopes()
    assert (envelope["errorCode"], envelope["stepResults"]) == ("SERVICE_UNAVAILABLE", [])
    assert published.envelopes()[0]["error"] == (
        "Task execution failed: OperatorAccessibilityService is not running - "
        "cannot execute press_key"
    )


def test_the_notification_shade_is_closed_first() -> None:
    """Every command closes the shade."""
    bench = Bench()

    bench.send(command(HOME), command(HOME))

    assert bench.shades_dismissed == 2


def test_commands_run_one_after_the_other() -> None:
    """A command that finds another under way says so, and waits its turn."""
    bench = Bench()
    payloads = [command(action("sleep", durationMs=500), commandId=name) for name in "abc"]

    bench.send(*payloads)

    assert [envelope["commandId"] for envelope in bench.envelopes()] == ["a", "b", "c"]
    text = "[Clawperator-Command] queued commandId={} taskId=t1 waiting_for_active_command=true"
    queued = [line for line in bench.entries() if " queued " in line.message]
    assert [line.message for line in queued] == [text.format("b"), text.format("c")]
    assert {line.tag for line in queued} == {"AgentCommandExecutorDefault"}
    starts = [line for line in bench.lines() if " start commandId" in line]
    assert len(starts) == 3
    assert (bench.stats.executions, bench.stats.overlaps) == (3, 2)


@pytest.mark.parametrize("profile", ["documented", "0.5.3"])
def test_a_queued_command_times_out_in_the_queue(profile: Any) -> None:
    """Waiting counts against the timeout, and ends with it."""
    bench = Bench(profile=profile)
    slow = command(*[action("sleep", durationMs=1500)] * 12, commandId="slow")

    bench.send(slow, command(HOME, commandId="quick", timeoutMs=2000))

    first, second = bench.envelopes()
    assert (first["commandId"], first["error"]) == ("quick", "Agent command timed out after 2000ms")
    assert (second["commandId"], second["status"]) == ("slow", "success")
    assert bench.ui.done == []


def test_the_timeout_ends_the_run() -> None:
    """To the specification a command that takes too long is cut off, and has one envelope."""
    bench = Bench()

    envelope = bench.execute(action("sleep", durationMs=900), *[HOME] * 2, timeoutMs=1000)
    late = Bench()
    late.send(command(HOME, action("sleep", durationMs=5000), HOME, timeoutMs=1000))

    assert envelope["status"] == "success"
    (cut,) = late.envelopes()
    assert (cut["status"], cut["stepResults"]) == ("failed", [])
    assert cut["error"] == "Agent command timed out after 1000ms"
    assert late.ui.done == ["home"]
    assert late.lines()[-1] == f"E [Operator-Receiver] Agent command failed {IDS}: {cut['error']}"


def test_the_published_timeout_comes_too_late() -> None:
    """The published app finishes its work, says so, and then reports the timeout as well."""
    bench = Bench(profile="0.5.3")

    bench.send(command(HOME, action("sleep", durationMs=5000), timeoutMs=1000))

    first, second = bench.envelopes()
    assert (first["status"], len(first["stepResults"])) == ("success", 2)
    assert (second["status"], second["stepResults"]) == ("failed", [])
    assert second["error"] == "Agent command timed out after 1000ms"
    *_, result, last = bench.entries()
    assert result.tag == "AgentCommandExecutorDefault"
    assert last.message == f"[Operator-Receiver] Agent command failed {IDS}: {second['error']}"


def test_a_failure_that_comes_too_late() -> None:
    """The published app reports its own failure first, then the timeout."""
    bench = Bench(profile="0.5.3")

    bench.send(command(action("click", matcher=MISSING), timeoutMs=1000))

    errors = [envelope["error"] for envelope in bench.envelopes()]
    assert errors[0].startswith("Task execution failed: No UI node found")
    assert errors[1] == "Agent command timed out after 1000ms"


def test_a_long_envelope_is_cut_into_pieces() -> None:
    """From 4000 units on the envelope is several entries, the first of them with the prefix."""
    bench = Bench(screen(node("x" * 9000)))

    bench.send(command(action("read_text", matcher={"role": "text"})))

    entries = bench.entries()
    start = next(i for i, line in enumerate(entries) if "[Clawperator-Result]" in line.message)
    pieces = [line.message for line in entries[start : start + 3]]
    assert [len(piece) for piece in pieces[:2]] == [4000, 4000]
    text = "".join(pieces).removeprefix("[Clawperator-Result] ")
    assert json.loads(text)["stepResults"][0]["data"]["text"] == "x" * 9000


def test_any_text_survives_the_envelope() -> None:
    """Quotes, control characters and other scripts are in the envelope as they are on screen."""
    odd = 'a"b\\c\td\u2028é😀\x01/'
    bench = Bench(screen(node(odd)))

    assert bench.step("read_text", matcher={"role": "text"})["data"]["text"] == odd
    assert "\u2028é😀" in bench.results()[0]


def test_half_a_character_does_no_harm() -> None:
    """A lone surrogate in an id is echoed as it is."""
    bench = Bench()

    bench.send(command(HOME).replace('"c1"', '"c\\ud800"'))

    assert '"status":"success"' in bench.results()[0]


@pytest.mark.parametrize("ms", ["nan", "-5", "soon"])
def test_senseless_delays_are_none(ms: str) -> None:
    """A fault's option that is no number of milliseconds counts as zero."""
    bench = Bench()
    bench.faults.set("late_envelope", ms=ms)

    assert bench.execute(HOME)["status"] == "success"


class TestEnvelopeFaults:
    """What may go wrong with an envelope."""

    def test_no_envelope(self) -> None:
        """The work is done, but nobody hears of it."""
        bench = Bench()
        bench.faults.set("no_envelope", times=1)

        bench.send(command(HOME))

        assert bench.results() == []
        assert bench.ui.done == ["home"]

    def test_half_an_envelope(self) -> None:
        """The line ends in the middle of the JSON."""
        bench = Bench()
        bench.faults.set("half_envelope", times=1)

        bench.send(command(HOME))

        (half,) = bench.results()
        assert half.startswith('{"commandId":"c1"')
        with pytest.raises(json.JSONDecodeError):
            json.loads(half)

    def test_a_foreign_envelope(self) -> None:
        """Another command's envelope comes first."""
        bench = Bench()
        bench.faults.set("foreign_envelope", command_id="other")

        bench.send(command(HOME))

        assert [envelope["commandId"] for envelope in bench.envelopes()] == ["other", "c1"]

    def test_a_double_envelope(self) -> None:
        """The same envelope comes twice."""
        bench = Bench()
        bench.faults.set("double_envelope")

        bench.send(command(HOME))

        first, second = bench.results()
        assert first == second

    def test_a_late_envelope(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The envelope is held back for as long as the fault says, at any time scale."""
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        bench = Bench()
        bench.faults.set("late_envelope", ms="750")
        monkeypatch.setattr(asyncio, "sleep", sleep)

        bench.send(command(HOME))

        assert slept == [0.75]
        assert len(bench.results()) == 1


class TestCrash:
    """How the Operator dies."""

    def test_a_crash_on_demand(self) -> None:
        """Instead of the envelope there is what a dying process says."""
        bench = Bench()
        bench.faults.set("operator_crash", times=1)
        pid = bench.app.pid

        bench.send(command(HOME))

        assert bench.results() == []
        fatal, signal = bench.entries()[-2:]
        assert (fatal.priority, fatal.tag, fatal.buffer, fatal.pid) == (
            *("E", "AndroidRuntime", "crash"),
            pid,
        )
        head = f"FATAL EXCEPTION: main\nProcess: {PACKAGE}, PID: {pid}\njava.lang."
        assert fatal.message.startswith(head)
        assert "\n\tat " in fatal.message
        assert (signal.tag, signal.message) == ("Process", f"Sending signal. PID: {pid} SIG: 9")
        assert not bench.app.alive
        assert not bench.is_service_enabled()

    def test_after_a_crash_the_service_is_gone(self) -> None:
        """The next command has a new process, and no service until it is switched on again."""
        bench = Bench()
        pid = bench.app.pid
        bench.app.crash("out of luck")

        bench.send(command(HOME, commandId="second"))
        bench.enable_service()
        bench.send(command(HOME, commandId="third"))

        first, second = bench.envelopes()
        assert first["errorCode"] == "SERVICE_UNAVAILABLE"
        assert second["status"] == "success"
        assert bench.app.pid != pid

    def test_other_services_survive_a_crash(self) -> None:
        """Only the Operator's own service is taken away."""
        bench = Bench()
        name = bench.settings.get("secure", "enabled_accessibility_services")
        bench.settings.put("secure", "enabled_accessibility_services", f"com.x/.Y:{name}")

        bench.app.crash("out of luck")

        assert bench.settings.get("secure", "enabled_accessibility_services") == "com.x/.Y"
        assert bench.settings.get("secure", "accessibility_enabled") == "1"

    def test_a_crash_takes_every_command_with_it(self) -> None:
        """What runs and what waits both end without an answer."""
        bench = Bench()

        async def crash_in_between() -> None:
            bench.app.receive(command(action("sleep", durationMs=100), HOME, commandId="runs"))
            bench.app.receive(command(HOME, commandId="waits"))
            await asyncio.sleep(0)
            bench.app.crash("out of luck")
            bench.enable_service()
            bench.app.receive(command(HOME, commandId="next"))
            await all_done()

        asyncio.run(crash_in_between())

        assert [envelope["commandId"] for envelope in bench.envelopes()] == ["next"]
        assert bench.ui.done == ["home"]
        bench.stats.execution_started()
        assert bench.stats.overlaps == 1

    def test_stopping_is_silent(self) -> None:
        """A process that is stopped says nothing and does nothing more."""
        bench = Bench()

        async def stop_in_between() -> None:
            bench.app.receive(command(action("sleep", durationMs=100), HOME))
            await asyncio.sleep(0)
            await bench.app.stop()

        asyncio.run(stop_in_between())

        assert bench.results() == []
        assert bench.ui.done == []
        assert not any("AndroidRuntime" in line.tag for line in bench.entries())
        assert bench.is_service_enabled()

    def test_a_screen_that_fails_is_a_crash(self) -> None:
        """A bug behind the screen is reported, and nobody waits for an answer."""
        problems: list[Any] = []

        def broken(ui: Any) -> None:
            raise KeyError("no such screen")

        bench = Bench(broken)

        async def watched() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: problems.append(context["exception"]))
            bench.app.receive(command(action("snapshot_ui")))
            await all_done()

        asyncio.run(watched())

        assert isinstance(problems[0], KeyError)
        assert any("FATAL EXCEPTION" in line for line in bench.lines())


class TestPercentSigns:
    """A failure's reason is the published app's log format."""

    def run(self, text: str) -> Bench:
        """Fail at finding a text."""
        bench = Bench(profile="0.5.3")
        bench.send(command(action("click", matcher={"contentDescContains": text}, retry={})))
        return bench

    def test_one_percent_sign_replaces_the_reason(self) -> None:
        """The envelope has what the formatter says."""
        (envelope,) = self.run("50% off").envelopes()

        assert envelope["error"] == "o != java.lang.IllegalStateException"

    def test_two_percent_signs_kill_the_process(self) -> None:
        """The error handler fails as well, and there is no envelope."""
        bench = self.run("10%20%30")

        assert bench.results() == []
        fatal = next(line for line in bench.lines() if "FATAL" in line)
        assert "Message contains 2 placeholders, but 1 arguments were provided." in fatal

    def test_a_percent_sign_at_the_end_kills_the_process(self) -> None:
        """What the formatter says of it cannot be formatted either."""
        bench = Bench(profile="0.5.3")

        bench.send(command(action("open_app", applicationId="50%", retry={})))

        assert bench.results() == []
        assert not bench.app.alive

    def test_a_valid_format_is_filled_in(self) -> None:
        """Only the log line changes, not the reason."""
        bench = self.run("%s")

        assert "contentDescContains=%s)" in bench.envelopes()[0]["error"]
        assert bench.app.alive

    def test_to_the_specification_it_is_a_character(self) -> None:
        """The other profile has no such trouble."""
        bench = Bench()

        step = bench.step("click", matcher={"textContains": "%20%20"}, retry={})

        assert step["data"] == {"error": "NODE_NOT_FOUND"}


def test_accessibility_events_are_logged() -> None:
    """The service logs every event it hears of, while it is connected."""
    bench = Bench()
    event = AccessibilityEvent(
        "TYPE_VIEW_CLICKED", time=NOON, package="com.x", class_name="android.widget.Button"
    )

    bench.app.on_accessibility_event(event)
    bench.faults.set("service_off")
    bench.app.on_accessibility_event(event)

    (line,) = bench.lines()
    assert line.startswith(
        "D [Operator-AccessibilityService] onAccessibilityEvent(EventType: TYPE_VIEW_CLICKED; "
    )
