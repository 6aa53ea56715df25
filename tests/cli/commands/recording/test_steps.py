"""The steps of a recording, and what is wrong with one that has none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_clawperator.cli.recording import describe_step, parse_recording
from pytest_clawperator.errors import ConfigurationError

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
