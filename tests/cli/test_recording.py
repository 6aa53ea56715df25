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
    cli("record", "start", "--session-id", "first")
    cli("press", "home")
    cli("click", "--text", "Settings")
    stopped = cli("recording", "stop")
    pulled = cli("record", "pull", "--out", str(tmp_path))
    parsed = cli("record", "parse", pulled.json["localPath"])

    assert stopped.step["data"]["sessionId"] == "first"
    assert pulled.json["sessionId"] == "first"
    steps = json.loads((tmp_path / "first.steps.json").read_text())["steps"]
    assert parsed.json["stepCount"] == len(steps)
    assert "click" in [step["type"] for step in steps]


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["record", "pull"], "RECORDING_SESSION_NOT_FOUND"),
        (["record", "pull", "--session-id", "../x"], "RECORDING_SESSION_NOT_FOUND"),
        (["record", "pull", "--session-id", "nope"], "RECORDING_PULL_FAILED"),
        (["record", "parse", "no-such-file"], "FILE_UNAVAILABLE"),
    ],
)
def test_a_recording_that_is_not_there_is_told(argv: list[str], code: str, cli: Cli) -> None:
    """Names that lead elsewhere are refused before they become a path."""
    printed = cli(*argv)

    assert (printed.code, printed.json["code"]) == (1, code)


def test_a_stop_without_a_start_fails(cli: Cli) -> None:
    """The Operator says so in the envelope."""
    printed = cli("record", "stop")

    assert (printed.code, printed.step["data"]["error"]) == (1, "RECORDING_NOT_IN_PROGRESS")


def test_people_are_told_what_comes_next(cli: Cli, tmp_path: Path) -> None:
    """Each command names the next, and each mistake what to do instead."""
    early = cli("record", "stop", "--output", "pretty")
    started = cli("record", "start", "--session-id", "first", "--output", "pretty")
    again = cli("record", "start", "--output", "pretty")
    stopped = cli("record", "stop", "--output", "pretty")
    pulled = cli("record", "pull", "--out", str(tmp_path), "--output", "pretty")

    assert early.err.endswith("Start one: `clawperator-py record start`.\n")
    assert "clawperator-py record stop" in started.out
    assert again.err.endswith("Stop it first: `clawperator-py record stop`.\n")
    assert "clawperator-py record pull" in stopped.out
    assert f"clawperator-py record parse {tmp_path / 'first.ndjson'}" in pulled.out


HEADER: dict[str, Any] = {
    "type": "recording_header",
    "schemaVersion": 1,
    "sessionId": "s",
    "startedAt": 1,
    "operatorPackage": "com.clawperator.operator",
}

WINDOW = {"ts": 1, "seq": 0, "type": "window_change", "packageName": "a.b", "snapshot": "<x/>"}

CLICK: dict[str, Any] = {
    "ts": 2,
    "seq": 1,
    "type": "click",
    "packageName": "a.b",
    "resourceId": None,
    "text": "OK",
    "contentDesc": None,
    "bounds": {"left": 0, "top": 0, "right": 9, "bottom": 9},
    "snapshot": "<x/>",
}

SCROLL = {
    "ts": 3,
    "seq": 2,
    "type": "scroll",
    "packageName": "a.b",
    "resourceId": None,
    **dict.fromkeys(("scrollX", "scrollY", "maxScrollX", "maxScrollY"), 0),
}


def recording(*lines: Any) -> str:
    """Write lines as a recording has them."""
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def test_the_first_window_and_every_click_are_steps() -> None:
    """They stand in the order in which they happened, whatever the order of the lines."""
    again = {**WINDOW, "seq": 5}
    log = parse_recording(recording(HEADER, CLICK, WINDOW, again))

    assert [(step["seq"], step["type"]) for step in log["steps"]] == [(0, "open_app"), (1, "click")]
    assert log["steps"][1]["uiStateBefore"] == "<x/>"
    assert "_warnings" not in log


def test_blank_lines_and_a_byte_order_mark_are_passed_over() -> None:
    """Editors and other systems leave them, and the published program reads past them."""
    log = parse_recording(f"\ufeff{recording(HEADER)}\r\n\u00a0\n{recording(CLICK)}")

    assert len(log["steps"]) == 1


def test_what_is_left_out_is_told() -> None:
    """Scrolls, texts and keys are no steps, and a click without a screen says less."""
    key = {"ts": 4, "seq": 3, "type": "press_key", "key": "back"}
    text = {
        "ts": 5,
        "seq": 4,
        "type": "text_change",
        "packageName": "a",
        "resourceId": None,
        "text": "",
    }
    log = parse_recording(recording(HEADER, {**CLICK, "snapshot": None}, SCROLL, key, text))

    assert [warning.split()[2] for warning in log["_warnings"]] == [
        "snapshot",
        "scroll",
        "press_key",
        "text_change",
    ]
    assert log["steps"][0]["uiStateBefore"] is None


def test_a_step_is_described_by_what_it_can_be_found_by() -> None:
    """People see the text, the id and the description, or that there is none."""
    log = parse_recording(recording(HEADER, WINDOW, CLICK, {**CLICK, "text": None}))

    told = [describe_step(step) for step in log["steps"]]
    assert told[0].endswith("a.b")
    assert told[1].endswith("text='OK'")
    assert told[2].endswith("(nothing to find it by)")


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
        recording(HEADER, {"ts": 1, "seq": 1, "type": "press_key", "key": "home"}),
        recording(HEADER, {"ts": 1, "seq": 1, "type": "text_change", "packageName": "a"}),
    ],
)
def test_a_recording_that_cannot_be_read_is_refused(text: str) -> None:
    """Whatever is wrong with it, it is an error with a code."""
    with pytest.raises(ConfigurationError) as caught:
        parse_recording(text)

    assert caught.value.code == "RECORDING_PARSE_FAILED"


def test_another_schema_is_refused() -> None:
    """A newer Operator may write what nobody here understands."""
    with pytest.raises(ConfigurationError) as caught:
        parse_recording(recording({**HEADER, "schemaVersion": 2}))

    assert caught.value.code == "RECORDING_SCHEMA_VERSION_UNSUPPORTED"
