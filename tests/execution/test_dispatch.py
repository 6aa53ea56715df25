"""From a payload to the envelope that answers it, with every way it can fail named."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest

from pytest_clawperator import complete_execution
from pytest_clawperator.errors import (
    BroadcastError,
    DeviceNotFoundError,
    EnvelopeMalformedError,
    EnvelopeTimeoutError,
    ErrorCode,
    OperatorNotReadyError,
    PayloadRefusedError,
)
from pytest_clawperator.execution.dispatch import Command, Reply, dispatch
from pytest_clawperator.execution.processes import KnownProcesses, Processes
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.log import LoggedTransport, line

PACKAGE = "com.clawperator.operator"
EXECUTION = complete_execution({"commandId": "cmd-1", "actions": [{"type": "snapshot_ui"}]})
COMMAND = Command.of(EXECUTION)
START = line("[Clawperator-Command] start commandId=cmd-1 taskId=t source=s")
ENVELOPE = line(
    '[Clawperator-Result] {"commandId":"cmd-1","taskId":"t","status":"success",'
    '"stepResults":[],"error":null}'
)


def fine() -> None:
    """Find no cause of the silence."""


def run(
    transport: LoggedTransport,
    find_cause: Callable[[], None] = fine,
    on_arrival: Callable[[], None] = fine,
    processes: KnownProcesses | None = None,
) -> Reply:
    """Dispatch the command on the transport's own clock."""
    return dispatch(
        transport,
        COMMAND,
        operator_package=PACKAGE,
        processes=processes or KnownProcesses(lambda: None),
        find_cause=find_cause,
        on_arrival=on_arrival,
        clock=transport.clock,
    )


def test_the_envelope_comes_back_with_its_place_in_the_log() -> None:
    """The reply holds the envelope, its process, and the stretch of the log since the mark."""
    transport = LoggedTransport((0.0, START), (0.01, ENVELOPE), (0.01, line("later")))
    transport.log.lines.append(line("earlier"))

    reply = run(transport)

    assert reply.envelope.ok
    assert reply.pid == 4242
    assert transport.log.read(reply.start, reply.end) == [START, ENVELOPE]


def test_the_broadcast_is_one_shell_command_with_the_payload() -> None:
    """The device gets exactly the documented broadcast."""
    transport = LoggedTransport((0.0, ENVELOPE))

    run(transport)

    words = shlex.split(transport.commands[0])
    assert words[:4] == ["am", "broadcast", "-a", "app.clawperator.operator.ACTION_AGENT_COMMAND"]
    assert words[4:8] == ["-p", PACKAGE, "--es", "payload"]
    assert json.loads(words[8]) == EXECUTION.to_wire()
    assert words[9:] == ["--receiver-foreground"]


def test_a_stale_envelope_is_not_read_again() -> None:
    """An envelope of the same command that stood in the log before the broadcast is none."""
    transport = LoggedTransport((1.0, ENVELOPE))
    transport.log.lines.append(ENVELOPE.replace(b"success", b"failed"))

    reply = run(transport)

    assert reply.envelope.ok


def test_the_wait_ends_with_the_limit_and_its_margin() -> None:
    """No envelope: the error tells how long, what the Operator said last, and what to do."""
    transport = LoggedTransport((0.1, START), (0.2, line("[TaskScope] busy", priority="D")))

    with pytest.raises(EnvelopeTimeoutError) as caught:
        run(transport)

    error = caught.value
    assert transport.clock() == pytest.approx(35.0)
    assert error.code == ErrorCode.RESULT_ENVELOPE_TIMEOUT
    assert error.serial == "PH1"
    assert "35.0 s" in str(error)
    assert "took the command" in str(error)
    assert "[TaskScope] busy" in str(error)
    assert "timeout" in str(error.hint)
    assert error.details["broadcastDispatchStatus"] == "sent"
    assert error.details["lastActionType"] == "snapshot_ui"
    assert error.details["timeoutMs"] == 30000
    assert error.details["elapsedMs"] == 35000


def test_a_timeout_does_not_show_hierarchies() -> None:
    """The lines of a dump would push out all that tells something."""
    took = line("[Clawperator-Command] start commandId=cmd-1 taskId=t")
    dump = [(0.2, line("  <node text='a' />", priority="D")) for _ in range(20)]
    transport = LoggedTransport((0.1, took), *dump)

    with pytest.raises(EnvelopeTimeoutError) as caught:
        run(transport)

    assert caught.value.details["lastCorrelatedEvents"] == [took.decode()]


def test_a_timeout_without_a_sign_says_that_there_was_none() -> None:
    """Silence has another cause than slowness, and another hint."""
    transport = LoggedTransport()

    with pytest.raises(EnvelopeTimeoutError) as caught:
        run(transport)

    assert "gave no sign" in str(caught.value)
    assert "accessibility service" in str(caught.value.hint)


def test_silence_is_looked_into_once() -> None:
    """An Operator that says nothing makes the host look why, long before the limit."""
    transport = LoggedTransport()
    asked: list[float] = []

    with pytest.raises(EnvelopeTimeoutError):
        run(transport, lambda: asked.append(transport.clock()))

    assert len(asked) == 1
    assert asked[0] < 2.0


def test_a_cause_of_the_silence_ends_the_wait() -> None:
    """What makes the device unfit is raised as soon as it is found."""
    transport = LoggedTransport()
    cause = OperatorNotReadyError("gone", code=ErrorCode.OPERATOR_NOT_INSTALLED)

    def find() -> None:
        raise cause

    with pytest.raises(OperatorNotReadyError) as caught:
        run(transport, find)

    assert caught.value is cause
    assert transport.clock() < 2.0


def test_an_operator_that_took_the_command_is_left_alone() -> None:
    """A long execution is no silence."""
    transport = LoggedTransport((0.1, START), (20.0, ENVELOPE))
    asked: list[float] = []

    reply = run(transport, lambda: asked.append(transport.clock()))

    assert reply.envelope.ok
    assert asked == []


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Error: Target package not found: x", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("Exception: com.x does not exist", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("Security exception: Permission Denial", ErrorCode.BROADCAST_FAILED),
    ],
)
def test_a_broadcast_that_fails_is_told_at_once(said: str, code: ErrorCode) -> None:
    """The device's own words and exit code stand in the error."""
    transport = LoggedTransport(broadcast=ShellResult(said, "", 255))

    with pytest.raises((BroadcastError, OperatorNotReadyError)) as caught:
        run(transport)

    assert caught.value.code == code
    assert caught.value.serial == "PH1"
    assert said in str(caught.value)
    assert caught.value.details["exitCode"] == 255
    assert transport.clock() < 0.1


@pytest.mark.parametrize(("at", "arrivals"), [(0.001, 0), (0.5, 1)])
def test_an_arrival_is_told_where_it_matters(at: float, arrivals: int) -> None:
    """Once the device took the broadcast; an envelope that is quicker tells it better."""
    told: list[None] = []

    run(LoggedTransport((at, ENVELOPE)), on_arrival=lambda: told.append(None))

    assert len(told) == arrivals


def test_a_refused_payload_is_named() -> None:
    """The Operator's reason is the message, and nobody waits for the limit."""
    transport = LoggedTransport(
        (0.1, line("[Operator-Receiver] Failed to parse agent command payload", priority="E")),
        (0.1, line("java.lang.IllegalArgumentException: text is blank", priority="E")),
    )

    with pytest.raises(PayloadRefusedError) as caught:
        run(transport)

    assert caught.value.code == ErrorCode.PAYLOAD_REJECTED
    assert "text is blank" in str(caught.value)
    assert transport.clock() < 1.0


def test_a_refusal_without_a_reason_is_not_waited_for() -> None:
    """The reason may never come; the refusal stands without it."""
    transport = LoggedTransport(
        (0.1, line("[Operator-Receiver] Failed to parse agent command payload", priority="E")),
    )

    with pytest.raises(PayloadRefusedError):
        run(transport)

    assert transport.clock() < 1.0


def test_a_service_that_is_off_is_named() -> None:
    """An unreadable payload while the service is off is reported as the service's absence."""
    said = (
        "[Operator-Receiver] Accessibility service is not available"
        " and failed to parse agent command payload"
    )
    transport = LoggedTransport((0.1, line(said, priority="E")))

    with pytest.raises(OperatorNotReadyError) as caught:
        run(transport)

    assert caught.value.code == ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING


def test_a_crash_is_named() -> None:
    """The Operator's last words are the message."""
    words = ("FATAL EXCEPTION: main", f"Process: {PACKAGE}, PID: 4242", "java.lang.Error: oops")
    crash = [(5.0, line(each, priority="E", tag="AndroidRuntime")) for each in words]
    transport = LoggedTransport((0.1, START), *crash)

    with pytest.raises(OperatorNotReadyError) as caught:
        run(transport)

    assert caught.value.code == ErrorCode.OPERATOR_CRASHED
    assert "java.lang.Error: oops" in str(caught.value)
    assert transport.clock() == pytest.approx(5.0)


def test_a_malformed_envelope_names_the_device() -> None:
    """Half an envelope of ours ends the run, with the serial in front."""
    transport = LoggedTransport((0.1, ENVELOPE[:120]))

    with pytest.raises(EnvelopeMalformedError) as caught:
        run(transport)

    assert str(caught.value).startswith("[PH1] RESULT_ENVELOPE_MALFORMED")


def test_an_envelope_of_nobody_that_cannot_be_read_is_told_at_the_end() -> None:
    """It may be another command's; if no other comes, it is what is wrong."""
    transport = LoggedTransport((0.1, line("[Clawperator-Result] {oops")))

    with pytest.raises(EnvelopeMalformedError) as caught:
        run(transport)

    assert "not valid JSON" in str(caught.value)
    assert caught.value.serial == "PH1"


def test_a_vanished_device_ends_the_wait() -> None:
    """What the log stream raises about the device passes through as it is."""
    gone = DeviceNotFoundError("gone", serial="PH1")
    transport = LoggedTransport((0.1, START), (3.0, gone))

    with pytest.raises(DeviceNotFoundError) as caught:
        run(transport)

    assert caught.value is gone
    assert transport.clock() == pytest.approx(3.0)


def test_the_ping_is_the_operators_own_question() -> None:
    """The ping carries doctor_ping, which no payload may hold, and its own patience."""
    ping = Command.ping(2.5)

    payload = json.loads(ping.text)

    assert payload["actions"] == [{"id": "ping", "type": "doctor_ping"}]
    assert payload["commandId"] == ping.command_id
    assert ping.patience == 2.5


KNOWN = Processes(10145, frozenset({4242}), frozenset({700}))


def known(*told: Processes | None) -> tuple[KnownProcesses, list[Processes | None]]:
    """Return what is known of the device, and what it still has to tell when asked."""
    answers = list(told)
    processes = KnownProcesses(lambda: answers.pop(0))
    processes.update(KNOWN)
    return processes, answers


def test_a_known_operator_costs_no_question() -> None:
    """The usual execution asks the device nothing but the broadcast."""
    transport = LoggedTransport((0.0, START), (0.01, ENVELOPE))
    processes, _ = known()

    run(transport, processes=processes)
    run_again = LoggedTransport((0.0, ENVELOPE))
    run(run_again, processes=processes)

    assert len(transport.commands) == 1
    assert len(run_again.commands) == 1


def test_an_answer_of_an_unknown_process_makes_the_device_be_asked_once() -> None:
    """A restarted Operator is believed when the device names its process; an app is not."""
    forged = ENVELOPE.replace(b"success", b"failed")
    new = [each.replace(b" 4242", b" 6000") for each in (START, ENVELOPE)]
    transport = LoggedTransport(
        (0.0, forged.replace(b" 4242", b" 5000")), *((0.1, each) for each in new)
    )
    fresh = Processes(10145, frozenset({6000}), KNOWN.system)
    processes, left = known(KNOWN, fresh)

    reply = run(transport, processes=processes)

    assert (reply.pid, reply.envelope.ok) == (6000, True)
    assert left == []
    assert processes.current == fresh
