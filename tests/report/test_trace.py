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


def listed() -> dict[str, list[str]]:
    """Return the keys of each kind and object in the document."""
    rows = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
    return {name: re.findall(r"`(\w+)`", keys) for name, keys in rows}


def test_the_document_lists_every_kind_with_its_keys() -> None:
    """Each class of an event is a row, and each field but the time a key of it."""
    kinds = {
        one.kind: [field.name for field in fields(one) if field.name != "at"]
        for one in trace.TraceEvent.__subclasses__()
        if one.__module__ == trace.__name__  # the record of a run has kinds of its own
    }
    objects = {one.__name__.lower(): [field.name for field in fields(one)] for one in OBJECTS}

    assert listed() == {**kinds, **objects}


def test_what_is_not_known_is_left_out() -> None:
    """Empty values take no room, and false and nought are values."""
    event = trace.TraceEnded(at=1.0, outcome="passed", seconds=0)

    assert event.to_json() == {
        "kind": "outcome",
        "at": 1.0,
        "outcome": "passed",
        "seconds": 0,
        "is_infrastructure": False,
    }


BEGAN = TraceBegan(at=1.0, nodeid="test_shop.py::test_buy", run="r1")

ENDED = TraceEnded(at=9.0, outcome="passed", seconds=8.0)

HOSTILE = "</script><!--\u202e\x1b[31m\ud800 \U0001f600 \u05d0\u05d1 \0 %s"


def write_small_trace(folder: Path) -> None:
    """Write a trace of one execution."""
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


def test_a_trace_is_read_back_as_written(tmp_path: Path) -> None:
    """Events come back in their order, blobs by their names, and unknown fields are left out."""
    write_small_trace(tmp_path / "trace")

    trace = read_trace(tmp_path / "trace")

    assert [event["kind"] for event in trace.events] == [
        "trace",
        "execution",
        "execution-end",
        "outcome",
    ]
    assert trace.head["nodeid"] == "test_shop.py::test_buy"
    assert trace.end is not None
    assert trace.end["outcome"] == "passed"
    ended = next(trace.of_kind("execution-end"))
    assert trace.blob(ended["before"]) == b"<hierarchy/>"
    assert ended["failure"]["code"] == "NODE_NOT_FOUND"
    assert "after" not in ended


def test_a_trace_that_was_cut_at_any_byte_lacks_at_most_the_last_event(tmp_path: Path) -> None:
    """Wherever a file ends, all lines that are whole are read."""
    write_small_trace(tmp_path / "whole")
    content = (tmp_path / "whole" / EVENTS_FILE).read_bytes()
    cut = tmp_path / "cut"
    cut.mkdir()
    first = content.index(b"\n") + 1

    for length in range(first, len(content) + 1):
        (cut / EVENTS_FILE).write_bytes(content[:length])
        trace = read_trace(cut)
        assert len(trace.events) == content[:length].count(b"\n")
        assert trace.skipped == 0


def test_a_killed_process_leaves_all_that_it_wrote(tmp_path: Path) -> None:
    """An event is in the file as soon as it was written, with no end of the process needed."""
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from pytest_clawperator.report.trace import Noted, TraceBegan\n"
        "from pytest_clawperator.report.trace import TraceWriter\n"
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
    assert len(trace.events) == 51
    assert trace.end is None


def test_hostile_text_is_data_and_comes_back_unchanged(tmp_path: Path) -> None:
    """A text of any kind stays on its line, in ASCII, and is the same afterwards."""
    writer = TraceWriter(tmp_path / "trace")
    writer.write(BEGAN)
    writer.write(Noted(at=2.0, message=HOSTILE + "\n{}"))
    payload = {"n": float("nan"), "i": float("inf"), "deep": [[{"k\n": HOSTILE}]]}
    writer.write(ExecutionBegan(at=3.0, id=1, serial="s", title="t", payload=payload))
    writer.close()

    trace = read_trace(tmp_path / "trace")

    assert (tmp_path / "trace" / EVENTS_FILE).read_bytes().isascii()
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


@pytest.mark.parametrize("name", ["../trace.jsonl", "/etc/passwd", "", None, 5, "a" * 32 + ".XML"])
def test_only_names_of_blobs_are_read(tmp_path: Path, name: object) -> None:
    """A trace of somebody else names no file outside of its folder."""
    write_small_trace(tmp_path / "trace")

    assert read_trace(tmp_path / "trace").blob(name) is None


def test_secrets_are_in_no_line(tmp_path: Path) -> None:
    """What is hidden elsewhere is hidden in a trace."""
    known = SECRETS.secrets
    SECRETS.add("hunter2-hunter2")
    try:
        writer = TraceWriter(tmp_path / "trace")
        writer.write(BEGAN)
        payload = {"actions": [{"params": {"text": "hunter2-hunter2"}}]}
        writer.write(ExecutionBegan(at=2.0, id=1, serial="s", title="enter_text", payload=payload))
        writer.close()
    finally:
        SECRETS.secrets = known

    assert b"hunter2" not in (tmp_path / "trace" / EVENTS_FILE).read_bytes()


def test_a_secret_that_becomes_known_later_is_hidden_at_the_end(tmp_path: Path) -> None:
    """What turns out to be a secret is taken out of lines and screens that have it."""
    known = SECRETS.secrets
    try:
        writer = TraceWriter(tmp_path / "trace")
        writer.write(BEGAN)
        name = writer.keep(b'<hierarchy><node text="hunter2-hunter2"/></hierarchy>', ".xml")
        writer.write(Noted(at=2.0, message="typed hunter2-hunter2"))
        SECRETS.add("hunter2-hunter2")
        writer.close()
    finally:
        SECRETS.secrets = known

    trace = read_trace(tmp_path / "trace")
    assert b"hunter2" not in (trace.blob(name) or b"")
    assert trace.blob(name) is not None
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
    ("content", "told"),
    [
        (None, "cannot be read"),
        (b"", "is not a trace"),
        (b"\xff\xfe\n[[[[\n", "is not a trace"),
        (b'{"kind":"note","at":1,"message":"m"}\n', "is not a trace"),
        (b'{"kind":"trace","at":1,"nodeid":"n","version":99}\n', "has version 99"),
    ],
)
def test_a_file_that_is_no_trace_is_told(tmp_path: Path, content: bytes | None, told: str) -> None:
    """A missing, foreign or newer file is an error that says what was found."""
    if content is not None:
        (tmp_path / EVENTS_FILE).write_bytes(content)

    with pytest.raises(ConfigurationError, match=told):
        read_trace(tmp_path)


def test_lines_that_are_no_events_are_counted(tmp_path: Path) -> None:
    """A damaged line costs itself only."""
    write_small_trace(tmp_path / "trace")
    path = tmp_path / "trace" / EVENTS_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    deep = b"[" * 100_000 + b"\n"
    path.write_bytes(
        b"".join([lines[0], b"garbage\n", json.dumps([1]).encode() + b"\n", deep, *lines[1:]])
    )

    trace = read_trace(tmp_path / "trace")

    assert trace.skipped == 3
    assert len(trace.events) == 4


NODEID = HEAD.nodeid


def traced(results: Path, run: str, outcome: Outcome, *, nodeid: str = NODEID) -> Trace:
    """Write the trace of a test in the folder of a run."""
    head, end = replace(HEAD, nodeid=nodeid), replace(END, outcome=outcome)
    return write_trace(results / run / "test_made" / "trace", [head, end])


def test_a_failed_test_is_compared_with_the_last_run_that_passed(tmp_path: Path) -> None:
    """Later runs that failed, and tests of other names in the same folder, do not count."""
    traced(tmp_path, "run-1", "passed")
    expected = traced(tmp_path, "run-2", "passed")
    traced(tmp_path, "run-3", "failed")
    traced(tmp_path, "run-4", "passed", nodeid="tests/test_made.py::test_other")
    failed = traced(tmp_path, "run-5", "failed")

    found = last_passed(failed, run="run-5")
    assert found is not None
    assert found.folder == expected.folder


@pytest.mark.parametrize("outcome", ["passed", "failed"])
def test_what_passed_or_has_no_other_run_is_compared_with_nothing(
    tmp_path: Path, outcome: Outcome
) -> None:
    """A page of a test that passed has no second run in it, which would double its size."""
    if outcome == "passed":
        traced(tmp_path, "run-1", "passed")
    trace = traced(tmp_path, "run-2", outcome)

    assert last_passed(trace, run="run-2") is None


def test_a_glance_tells_how_a_test_ended(tmp_path: Path) -> None:
    """The first and the last line of a trace are enough."""
    seen = glance(traced(tmp_path, "run-1", "failed").folder)

    assert seen is not None
    assert (seen.nodeid, seen.outcome, seen.start, seen.stop) == (NODEID, "failed", 100.0, 900.0)
