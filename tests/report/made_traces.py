"""Traces and runs made for tests: of a shop, very long, very large, or hostile."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

from PIL import Image

from pytest_clawperator.report.index import ErrorSummary, RunBegan, RunLog, TestEnded
from pytest_clawperator.report.trace import (
    EVENTS_FILE,
    DeviceUsed,
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

BUTTON, FIELD, TEXT = (f"android.widget.{name}" for name in ("Button", "EditText", "TextView"))


def write_trace(folder: Path, events: Iterable[TraceEvent]) -> Trace:
    """Write events as they are, and read them back."""
    writer = TraceWriter(folder)
    for event in events:
        writer.write(event)
    writer.close()
    return read_trace(folder)


def picture(colour: str) -> bytes:
    """Return a small picture."""
    file = BytesIO()
    Image.new("RGB", (36, 80), colour).save(file, "WEBP")
    return file.getvalue()


class TraceMaker:
    """Makes a trace of events that are given as data, each a tenth of a second after the last."""

    def __init__(self, folder: Path) -> None:
        self.writer = TraceWriter(folder)
        self.at = 100.0
        self._events: list[dict[str, Any]] = [HEAD.to_json(), DEVICE.to_json()]
        self._ids = iter(range(1, 1_000_000))
        self._blocks: list[int] = []

    def add(self, kind: str, **fields: Any) -> None:
        """Add an event."""
        self.at = fields.pop("at", round(self.at + 0.1, 1))
        known = {name: value for name, value in fields.items() if value is not None}
        self._events.append({"kind": kind, "at": self.at, **known})

    def tree(self, xml: str | None) -> str | None:
        """Keep a hierarchy, and return its name."""
        return None if xml is None else self.writer.keep(xml.encode(), ".xml")

    @contextmanager
    def block(self, title: str, failure: dict[str, str] | None = None) -> Iterator[None]:
        """Enclose what belongs together."""
        number = next(self._ids)
        self.add("step", id=number, parent=self._parent, title=title, source=_source(title))
        self._blocks.append(number)
        yield
        self._blocks.pop()
        self.add("step-end", id=number, seconds=0.5, failure=failure)

    def execute(
        self,
        title: str,
        action: dict[str, Any],
        *,
        before: str | None = None,
        after: str | None = None,
        shot: bytes | None = None,
    ) -> int:
        """Add an execution with its log, and a picture after it; return its id."""
        number = next(self._ids)
        payload = {"commandId": f"c-{number}", "actions": [{"id": "a", **action}]}
        about = {"parent": self._parent, "title": title, "source": _source(title)}
        self.add("execution", id=number, serial=SERIAL, payload=payload, **about)
        messages = (f"D Tag: line {number}", "E App: no", f"I Op: [Clawperator-Result] {number}")
        lines = [f"03-28 10:00:00.000  1  2 {message}" for message in messages]
        self.add("log", serial=SERIAL, execution=number, lines=lines)
        envelope = {"status": "success", "stepResults": []}
        screens = {"before": self.tree(before), "after": self.tree(after)}
        self.add("execution-end", id=number, seconds=0.12, envelope=envelope, **screens)
        if shot is not None:
            self.show(number, shot)
        return number

    def show(self, execution: int, shot: bytes, **fields: Any) -> None:
        """Add the picture after an execution."""
        about = {"blob": self.writer.keep(shot, ".webp"), "size": [360, 800], "scale": 1 / 3}
        self.add("picture", serial=SERIAL, execution=execution, **about, **fields)

    def expect(
        self, title: str, trees: Sequence[str], *, shots: Sequence[bytes] = (), **fields: Any
    ) -> None:
        """Add an expectation that checked these screens."""
        number, began = next(self._ids), self.at
        look = {"type": "snapshot_ui"}
        self._blocks.append(number)
        for tree, shot in zip(trees, shots, strict=False):
            self.execute("snapshot_ui", look, after=tree, shot=shot)
        self._blocks.pop()
        polls = [
            {"at": self.at, "found": f"{tree.count('<node')} nodes", "tree": self.tree(tree)}
            for tree in trees
        ]
        about = {"parent": self._parent, "source": _source("expect"), **fields}
        about |= {"seconds": self.at - began + 0.05}
        self.add("expectation", id=number, serial=SERIAL, title=title, polls=polls, **about)

    def finish(self, outcome: str = "passed", **fields: Any) -> Trace:
        """End the trace, and read it."""
        self.add("outcome", outcome=outcome, seconds=round(self.at - 100, 1), **fields)
        self.writer.close()
        lines = [json.dumps(event) + "\n" for event in self._events]
        (self.writer.folder / EVENTS_FILE).write_text("".join(lines))
        return read_trace(self.writer.folder)

    @property
    def _parent(self) -> int | None:
        return self._blocks[-1] if self._blocks else None


def _source(text: str) -> dict[str, Any]:
    return {"file": "tests/test_shop.py", "line": 7, "function": "test_made", "text": text}


def _part(name: str, text: str, top: int, cls: str = TEXT, **more: Any) -> str:
    bounds = f"[40,{top}][1040,{top + 100}]"
    return node(text=text, id=f"com.example.shop:id/{name}", cls=cls, bounds=bounds, **more)


def _sign_in(email: str = "", password: str = "", *, enabled: bool = True) -> str:
    return hierarchy(
        _part("email", email, 300, FIELD),
        _part("password", password, 500, FIELD),
        _part("sign_in", "Sign in", 700, BUTTON, clickable=True, enabled=enabled),
        _part("forgot", "Forgot password?", 900, BUTTON, clickable=True),
    )


def _products(cart: int = 0) -> str:
    items = [_part("item", f"Item {number}", 200 + 150 * number) for number in range(1, 6)]
    listed = node(*items, id="com.example.shop:id/product_list", bounds="[0,200][1080,2400]")
    return hierarchy(_part("cart_button", f"Cart ({cart})", 80), listed)


def _item(number: int) -> str:
    add = _part("add_to_cart", "Add to cart", 1800, BUTTON, clickable=True)
    return hierarchy(_part("title", f"Item {number}", 200), add)


_OFFER = hierarchy(
    _part("title", "Summer sale", 900),
    _part("not_now", "Not now", 1100, BUTTON, clickable=True),
    _part("show", "Show me", 1300, BUTTON, clickable=True),
)

_CART = hierarchy(
    _part("title", "Cart (2)", 100),
    _part("cart_total", "$38.00", 1800),
    _part("checkout", "Checkout", 2200, BUTTON, clickable=True),
)


def shop_trace(folder: Path, *, total: str = "$99.00", has_pictures: bool = True) -> Trace:
    """Write the trace of a test that fills a cart, and expects a total of $38.00 or a wrong one."""
    made = TraceMaker(folder / "trace")
    made._events[0] |= {
        "nodeid": "tests/test_shop.py::TestCart::test_two_items_are_paid",
        "worker": "gw0",
        "environment": {"build": "shop-2.4.0"},
    }

    def act(title: str, kind: str, before: str, after: str, **params: Any) -> None:
        shot = picture(f"#{crc32(after.encode()) % 0xFFFFFF:06x}") if has_pictures else None
        made.execute(title, {"type": kind, "params": params}, before=before, after=after, shot=shot)

    def click(text: str, before: str, after: str) -> None:
        matcher = {"textEquals": text}
        act(f'click text="{text}"', "click", before, after, matcher=matcher)

    fixture = {"name": "clawperator", "scope": "function", "seconds": 0.21}
    made.add("phase", name="setup")
    made.add("fixture", stage="setup", **fixture)
    made.add("phase", name="call")
    act("open_app com.example.shop", "open_app", hierarchy(), _sign_in())
    ada, typed = _sign_in("ada@example.com"), _sign_in("ada@example.com", "••••••")
    with made.block("Sign in"):
        act('enter_text id="email"', "enter_text", _sign_in(), ada, text="ada@example.com")
        act('enter_text id="password"', "enter_text", ada, typed, text="[***]")
        click("Sign in", typed, _sign_in("ada@example.com", "••••••", enabled=False))
        made.expect('expect id="product_list" to be visible', [typed, _products()])
    with made.block("Dismiss the offer"):
        made.expect('expect text="Summer sale" to be visible', [_products()] * 3 + [_OFFER])
        click("Not now", _OFFER, _products())
    made.add("note", message="the log stream was opened again")
    with made.block("Fill the cart"):
        for cart, number in enumerate((2, 4)):
            with made.block(f"Add item {number}"):
                click(f"Item {number}", _products(cart), _item(number))
                click("Add to cart", _item(number), _item(number))
                act("press_key back", "press_key", _item(number), _products(cart + 1), key="back")
    message = f'expected node(id="cart_total") to have text "{total}", found "$38.00"'
    error = {"type": "ExpectationError", "message": message, "code": "EXPECTATION_FAILED"}
    failure = None if total == "$38.00" else error
    with made.block("Check the cart", failure):
        act('click id="cart_button"', "click", _products(2), _CART)
        made.expect(f'expect id="cart_total" to have text "{total}"', [_CART], failure=failure)
    if failure is None:
        click("Checkout", _CART, hierarchy())
    else:
        lines = ["    open_cart(claw)", f'    expect(total).to_have_text("{total}")']
        excerpt = {"source": _source(lines[1]), "first": 6, "lines": lines}
        trouble = {"failure": failure, "traceback": "Traceback (most recent call last)"}
        made.add("error", phase="call", excerpt=excerpt, **trouble)
    made.add("phase", name="teardown")
    made.add("fixture", stage="teardown", **fixture)
    (folder / "battery.txt").write_text("level: 98\n", encoding="utf-8")
    made.add("artefact", name="battery.txt", path="../battery.txt", mime="text/plain")
    return made.finish("passed" if failure is None else "failed")


def wide_tree(nodes: int, *, chosen: int = 0) -> str:
    """Write a hierarchy with so many nodes, in groups of twenty that fill the screen in rows."""
    count = nodes - 1 - nodes // 21
    columns = math.ceil(math.sqrt(count / 2))
    width, height = 1080 // columns, 2300 // -(-count // columns)

    def button(number: int) -> str:
        left, top = number % columns * width, 80 + number // columns * height
        return node(
            text="Chosen" if number == chosen else f"Cell {number}",
            id=f"com.example:id/cell_{number}",
            cls=BUTTON,
            clickable=True,
            bounds=f"[{left + 1},{top + 1}][{left + width - 1},{top + height - 1}]",
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


def _cell(number: int) -> tuple[str, dict[str, Any]]:
    text = f"Cell {number % 20}"
    return f'click text="{text}"', {"type": "click", "params": {"matcher": {"textEquals": text}}}


def long_trace(
    folder: Path,
    *,
    steps: int,
    nodes: int = 60,
    trees: int = 20,
    pictures: Sequence[bytes] = (),
) -> Trace:
    """Write a trace with so many executions, in blocks of ten."""
    made = TraceMaker(folder)
    screens = [wide_tree(nodes, chosen=number) for number in range(trees)]
    for start in range(0, steps, 10):
        with made.block(f"Block {start // 10 + 1}"):
            for number in range(start, min(start + 10, steps)):
                made.execute(
                    *_cell(number),
                    before=screens[number % trees],
                    after=screens[(number + 1) % trees],
                    shot=pictures[number % len(pictures)] if pictures else None,
                )
    return made.finish()


def expecting_trace(folder: Path, pictures: Sequence[bytes]) -> Trace:
    """Write a trace of a click and an expectation with two checks, each with its picture."""
    made = TraceMaker(folder)
    screens = [wide_tree(60, chosen=number) for number in range(2)]
    made.execute(*_cell(1), before=screens[0], after=screens[1])
    made.expect("expect the cell", screens, shots=pictures)
    return made.finish()


def late_pictures_trace(folder: Path, pictures: Sequence[bytes]) -> Trace:
    """Write a trace of clicks that leave no hierarchy, whose pictures arrive at the end."""
    made = TraceMaker(folder)
    tree = wide_tree(60)
    ids = [made.execute(*_cell(number), before=tree) for number in range(len(pictures))]
    for number, shot in zip(ids, pictures, strict=True):
        made.show(number, shot, at=200.0 + number)
    return made.finish()


START = 1_700_000_000.0


def ended(name: str, **about: Any) -> TestEnded:
    """Return the record of a test, which passed unless stated otherwise."""
    start = about.pop("start", START)
    stop = about.pop("stop", start + 2)
    fields = {"nodeid": f"test_shop.py::{name}", "outcome": "passed", **about}
    return TestEnded(at=stop, start=start, stop=stop, **fields)


def error(message: str, code: str | None = "NODE_NOT_FOUND") -> ErrorSummary:
    """Return why a test failed."""
    return ErrorSummary(message=message, code=code, phase="call")


def write_run(folder: Path, *tests: TestEnded, name: str = "20260305-101500-3fa2") -> Path:
    """Write the file of a run with these tests; return its folder."""
    log = RunLog(folder)
    log.open()
    log.add(RunBegan(at=START - 1, run=name, environment={"pytest": "9.0"}))
    for serial in dict.fromkeys(serial for test in tests for serial in test.devices):
        log.add(DeviceUsed(at=START, serial=serial, about={"model": "Pixel 9"}))
    for test in tests:
        log.add(test)
    log.close()
    return folder


def write_short_trace(
    folder: Path, name: str, *, start: float = START, outcome: str | None = "failed", **about: Any
) -> Path:
    """Write a short trace of a test; one without an outcome was broken off."""
    events: list[TraceEvent] = [TraceBegan(at=start, nodeid=f"test_shop.py::{name}", **about)]
    events.append(DeviceUsed(at=start, serial=SERIAL, about={"model": "Pixel 9"}))
    if outcome is not None:
        given: Any = outcome
        events.append(TraceEnded(at=start + 2, outcome=given, seconds=2, reason="it broke"))
    write_trace(folder, events)
    return folder


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


def hostile_trace(folder: Path, *, length: int = 1_000_000) -> Trace:
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
