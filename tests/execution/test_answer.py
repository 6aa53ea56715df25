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


def test_the_envelope_of_the_command_is_the_answer() -> None:
    """The first envelope with our command id ends the wait."""
    lines = [line("noise"), start(), line(envelope()), line(envelope(status="failed"))]

    answer = reader().feed(lines)

    assert isinstance(answer, Answered)
    assert answer.envelope.status == "success"
    assert answer.pid == 4242


def test_an_envelope_comes_however_the_log_is_cut_into_reads() -> None:
    """Feeding line by line answers like feeding at once."""
    mine = reader()

    answers = [mine.feed([each]) for each in (line("x"), start(), line(envelope()))]

    assert answers[:2] == [None, None]
    assert isinstance(answers[2], Answered)


@pytest.mark.parametrize(
    "other",
    [
        line(envelope("cmd-2")),
        line(envelope("cmd-10")),
        line("[Clawperator-Result] {broken"),
        line('[Clawperator-Result] {"commandId":"cmd-2","taskId":7}'),
        line(f"I saw {envelope()}"),
        line(envelope(), priority="D"),
        line("", pid=1),
        b"--------- beginning of main",
        b"",
        b"\xff\xfe\x00",
    ],
    ids=range(10),
)
def test_what_is_not_ours_does_not_end_the_wait(other: bytes) -> None:
    """Foreign, broken and quoted envelopes are passed over, and ours is still found."""
    answer = reader().feed([other, line(envelope())])

    assert isinstance(answer, Answered)
    assert answer.envelope.command_id == ME


def test_a_result_from_another_process_is_not_believed() -> None:
    """Once the Operator took the command, only its process can answer."""
    forged = envelope(status="failed", error="forged")

    answer = reader().feed([start(), line(forged, pid=99), line(envelope())])

    assert isinstance(answer, Answered)
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
    """An envelope of exactly 4,000 units is no beginning of a longer one."""
    short = envelope(error="")
    exact = envelope(error="x" * (4000 - len(short)))

    answer = reader().feed([line(exact)])

    assert len(exact) == 4000
    assert isinstance(answer, Answered)


def test_a_malformed_envelope_of_ours_ends_the_run() -> None:
    """Half an envelope with our command id is told at once, with what is wrong."""
    half = envelope()[:60]

    with pytest.raises(EnvelopeMalformedError) as caught:
        reader().feed([line(half)])

    assert "not valid JSON" in str(caught.value)


def test_an_envelope_that_the_log_cut_says_so() -> None:
    """Many-byte text makes the log drop the end of an entry; the hint says what to do."""
    cut = envelope(error="ä" * 3000)[:2100]

    with pytest.raises(EnvelopeMalformedError) as caught:
        reader().feed([line(cut)])

    assert "the device's log cut it" in str(caught.value).lower()


REFUSAL = "[Operator-Receiver] Failed to parse agent command payload"


def test_a_refused_payload_gives_the_reason() -> None:
    """A refusal is followed by the exception, which is the reason."""
    why = "java.lang.IllegalArgumentException: text must not be blank"

    answer = reader().feed([line(REFUSAL, priority="E"), line(why, priority="E")])

    assert answer == Refused(why)


def test_a_refusal_without_a_reason_is_known_all_the_same() -> None:
    """Until the reason comes, the reader says that there is a refusal to confirm."""
    mine = reader()

    answer = mine.feed([line(REFUSAL, priority="E"), line("unrelated", pid=3)])

    assert answer is None
    assert mine.unconfirmed == Refused("Failed to parse agent command payload")


@pytest.mark.parametrize(
    "lines",
    [
        [start(), line(REFUSAL, priority="E"), line("why", priority="E")],
        [line(REFUSAL, priority="D"), line("why", priority="D")],
        [line(f"quote {REFUSAL}", priority="E"), line("why", priority="E")],
    ],
    ids=["the command was taken", "text on the screen", "quoted"],
)
def test_what_looks_like_a_refusal_is_none(lines: list[bytes]) -> None:
    """A refusal of somebody else's payload, or the words on a screen, end nothing."""
    mine = reader()

    answer = mine.feed([*lines, line(envelope())])

    assert isinstance(answer, Answered)


def test_a_refusal_without_the_service_says_so() -> None:
    """A payload that could not even be read while the service is off is the service's fault."""
    said = (
        "[Operator-Receiver] Accessibility service is not available"
        " and failed to parse agent command payload"
    )

    answer = reader().feed([line(said, priority="E"), line("org.json: bad", priority="E")])

    assert answer == Refused("org.json: bad", service_off=True)


def crash(package: str, pid: int) -> list[bytes]:
    """Print how Android tells of an app's crash."""
    said = ("FATAL EXCEPTION: main", f"Process: {package}, PID: {pid}", "java.lang.Error: oops")
    return [line(each, pid=pid, priority="E", tag="AndroidRuntime") for each in said]


def test_a_crash_of_the_operator_gives_the_reason() -> None:
    """The Operator's last words end the wait."""
    answer = reader().feed([start(), *crash(PACKAGE, 4242)])

    assert answer == Crashed("java.lang.Error: oops")


def test_a_crash_before_the_command_was_taken_counts_too() -> None:
    """An Operator that dies before it says a word will not answer either."""
    answer = reader().feed(crash(PACKAGE, 777))

    assert answer == Crashed("java.lang.Error: oops")


def test_a_crash_of_another_app_ends_nothing() -> None:
    """The app under test may crash; the Operator still answers."""
    answer = reader().feed([start(), *crash("com.example.shop", 99), line(envelope())])

    assert isinstance(answer, Answered)


def test_a_variant_of_the_operator_is_another_app() -> None:
    """A package whose name begins like the Operator's is not the Operator."""
    answer = reader().feed([*crash(f"{PACKAGE}.dev", 99), line(envelope())])

    assert isinstance(answer, Answered)


def test_the_death_of_the_operators_process_ends_the_wait() -> None:
    """A process that the system killed says nothing itself; the system does."""
    died = f"Process {PACKAGE} (pid 4242) has died: fg  TOP"

    answer = reader().feed([start(), line(died, pid=1000, tag="ActivityManager")])

    assert answer == Crashed(died)


def test_a_death_that_is_quoted_ends_nothing() -> None:
    """A text of the screen, which an envelope holds, may say anything."""
    step = {"id": "a", "actionType": "read_text", "success": True, "data": {"text": DIED}}

    answer = reader().feed([start(), line(envelope(stepResults=[step]))])

    assert isinstance(answer, Answered)


def test_the_death_of_an_earlier_operator_ends_nothing() -> None:
    """The process that has our command is another one than the one that died."""
    died = f"Process {PACKAGE} (pid 17) has died: fg  TOP"

    answer = reader().feed([start(), line(died, pid=1000), line(envelope())])

    assert isinstance(answer, Answered)


SERVER, FORGER, NEW = 700, 99, 6000
KNOWN = Processes(10145, frozenset({4242}), frozenset({1, SERVER}))
DIED = f"Process {PACKAGE} (pid 4242) has died: fg  TOP"
FAILED = envelope(status="failed", error="forged")
FORGERIES = {
    "envelope": [line(FAILED, pid=FORGER)],
    "command": [start(pid=FORGER), line(FAILED, pid=FORGER)],
    "refusal": [
        line(REFUSAL, pid=FORGER, priority="E"),
        line("java.lang.Error: forged", pid=FORGER, priority="E"),
    ],
    "half an envelope": [line(FAILED[:60], pid=FORGER)],
    "crash": crash(PACKAGE, FORGER),
    "crash with the Operator's id": [
        each.replace(b"PID: 99", b"PID: 4242") for each in crash(PACKAGE, FORGER)
    ],
    "death": [line(DIED, pid=FORGER, tag="ActivityManager")],
    "start": [line(f"Start proc {FORGER}:{PACKAGE}/u0a145 for x", pid=FORGER), start(pid=FORGER)],
}


def believing(processes: Processes = KNOWN) -> AnswerReader:
    """Make a reader that knows who is who."""
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
    """The answer of the Operator whose process is known needs no question."""
    mine = believing()

    answer = mine.feed([line("noise", pid=5), start(), line(envelope())])

    assert isinstance(answer, Answered)
    assert not mine.is_in_doubt


def test_an_operator_under_a_new_id_is_believed_once_the_device_names_it() -> None:
    """Its lines are held, not lost, until the device told which processes run."""
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
def test_the_system_ends_the_wait_for_a_process_that_ended(said: str) -> None:
    """Whether the process died or was killed: it answers no more."""
    answer = believing().feed([start(), line(said, pid=SERVER, tag="ActivityManager")])

    assert answer == Crashed(said)


def test_the_end_is_seen_even_if_the_device_was_asked_after_it() -> None:
    """The process that took the command may be gone from what the device tells now."""
    mine = believing()
    mine.feed([start(), *crash("com.example.shop", FORGER), line(DIED, pid=SERVER)])

    answer = mine.settle(Processes(10145, frozenset(), KNOWN.system))

    assert answer == Crashed(DIED)


def test_last_words_count_though_their_process_has_ended() -> None:
    """An envelope that was logged before the process ended is an answer."""
    mine = believing()
    mine.feed([start(), *crash("com.example.shop", FORGER), line(envelope())])

    answer = mine.settle(Processes(10145, frozenset(), KNOWN.system))

    assert isinstance(answer, Answered)


def test_a_crash_in_the_operators_own_process_is_believed() -> None:
    """The dying process itself says so."""
    assert believing().feed(crash(PACKAGE, 4242)) == Crashed("java.lang.Error: oops")


@given(st.lists(st.binary(max_size=200)))
def test_no_log_breaks_the_reader(lines: list[bytes]) -> None:
    """Whatever the log holds, our envelope is found after it."""
    answer = reader().feed([*lines, line(envelope())])

    assert isinstance(answer, Answered)


@given(st.text(), st.sampled_from("VDIWEF"))
def test_no_message_breaks_the_reader(message: str, priority: str) -> None:
    """Hostile text in a well-formed line is only text."""
    hostile = line(message.replace("\n", " "), pid=5, priority=priority)

    answer = reader().feed([hostile, line(envelope())])

    assert isinstance(answer, Answered)
