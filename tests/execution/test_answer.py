"""Which log line answers a command: the envelope, or a sign that none will come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.errors import EnvelopeMalformedError
from pytest_clawperator.execution.answer import Answered, AnswerReader, Crashed, Refused
from pytest_clawperator.execution.processes import Processes
from tests.doubles.log import line

PACKAGE = "com.clawperator.operator"
ME = "cmd-1"


def envelope(command_id: str = ME, **changes: Any) -> str:
    """Word a result envelope as the Operator does."""
    wire = {
        "commandId": command_id,
        "taskId": "t",
        "status": "success",
        "stepResults": [],
        "error": None,
        **changes,
    }
    return "[Clawperator-Result] " + json.dumps(wire, separators=(",", ":"), ensure_ascii=False)


def start(command_id: str = ME, pid: int = 4242) -> bytes:
    """Print the line with which the Operator takes a command."""
    return line(f"[Clawperator-Command] start commandId={command_id} taskId=t source=s", pid=pid)


def reader() -> AnswerReader:
    """Make a reader for our command."""
    return AnswerReader(ME, PACKAGE)


REFUSAL = "[Operator-Receiver] Failed to parse agent command payload"
DIED = f"Process {PACKAGE} (pid 4242) has died: fg  TOP"


def refusal(*, pid: int = 4242, priority: str = "E") -> list[bytes]:
    """Print how the Operator refuses a payload."""
    messages = (REFUSAL, "java.lang.Error: why")
    return [line(message, pid=pid, priority=priority) for message in messages]


def crash(package: str, pid: int) -> list[bytes]:
    """Print how Android reports an app's crash."""
    messages = ("FATAL EXCEPTION: main", f"Process: {package}, PID: {pid}", "java.lang.Error: oops")
    return [line(each, pid=pid, priority="E", tag="AndroidRuntime") for each in messages]


def test_the_first_envelope_of_the_command_is_the_answer() -> None:
    """It ends the wait, however the log is cut into reads."""
    lines = [line("noise"), start(), line(envelope()), line(envelope(status="failed"))]
    mine = reader()

    *before, by_line = [mine.feed([each]) for each in lines[:3]]

    assert before == [None, None]
    for answer in (by_line, reader().feed(lines)):
        assert isinstance(answer, Answered)
        assert answer.envelope.status == "success"
        assert answer.pid == 4242


# Foreign, broken and quoted lines, after which ours is still found.
PASSED_OVER = {
    "another command": [line(envelope("cmd-2"))],
    "a longer id": [line(envelope("cmd-10"))],
    "broken": [line("[Clawperator-Result] {broken")],
    "malformed": [line('[Clawperator-Result] {"commandId":"cmd-2","taskId":7}')],
    "quoted": [line(f"I saw {envelope()}")],
    "another priority": [line(envelope(), priority="D")],
    "empty": [line("", pid=1)],
    "a divider": [b"--------- beginning of main"],
    "nothing": [b""],
    "bytes": [b"\xff\xfe\x00"],
    # Once the Operator took the command, only its process can answer.
    "another process": [start(), line(envelope(status="failed", error="forged"), pid=99)],
    # A refusal of another payload, or the words on a screen.
    "a refusal after the command was taken": [start(), *refusal()],
    "a refusal of another priority": refusal(priority="D"),
    "a quoted refusal": [line(f"quote {REFUSAL}", priority="E"), line("why", priority="E")],
    # The app under test may crash, and so may a variant of the Operator.
    "another app's crash": [start(), *crash("com.example.shop", 99)],
    "a variant's crash": crash(f"{PACKAGE}.dev", 99),
    "an earlier Operator's death": [start(), line(DIED.replace("4242", "17"), pid=1000)],
}


@pytest.mark.parametrize("others", PASSED_OVER.values(), ids=PASSED_OVER)
def test_other_lines_do_not_end_the_wait(others: list[bytes]) -> None:
    """Foreign, broken and quoted lines are passed over, and our envelope is still found."""
    answer = reader().feed([*others, line(envelope())])

    assert isinstance(answer, Answered)
    assert answer.envelope.command_id == ME
    assert answer.envelope.status == "success"


def pieces(message: str) -> list[str]:
    """Cut a message as the Operator's logger does, in UTF-16 units."""
    units = message.encode("utf-16-le", "surrogatepass")
    cut = [units[n : n + 8000] for n in range(0, len(units), 8000)]
    return [piece.decode("utf-16-le", "surrogatepass") for piece in cut]


@pytest.mark.parametrize("extra", [3000, 4000, 9000, 30000])
def test_an_envelope_in_pieces_is_put_together(extra: int) -> None:
    """A long envelope comes in entries of 4,000 units; lines of others between them do no harm."""
    step = {"id": "a", "actionType": "read_text", "success": True, "data": {"text": "x" * extra}}
    long = pieces(envelope(stepResults=[step]))
    lines = [each for piece in long for each in (line(piece), line("noise", pid=7))]

    answer = reader().feed(lines)

    assert isinstance(answer, Answered)
    assert len(answer.envelope.steps[0].data["text"]) == extra


def test_a_piece_that_ends_exactly_at_the_limit_is_whole() -> None:
    """An envelope of exactly 4,000 units does not begin a longer one."""
    short = envelope(error="")
    exact = envelope(error="x" * (4000 - len(short)))

    answer = reader().feed([line(exact)])

    assert len(exact) == 4000
    assert isinstance(answer, Answered)


def test_a_malformed_envelope_of_ours_ends_the_run() -> None:
    """The error has the reason; many-byte text makes the log drop the end of an entry."""
    with pytest.raises(EnvelopeMalformedError, match="not valid JSON"):
        reader().feed([line(envelope()[:60])])
    with pytest.raises(EnvelopeMalformedError, match=r"(?i)the device's log cut it"):
        reader().feed([line(envelope(error="ä" * 3000)[:2100])])


def test_a_refusal_is_followed_by_its_reason() -> None:
    """The reason is the exception; without the accessibility service the service is to blame."""
    off = "[Operator-Receiver] Accessibility service is not available and failed to parse agent"
    service_off = line(f"{off} command payload", priority="E")
    mine = reader()

    assert reader().feed(refusal()) == Refused("java.lang.Error: why")
    assert reader().feed([service_off, *refusal()[1:]]) == Refused(
        "java.lang.Error: why", service_off=True
    )
    # Until the reason comes, there is a refusal to confirm.
    assert mine.feed([refusal()[0], line("unrelated", pid=3)]) is None
    assert mine.unconfirmed == Refused("Failed to parse agent command payload")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([start(), *crash(PACKAGE, 4242)], "java.lang.Error: oops"),
        (crash(PACKAGE, 777), "java.lang.Error: oops"),
        ([start(), line(DIED, pid=1000, tag="ActivityManager")], DIED),
    ],
    ids=["crash", "crash before the command was taken", "killed by the system"],
)
def test_the_end_of_the_operator_ends_the_wait(lines: list[bytes], words: str) -> None:
    """A crash gives the Operator's last words; the system reports a process that it killed."""
    assert reader().feed(lines) == Crashed(words)


def test_a_death_that_is_quoted_ends_nothing() -> None:
    """A text of the screen, which an envelope holds, may say anything."""
    step = {"id": "a", "actionType": "read_text", "success": True, "data": {"text": DIED}}

    answer = reader().feed([start(), line(envelope(stepResults=[step]))])

    assert isinstance(answer, Answered)


SERVER, FORGER, NEW = 700, 99, 6000
KNOWN = Processes(10145, frozenset({4242}), frozenset({1, SERVER}))
FAILED = envelope(status="failed", error="forged")
FORGERIES = {
    "envelope": [line(FAILED, pid=FORGER)],
    "command": [start(pid=FORGER), line(FAILED, pid=FORGER)],
    "refusal": refusal(pid=FORGER),
    "half an envelope": [line(FAILED[:60], pid=FORGER)],
    "crash": crash(PACKAGE, FORGER),
    "crash with the Operator's id": [
        each.replace(b"PID: 99", b"PID: 4242") for each in crash(PACKAGE, FORGER)
    ],
    "death": [line(DIED, pid=FORGER, tag="ActivityManager")],
    "start": [line(f"Start proc {FORGER}:{PACKAGE}/u0a145 for x", pid=FORGER), start(pid=FORGER)],
}


def believing(processes: Processes = KNOWN) -> AnswerReader:
    """Make a reader that knows the processes."""
    return AnswerReader(ME, PACKAGE, processes)


@pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)
@pytest.mark.parametrize("taken", [True, False], ids=["taken", "not yet taken"])
def test_no_other_app_can_answer(forged: list[bytes], taken: bool) -> None:
    """Whatever another app logs, the Operator's own envelope is the answer."""
    mine = believing()

    answer = mine.feed([*([start()] if taken else []), *forged, start(), line(envelope())])
    if mine.is_in_doubt:
        answer = mine.settle(KNOWN)

    assert isinstance(answer, Answered)
    assert answer.envelope.status == "success"
    assert mine.pid == 4242


def test_the_known_operator_is_never_doubted() -> None:
    """Neither its answer nor its crash needs a question to the device."""
    mine = believing()

    answer = mine.feed([line("noise", pid=5), start(), line(envelope())])

    assert isinstance(answer, Answered)
    assert not mine.is_in_doubt
    assert believing().feed(crash(PACKAGE, 4242)) == Crashed("java.lang.Error: oops")


def test_an_operator_under_a_new_id_is_believed_once_the_device_names_it() -> None:
    """Its lines are held, not lost, until the device has listed its processes."""
    mine = believing()

    held = mine.feed([start(pid=NEW), line(envelope(), pid=NEW)])
    answer = mine.settle(Processes(10145, frozenset({NEW}), KNOWN.system))

    assert held is None
    assert isinstance(answer, Answered)
    assert answer.pid == NEW


def test_an_operator_that_the_system_started_needs_no_question() -> None:
    """The system's own line names the new process; it may also have been another app's before."""
    mine = believing()
    mine.feed([line(FAILED, pid=NEW)])
    mine.settle(KNOWN)
    born = line(f"Start proc {NEW}:{PACKAGE}/u0a145 for broadcast", pid=SERVER)

    answer = mine.feed([born, start(pid=NEW), line(envelope(), pid=NEW)])

    assert isinstance(answer, Answered)
    assert answer.envelope.status == "success"


def test_the_id_of_an_ended_operator_is_not_believed() -> None:
    """Once the system said that it ended, another app may have its id."""
    ended = line(DIED, pid=SERVER)
    mine = believing()

    answer = mine.feed([ended, line(FAILED), line("more")])
    settled = mine.settle(Processes(10145, frozenset({NEW}), KNOWN.system))

    assert answer is None
    assert settled is None


@pytest.mark.parametrize("said", [DIED, f"Killing 4242:{PACKAGE}/u0a145 (adj 0): stop x"])
def test_the_system_reports_that_a_process_ended(said: str) -> None:
    """Whether the process died or was killed: it answers no more."""
    answer = believing().feed([start(), line(said, pid=SERVER, tag="ActivityManager")])

    assert answer == Crashed(said)


def test_lines_from_before_the_end_of_a_process_count() -> None:
    """The process that took the command may be gone when the device is asked."""
    gone = Processes(10145, frozenset(), KNOWN.system)
    before = [start(), *crash("com.example.shop", FORGER)]
    ended, answered = believing(), believing()

    ended.feed([*before, line(DIED, pid=SERVER)])
    answered.feed([*before, line(envelope())])

    assert ended.settle(gone) == Crashed(DIED)
    assert isinstance(answered.settle(gone), Answered)


@given(st.lists(st.binary(max_size=200)), st.text(), st.sampled_from("VDIWEF"))
def test_no_log_breaks_the_reader(lines: list[bytes], message: str, priority: str) -> None:
    """Whatever the log holds, our envelope is found after it."""
    hostile = line(message.replace("\n", " "), pid=5, priority=priority)

    answer = reader().feed([*lines, hostile, line(envelope())])

    assert isinstance(answer, Answered)
