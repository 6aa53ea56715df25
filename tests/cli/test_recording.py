"""``record``, and the steps of a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.cli.recording import describe_step, parse_recording
from pytest_clawperator.errors import ConfigurationError
from tests.cli.conftest import Cli


def test_a_recording_becomes_steps(cli: Cli, tmp_path: Path) -> None:
    """It is started, stopped, fetched and parsed; both names of the group work."""
    early, nothing = cli("record", "stop"), cli("record", "pull")
    cli("record", "start", "--session-id", "first")
    cli("press", "home")
    cli("click", "--text", "Settings")
    stopped = cli("recording", "stop")
    pulled = cli("record", "pull", "--out", str(tmp_path))
    parsed = cli("record", "parse", pulled.json["localPath"])

    assert (early.code, early.step["data"]["error"]) == (1, "RECORDING_NOT_IN_PROGRESS")
    assert nothing.error == (1, "RECORDING_SESSION_NOT_FOUND")
    assert stopped.step["data"]["sessionId"] == pulled.json["sessionId"] == "first"
    steps = json.loads((tmp_path / "first.steps.json").read_text())["steps"]
    assert parsed.json["stepCount"] == len(steps)
    assert "click" in [step["type"] for step in steps]
    escaping = cli("record", "pull", "--session-id", "../x")
    assert escaping.error == (1, "RECORDING_SESSION_NOT_FOUND")
    missing = cli("record", "pull", "--session-id", "nope")
    assert missing.error == (1, "RECORDING_PULL_FAILED")


def test_people_get_the_next_command(cli: Cli, tmp_path: Path) -> None:
    """Each command names the next, and each mistake what to do instead."""

    def record(*argv: str) -> str:
        printed = cli("record", *argv, "--output", "pretty")
        return printed.out + printed.err

    assert record("stop").endswith("Start one: `clawperator-py record start`.\n")
    assert "clawperator-py record stop" in record("start", "--session-id", "first")
    assert record("start").endswith("Stop it first: `clawperator-py record stop`.\n")
    assert "clawperator-py record pull" in record("stop")
    path = tmp_path / "first.ndjson"
    assert f"clawperator-py record parse {path}" in record("pull", "--out", str(tmp_path))


HEADER: dict[str, Any] = {
    "type": "recording_header",
    "schemaVersion": 1,
    "sessionId": "s",
    "startedAt": 1,
    "operatorPackage": "com.clawperator.operator",
}


def event(kind: str, seq: int, **fields: Any) -> dict[str, Any]:
    """Return an event of a recording."""
    return {"ts": seq, "seq": seq, "type": kind, "packageName": "a.b", "resourceId": None, **fields}


WINDOW = event("window_change", 0, snapshot="<x/>")
BOX = {"left": 0, "top": 0, "right": 9, "bottom": 9}
CLICK = event("click", 1, text="OK", contentDesc=None, bounds=BOX, snapshot="<x/>")
SCROLL = event("scroll", 2, **dict.fromkeys(("scrollX", "scrollY", "maxScrollX", "maxScrollY"), 0))


def recording(*lines: Any) -> str:
    """Write lines as a recording has them."""
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def test_the_first_window_and_every_click_are_steps() -> None:
    """In the order in which they happened; people see what a node can be found by."""
    log = parse_recording(
        recording(HEADER, CLICK, WINDOW, {**WINDOW, "seq": 5}, {**CLICK, "seq": 6, "text": None})
    )
    shown = [describe_step(step) for step in log["steps"]]

    steps = [(step["seq"], step["type"]) for step in log["steps"]]
    assert steps == [(0, "open_app"), (1, "click"), (6, "click")]
    assert log["steps"][1]["uiStateBefore"] == "<x/>"
    assert "_warnings" not in log
    assert shown[0].endswith("a.b")
    assert shown[1].endswith("text='OK'")
    assert shown[2].endswith("(nothing to find it by)")


def test_blank_lines_and_a_byte_order_mark_are_ignored() -> None:
    """Editors and other systems leave them."""
    log = parse_recording(f"\ufeff{recording(HEADER)}\r\n\u00a0\n{recording(CLICK)}")

    assert len(log["steps"]) == 1


def test_what_is_left_out_is_a_warning() -> None:
    """Scrolls, texts and keys are not steps, and a click without a screen says less."""
    others = [SCROLL, event("press_key", 3, key="back"), event("text_change", 4, text="")]
    log = parse_recording(recording(HEADER, {**CLICK, "snapshot": None}, *others))

    warned = [warning.split()[2] for warning in log["_warnings"]]
    assert warned == ["snapshot", "scroll", "press_key", "text_change"]
    assert log["steps"][0]["uiStateBefore"] is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "no json",
        "[" * 100_000,
        recording({**HEADER, "sessionId": 5}),
        recording(HEADER) + "{",
        recording(HEADER, {"type": "click"}),
        recording(HEADER, {**CLICK, "type": "dance"}),
        recording(HEADER, {**CLICK, "bounds": None}),
        recording(HEADER, {**CLICK, "seq": True}),
        recording(HEADER, event("press_key", 1, key="home")),
        recording(HEADER, event("text_change", 1)),
        recording({**HEADER, "schemaVersion": 2}),
    ],
)
def test_an_unreadable_recording_is_refused(text: str) -> None:
    """Whatever is wrong with it; a newer schema has its own code."""
    with pytest.raises(ConfigurationError) as caught:
        parse_recording(text)

    is_newer = '"schemaVersion": 2' in text
    expected = "RECORDING_SCHEMA_VERSION_UNSUPPORTED" if is_newer else "RECORDING_PARSE_FAILED"
    assert caught.value.code == expected
