"""Traces that no phone makes in a test: very long, very large, or hostile."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_clawperator.report.trace import (
    EVENTS_FILE,
    DeviceUsed,
    ExecutionBegan,
    ExecutionEnded,
    ExpectationEnded,
    LogWritten,
    PictureTaken,
    Poll,
    Source,
    StepBegan,
    StepEnded,
    Trace,
    TraceBegan,
    TraceEnded,
    TraceEvent,
    TraceWriter,
    read_trace,
)
from tests.snapshot.screens import hierarchy, node

SERIAL = "emulator-5554"

HEAD = TraceBegan(at=100.0, nodeid="tests/test_made.py::test_made")

DEVICE = DeviceUsed(at=100.0, serial=SERIAL, size=(1080, 2400), about={"model": "Pixel 9"})

END = TraceEnded(at=900.0, outcome="passed", seconds=800.0)

BUTTON = "android.widget.Button"


def cell(number: int, count: int) -> tuple[int, int, int, int]:
    """Return the bounds of one of many nodes, which fill the screen in rows."""
    columns = math.ceil(math.sqrt(count / 2))
    width, height = 1080 // columns, 2300 // -(-count // columns)
    left, top = number % columns * width, 80 + number // columns * height
    return left + 1, top + 1, left + width - 1, top + height - 1


def wide_tree(nodes: int, *, chosen: int = 0) -> str:
    """Write a hierarchy with so many nodes, in groups of twenty."""
    count = nodes - 1 - nodes // 21

    def button(number: int) -> str:
        left, top, right, bottom = cell(number, count)
        return node(
            text="Chosen" if number == chosen else f"Cell {number}",
            id=f"com.example:id/cell_{number}",
            cls=BUTTON,
            clickable=True,
            bounds=f"[{left},{top}][{right},{bottom}]",
        )

    groups = [
        node(
            *map(button, range(start, min(start + 20, count))),
            cls="android.widget.LinearLayout",
            bounds="[0,0][1080,2400]",
        )
        for start in range(0, count, 20)
    ]
    return hierarchy(*groups)


def write_trace(folder: Path, events: Iterable[TraceEvent]) -> Trace:
    """Write events as they are, and read them back."""
    writer = TraceWriter(folder)
    for event in events:
        writer.write(event)
    writer.close()
    return read_trace(folder)


def long_trace(
    folder: Path,
    *,
    steps: int,
    nodes: int = 60,
    trees: int = 20,
    pictures: Sequence[bytes] = (),
) -> Trace:
    """Write a trace with so many executions, in blocks of ten."""
    writer = TraceWriter(folder)
    kept = [
        writer.keep(wide_tree(nodes, chosen=number).encode(), ".xml") for number in range(trees)
    ]
    shots = [writer.keep(picture, ".webp") for picture in pictures]
    writer.write(HEAD)
    writer.write(DEVICE)
    for number in range(steps):
        at, block = 101.0 + number, 10_000 + number // 10
        if number % 10 == 0:
            writer.write(StepBegan(at=at, id=block, title=f"Block {number // 10 + 1}"))
        for event in _execution(number, at, block, kept):
            writer.write(event)
        if shots:
            writer.write(_picture(number, at + 0.9, shots[number % len(shots)]))
        if number % 10 == 9:
            writer.write(StepEnded(at=at + 0.95, id=block, seconds=9.9))
    writer.write(END)
    writer.close()
    return read_trace(folder)


def expecting_trace(folder: Path, pictures: Sequence[bytes]) -> Trace:
    """Write a trace of a click and an expectation with two looks, each with its picture."""
    writer = TraceWriter(folder)
    kept = [writer.keep(wide_tree(60, chosen=number).encode(), ".xml") for number in range(2)]
    shots = [writer.keep(picture, ".webp") for picture in pictures]
    for event in (HEAD, DEVICE, *_execution(1, 101.0, 0, kept)):
        writer.write(event)
    for number, tree in enumerate(kept):
        at, look = 102.0 + number, 3 + number
        title, payload = "snapshot_ui", {"actions": [{"id": "s", "type": "snapshot_ui"}]}
        writer.write(
            ExecutionBegan(at=at, id=look, parent=2, serial=SERIAL, title=title, payload=payload)
        )
        writer.write(ExecutionEnded(at=at + 0.1, id=look, seconds=0.1, after=tree))
        writer.write(_picture(look, at + 0.2, shots[number]))
    looks = [Poll(at=102.1 + number, tree=tree) for number, tree in enumerate(kept)]
    writer.write(
        ExpectationEnded(
            at=103.1, id=2, serial=SERIAL, title="expect the cell", seconds=1.1, polls=looks
        )
    )
    writer.write(END)
    writer.close()
    return read_trace(folder)


def late_pictures_trace(folder: Path, pictures: Sequence[bytes]) -> Trace:
    """Write a trace of clicks that leave no hierarchy, whose pictures arrive at the end."""
    writer = TraceWriter(folder)
    tree = writer.keep(wide_tree(60).encode(), ".xml")
    shots = [writer.keep(picture, ".webp") for picture in pictures]
    writer.write(HEAD)
    writer.write(DEVICE)
    for number in range(len(shots)):
        at = 101.0 + number
        writer.write(next(_execution(number, at, 0, [tree])))
        writer.write(ExecutionEnded(at=at + 0.8, id=number, seconds=0.8, before=tree))
    for number, shot in enumerate(shots):
        writer.write(_picture(number, 200.0 + number, shot))
    writer.write(END)
    writer.close()
    return read_trace(folder)


def _picture(number: int, at: float, blob: str) -> PictureTaken:
    return PictureTaken(
        at=at, serial=SERIAL, blob=blob, size=(360, 800), scale=1 / 3, execution=number
    )


def _execution(number: int, at: float, block: int, trees: list[str]) -> Iterator[TraceEvent]:
    place = number % 20
    params = {"matcher": {"textEquals": f"Cell {place}"}}
    click = {"id": "a", "type": "click", "params": params}
    yield ExecutionBegan(
        at=at,
        id=number,
        parent=block,
        serial=SERIAL,
        title=f'click text="Cell {place}"',
        source=Source(file="tests/test_made.py", line=number + 1, text="claw.click(...)"),
        payload={"commandId": f"c-{number}", "actions": [click]},
    )
    yield LogWritten(
        at=at + 0.5,
        serial=SERIAL,
        execution=number,
        lines=[f"03-28 10:00:00.000  1  2 {level} Tag: line {number}" for level in "DIWE"],
    )
    yield ExecutionEnded(
        at=at + 0.8,
        id=number,
        seconds=0.8,
        envelope={"status": "success", "stepResults": []},
        before=trees[number % len(trees)],
        after=trees[(number + 1) % len(trees)],
    )


# What would run, end an element, mislead a reader or break a script if it were not data.
ATTACK = "<img src=x onerror=\"document.title='owned';alert(1)\"><script>alert(2)</script>"

NASTY = (
    ATTACK,
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "]]></style><style>*{display:none}</style>",
    "\u202egnp.exe \u2066\u05d0\u05d1",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \ud83d lone \udc00",
    "a\u2028b\u2029c\0d\x1b[31m",
    "{{script}} {{data}}",
    "__proto__",
    "javascript:alert(3)",
)


def hostile_trace(folder: Path, *, length: int = 10_000_000) -> Trace:
    """Write a trace in which every text is nasty, one is very long, and types are wrong."""
    text = " ".join(NASTY)
    huge = "W\u202e<b>" * (length // 5)
    blobs = folder / "blobs"
    blobs.mkdir(parents=True)
    tree = f"{'0' * 32}.xml"
    nodes = [node(text=one, desc=one, id=f"x:id/{one}", cls=BUTTON) for one in NASTY]
    nodes += [node(text="W" * length, id="__proto__"), node(text=huge[:9000], cls=huge[:5000])]
    body = hierarchy(*nodes).encode("utf-8", "surrogatepass")
    (blobs / tree).write_bytes(body)
    (blobs / f"{'1' * 32}.xml").write_bytes(b"<hierarchy><node></script><!--")
    (blobs / f"{'2' * 32}.png").write_bytes(b"<svg onload=alert(1)>")
    lines = [json.dumps(event).encode() + b"\n" for event in _hostile_events(text, huge, tree)]
    (folder / EVENTS_FILE).write_bytes(b"".join(lines))
    return read_trace(folder)


def _hostile_events(text: str, huge: str, tree: str) -> Iterator[dict[str, Any]]:
    failure = {"type": text, "message": huge, "code": text, "hint": text}
    source = {"file": text, "line": 3, "function": text, "text": text}
    proto = json.loads('{"__proto__": {"polluted": "yes"}, "constructor": "x", "toString": "y"}')
    yield {
        "kind": "trace", "at": 1.0, "version": 1, "nodeid": text, "run": text, "worker": text,
        "environment": {text: text, **proto},
    }  # fmt: skip
    yield {"kind": "device", "at": 1.0, "serial": text, "size": [1080, 2400], "about": proto}
    yield {"kind": "step", "at": 1.1, "id": 1, "title": text, "source": source}
    yield {
        "kind": "execution", "at": 1.2, "id": 2, "parent": 1, "serial": text, "title": huge,
        "source": source, "payload": {text: huge, **proto, "deep": _deep(300)},
    }  # fmt: skip
    yield {"kind": "log", "at": 1.3, "serial": text, "lines": [text, huge, *NASTY], "execution": 2}
    yield {"kind": "note", "at": 1.3, "message": text, "execution": 2}
    yield {
        "kind": "execution-end", "at": 1.4, "id": 2, "seconds": 0.2, "failure": failure,
        "before": tree, "after": f"{'1' * 32}.xml", "envelope": {"stepResults": [text, {}, None]},
        "touch": {"bounds": [0, 0, 10, 10], "point": [5, 5]},
    }  # fmt: skip
    yield {
        "kind": "picture", "at": 1.5, "serial": text, "blob": f"{'2' * 32}.png", "size": [1, 2],
    }  # fmt: skip
    for blob in ("__proto__", [1], {"a": 1}, 5):
        yield {"kind": "picture", "at": 1.5, "serial": text, "blob": blob, "size": "x"}
        yield {"kind": "execution-end", "at": 1.5, "id": 99, "before": blob, "after": blob}
    yield {
        "kind": "expectation", "at": 1.8, "id": 3, "title": text, "seconds": 0.1, "serial": text,
        "polls": [{"at": 1.7, "found": text, "tree": "__proto__"}, "no poll", 5],
    }  # fmt: skip
    for wrong in ("expectation", "execution", "step", "log", "error", "fixture", "artefact", "?"):
        yield {
            "kind": wrong, "at": 2.0, "id": "__proto__", "parent": [], "title": {"a": 1},
            "lines": "abc", "polls": 7, "failure": 5, "source": [], "seconds": "x", "touch": 1,
        }  # fmt: skip
    yield {"kind": "artefact", "at": 2.0, "name": text, "path": "javascript:alert(4)"}
    yield {
        "kind": "artefact",
        "at": 2.0,
        "name": text,
        "path": "/etc/passwd",
        "href": "javascript:alert(5)",
    }
    yield {
        "kind": "error", "at": 2.1, "phase": text, "failure": failure, "traceback": huge,
        "excerpt": {"source": source, "first": 1, "lines": [text, *NASTY]},
    }  # fmt: skip
    yield {"kind": "outcome", "at": 2.2, "outcome": text, "seconds": 1.2, "reason": text}


def _deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value
