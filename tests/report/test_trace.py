"""Traces: what is written is read back, also of a test that was killed."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.report import trace
from pytest_clawperator.report.trace import (
    EVENTS_FILE,
    ExecutionBegan,
    ExecutionEnded,
    Failure,
    Noted,
    Outcome,
    Source,
    Trace,
    TraceBegan,
    TraceEnded,
    TraceWriter,
    glance,
    last_passed,
    read_trace,
)
from tests.report.made_traces import END, HEAD, write_trace

DOCUMENT = Path(__file__).parents[2] / "docs" / "trace.md"

ROW = re.compile(r"^\| `([\w-]+)` \| ([`\w ]+) \|", re.MULTILINE)

OBJECTS = (trace.Source, trace.Excerpt, trace.Failure, trace.Poll)


def test_the_document_lists_every_kind_with_its_keys() -> None:
    """Each class of an event is a row, and each field but the time a key of it."""
    rows = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
    listed = {name: re.findall(r"`(\w+)`", keys) for name, keys in rows}
    kinds = {
        one.kind: [field.name for field in fields(one) if field.name != "at"]
        for one in trace.TraceEvent.__subclasses__()
        if one.__module__ == trace.__name__  # the record of a run has other kinds
    }
    objects = {one.__name__.lower(): [field.name for field in fields(one)] for one in OBJECTS}

    assert listed == {**kinds, **objects}


BEGAN = TraceBegan(at=1.0, nodeid="test_shop.py::test_buy", run="r1")

ENDED = TraceEnded(at=9.0, outcome="passed", seconds=0)

HOSTILE = "</script><!--\u202e\x1b[31m\ud800 \U0001f600 \u05d0\u05d1 \0 %s"


def write_small_trace(folder: Path) -> Path:
    """Write a trace of one execution; return the file of its events."""
    writer = TraceWriter(folder)
    writer.write(BEGAN)
    writer.write(
        ExecutionBegan(
            at=2.0,
            id=1,
            serial="emulator-5554",
            title="click",
            source=Source(file="test_shop.py", line=7),
            payload={"actions": [{"type": "click"}]},
        )
    )
    tree = writer.keep(b"<hierarchy/>", ".xml")
    failure = Failure(type="NodeNotFoundError", message="no node", code="NODE_NOT_FOUND")
    writer.write(ExecutionEnded(at=3.0, id=1, seconds=1.0, failure=failure, before=tree))
    writer.write(ENDED)
    writer.close()
    return folder / EVENTS_FILE


def test_a_trace_is_read_back_as_written(tmp_path: Path) -> None:
    """Events in their order and blobs by name; empty values are left out, false and 0 are not."""
    write_small_trace(tmp_path)

    trace = read_trace(tmp_path)

    kinds = [event["kind"] for event in trace.events]
    assert kinds == ["trace", "execution", "execution-end", "outcome"]
    assert trace.head["nodeid"] == "test_shop.py::test_buy"
    expected = {"outcome": "passed", "seconds": 0, "is_infrastructure": False}
    assert trace.end == {"kind": "outcome", "at": 9.0, **expected}
    ended = next(trace.of_kind("execution-end"))
    assert trace.blob(ended["before"]) == b"<hierarchy/>"
    assert ended["failure"]["code"] == "NODE_NOT_FOUND"
    assert "after" not in ended
    for name in ("../trace.jsonl", "/etc/passwd", "", None, 5, "a" * 32 + ".XML"):
        assert trace.blob(name) is None


def test_a_trace_that_was_cut_at_any_byte_lacks_at_most_the_last_event(tmp_path: Path) -> None:
    """Wherever a file ends, all lines that are whole are read."""
    path = write_small_trace(tmp_path)
    content = path.read_bytes()

    for length in range(content.index(b"\n") + 1, len(content) + 1):
        path.write_bytes(content[:length])
        trace = read_trace(tmp_path)
        assert (len(trace.events), trace.skipped) == (content[:length].count(b"\n"), 0)


def test_a_killed_process_leaves_all_that_it_wrote(tmp_path: Path) -> None:
    """An event is in the file as soon as it was written."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from pytest_clawperator.report.trace import Noted, TraceBegan, TraceWriter\n"
        "writer = TraceWriter(Path(sys.argv[1]))\n"
        "writer.write(TraceBegan(at=1.0, nodeid='n'))\n"
        "for at in range(50): writer.write(Noted(at=float(at), message='x' * at))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "trace")], check=False, timeout=60
    )

    assert done.returncode == -signal.SIGKILL
    trace = read_trace(tmp_path / "trace")
    assert (len(trace.events), trace.end) == (51, None)


def test_hostile_text_is_data_and_comes_back_unchanged(tmp_path: Path) -> None:
    """A text of any kind stays on its line, in ASCII, and is the same afterwards."""
    payload = {"n": float("nan"), "i": float("inf"), "deep": [[{"k\n": HOSTILE}]]}
    execution = ExecutionBegan(at=3.0, id=1, serial="s", title="t", payload=payload)

    trace = write_trace(tmp_path, [BEGAN, Noted(at=2.0, message=HOSTILE + "\n{}"), execution])

    assert (tmp_path / EVENTS_FILE).read_bytes().isascii()
    assert trace.events[1]["message"] == HOSTILE + "\n{}"
    assert trace.events[2]["payload"]["deep"] == [[{"k\n": HOSTILE}]]
    assert trace.events[2]["payload"]["n"] == "nan"


def test_equal_blobs_are_kept_once(tmp_path: Path) -> None:
    """The same screen ten times is one file, and another one a second."""
    writer = TraceWriter(tmp_path / "trace")

    names = {writer.keep(b"<hierarchy/>", ".xml") for _ in range(10)}
    names.add(writer.keep(b"<hierarchy rotation='1'/>", ".xml"))
    writer.close()

    assert {path.name for path in (tmp_path / "trace" / "blobs").iterdir()} == names
    assert len(names) == 2


def test_secrets_are_in_no_line_and_no_screen(tmp_path: Path) -> None:
    """What becomes known as a secret later is hidden at the end."""
    writer = TraceWriter(tmp_path)
    writer.write(BEGAN)
    name = writer.keep(b'<hierarchy><node text="hunter2-hunter2"/></hierarchy>', ".xml")
    writer.write(Noted(at=2.0, message="typed hunter2-hunter2"))
    SECRETS.add("hunter2-hunter2")
    payload = {"actions": [{"params": {"text": "hunter2-hunter2"}}]}
    writer.write(ExecutionBegan(at=2.0, id=1, serial="s", title="enter_text", payload=payload))
    assert (tmp_path / EVENTS_FILE).read_bytes().count(b"hunter2-hunter2") == 1
    writer.close()

    trace = read_trace(tmp_path)
    blob = trace.blob(name)
    assert blob is not None
    assert b"hunter2" not in blob + (tmp_path / EVENTS_FILE).read_bytes()
    assert trace.events[1]["message"] == "typed [***]"


def test_events_after_the_end_are_left_out(tmp_path: Path) -> None:
    """A thread that outlasts the test neither fails nor writes."""
    writer = TraceWriter(tmp_path / "trace")
    writer.write(BEGAN)
    writer.close()

    writer.write(ENDED)
    writer.keep(b"late", ".txt")
    writer.close()

    assert len(read_trace(tmp_path / "trace").events) == 1
    assert list((tmp_path / "trace" / "blobs").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read"),
        (b"", "is not a trace"),
        (b"\xff\xfe\n[[[[\n", "is not a trace"),
        (b'{"kind":"note","at":1,"message":"m"}\n', "is not a trace"),
        (b'{"kind":"trace","at":1,"nodeid":"n","version":99}\n', "has version 99"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes | None, problem: str) -> None:
    """A missing, foreign or newer file is an error that states what was found."""
    if content is not None:
        (tmp_path / EVENTS_FILE).write_bytes(content)

    with pytest.raises(ConfigurationError, match=problem):
        read_trace(tmp_path)


def test_damaged_lines_are_counted(tmp_path: Path) -> None:
    """The others are read."""
    path = write_small_trace(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = [b"garbage\n", json.dumps([1]).encode() + b"\n", b"[" * 100_000 + b"\n"]
    path.write_bytes(b"".join([lines[0], *damaged, *lines[1:]]))

    trace = read_trace(tmp_path)

    assert (trace.skipped, len(trace.events)) == (3, 4)


NODEID = HEAD.nodeid


def traced(results: Path, run: str, outcome: Outcome, *, nodeid: str = NODEID) -> Trace:
    """Write the trace of a test in the folder of a run."""
    head, end = replace(HEAD, nodeid=nodeid), replace(END, outcome=outcome)
    return write_trace(results / run / "test_made" / "trace", [head, end])


def test_a_failed_test_is_compared_with_the_last_run_that_passed(tmp_path: Path) -> None:
    """Not with runs that failed or tests of other names; one that passed with nothing."""
    first = traced(tmp_path, "run-1", "failed")
    assert last_passed(first, run="run-1") is None
    traced(tmp_path, "run-2", "passed")
    expected = traced(tmp_path, "run-3", "passed")
    assert last_passed(expected, run="run-3") is None
    traced(tmp_path, "run-4", "failed")
    traced(tmp_path, "run-5", "passed", nodeid="tests/test_made.py::test_other")
    failed = traced(tmp_path, "run-6", "failed")

    found, seen = last_passed(failed, run="run-6"), glance(failed.folder)
    assert found is not None
    assert found.folder == expected.folder
    assert seen is not None
    assert (seen.nodeid, seen.outcome, seen.start, seen.stop) == (NODEID, "failed", 100.0, 900.0)
