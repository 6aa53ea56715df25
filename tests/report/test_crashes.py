"""Crashes and ANRs found in a log."""

from __future__ import annotations

import json
import random

import pytest

from pytest_clawperator.contracts.log import PIECE_LENGTH
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.report.crashes import find_crashes, hide_in_log, marked_log, without_dumps


def log(text: str) -> list[bytes]:
    """Return lines of a log, written as pid, priority, tag and message."""
    lines = []
    for line in text.strip().splitlines():
        pid, priority, rest = line.strip().split(" ", 2)
        lines.append(f"11-16 10:00:00.000 {pid:>5} {pid:>5} {priority} {rest}".encode())
    return lines


EXCEPTION = log(
    """
    700 I ActivityManager: Start proc 812:com.example.shop/u0a11 for activity
    812 E AndroidRuntime: FATAL EXCEPTION: main
    812 E AndroidRuntime: Process: com.example.shop, PID: 812
    700 D SomeOther: a line of somebody else
    812 E AndroidRuntime: java.lang.IllegalStateException: no owner
    812 E AndroidRuntime: \tat com.example.Cart.owner(Cart.kt:7)
    812 I Process: Sending signal. PID: 812 SIG: 9
    812 E AndroidRuntime: not of this crash
    """
)


def test_an_uncaught_exception_is_a_crash() -> None:
    """An uncaught exception has process and reason; lines between are not part of it."""
    found = find_crashes(EXCEPTION)

    assert [str(crash) for crash in found] == [
        "com.example.shop crashed: java.lang.IllegalStateException: no owner"
    ]
    assert found[0].lines == (1, 2, 4, 5)


def test_an_app_that_does_not_respond() -> None:
    """An ANR has the reason that the system gives."""
    lines = log(
        """
        700 E ActivityManager: ANR in com.example.shop (com.example.shop/.Main)
        700 E ActivityManager: PID: 812
        700 E ActivityManager: Reason: Input dispatching timed out (waited 5001ms)
        """
    )

    found = find_crashes(lines)

    assert [str(crash) for crash in found] == [
        "com.example.shop does not respond (ANR): Input dispatching timed out (waited 5001ms)"
    ]


def test_a_native_crash() -> None:
    """A crash in native code has its signal."""
    stars = " ".join(["***"] * 8)
    lines = log(
        f"""
        900 F DEBUG: {stars}
        900 F DEBUG: pid: 812, tid: 830, name: RenderThread  >>> com.example.shop <<<
        900 F DEBUG: signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0
        """
    )

    found = find_crashes(lines)

    assert str(found[0]).startswith("com.example.shop crashed: signal 11 (SIGSEGV)")


def test_two_crashes_of_one_process() -> None:
    """Each report is one crash, even one without details."""
    lines = log(
        """
        812 E AndroidRuntime: FATAL EXCEPTION: main
        812 E AndroidRuntime: FATAL EXCEPTION: worker
        812 E AndroidRuntime: Process: com.example.shop, PID: 812
        """
    )

    found = find_crashes(lines)

    assert [str(crash) for crash in found] == ["an app crashed", "com.example.shop crashed"]


def test_an_app_cannot_pretend_a_crash() -> None:
    """What an app logs under its own tag is no crash."""
    lines = log(
        """
        812 E MyApp: FATAL EXCEPTION: just kidding
        812 I AndroidRuntime: FATAL EXCEPTION: at the wrong level
        """
    )

    assert find_crashes([*lines, b"--------- beginning of crash"]) == []


def test_only_the_dying_process_tells_of_its_exception() -> None:
    """A report about another process, by its id or by its name, is none."""
    other_id = EXCEPTION[1:2] + [line.replace(b"PID: 812", b"PID: 813") for line in EXCEPTION[2:]]
    other_name = [
        *log("700 I ActivityManager: Start proc 812:com.example.forger/u0a12 for service"),
        *EXCEPTION[1:],
    ]

    assert find_crashes(other_id) == []
    assert find_crashes(other_name, system={700}) == []
    assert len(find_crashes(other_name, system={1})) == 1
    assert len(find_crashes(EXCEPTION, system={700})) == 1


def test_only_the_system_tells_that_an_app_does_not_respond() -> None:
    """An ANR that an app reports is none, where the system's processes are known."""
    lines = log("812 E ActivityManager: ANR in com.example.shop (com.example.shop/.Main)")

    assert find_crashes(lines, system={700}) == []
    assert len(find_crashes(lines, system={812})) == 1
    assert len(find_crashes(lines)) == 1


def test_a_log_names_and_marks_its_crashes() -> None:
    """The log lists its crashes at the top, and marks their lines."""
    text = marked_log(EXCEPTION, find_crashes(EXCEPTION)).splitlines()

    assert text[:2] == [
        "line 4: com.example.shop crashed: java.lang.IllegalStateException: no owner",
        "",
    ]
    assert text[3].startswith(">>> 11-16")
    assert text[3].endswith("FATAL EXCEPTION: main")
    assert [number for number, line in enumerate(text, 1) if line.startswith(">>> ")] == [
        4,
        5,
        7,
        8,
    ]


def test_a_log_without_crashes_stays_as_it_is() -> None:
    """Nothing is added if nothing crashed."""
    assert marked_log([b"one", b"tw\xff"], []) == "one\ntw\ufffd\n"


MARKER = "[TaskScope] UI Hierarchy:"

XML = ["<?xml version='1.0' ?>", '<hierarchy rotation="0">', '  <node text="A" />', "</hierarchy>"]


def operator_line(message: str, *, pid: int = 42, tag: str = "TaskScope") -> bytes:
    """Print a line as the device does."""
    return f"03-28 10:00:00.000 {pid:5d} {pid:5d} D {tag:<8}: {message}".encode()


def dump(*xml: str, pid: int = 42) -> list[bytes]:
    """Print a dump."""
    return [operator_line(text, pid=pid) for text in (MARKER, *(xml or XML))]


def execution(command: str, step: str, *, pid: int = 42) -> list[bytes]:
    """Print how an execution begins its step."""
    start = f"[Clawperator-Command] start commandId={command} taskId=t"
    return [
        operator_line(start, pid=pid, tag="Executor"),
        operator_line(
            f"[UiActionEngine] step_start id={step} type=SnapshotUi", pid=pid, tag="Engine"
        ),
    ]


def test_a_line_stands_for_a_dump_and_says_which_snapshot_it_was() -> None:
    """A line stands for each dump, with its step and its execution."""
    first, second = execution("cmd-1", "look"), execution("cmd-2", "again")
    log = [*first, *dump(), operator_line("between"), *second, *dump(), operator_line("after")]

    shortened = without_dumps(log)

    assert shortened == [
        *first,
        operator_line(f"{MARKER} step look of cmd-1, 4 lines; it is left out"),
        operator_line("between"),
        *second,
        operator_line(f"{MARKER} step again of cmd-2, 4 lines; it is left out"),
        operator_line("after"),
    ]


def test_the_file_that_has_the_snapshot_is_named() -> None:
    """Where a file has the snapshot, it is named."""
    log = [*execution("cmd-1", "look"), *dump()]

    shortened = without_dumps(log, kept={("cmd-1", "look"): "envelopes.json"})

    assert shortened[-1].endswith(b"step look of cmd-1, 4 lines; it is in envelopes.json")


def test_lines_of_others_between_are_kept() -> None:
    """Lines of other processes and tags that came meanwhile are kept."""
    marker, *xml = dump()
    others = [operator_line("of another", pid=7), operator_line("of another tag", tag="Other")]
    log = [marker, xml[0], others[0], xml[1], others[1], *xml[2:]]

    shortened = without_dumps(log)

    assert shortened == [operator_line(f"{MARKER} 4 lines; it is left out"), *others]


@pytest.mark.parametrize("others", [[], ["[UiActionEngine] step_success id=a", "and more"]])
def test_a_dump_without_an_end_takes_nothing_else_with_it(others: list[str]) -> None:
    """Where the log lost the end of a dump, what follows it is kept."""
    after = [operator_line(text) for text in others]
    log = [*dump(*XML[:2]), *after]

    shortened = without_dumps(log)

    assert shortened == [operator_line(f"{MARKER} 2 lines; it is left out"), *after]


def test_an_app_cannot_hide_the_lines_of_another() -> None:
    """Whoever logs the marker of a dump hides lines of its own at most."""
    log = [
        operator_line(MARKER, pid=666),
        operator_line("FATAL EXCEPTION: main", pid=7),
        operator_line("x", pid=666),
    ]

    shortened = without_dumps(log)

    assert shortened[1:] == [log[1]]


def test_a_marker_with_nothing_after_it_stays() -> None:
    """A marker at the end of a log stays as it is."""
    log = [operator_line("before"), operator_line(MARKER)]

    assert without_dumps(log) == log


def test_the_command_is_that_of_the_same_process() -> None:
    """What another process says of executions does not count."""
    log = [*execution("cmd-1", "look"), *execution("forged", "step", pid=666), *dump()]

    shortened = without_dumps(log)

    assert shortened[-1] == operator_line(f"{MARKER} step look of cmd-1, 4 lines; it is left out")


SECRET = "".join(random.Random(5).choices("abcdefghij", k=40))


def log_line(message: str, *, pid: int = 812, tag: str = "Operator") -> str:
    """Return a line of a log."""
    return f"11-16 10:00:00.000 {pid:>5} {pid:>5} I {tag:<8}: {message}"


def pieces(message: str) -> list[str]:
    """Cut a message as the Operator's logger does."""
    places = range(0, len(message), PIECE_LENGTH)
    return [log_line(message[at : at + PIECE_LENGTH]) for at in places]


@pytest.mark.parametrize("before", [PIECE_LENGTH - 39, PIECE_LENGTH - 20, PIECE_LENGTH - 1])
@pytest.mark.parametrize("mark", ["", ">>> "])
def test_a_secret_across_two_lines_is_hidden(before: int, mark: str) -> None:
    """No part of it is left in either line; lines of other processes may stand between."""
    SECRETS.add(SECRET)
    first, second = pieces("." * before + SECRET + " and more")
    other = log_line("somebody else", pid=4)

    hidden = hide_in_log("\n".join([mark + first, other, second, ""]).encode()).decode()

    shown = hidden.split("\n")
    assert shown[0] == mark + log_line("." * before + "[***]")
    assert shown[1:] == [other, log_line("[***] and more"), ""]


def test_a_secret_whose_end_was_dropped_is_hidden() -> None:
    """The log keeps so many bytes of a line; what it kept of a secret is not shown."""
    SECRETS.add(SECRET)
    wide = "ü" * 2000

    hidden = hide_in_log(f"{log_line(wide + SECRET[:9])}\n{log_line('next')}".encode()).decode()

    assert hidden == f"{log_line(wide + '[***]')}\n{log_line('next')}"


def test_lines_of_the_operator_show_no_secret() -> None:
    """Envelopes, stages and dividers keep all that is no secret."""
    SECRETS.add('a "quoted" one')
    envelope = "[Clawperator-Result] " + json.dumps({"text": 'a "quoted" one'})
    log = ["--------- beginning of main", log_line(envelope), log_line('text=a "quoted" one')]

    hidden = hide_in_log("\n".join(log).encode()).decode().split("\n")

    shown = [log_line('[Clawperator-Result] {"text": "[***]"}'), log_line("text=[***]")]
    assert hidden == [log[0], *shown]


def test_a_log_without_secrets_is_not_read() -> None:
    """Without secrets the same bytes come back."""
    log = log_line("nothing").encode()

    assert hide_in_log(log) is log
