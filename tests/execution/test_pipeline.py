"""The run: what is done around a dispatch, and in which order."""

from __future__ import annotations

import gc
import os
import shutil

import pytest

from pytest_clawperator import complete_execution
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.events import Notice
from pytest_clawperator.errors import (
    AdbUnavailableError,
    EnvelopeTimeoutError,
    ErrorCode,
    ExecutionConflictError,
    LeaseError,
    OperatorNotReadyError,
    ShellError,
    SnapshotError,
)
from pytest_clawperator.execution.locks.folder import lock_path
from pytest_clawperator.execution.locks.sweep import sweep
from pytest_clawperator.execution.postprocess import PROCESSORS, Collected
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.interrupting import interruptions
from tests.doubles.log import line
from tests.doubles.pipeline import SLEEP, SNAPSHOT, XML, MakeBench, envelope, step


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
