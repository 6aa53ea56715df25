"""From a payload to the envelope that answers it, with every way it can fail named."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import partial

import pytest

from pytest_clawperator import complete_execution, errors
from pytest_clawperator.errors import ErrorCode
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
    '"stepResults":[{"id":"a","actionType":"click","success":true}],"error":null}'
)


def fine() -> None:
    """Diagnose that nothing is wrong."""


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
    transport.log.lines += [line("earlier"), ENVELOPE.replace(b"success", b"failed")]

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


def test_the_wait_ends_with_the_limit_and_its_margin() -> None:
    """The error has the time, the Operator's last lines without hierarchies, and what to do."""
    dump = [(0.2, line("  <node text='a' />", priority="D")) for _ in range(20)]
    busy = line("[TaskScope] busy", priority="D")
    other = [(0.2, line("another app", pid=9)), (0.2, b"--------- beginning of main")]
    transport = LoggedTransport((0.1, START), (0.2, busy), *other, *dump)

    with pytest.raises(errors.EnvelopeTimeoutError) as caught:
        run(transport)

    error = caught.value
    assert transport.clock() == pytest.approx(35.0)
    assert error.code == ErrorCode.RESULT_ENVELOPE_TIMEOUT
    assert error.serial == "PH1"
    for words in ("35.0 s", "took the command", "[TaskScope] busy"):
        assert words in str(error)
    assert "timeout" in str(error.hint)
    assert error.details["broadcastDispatchStatus"] == "sent"
    assert error.details["lastActionType"] == "snapshot_ui"
    assert error.details["timeoutMs"] == 30000
    assert error.details["elapsedMs"] == 35000
    assert error.details["lastCorrelatedEvents"] == [START.decode(), busy.decode()]


def test_the_cause_of_a_silence_is_looked_for_once() -> None:
    """It is checked long before the limit, and not if the Operator took the command."""
    silent, busy = LoggedTransport(), LoggedTransport((0.1, START), (20.0, ENVELOPE))
    asked: list[float] = []

    with pytest.raises(errors.EnvelopeTimeoutError, match="gave no sign") as caught:
        run(silent, lambda: asked.append(silent.clock()))
    reply = run(busy, lambda: asked.append(busy.clock()))

    assert "accessibility service" in str(caught.value.hint)
    assert [at < 2.0 for at in asked] == [True]
    assert reply.envelope.ok


def test_a_cause_of_the_silence_ends_the_wait() -> None:
    """What makes the device unfit is raised as soon as it is found."""
    transport = LoggedTransport()
    cause = errors.OperatorNotReadyError("gone", code=ErrorCode.OPERATOR_NOT_INSTALLED)

    def find() -> None:
        raise cause

    with pytest.raises(errors.OperatorNotReadyError) as caught:
        run(transport, find)

    assert caught.value is cause
    assert transport.clock() < 2.0


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Error: Target package not found: x", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("Exception: com.x does not exist", ErrorCode.OPERATOR_NOT_INSTALLED),
        ("Security exception: Permission Denial", ErrorCode.BROADCAST_FAILED),
    ],
)
def test_a_broadcast_that_fails_ends_the_run_immediately(said: str, code: ErrorCode) -> None:
    """The error has the output and exit code of the device."""
    transport = LoggedTransport(broadcast=ShellResult(said, "", 255))

    with pytest.raises((errors.BroadcastError, errors.OperatorNotReadyError)) as caught:
        run(transport)

    assert caught.value.code == code
    assert caught.value.serial == "PH1"
    assert said in str(caught.value)
    assert caught.value.details["exitCode"] == 255
    assert transport.clock() < 0.1


def test_an_arrival_is_reported_unless_the_envelope_is_quicker() -> None:
    """The device took the broadcast; an envelope shows that better."""
    arrivals: list[float] = []

    for at in (0.001, 0.5):
        run(LoggedTransport((at, ENVELOPE)), on_arrival=partial(arrivals.append, at))

    assert arrivals == [0.5]


REFUSAL = line("[Operator-Receiver] Failed to parse agent command payload", priority="E")
SERVICE_OFF = line(
    "[Operator-Receiver] Accessibility service is not available"
    " and failed to parse agent command payload",
    priority="E",
)
CRASH = [
    line(words, priority="E", tag="AndroidRuntime")
    for words in (
        "FATAL EXCEPTION: main",
        f"Process: {PACKAGE}, PID: 4242",
        "java.lang.Error: oops",
    )
]


BLANK = line("java.lang.IllegalArgumentException: text is blank", priority="E")
MALFORMED = line("[Clawperator-Result] {oops")


@pytest.mark.parametrize(
    ("lines", "code", "words", "most"),
    [
        ([REFUSAL, BLANK], ErrorCode.PAYLOAD_REJECTED, "text is blank", 1.0),
        # The reason may never come.
        ([REFUSAL], ErrorCode.PAYLOAD_REJECTED, "", 1.0),
        ([SERVICE_OFF], ErrorCode.DEVICE_ACCESSIBILITY_NOT_RUNNING, "", 1.0),
        ([START, *CRASH], ErrorCode.OPERATOR_CRASHED, "java.lang.Error: oops", 0.2),
        ([ENVELOPE[:120]], ErrorCode.RESULT_ENVELOPE_MALFORMED, "", 0.2),
        # It may be another command's; if no other comes, it is what is wrong.
        ([MALFORMED], ErrorCode.RESULT_ENVELOPE_MALFORMED, "not valid JSON", 36.0),
    ],
    ids=["refused", "refused without a reason", "service off", "crash", "malformed", "foreign"],
)
def test_a_run_that_cannot_be_answered_ends_with_the_reason(
    lines: list[bytes], code: ErrorCode, words: str, most: float
) -> None:
    """The Operator's own words are the message, and the limit is not waited for."""
    transport = LoggedTransport(*((0.1, each) for each in lines))
    kinds = (
        errors.EnvelopeMalformedError,
        errors.OperatorNotReadyError,
        errors.PayloadRefusedError,
    )

    with pytest.raises(kinds) as caught:
        run(transport)

    assert str(caught.value).startswith(f"[PH1] {code.value}: ")
    assert words in str(caught.value)
    assert transport.clock() < most


def test_a_vanished_device_ends_the_wait() -> None:
    """What the log stream raises about the device passes through as it is."""
    gone = errors.DeviceNotFoundError("gone", serial="PH1")
    transport = LoggedTransport((0.1, START), (3.0, gone))

    with pytest.raises(errors.DeviceNotFoundError) as caught:
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


def known(*answers: Processes | None) -> tuple[KnownProcesses, list[Processes | None]]:
    """Return what is known of the device, and the answers that it has left."""
    left = list(answers)
    processes = KnownProcesses(lambda: left.pop(0))
    processes.update(KNOWN)
    return processes, left


def test_a_known_operator_needs_no_question() -> None:
    """The usual execution asks the device nothing but the broadcast."""
    processes, _ = known()

    for transport in (
        LoggedTransport((0.0, START), (0.01, ENVELOPE)),
        LoggedTransport((0, ENVELOPE)),
    ):
        run(transport, processes=processes)

        assert len(transport.commands) == 1


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
