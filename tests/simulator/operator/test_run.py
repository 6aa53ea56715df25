"""The time and the recorder of a run."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from pytest_clawperator.simulator.operator.run import RunTime, TimeLimitReached
from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.accessibility import AccessibilityEvent, EventType
from tests.simulator.operator.fakes import NOON, PACKAGE, Bench, action, button, command, screen


def test_the_first_limit_counts() -> None:
    """Of several limits the earliest ends a pause, at its moment."""
    clock = PhoneClock(lambda: 0.0, time_scale=0.0)
    time = RunTime(clock)

    async def pause() -> None:
        with time.limit(900), time.limit(400) as inner:
            await time.pause(300)
            with pytest.raises(TimeLimitReached) as caught:
                await time.pause(300)
        assert caught.value.limit is inner
        await time.pause(1000)

    asyncio.run(pause())

    assert clock.now() == pytest.approx(1400)


FOLDER = f"/storage/emulated/0/Android/data/{PACKAGE}/files/recordings"


def event(type: EventType, **values: Any) -> AccessibilityEvent:
    """Make an event of an app."""
    given = {"package": "com.x", "class_name": "android.widget.Button", **values}
    return AccessibilityEvent(type, time=NOON, **given)


def record(bench: Bench, *events: AccessibilityEvent) -> list[dict[str, Any]]:
    """Record events; return the lines of the file."""
    bench.send(command(action("start_recording", sessionId="s1")))
    for happened in events:
        bench.app.on_accessibility_event(happened)
    bench.send(command(action("stop_recording")))
    return read(bench, "s1")


def read(bench: Bench, session: str) -> list[dict[str, Any]]:
    """Read a recording."""
    text = bench.files.read(f"{FOLDER}/{session}.ndjson").decode()
    return [json.loads(line) for line in text.split("\n") if line]


def test_a_recording_from_start_to_stop() -> None:
    """Both steps name the session and its file; the file begins with a header."""
    bench = Bench()

    steps = bench.execute(action("start_recording", sessionId="demo-1"), action("stop_recording"))[
        "stepResults"
    ]

    path = f"{FOLDER}/demo-1.ndjson"
    assert steps[0]["data"] == {"sessionId": "demo-1", "filePath": path}
    assert steps[1]["data"] == {"sessionId": "demo-1", "filePath": path, "eventCount": "0"}
    assert read(bench, "demo-1") == [
        {
            "type": "recording_header",
            "schemaVersion": 1,
            "sessionId": "demo-1",
            "startedAt": int(NOON * 1000),
            "operatorPackage": PACKAGE,
        }
    ]
    assert (
        bench.files.read("/sdcard" + f"{FOLDER}/latest"[len("/storage/emulated/0") :]) == b"demo-1"
    )
    said = [line.message for line in bench.entries() if line.tag == "RecordingRuntime"]
    assert said == [
        f"SESSION_STARTED sessionId=demo-1 file={path}",
        f"SESSION_STOPPED sessionId=demo-1 file={path} eventCount=0",
    ]


def test_a_session_gets_an_id() -> None:
    """Without an id one is made of the time and the seed."""
    first, second = (Bench(seed=3).step("start_recording")["data"]["sessionId"] for _ in range(2))

    assert first == second
    assert re.fullmatch(rf"record-{int(NOON * 1000)}-[0-9a-f]{{8}}", first)


BUY = button("Buy", resource_id="com.x:id/buy")


@pytest.mark.parametrize(
    ("happened", "expected"),
    [
        (
            event("TYPE_VIEW_CLICKED", texts=("Buy",), source=BUY),
            {"packageName": "com.x", "resourceId": "com.x:id/buy", "text": "Buy"}
            | {"bounds": {"left": 100, "top": 1000, "right": 300, "bottom": 1100}}
            | {"contentDesc": None, "type": "click"},
        ),
        (
            event("TYPE_WINDOW_STATE_CHANGED", class_name="x.Main", texts=("Shop",)),
            {"className": "x.Main", "title": "Shop", "type": "window_change"},
        ),
        (
            event("TYPE_VIEW_SCROLLED", scroll=(0, 300, 0, 900)),
            {"resourceId": None, "scrollX": 0, "scrollY": 300, "maxScrollX": 0, "maxScrollY": 900}
            | {"snapshot": None, "type": "scroll"},
        ),
        (
            event("TYPE_VIEW_TEXT_CHANGED", texts=("hel", "lo")),
            {"resourceId": None, "text": "hello", "snapshot": None, "type": "text_change"},
        ),
        (
            event("TYPE_VIEW_CLICKED", content_desc=" Search "),
            {"resourceId": None, "text": None, "contentDesc": "Search"}
            | {"bounds": {"left": 0, "top": 0, "right": 0, "bottom": 0}},
        ),
    ],
)
def test_events_are_recorded(happened: AccessibilityEvent, expected: dict[str, Any]) -> None:
    """Each kind of event has its own fields; clicks and windows have the hierarchy."""
    _, line = record(Bench(screen(BUY)), happened)

    assert line | expected | {"ts": int(NOON * 1000), "seq": 0} == line
    if line["type"] in ("click", "window_change"):
        assert line["snapshot"].startswith("<?xml")


def test_what_is_not_recorded() -> None:
    """Events of other kinds and of the Operator are left out; the rest is counted."""
    bench = Bench()

    lines = record(
        bench,
        event("TYPE_VIEW_FOCUSED"),
        event("TYPE_WINDOW_CONTENT_CHANGED"),
        event("TYPE_VIEW_CLICKED", package=PACKAGE),
        *[event("TYPE_VIEW_SCROLLED")] * 3,
    )

    assert [line["seq"] for line in lines[1:]] == [0, 1, 2]
    assert bench.envelopes()[-1]["stepResults"][0]["data"]["eventCount"] == "3"


def test_the_back_key_is_recorded() -> None:
    """A back key counts, while a recording is on."""
    bench = Bench()
    bench.app.on_back_key()
    bench.send(command(action("start_recording", sessionId="s1")))

    bench.app.on_back_key()

    _, line = read(bench, "s1")
    assert (line["type"], line["key"]) == ("press_key", "back")
    assert line["snapshot"].startswith("<?xml")


def test_one_recording_at_a_time() -> None:
    """A second start fails and names the first."""
    bench = Bench()
    bench.step("start_recording", sessionId="first")

    bench.send(command(action("start_recording", sessionId="second")))

    step = bench.envelopes()[-1]["stepResults"][0]
    assert step["success"] is False
    assert step["data"] == {
        "error": "RECORDING_ALREADY_IN_PROGRESS",
        "message": "Recording is already in progress",
        "sessionId": "first",
        "filePath": f"{FOLDER}/first.ndjson",
    }


def test_a_recording_is_stopped_by_any_id() -> None:
    """A wrong id is only logged; there has to be a recording to stop."""
    bench = Bench()
    start, stop = (
        action("start_recording", sessionId="mine"),
        action("stop_recording", sessionId="yours"),
    )

    steps = bench.execute(start, stop, stop)["stepResults"]

    assert steps[1]["data"]["sessionId"] == "mine"
    assert any(line.startswith("W SESSION_ID_MISMATCH ") for line in bench.lines())
    assert steps[2]["data"]["error"] == "RECORDING_NOT_IN_PROGRESS"


@pytest.mark.parametrize("name", ["../x", "a b", "a/b", "ä"])
def test_unsafe_ids_are_refused(name: str) -> None:
    """An id becomes a file name, so it may hold nothing odd."""
    data = Bench().step("start_recording", sessionId=name)["data"]

    assert data["error"] == "RECORDING_START_FAILED"


def test_a_full_phone_can_neither_start_nor_stop_a_recording() -> None:
    """Neither starting nor stopping works where nothing can be written."""
    bench, running = Bench(), Bench()
    bench.faults.set("storage_full")
    running.step("start_recording", sessionId="s1")
    running.faults.set("storage_full")

    running.app.on_accessibility_event(event("TYPE_VIEW_SCROLLED"))
    running.send(command(action("stop_recording")))

    assert bench.step("start_recording")["data"]["error"] == "RECORDING_STORAGE_UNAVAILABLE"
    data = running.envelopes()[-1]["stepResults"][0]["data"]
    assert (data["error"], data["eventCount"]) == ("RECORDING_STOP_FAILED", "0")


def test_a_crash_ends_the_recording() -> None:
    """The file stays as it is, and a new recording can be started."""
    bench = Bench()
    bench.step("start_recording", sessionId="s1")
    bench.app.crash("out of luck")
    bench.enable_service()

    bench.send(command(action("start_recording", sessionId="s2")))

    assert bench.envelopes()[-1]["status"] == "success"
    assert not bench.files.exists(f"{FOLDER}/latest")
