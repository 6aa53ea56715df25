"""A log without the hierarchies that the Operator dumps into it."""

from __future__ import annotations

import pytest

from pytest_clawperator.report.crashes import without_dumps

MARKER = "[TaskScope] UI Hierarchy:"
XML = ["<?xml version='1.0' ?>", '<hierarchy rotation="0">', '  <node text="A" />', "</hierarchy>"]


def line(message: str, *, pid: int = 42, tag: str = "TaskScope") -> bytes:
    """Print a line as the device does."""
    return f"03-28 10:00:00.000 {pid:5d} {pid:5d} D {tag:<8}: {message}".encode()


def dump(*xml: str, pid: int = 42) -> list[bytes]:
    """Print a dump."""
    return [line(text, pid=pid) for text in (MARKER, *(xml or XML))]


def execution(command: str, step: str, *, pid: int = 42) -> list[bytes]:
    """Print how an execution begins its step."""
    start = f"[Clawperator-Command] start commandId={command} taskId=t"
    return [
        line(start, pid=pid, tag="Executor"),
        line(f"[UiActionEngine] step_start id={step} type=SnapshotUi", pid=pid, tag="Engine"),
    ]


def test_a_line_stands_for_a_dump_and_says_which_snapshot_it_was() -> None:
    """A line stands for each dump, with its step and its execution."""
    first, second = execution("cmd-1", "look"), execution("cmd-2", "again")
    log = [*first, *dump(), line("between"), *second, *dump(), line("after")]

    shortened = without_dumps(log)

    assert shortened == [
        *first,
        line(f"{MARKER} step look of cmd-1, 4 lines; it is left out"),
        line("between"),
        *second,
        line(f"{MARKER} step again of cmd-2, 4 lines; it is left out"),
        line("after"),
    ]


def test_the_file_that_has_the_snapshot_is_named() -> None:
    """Where a file has the snapshot, it is named."""
    log = [*execution("cmd-1", "look"), *dump()]

    shortened = without_dumps(log, kept={("cmd-1", "look"): "envelopes.json"})

    assert shortened[-1].endswith(b"step look of cmd-1, 4 lines; it is in envelopes.json")


def test_lines_of_others_between_are_kept() -> None:
    """Lines of other processes and tags that came meanwhile are kept."""
    marker, *xml = dump()
    others = [line("of another", pid=7), line("of another tag", tag="Other")]
    log = [marker, xml[0], others[0], xml[1], others[1], *xml[2:]]

    shortened = without_dumps(log)

    assert shortened == [line(f"{MARKER} 4 lines; it is left out"), *others]


@pytest.mark.parametrize("others", [[], ["[UiActionEngine] step_success id=a", "and more"]])
def test_a_dump_without_an_end_takes_nothing_else_with_it(others: list[str]) -> None:
    """Where the log lost the end of a dump, what follows it is kept."""
    after = [line(text) for text in others]
    log = [*dump(*XML[:2]), *after]

    shortened = without_dumps(log)

    assert shortened == [line(f"{MARKER} 2 lines; it is left out"), *after]


def test_an_app_cannot_hide_the_lines_of_another() -> None:
    """Whoever logs the marker of a dump hides lines of its own at most."""
    log = [line(MARKER, pid=666), line("FATAL EXCEPTION: main", pid=7), line("x", pid=666)]

    shortened = without_dumps(log)

    assert shortened[1:] == [log[1]]


def test_a_marker_with_nothing_after_it_stays() -> None:
    """A marker at the end of a log stays as it is."""
    log = [line("before"), line(MARKER)]

    assert without_dumps(log) == log


def test_the_command_is_that_of_the_same_process() -> None:
    """What another process says of executions does not count."""
    log = [*execution("cmd-1", "look"), *execution("forged", "step", pid=666), *dump()]

    shortened = without_dumps(log)

    assert shortened[-1] == line(f"{MARKER} step look of cmd-1, 4 lines; it is left out")
