"""What a device can tell about a failure, asked for within a few seconds."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_clawperator.contracts.events import ExecutionFinished
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.screenshots import is_png, no_picture
from pytest_clawperator.plugin.evidence.client_activity import Watched
from pytest_clawperator.report.crashes import Crash, find_crashes, marked_log

# How long all of it may take together, and the parts of it that ask the device.
WITHIN = 8.0
_SCREENSHOT_WITHIN, _SNAPSHOT_WITHIN = 4.0, 1.0
_STEP = "evidence"


@dataclass(frozen=True)
class Piece:
    """One file of evidence: its kind, its name, what is in it, and what to know about it."""

    kind: str
    name: str
    content: bytes
    remark: str = ""


@dataclass
class Evidence:
    """What was found out; ``missing`` says what could not be, and why."""

    pieces: list[Piece] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)


class Unavailable(Exception):
    """Says why there is no evidence of some kind."""


def gather(
    watched: Watched, kinds: Collection[str], *, is_broken: bool = False, within: float = WITHIN
) -> Evidence:
    """Collect evidence of these kinds; what takes too long is left out and named.

    ``is_broken`` says that the device failed already: then nothing is run on it.
    """
    found = Evidence()
    deadline = time.monotonic() + within
    collectors = _collectors(watched, is_broken)
    wanted = [kind for kind in collectors if kind in kinds]
    # What a device that hangs keeps waiting is this thread, and not the tests.
    progress: list[str] = []

    def collect() -> None:
        for kind in wanted:
            _collect_one(kind, collectors[kind], found)
            progress.append(kind)

    thread = threading.Thread(target=collect, name="clawperator evidence", daemon=True)
    watched.off_duty.add(thread)
    thread.start()
    thread.join(max(deadline - time.monotonic(), 0))
    done = Evidence(list(found.pieces), list(found.missing), found.crashes, found.traces)
    late = [kind for kind in wanted if kind not in progress]
    done.missing += [f"no {kind}: the device did not give it within {within:g} s" for kind in late]
    return done


Collector = Callable[[Evidence], Iterator[Piece]]


def _collectors(watched: Watched, is_broken: bool) -> dict[str, Collector]:
    """Give who collects what; that which needs no device comes first."""
    return {
        "log": lambda found: _log(watched, found),
        "envelopes": lambda _: _envelopes(watched.executions),
        "screenshot": lambda _: _screenshot(watched),
        "snapshot": lambda _: _snapshot(watched, is_broken),
    }


def _collect_one(kind: str, collector: Collector, found: Evidence) -> None:
    try:
        found.pieces.extend(collector(found))
    except Unavailable as exc:
        found.missing.append(f"no {kind}: {exc}")
    except ClawperatorError as exc:
        found.missing.append(f"no {kind}: {exc.code}: {exc.message.splitlines()[0]}")
    except Exception as exc:  # evidence must never hide the failure that it is about
        found.missing.append(f"no {kind}: {type(exc).__name__}: {exc}")


def _log(watched: Watched, found: Evidence) -> Iterator[Piece]:
    if watched.transport is None:
        raise Unavailable("the device is behind another host, which keeps its log")
    lines, lost = watched.log_lines()
    crashes = find_crashes(lines)
    found.crashes += crashes
    found.traces += [
        b"\n".join(lines[place] for place in crash.lines).decode("utf-8", "replace")
        for crash in crashes
    ]
    if not lines:
        raise Unavailable("nothing was logged since the test began")
    text = marked_log(lines, crashes)
    if lost:
        text = f"the first {lost} lines of this test were too many to be kept\n{text}"
    yield Piece("log", "log.txt", text.encode(), "; ".join(map(str, crashes)))


def _envelopes(executions: Collection[ExecutionFinished]) -> Iterator[Piece]:
    if executions:
        told = [_told(event) for event in executions]
        _shorten_all_but_last(told)
        content = json.dumps(told, indent=1, ensure_ascii=True).encode()
        yield Piece("envelopes", "envelopes.json", content)


def _told(event: ExecutionFinished) -> dict[str, Any]:
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(event.at)),
        "seconds": round(event.elapsed, 3),
        "execution": event.execution.to_wire(),
        "envelope": event.result.to_wire() if event.result is not None else None,
        "error": None if event.error is None else str(event.error),
    }


def _shorten_all_but_last(told: list[dict[str, Any]]) -> None:
    """Leave out the text of screens that others followed: each is as long as all the rest."""
    steps = [step for one in told if one["envelope"] for step in one["envelope"]["stepResults"]]
    screens = [step for step in steps if step.get("actionType") == "snapshot_ui"]
    for step in screens[:-1]:
        text = step.get("data", {}).get("text")
        if text:
            step["data"] = {**step["data"], "text": f"... {len(text)} characters"}


def _screenshot(watched: Watched) -> Iterator[Piece]:
    transport = watched.transport
    if transport is None:
        picture = watched.client.screenshot()
    else:
        picture = transport.exec_out("screencap -p", timeout=_SCREENSHOT_WITHIN)
        if not picture:  # a device that went away in the middle says nothing; this does
            transport.shell("true", timeout=_SNAPSHOT_WITHIN)
    if not is_png(picture):
        raise Unavailable(no_picture(picture))
    yield Piece("screenshot", "screenshot.png", picture)


def _snapshot(watched: Watched, is_broken: bool) -> Iterator[Piece]:
    """Look at the screen; where that fails, the last look of the test has to do."""
    try:
        if is_broken:
            raise Unavailable("the device does not answer")
        yield Piece("snapshot", "snapshot.xml", _look(watched))
    except (ClawperatorError, Unavailable) as exc:
        if watched.snapshot is None:
            raise
        why = exc.message.splitlines()[0] if isinstance(exc, ClawperatorError) else str(exc)
        remark = f"the last that the test saw: {why}"
        yield Piece("snapshot", "snapshot.xml", watched.snapshot, remark)


def _look(watched: Watched) -> bytes:
    payload = [{"id": _STEP, "type": "snapshot_ui"}]
    result = watched.client.execute(payload, timeout=_SNAPSHOT_WITHIN).raise_for_status()
    return result.step(_STEP).snapshot.xml.encode("utf-8", "surrogatepass")
