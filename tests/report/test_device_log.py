"""The log as evidence: crashes marked in it, dumps left out of it, and secrets hidden in it."""

from __future__ import annotations

import json
import random

import pytest

from pytest_clawperator.contracts.log import PIECE_LENGTH
from pytest_clawperator.execution.crashes import find_crashes
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.report.device_log import hide_in_log, marked_log, without_dumps
from tests.doubles.log import EXCEPTION


def test_a_log_names_and_marks_its_crashes() -> None:
    """At the top, and at their lines; those between belong to others."""
    crashes = find_crashes(EXCEPTION)
    text = marked_log(EXCEPTION, crashes).splitlines()

    assert crashes[0].lines == (1, 2, 4, 5)
    first = "line 4: com.example.shop crashed: java.lang.IllegalStateException: no owner"
    assert text[:2] == [first, ""]
    assert text[3].startswith(">>> 11-16")
    assert text[3].endswith("FATAL EXCEPTION: main")
    marked = [number for number, line in enumerate(text, 1) if line.startswith(">>> ")]
    assert marked == [4, 5, 7, 8]
    assert marked_log([b"one", b"tw\xff"], []) == "one\ntw\ufffd\n"


MARKER = "[TaskScope] UI Hierarchy:"

XML = ["<?xml version='1.0' ?>", '<hierarchy rotation="0">', '  <node text="A" />', "</hierarchy>"]


def operator_line(message: str, *, pid: int = 42, tag: str = "TaskScope") -> bytes:
    """Print a line as the device does."""
    return f"03-28 10:00:00.000 {pid:5d} {pid:5d} D {tag:<8}: {message}".encode()


def dump(*xml: str) -> list[bytes]:
    """Print a dump."""
    return [operator_line(text) for text in (MARKER, *(xml or XML))]


def execution(command: str, step: str, *, pid: int = 42) -> list[bytes]:
    """Print how an execution begins its step."""
    start = f"[Clawperator-Command] start commandId={command} taskId=t"
    begun = f"[UiActionEngine] step_start id={step} type=SnapshotUi"
    return [
        operator_line(start, pid=pid, tag="Executor"),
        operator_line(begun, pid=pid, tag="Engine"),
    ]


def left_out(text: str) -> bytes:
    """Return the line that stands for a dump."""
    return operator_line(f"{MARKER} {text}")


def test_a_line_stands_for_a_dump_and_names_its_snapshot() -> None:
    """With its step and its execution, and the file that has the snapshot."""
    first, second = execution("cmd-1", "look"), execution("cmd-2", "again")
    forged = execution("forged", "step", pid=666)
    log = [*first, *forged, *dump(), operator_line("between"), *second, *dump()]

    shortened = without_dumps(log, kept={("cmd-2", "again"): "envelopes.json"})

    assert shortened == [
        *first,
        *forged,
        left_out("step look of cmd-1, 4 lines; it is left out"),
        operator_line("between"),
        *second,
        left_out("step again of cmd-2, 4 lines; it is in envelopes.json"),
    ]


def test_only_the_lines_of_a_dump_are_left_out() -> None:
    """Lines of other processes and tags stay, also after a dump without an end."""
    marker, *xml = dump()
    others = [operator_line("of another", pid=7), operator_line("of another tag", tag="Other")]
    mixed = [marker, xml[0], others[0], xml[1], others[1], *xml[2:]]
    after = [operator_line("[UiActionEngine] step_success id=a"), operator_line("and more")]
    alone = [operator_line("before"), operator_line(MARKER)]
    hidden = [
        operator_line(MARKER, pid=666),
        operator_line("FATAL EXCEPTION: main", pid=7),
        operator_line("x", pid=666),
    ]

    assert without_dumps(mixed) == [left_out("4 lines; it is left out"), *others]
    for rest in ([], after):
        cut = without_dumps([*dump(*XML[:2]), *rest])
        assert cut == [left_out("2 lines; it is left out"), *rest]
    assert without_dumps(alone) == alone
    assert without_dumps(hidden)[1:] == [hidden[1]]


SECRET = "".join(random.Random(5).choices("abcdefghij", k=40))


def log_line(message: str, *, pid: int = 812, tag: str = "Operator") -> str:
    """Return a line of a log."""
    return f"11-16 10:00:00.000 {pid:>5} {pid:>5} I {tag:<8}: {message}"


@pytest.mark.parametrize("before", [PIECE_LENGTH - 39, PIECE_LENGTH - 20, PIECE_LENGTH - 1])
@pytest.mark.parametrize("mark", ["", ">>> "])
def test_a_secret_across_two_lines_is_hidden(before: int, mark: str) -> None:
    """No part of it is left in either line; lines of other processes may stand between."""
    SECRETS.add(SECRET)
    message = "." * before + SECRET + " and more"
    first, second = (log_line(part) for part in (message[:PIECE_LENGTH], message[PIECE_LENGTH:]))
    other = log_line("of another", pid=4)

    hidden = hide_in_log("\n".join([mark + first, other, second, ""]).encode()).decode()

    shown = hidden.split("\n")
    assert shown[0] == mark + log_line("." * before + "[***]")
    assert shown[1:] == [other, log_line("[***] and more"), ""]


def test_lines_of_a_log_show_no_secret() -> None:
    """Cut off by the log, in envelopes or in stages; without secrets the same bytes come back."""
    plain = log_line("nothing").encode()
    assert hide_in_log(plain) is plain
    SECRETS.add(SECRET)
    SECRETS.add('a "quoted" one')
    wide = "ü" * 2000
    envelope = "[Clawperator-Result] " + json.dumps({"text": 'a "quoted" one'})
    log = ["--------- beginning of main", log_line(envelope), log_line('text=a "quoted" one')]
    log += [log_line(wide + SECRET[:9]), log_line("next")]

    hidden = hide_in_log("\n".join(log).encode()).decode().split("\n")

    shown = ['[Clawperator-Result] {"text": "[***]"}', "text=[***]", f"{wide}[***]", "next"]
    assert hidden == [log[0], *map(log_line, shown)]
