"""The run: what is done around a dispatch, and in which order."""

from __future__ import annotations

import gc
import os
import shutil
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator import complete_execution, errors
from pytest_clawperator.contracts import events
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.events import Event, ExecutionFinished, ExecutionStarted
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.execution.flight import sweep
from pytest_clawperator.execution.lock_file import lock_path
from pytest_clawperator.execution.pipeline import longest_run
from pytest_clawperator.execution.postprocess import PROCESSORS, Collected
from pytest_clawperator.execution.processes import Processes
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.interrupting import interruptions
from tests.doubles.log import line
from tests.doubles.pipeline import SHOT, SLEEP, SNAPSHOT, XML, Bench, MakeBench, envelope, step


def notices(here: Bench) -> list[str]:
    """Return what observers were notified of."""
    return [event.message for event in here.events if isinstance(event, events.Notice)]


def run_next(here: Bench, *, at: float = 0.1) -> float:
    """Run another execution, which is answered; return how long it took."""
    began = here.transport.clock()
    here.answer((at, envelope("next", step("sleep"))))
    assert here.run(SLEEP, command_id="next").ok
    return here.transport.clock() - began


def lose(here: Bench, command_id: str) -> None:
    """Run an execution that is never answered."""
    with pytest.raises(errors.EnvelopeTimeoutError):
        here.run(SLEEP, command_id=command_id)


def test_a_run_gives_the_processed_envelope_and_what_only_it_knows(bench: MakeBench) -> None:
    """The result has serial, time and log slice; running does not raise for a failed step."""
    failed = step("click", success=False, error="NODE_NOT_FOUND")
    here = bench((0.5, envelope("cmd-1", failed)))

    result = here.run(SLEEP)

    assert result.status == "failed"
    assert result.code == ErrorCode.NODE_NOT_FOUND
    assert result.serial == "PH1"
    assert result.elapsed == pytest.approx(0.5)
    assert result.terminal_source == "clawperator_result"
    assert [entry.message[:20] for entry in result.log] == ["[Clawperator-Result]"]


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
    """A success without a hierarchy is useless, and observers are notified."""
    here = bench((0.1, envelope("cmd-1", step("snapshot_ui"))))

    result = here.run(SNAPSHOT)

    assert result.code == ErrorCode.SNAPSHOT_EXTRACTION_FAILED
    assert notices(here)
    with pytest.raises(errors.SnapshotError):
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

    with pytest.raises(errors.ShellError) as caught:
        here.run({"id": "b", "type": "close_app", "params": {"applicationId": "com.x"}})

    assert caught.value.code == ErrorCode.DEVICE_SHELL_UNAVAILABLE
    assert caught.value.details["adbExitCode"] == 1
    assert "Nothing was sent" in str(caught.value)
    assert len(here.transport.commands) == 1


def test_the_device_is_checked_once_per_connection(bench: MakeBench) -> None:
    """Preflight runs before the first execution, after a reconnection and after a restore."""
    here = bench()

    for connection, checks in ((1, 1), (1, 1), (2, 2)):
        here.transport.connections = connection
        run_next(here)
        assert here.preflights == checks
    here.pipeline.forget(here.transport.log.mark())
    run_next(here)

    assert here.preflights == 3


def test_the_device_can_be_used_alone_between_executions(bench: MakeBench) -> None:
    """Meanwhile nothing can be run, and without clearance nothing is done."""
    here = bench()

    def run_meanwhile() -> str:
        with pytest.raises(errors.ExecutionConflictError):
            here.run(SLEEP)
        return "done"

    assert here.pipeline.use_alone("restore", 5.0, run_meanwhile) == "done"

    def gone(command_id: str, seconds: float) -> None:
        raise errors.LeaseError(f"no {command_id} for {seconds} s")

    here.pipeline._clearance = gone
    with pytest.raises(errors.LeaseError, match=r"no restore for 5\.0 s"):
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
        raised = set()
        ours = ("flight.py", "lock_file.py", "observing.py", "pipeline.py", "contextlib.py")
        for error in interruptions(run, within=ours):
            raised.add(type(error))
            del error
            with here.pipeline._flight.claim("next", serial="s") as claim:
                claim.land()
    finally:
        gc.enable()

    assert raised == {KeyboardInterrupt}


def test_further_processors_have_the_last_word(bench: MakeBench) -> None:
    """Processing is a chain to which a caller can add."""

    def stamp(envelope: ResultEnvelope, collected: Collected) -> ResultEnvelope:
        return envelope.model_copy(update={"hint": f"seen on {collected.serial}"})

    here = bench((0.1, envelope("cmd-1", step("sleep"))), processors=[*PROCESSORS, stamp])

    result = here.run(SLEEP)

    assert result.hint == "seen on PH1"


def test_an_error_in_flight_warns_that_the_device_may_be_acting(bench: MakeBench) -> None:
    """The error of an adb server that is gone gets the serial and the warning."""
    here = bench((0.1, errors.AdbUnavailableError("no server", hint="Start it.")))

    with pytest.raises(errors.AdbUnavailableError) as caught:
        here.run(SLEEP)

    assert caught.value.serial == "PH1"
    assert caught.value.hint == (
        "Start it. The device may still be acting; the next execution waits for it."
    )


def test_each_broadcast_is_cleared_first(bench: MakeBench) -> None:
    """Before a run or a ping is sent, clearance is asked with how long the device may be busy."""
    asked: list[tuple[str, float, int]] = []
    here = bench((0.1, envelope("cmd-1", step("sleep"))))

    def clearance(command_id: str, seconds: float) -> None:
        asked.append((command_id, seconds, len(here.transport.commands)))

    here.pipeline._clearance = clearance
    here.run(SLEEP)
    began = here.transport.clock()
    with pytest.raises(errors.EnvelopeTimeoutError):
        here.pipeline.ping(2.0)

    assert [(command_id[:4], sent) for command_id, _, sent in asked] == [("cmd-", 0), ("ping", 1)]
    assert asked[0][1] > complete_execution({"actions": [SLEEP]}).timeout_ms / 1000
    assert "doctor_ping" in here.transport.commands[-1]
    assert here.transport.clock() - began == pytest.approx(2.0)


def test_a_silent_operator_is_checked(bench: MakeBench) -> None:
    """The preflight that passed before the run is repeated when no answer comes."""
    here = bench()

    def unfit() -> None:
        here.preflights += 1
        if here.preflights == 2:
            raise errors.OperatorNotReadyError("gone", code=ErrorCode.OPERATOR_NOT_INSTALLED)

    here.pipeline._preflight = unfit
    with pytest.raises(errors.OperatorNotReadyError):
        here.run(SLEEP)

    assert here.transport.clock() < 2.0


def test_without_clearance_nothing_is_sent(bench: MakeBench) -> None:
    """A lease that is gone stops the run before it does anything to the device."""

    def gone(command_id: str, seconds: float) -> None:
        raise errors.LeaseError("the lease is gone", serial="the key of the device")

    here = bench(clearance=gone)
    close = {"id": "b", "type": "close_app", "params": {"applicationId": "com.x"}}
    for actions in ((SLEEP,), (close,)):
        with pytest.raises(errors.LeaseError) as caught:
            here.run(*actions)
    with pytest.raises(errors.LeaseError):
        here.pipeline.ping(2.0)

    assert caught.value.serial == "PH1"
    assert here.transport.commands == []
    assert here.unfinished() is None


def test_without_its_lock_nothing_is_sent(bench: MakeBench) -> None:
    """If the folder of the locks is removed, neither broadcasts nor force-stops follow."""
    here = bench()
    sent = []
    here.pipeline._preflight = lambda: shutil.rmtree(here.flight.folder)

    for action in (SLEEP, {"id": "a", "type": "close_app", "params": {"applicationId": "a.b"}}):
        here.pipeline._checked_connection = None
        with pytest.raises(
            errors.LeaseError, match="no longer locked for this execution"
        ) as caught:
            here.run(action)
        sent.append((caught.value.serial, here.transport.commands, here.unfinished()))

    assert sent == [("PH1", [], None)] * 2


def test_malformed_contents_of_the_lock_file_are_reported_once(bench: MakeBench) -> None:
    """Observers are notified of them, and the execution runs."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))
    path = lock_path("PH1", "flight", folder=here.flight.folder)
    path.parent.mkdir()
    path.write_bytes(b"[" * 1500)

    assert here.run(SLEEP).ok
    assert [str(path) in message for message in notices(here)] == [True]


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


def test_observers_get_start_end_and_artefacts_in_order(bench: MakeBench, tmp_path: Path) -> None:
    """Events have the position in the log; an artefact has a path only if one was asked for."""
    for number, path in enumerate((None, tmp_path / "mine.png")):
        command_id = f"cmd-{number}"
        here = bench((0.1, envelope(command_id, SHOT)))
        here.transport.log.lines.append(line("earlier"))
        params = {"params": {"path": str(path)}} if path else {}

        shot = {"id": "a", "type": "take_screenshot", **params}
        result = here.run(shot, command_id=command_id)

        start, end, made = here.events
        assert isinstance(start, ExecutionStarted)
        assert isinstance(end, ExecutionFinished)
        assert isinstance(made, events.ArtifactMade)
        assert start.log_position == end.log_position == 1
        assert start.execution.command_id == command_id
        assert (end.result, end.error) == (result, None)
        assert (made.kind, made.step_id, made.data) == ("screenshot", "a", result.screenshot)
        assert made.path == path


def test_observers_get_start_and_end_of_every_failure(bench: MakeBench) -> None:
    """A refused broadcast, a conflict and a log that cannot be opened end with their errors."""
    refused, busy, gone = bench(broadcast=ShellResult("", "refused", 1)), bench(), bench()

    def mark() -> int:
        raise errors.DeviceNotFoundError("gone", serial="PH1")

    gone.transport.log.mark = mark  # type: ignore[method-assign]
    for here, kind in (
        (refused, errors.BroadcastError),
        (gone, errors.DeviceNotFoundError),
        (busy, errors.ExecutionConflictError),
    ):
        with ExitStack() as stack:
            if here is busy:
                stack.enter_context(busy.pipeline._flight.claim("other", serial="s"))
            with pytest.raises(kind) as caught:
                here.run(SLEEP)

        start, end = here.events
        assert isinstance(start, ExecutionStarted)
        assert isinstance(end, ExecutionFinished)
        assert end.error is caught.value
        assert end.result is None


def test_an_observer_that_fails_does_not_fail_the_run(bench: MakeBench) -> None:
    """The failure is a warning that names it, even if a filter makes errors of warnings."""
    here = bench()

    def broken(event: Event) -> None:
        raise ValueError("broken report")

    remove = here.pipeline.observers.add(broken)
    with pytest.warns(errors.ClawperatorWarning, match="broken report"):
        run_next(here)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_next(here)
        remove()
        run_next(here)


def test_an_observer_may_use_the_device_after_an_execution(bench: MakeBench) -> None:
    """The end is reported when the device is free again."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))
    nested: list[float] = []

    def act(event: Event) -> None:
        if isinstance(event, ExecutionFinished) and not nested:
            nested.append(0.0)
            run_next(here)

    here.pipeline.observers.add(act)

    assert here.run(SLEEP).ok
    assert len(nested) == 1


def test_the_next_execution_waits_for_a_late_envelope(bench: MakeBench) -> None:
    """After a timeout the device may be busy: nothing is sent before its envelope was seen."""
    here = bench()
    lose(here, "slow")
    gave_up_at = here.transport.clock()
    here.answer((2.0, envelope("slow")), (2.5, envelope("next", step("sleep"))))
    here.transport.log.sent_at = gave_up_at

    assert here.run(SLEEP, command_id="next").ok
    assert any("slow" in message for message in notices(here))
    assert [c for c in here.transport.commands if "logcat" in c] == ["logcat -d -v threadtime"]


def test_an_earlier_envelope_of_the_same_id_does_not_end_the_wait(bench: MakeBench) -> None:
    """A command id that is used twice does not make a device free that is still busy."""
    here = bench((0.1, envelope("mine", step("sleep"))))
    here.run(SLEEP, command_id="mine")
    here.answer()
    with pytest.raises(errors.EnvelopeTimeoutError):
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
    """One that never comes delays the next execution; one in the device's buffer does not."""
    here = bench()
    lose(here, "lost")
    assert 0.1 < run_next(here) < 10
    assert run_next(here) == pytest.approx(0.1)

    here.answer()
    lose(here, "slow")
    here.transport.dump = b"noise\n" + envelope("slow") + b"\n"
    assert run_next(here) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "ending",
    [
        {"broadcast": ShellResult("", "refused", 1)},
        {"script": [(0.1, envelope("cmd-1")[:110])]},
    ],
    ids=["the broadcast failed", "the envelope was malformed"],
)
def test_a_command_whose_end_was_seen_is_not_waited_for(
    bench: MakeBench, ending: dict[str, Any]
) -> None:
    """A run that ended without an envelope has ended all the same."""
    here = bench(*ending.pop("script", ()), **ending)
    with pytest.raises((errors.BroadcastError, errors.EnvelopeMalformedError)):
        here.run(SLEEP)
    here.transport._broadcast = ShellResult("", "", 0)

    assert run_next(here) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("at", "taken", "least", "most"),
    [(0.1, False, 0.2, 60), (0.001, True, 30, 60), (0.001, False, 0.2, 6)],
    ids=["vanished later", "taken", "never taken"],
)
def test_a_command_on_a_vanished_device_is_waited_for(
    bench: MakeBench, at: float, taken: bool, least: float, most: float
) -> None:
    """It is waited for to its latest end if the Operator took it, else only briefly."""
    here = bench((at, errors.DeviceNotFoundError("gone", serial="PH1")))
    with pytest.raises(errors.DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    if taken:
        here.transport.dump = line("[Clawperator-Command] start commandId=lost taskId=t") + b"\n"

    assert least < run_next(here) < most
    assert any("lost" in message for message in notices(here))


def test_a_command_that_was_never_sent_is_not_waited_for(bench: MakeBench) -> None:
    """A device that went away before the broadcast is busy with nothing."""
    here = bench()
    here.transport.problem = errors.DeviceNotFoundError("gone", serial="PH1")
    with pytest.raises(errors.DeviceNotFoundError):
        here.run(SLEEP, command_id="lost")
    here.transport.problem = None

    assert run_next(here) == pytest.approx(0.1)
    assert notices(here) == []


def test_another_app_cannot_end_the_wait(bench: MakeBench) -> None:
    """The envelope of a command that was not seen to end counts only if the Operator logged it."""
    here = bench(processes=Processes(10145, frozenset({4242}), frozenset({700})))
    lose(here, "slow")
    gave_up_at = here.transport.clock()
    here.transport.dump = envelope("slow").replace(b" 4242", b" 5000") + b"\n"
    here.answer((2.0, envelope("slow")), (2.5, envelope("next", step("sleep"))))
    here.transport.log.sent_at = gave_up_at

    here.run(SLEEP, command_id="next")

    assert here.transport.clock() - gave_up_at == pytest.approx(2.0 + 2.5)


NODE = {"matcher": {"textEquals": "x"}}
SECOND, THRICE = {"initialDelayMs": 1000}, {"backoffMultiplier": 3}


@pytest.mark.parametrize(
    ("kind", "params", "least", "most"),
    [
        ("sleep", {"durationMs": 20000}, 20.0, 25.0),
        ("wait_for_navigation", {"expectedPackage": "a", "timeoutMs": 9000}, 9.0, 14.0),
        ("click", NODE, 7.5, 12.0),
        ("wait_for_node", NODE, 7.5, 12.0),
        ("snapshot_ui", {}, 7.5, 12.0),
        ("open_app", {"applicationId": "a"}, 5.25, 12.0),
        ("scroll_until", {"maxDurationMs": 60000, **NODE}, 67.5, 90.0),
        ("scroll_and_click", {"maxSwipes": 40, "settleDelayMs": 1000, **NODE}, 50.0, 150.0),
        ("scroll", {"settleDelayMs": 10000}, 10.25, 15.0),
        ("stop_recording", {}, 10.0, 15.0),
        ("click", {"retry": {"maxAttempts": 1}, **NODE}, 0.0, 3.0),
        ("click", {"retry": {"maxAttempts": 10, **SECOND}, **NODE}, 9.0, 30.0),
        ("click", {"retry": {"maxAttempts": 99, **SECOND}, **NODE}, 9.0, 30.0),
        ("click", {"retry": {"maxAttempts": 3, **SECOND, **THRICE}, **NODE}, 2.0, 8.0),
        (
            "click",
            {
                "retry": {
                    "maxAttempts": 3,
                    "maxDelayMs": 9000,
                    "jitterRatio": 0.5,
                    **SECOND,
                    **THRICE,
                },
                **NODE,
            },
            6.0,
            14.0,
        ),
        ("click", {"retry": {"maxAttempts": "ten", "initialDelayMs": None}, **NODE}, 0.0, 3.0),
    ],
)
def test_the_longest_run_of_an_action_is_what_the_operator_allows_it(
    kind: str, params: dict[str, Any], least: float, most: float
) -> None:
    """The estimate reads retries as the Operator does, and actions add up."""
    action = {"type": kind, "params": params}

    once, thrice = (longest_run(complete_execution([action] * count)) for count in (1, 3))

    assert least <= once <= most
    assert thrice == pytest.approx(3 * once)
