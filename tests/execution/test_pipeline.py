"""The run: what is done around a dispatch, and in which order."""

from __future__ import annotations

import gc
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator import complete_execution
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.events import (
    ArtifactMade,
    Event,
    ExecutionFinished,
    ExecutionStarted,
    Notice,
)
from pytest_clawperator.errors import (
    AdbUnavailableError,
    BroadcastError,
    ClawperatorWarning,
    DeviceNotFoundError,
    EnvelopeMalformedError,
    EnvelopeTimeoutError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
    OperatorNotReadyError,
    ShellError,
    SnapshotError,
)
from pytest_clawperator.execution.flight import sweep
from pytest_clawperator.execution.lock_file import lock_path
from pytest_clawperator.execution.pipeline import longest_run
from pytest_clawperator.execution.postprocess import PROCESSORS, Collected
from pytest_clawperator.execution.processes import Processes
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.interrupting import interruptions
from tests.doubles.log import line
from tests.doubles.pipeline import SHOT, SLEEP, SNAPSHOT, XML, MakeBench, envelope, step


def test_a_run_gives_the_processed_envelope_and_what_only_it_knows(bench: MakeBench) -> None:
    """The result is the envelope with serial, time and log slice."""
    here = bench((0.5, envelope("cmd-1", step("sleep"))))

    result = here.run(SLEEP)

    assert result.ok
    assert result.serial == "PH1"
    assert result.elapsed == pytest.approx(0.5)
    assert result.terminal_source == "clawperator_result"
    assert [entry.message[:20] for entry in result.log] == ["[Clawperator-Result]"]


def test_a_failed_envelope_is_data(bench: MakeBench) -> None:
    """Running never raises for what the envelope says."""
    failed = step("click", success=False, error="NODE_NOT_FOUND")
    here = bench((0.1, envelope("cmd-1", failed)))

    result = here.run(SLEEP)

    assert result.status == "failed"
    assert result.code == ErrorCode.NODE_NOT_FOUND


def test_a_snapshot_step_gets_its_hierarchy(bench: MakeBench) -> None:
    """The hierarchy in the log, of the same process, becomes the step's snapshot."""
    foreign = line(f"[TaskScope] UI Hierarchy:\n{XML}", pid=9, priority="D")
    here = bench(
        (0.1, line("[TaskScope] UI Hierarchy:", priority="D")),
        (0.1, foreign.replace(b"\n", b" ")),
        (0.1, line(XML, priority="D")),
        (0.1, line("</hierarchy>", priority="D")),
        (0.1, envelope("cmd-1", step("snapshot_ui", foreground_package="com.x"))),
    )

    result = here.run(SNAPSHOT)

    assert result.ok
    assert result.step("a").data["text"].startswith(XML)


def test_a_snapshot_that_is_not_in_the_log_fails_its_step(bench: MakeBench) -> None:
    """A success without a hierarchy helps nobody, and the watchers are told."""
    here = bench((0.1, envelope("cmd-1", step("snapshot_ui"))))

    result = here.run(SNAPSHOT)

    assert result.code == ErrorCode.SNAPSHOT_EXTRACTION_FAILED
    assert any(isinstance(event, Notice) for event in here.events)
    with pytest.raises(SnapshotError):
        _ = result.step("a").snapshot


def test_close_app_stops_the_app_first(bench: MakeBench) -> None:
    """All force-stops come before the broadcast, quoted for the shell, and count as success."""
    unsupported = {"error": "UNSUPPORTED_RUNTIME_CLOSE"}
    closing = step("close_app", id="b", success=False, **unsupported)
    here = bench((0.1, envelope("cmd-1", step("sleep"), closing)))

    result = here.run(
        SLEEP, {"id": "b", "type": "close_app", "params": {"applicationId": "com.x'; reboot"}}
    )

    assert here.transport.commands[0] == "am force-stop 'com.x'\"'\"'; reboot'"
    assert here.transport.commands[1].startswith("am broadcast")
    assert result.ok
    assert result.step("b").data == {"application_id": "com.x'; reboot"}


def test_a_force_stop_that_fails_sends_nothing(bench: MakeBench) -> None:
    """The error names the app, the exit code and that nothing was sent."""
    here = bench(shell={"am force-stop 'com.x'": ShellResult("", "no such thing", 1)})

    with pytest.raises(ShellError) as caught:
        here.run({"id": "b", "type": "close_app", "params": {"applicationId": "com.x"}})

    assert caught.value.code == ErrorCode.DEVICE_SHELL_UNAVAILABLE
    assert caught.value.details["adbExitCode"] == 1
    assert "Nothing was sent" in str(caught.value)
    assert len(here.transport.commands) == 1


def test_the_device_is_looked_at_once_per_connection(bench: MakeBench) -> None:
    """Preflight runs before the first execution and after the device was away."""
    here = bench()

    for connection, command_id in ((1, "a"), (1, "b"), (2, "c")):
        here.transport.connections = connection
        here.answer((0.1, envelope(command_id, step("sleep"))))
        here.run(SLEEP, command_id=command_id)

    assert here.preflights == 2


def test_a_device_that_went_back_is_looked_at_again(bench: MakeBench) -> None:
    """What was known of it is forgotten with its earlier state."""
    here = bench((0.1, envelope("a", step("sleep"))))
    here.run(SLEEP, command_id="a")

    here.pipeline.forget(here.transport.log.mark())
    here.answer((0.1, envelope("b", step("sleep"))))
    here.run(SLEEP, command_id="b")

    assert here.preflights == 2


def test_something_else_is_done_between_executions(bench: MakeBench) -> None:
    """Meanwhile nothing can be run, and without clearance nothing is done."""
    here = bench()

    def run_meanwhile() -> str:
        with pytest.raises(ExecutionConflictError):
            here.run(SLEEP)
        return "done"

    assert here.pipeline.use_alone("restore", 5.0, run_meanwhile) == "done"

    def gone(command_id: str, seconds: float) -> None:
        raise LeaseError(f"no {command_id} for {seconds} s")

    here.pipeline._clearance = gone
    with pytest.raises(LeaseError, match=r"no restore for 5\.0 s"):
        here.pipeline.use_alone("restore", 5.0, run_meanwhile)


def test_an_interrupt_at_any_moment_leaves_the_device_free(bench: MakeBench) -> None:
    """After Ctrl-C the same client and others can use the device, with no help of the collector."""
    here = bench()
    here.pipeline.observers.add(here.events.append)
    gc.collect()
    gc.disable()

    def run() -> None:
        here.answer((0.1, envelope("cmd-1", step("sleep"))))
        here.run(SLEEP)

    try:
        errors = set()
        ours = ("flight.py", "lock_file.py", "observing.py", "pipeline.py", "contextlib.py")
        for error in interruptions(run, within=ours):
            errors.add(type(error))
            del error
            with here.pipeline._flight.claim("next", serial="s") as claim:
                claim.land()
    finally:
        gc.enable()

    assert errors == {KeyboardInterrupt}


def test_further_processors_have_the_last_word(bench: MakeBench) -> None:
    """Processing is a chain to which a caller can add."""

    def stamp(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
        return envelope.model_copy(update={"hint": f"seen on {collected.serial}"})

    here = bench((0.1, envelope("cmd-1", step("sleep"))), processors=[*PROCESSORS, stamp])

    result = here.run(SLEEP)

    assert result.hint == "seen on PH1"


def test_what_goes_wrong_in_flight_says_that_the_device_may_be_acting(bench: MakeBench) -> None:
    """An adb server that is gone names no phone by itself, and knows nothing of the flight."""
    here = bench((0.1, AdbUnavailableError("no server", hint="Start it.")))

    with pytest.raises(AdbUnavailableError) as caught:
        here.run(SLEEP)

    assert caught.value.serial == "PH1"
    assert caught.value.hint == (
        "Start it. The device may still be acting; the next execution waits for it."
    )


def test_a_ping_asks_the_operator(bench: MakeBench) -> None:
    """The ping gives the Operator's answer, without preflight."""
    here = bench()
    with pytest.raises(EnvelopeTimeoutError):
        here.pipeline.ping(2.0)

    assert "doctor_ping" in here.transport.commands[-1]
    assert here.transport.clock() == pytest.approx(2.0)


def test_a_silent_operator_is_looked_into(bench: MakeBench) -> None:
    """The preflight that passed before the run is asked again when nothing comes."""
    here = bench()

    def unfit() -> None:
        here.preflights += 1
        if here.preflights == 2:
            raise OperatorNotReadyError("gone", code=ErrorCode.OPERATOR_NOT_INSTALLED)

    here.pipeline._preflight = unfit
    with pytest.raises(OperatorNotReadyError):
        here.run(SLEEP)

    assert here.transport.clock() < 2.0


def test_each_broadcast_is_cleared_first(bench: MakeBench) -> None:
    """Before anything is sent it is asked for, with how long the device may be busy with it."""
    asked: list[tuple[str, float, int]] = []
    here = bench((0.1, envelope("cmd-1", step("sleep"))))

    def clearance(command_id: str, seconds: float) -> None:
        asked.append((command_id, seconds, len(here.transport.commands)))

    here.pipeline._clearance = clearance
    here.run(SLEEP)
    with pytest.raises(EnvelopeTimeoutError):
        here.pipeline.ping(2.0)

    assert [(command_id[:4], sent) for command_id, _, sent in asked] == [("cmd-", 0), ("ping", 1)]
    assert asked[0][1] > complete_execution({"actions": [SLEEP]}).timeout_ms / 1000


def test_without_clearance_nothing_is_sent(bench: MakeBench) -> None:
    """A lease that is gone stops the run before it does anything to the device."""

    def gone(command_id: str, seconds: float) -> None:
        raise LeaseError("the lease is gone", serial="the key of the device")

    here = bench(clearance=gone)
    close = {"id": "b", "type": "close_app", "params": {"applicationId": "com.x"}}
    for actions in ((SLEEP,), (close,)):
        with pytest.raises(LeaseError) as caught:
            here.run(*actions)
    with pytest.raises(LeaseError):
        here.pipeline.ping(2.0)

    assert caught.value.serial == "PH1"
    assert here.transport.commands == []
    assert here.unfinished() is None


def test_without_its_lock_nothing_is_sent(bench: MakeBench) -> None:
    """If somebody removes the folder of the locks, neither broadcasts nor force-stops follow."""
    here = bench()
    sent = []
    here.pipeline._preflight = lambda: shutil.rmtree(here.flight.folder)

    for action in (SLEEP, {"id": "a", "type": "close_app", "params": {"applicationId": "a.b"}}):
        here.pipeline._checked_connection = None
        with pytest.raises(LeaseError, match="no longer locked for this execution") as caught:
            here.run(action)
        sent.append((caught.value.serial, here.transport.commands, here.unfinished()))

    assert sent == [("PH1", [], None)] * 2


def test_malformed_contents_of_the_lock_file_are_told_once(bench: MakeBench) -> None:
    """The user is told of them, and the execution runs."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))
    path = lock_path("PH1", "flight", folder=here.flight.folder)
    path.parent.mkdir()
    path.write_bytes(b"[" * 1500)

    result = here.run(SLEEP)

    told = [event.message for event in here.events if isinstance(event, Notice)]
    assert result.ok
    assert [str(path) in message for message in told] == [True]


def test_closing_removes_its_own_lock_file_and_old_ones_of_others(bench: MakeBench) -> None:
    """A client that ends leaves no lock file, and clears away what killed processes left."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))
    here.run(SLEEP)
    folder = here.flight.folder
    left = lock_path("long-gone", "flight", folder=folder)
    left.touch()
    os.utime(left, (0, 0))
    sweep.cache_clear()

    here.pipeline.close()

    assert list(folder.iterdir()) == []


def test_the_watchers_hear_of_everything(bench: MakeBench) -> None:
    """Start, end and artefacts are told in order, with the position in the log."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    here.transport.log.lines.append(line("earlier"))

    result = here.run({"id": "a", "type": "take_screenshot"})

    start, end, made = here.events
    assert isinstance(start, ExecutionStarted)
    assert isinstance(end, ExecutionFinished)
    assert isinstance(made, ArtifactMade)
    assert start.log_position == end.log_position == 1
    assert start.execution.command_id == "cmd-1"
    assert end.result is result
    assert end.error is None
    assert (made.kind, made.step_id, made.data) == ("screenshot", "a", result.screenshot)
    assert made.path is None


def test_the_watchers_hear_of_the_file_that_was_asked_for(bench: MakeBench, tmp_path: Path) -> None:
    """A path of one's own is told; a passing file is not."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    path = tmp_path / "mine.png"

    here.run({"id": "a", "type": "take_screenshot", "params": {"path": str(path)}})

    made = here.events[-1]
    assert isinstance(made, ArtifactMade)
    assert made.path == path


def test_the_watchers_hear_of_errors(bench: MakeBench) -> None:
    """An execution without an envelope ends with its error."""
    here = bench(broadcast=ShellResult("", "refused", 1))

    with pytest.raises(BroadcastError) as caught:
        here.run(SLEEP)

    end = here.events[-1]
    assert isinstance(end, ExecutionFinished)
    assert end.error is caught.value
    assert end.result is None


def test_a_watcher_that_fails_harms_nobody(bench: MakeBench) -> None:
    """The run goes on, and the failure is a warning that names it."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))

    def broken(event: Event) -> None:
        raise ValueError("broken report")

    remove = here.pipeline.observers.add(broken)
    with pytest.warns(ClawperatorWarning, match="broken report"):
        result = here.run(SLEEP)
    remove()
    here.answer((0.1, envelope("cmd-2", step("sleep"))))
    again = here.run(SLEEP, command_id="cmd-2")

    assert result.ok
    assert again.ok


def test_a_watcher_that_fails_harms_nobody_where_warnings_are_errors(bench: MakeBench) -> None:
    """A filter that makes errors of warnings does not make a run fail for its watchers."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))

    def broken(event: Event) -> None:
        raise ValueError("broken report")

    here.pipeline.observers.add(broken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = here.run(SLEEP)

    assert result.ok


def test_a_watcher_may_use_the_device_when_an_execution_ended(bench: MakeBench) -> None:
    """The end is told when the device is free again."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))
    nested: list[RunResult] = []

    def act(event: Event) -> None:
        if isinstance(event, ExecutionFinished) and not nested:
            here.answer((0.1, envelope("cmd-2", step("sleep"))))
            nested.append(here.run(SLEEP, command_id="cmd-2"))

    here.pipeline.observers.add(act)
    result = here.run(SLEEP)

    assert result.ok
    assert nested[0].ok


def test_the_watchers_hear_of_what_was_never_sent(bench: MakeBench) -> None:
    """A conflict, too, is an execution that started and ended."""
    here = bench()

    with here.pipeline._flight.claim("other", serial="s"), pytest.raises(ExecutionConflictError):
        here.run(SLEEP)

    assert [type(event) for event in here.events] == [ExecutionStarted, ExecutionFinished]


def test_the_watchers_hear_of_a_device_that_is_gone(bench: MakeBench) -> None:
    """Where not even the log can be opened, start and end are told all the same."""
    here = bench()
    gone = DeviceNotFoundError("gone", serial="PH1")

    def mark() -> int:
        raise gone

    here.transport.log.mark = mark  # type: ignore[method-assign]
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP)

    start, end = here.events
    assert isinstance(start, ExecutionStarted)
    assert isinstance(end, ExecutionFinished)
    assert end.error is gone


def test_the_next_execution_waits_for_a_late_envelope(bench: MakeBench) -> None:
    """After a timeout the device may be busy: nothing is sent before its envelope was seen."""
    here = bench()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="slow")
    gave_up_at = here.transport.clock()
    here.answer((2.0, envelope("slow")), (2.5, envelope("next", step("sleep"))))
    here.transport.log.sent_at = gave_up_at

    result = here.run(SLEEP, command_id="next")

    assert result.ok
    assert any("slow" in event.message for event in here.events if isinstance(event, Notice))
    assert [c for c in here.transport.commands if "logcat" in c] == ["logcat -d -v threadtime"]


def test_an_earlier_envelope_of_the_same_id_is_no_end(bench: MakeBench) -> None:
    """A command id that is used twice does not make a device free that is still busy."""
    here = bench((0.1, envelope("mine", step("sleep"))))
    here.run(SLEEP, command_id="mine")
    here.answer()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="mine")
    here.transport.dump = b"\n".join([*here.transport.log.lines, b""])
    gave_up_at = here.transport.clock()
    late = envelope("mine", step("sleep", id="second"))
    own = envelope("mine", step("sleep", id="third"))
    here.answer((2.0, late), (2.5, own))
    here.transport.log.sent_at = gave_up_at

    result = here.run(SLEEP, command_id="mine")

    assert [each.id for each in result.steps] == ["third"]


def test_the_wait_for_a_late_envelope_is_bounded(bench: MakeBench) -> None:
    """An envelope that never comes holds the next execution up for a while, once."""
    here = bench()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="lost")
    gave_up_at = here.transport.clock()
    here.answer((0.1, envelope("next", step("sleep"))))

    result = here.run(SLEEP, command_id="next")

    assert result.ok
    assert 0 < here.transport.clock() - gave_up_at < 10


def test_a_late_envelope_that_is_in_the_log_already_is_found(bench: MakeBench) -> None:
    """It may have come while nobody read: the device's own buffer is searched first."""
    here = bench()
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="slow")
    gave_up_at = here.transport.clock()
    here.transport.dump = b"noise\n" + envelope("slow") + b"\n"
    here.answer((0.1, envelope("next", step("sleep"))))

    result = here.run(SLEEP, command_id="next")

    assert result.ok
    assert here.transport.clock() - gave_up_at == pytest.approx(0.1)


@pytest.mark.parametrize(
    "ending",
    [
        {"broadcast": ShellResult("", "refused", 1)},
        {"script": [(0.1, envelope("cmd-1")[:110])]},
    ],
    ids=["the broadcast failed", "the envelope was malformed"],
)
def test_nobody_waits_for_a_command_whose_end_was_seen(
    bench: MakeBench, ending: dict[str, Any]
) -> None:
    """A run that ended without an envelope has ended all the same."""
    here = bench(*ending.pop("script", ()), **ending)
    with pytest.raises((BroadcastError, EnvelopeMalformedError)):
        here.run(SLEEP)
    ended_at = here.transport.clock()
    here.transport._broadcast = ShellResult("", "", 0)
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    assert here.transport.clock() - ended_at == pytest.approx(0.1)


def test_a_command_on_a_vanished_device_is_waited_for(bench: MakeBench) -> None:
    """A device that went away may come back still busy."""
    gone = DeviceNotFoundError("gone", serial="PH1")
    here = bench((0.1, gone))
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    assert any("lost" in event.message for event in here.events if isinstance(event, Notice))


@pytest.mark.parametrize("taken", [True, False])
def test_a_command_sent_into_a_breaking_connection(bench: MakeBench, taken: bool) -> None:
    """It is waited for to its latest end if the Operator took it, else for a moment only."""
    here = bench((0.001, DeviceNotFoundError("gone", serial="PH1")))
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    if taken:
        here.transport.dump = line("[Clawperator-Command] start commandId=lost taskId=t") + b"\n"
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    waited = here.transport.clock() - 0.1
    assert waited > 30 if taken else waited < 6
    assert any("lost" in event.message for event in here.events if isinstance(event, Notice))


def test_a_command_that_was_never_sent_is_not_waited_for(bench: MakeBench) -> None:
    """A device that went away before the broadcast is busy with nothing."""
    here = bench()
    here.transport.problem = DeviceNotFoundError("gone", serial="PH1")
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    here.transport.problem = None
    here.answer((0.1, envelope("next", step("sleep"))))

    here.run(SLEEP, command_id="next")

    assert here.transport.clock() == pytest.approx(0.1)
    assert not [event for event in here.events if isinstance(event, Notice)]


def test_another_app_cannot_end_the_wait(bench: MakeBench) -> None:
    """The envelope of a command that was not seen to end counts only if the Operator logged it."""
    here = bench(processes=Processes(10145, frozenset({4242}), frozenset({700})))
    with pytest.raises(EnvelopeTimeoutError):
        here.run(SLEEP, command_id="slow")
    gave_up_at = here.transport.clock()
    here.transport.dump = envelope("slow").replace(b" 4242", b" 5000") + b"\n"
    here.answer((2.0, envelope("slow")), (2.5, envelope("next", step("sleep"))))
    here.transport.log.sent_at = gave_up_at

    here.run(SLEEP, command_id="next")

    assert here.transport.clock() - gave_up_at == pytest.approx(2.0 + 2.5)


NODE = {"matcher": {"textEquals": "x"}}


def longest(kind: str, **params: Any) -> float:
    """Return the longest run of one action."""
    return longest_run(complete_execution([{"type": kind, "params": params}]))


@pytest.mark.parametrize(
    ("kind", "params", "least"),
    [
        ("sleep", {"durationMs": 20000}, 20.0),
        ("wait_for_navigation", {"expectedPackage": "a", "timeoutMs": 9000}, 9.0),
        ("click", NODE, 7.5),
        ("wait_for_node", NODE, 7.5),
        ("snapshot_ui", {}, 7.5),
        ("open_app", {"applicationId": "a"}, 5.25),
        ("scroll_until", {"maxDurationMs": 60000, **NODE}, 67.5),
        ("scroll_and_click", {"maxSwipes": 40, "settleDelayMs": 1000, **NODE}, 50.0),
        ("scroll", {"settleDelayMs": 10000}, 10.25),
        ("stop_recording", {}, 10.0),
    ],
)
def test_no_action_is_thought_shorter_than_it_can_be(
    kind: str, params: dict[str, Any], least: float
) -> None:
    """The estimate is at least what the Operator's own rules allow the action."""
    assert longest(kind, **params) >= least


@pytest.mark.parametrize(
    ("retry", "least", "most"),
    [
        ({"maxAttempts": 1}, 0.0, 3.0),
        ({"maxAttempts": 10, "initialDelayMs": 1000}, 9.0, 30.0),
        ({"maxAttempts": 99, "initialDelayMs": 1000}, 9.0, 30.0),
        ({"maxAttempts": 3, "initialDelayMs": 1000, "backoffMultiplier": 3}, 2.0, 8.0),
        (
            {
                "maxAttempts": 3,
                "initialDelayMs": 1000,
                "maxDelayMs": 9000,
                "backoffMultiplier": 3,
                "jitterRatio": 0.5,
            },
            6.0,
            14.0,
        ),
        ({"maxAttempts": "ten", "initialDelayMs": None}, 0.0, 3.0),
    ],
)
def test_a_retry_object_counts_as_the_operator_reads_it(
    retry: dict[str, Any], least: float, most: float
) -> None:
    """Attempts and pauses are held within the Operator's bounds; nonsense is its default."""
    assert least <= longest("click", retry=retry, **NODE) <= most


def test_actions_add_up() -> None:
    """The longest run is the sum over the actions."""
    action = {"type": "sleep", "params": {"durationMs": 1000}}

    once = longest_run(complete_execution([action]))
    thrice = longest_run(complete_execution([action] * 3))

    assert thrice == pytest.approx(3 * once)
