"""Running commands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_clawperator.simulator.operator.command import Profile
from tests.simulator.operator.fakes import APP, MISSING, OK, PROFILES, Bench, action, command

HOME = action("press_key", key="home")
IDS = "commandId=c1 taskId=t1"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ["click", "press_key", "snapshot_ui", "close_app"])
def test_any_step_can_be_made_to_fail(profile: Profile, name: str) -> None:
    """The step_error fault fails steps of its type with its code, and no others."""
    bench = Bench(profile=profile)
    bench.faults.set("step_error", times=1, type=name, code="SECURITY_BLOCK_DETECTED")
    params = {"matcher": OK, "key": "back", "applicationId": APP}

    steps = bench.execute(action("doctor_ping"), action(name, **params))["stepResults"]

    assert [step["success"] for step in steps] == [True, False]
    assert steps[1]["data"]["error"] == "SECURITY_BLOCK_DETECTED"
    assert bench.faults.all() == []


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
    assert len([line for line in bench.lines() if " start commandId" in line]) == 3
    assert (bench.stats.executions, bench.stats.overlaps) == (3, 2)


@pytest.mark.parametrize(("profile", "answers"), [("documented", []), ("0.5.3", ["quick"])])
def test_a_queued_command_times_out_in_the_queue(profile: Any, answers: list[str]) -> None:
    """Waiting counts against the timeout, and ends with it; the published app says so."""
    bench = Bench(profile=profile)
    slow = command(*[action("sleep", durationMs=1500)] * 12, commandId="slow")

    bench.send(slow, command(HOME, commandId="quick", timeoutMs=2000))

    *early, last = bench.envelopes()
    assert [envelope["commandId"] for envelope in early] == answers
    assert all(each["error"] == "Agent command timed out after 2000ms" for each in early)
    assert (last["commandId"], last["status"], bench.ui.done) == ("slow", "success", [])


LATE = "Agent command timed out after 1000ms"


def test_the_timeout_ends_the_run() -> None:
    """To the specification a command that takes too long is cut off, and has no envelope."""
    early, late = Bench(), Bench()

    envelope = early.execute(action("sleep", durationMs=900), *[HOME] * 2, timeoutMs=1000)
    late.send(command(HOME, action("sleep", durationMs=5000), HOME, timeoutMs=1000))

    assert envelope["status"] == "success"
    assert (late.envelopes(), late.ui.done) == ([], ["home"])
    assert late.lines()[-1] == f"E [Operator-Receiver] Agent command failed {IDS}: {LATE}"


@pytest.mark.parametrize(
    ("action", "first"),
    [
        (action("sleep", durationMs=5000), None),
        (action("click", matcher=MISSING), "Task execution failed: No UI node found"),
    ],
)
def test_the_published_timeout_comes_too_late(action: dict[str, Any], first: str | None) -> None:
    """The published app finishes its work, answers, and then reports the timeout as well."""
    bench = Bench(profile="0.5.3")

    bench.send(command(action, timeoutMs=1000))

    answer, late = bench.envelopes()
    assert (answer["error"] or "").startswith(first or "")
    assert answer["status"] == ("failed" if first else "success")
    assert (late["status"], late["stepResults"], late["error"]) == ("failed", [], LATE)
    *_, result, last = bench.entries()
    assert result.tag == "AgentCommandExecutorDefault"
    assert last.message == f"[Operator-Receiver] Agent command failed {IDS}: {LATE}"
