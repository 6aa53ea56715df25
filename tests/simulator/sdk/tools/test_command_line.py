"""The command line of the emulator."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.sdk.tools.command_line import (
    BadCommandLine,
    StartRequest,
    parse_start,
)


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("@a", StartRequest(avd_name="a")),
        ("-avd a -noaudio -gpu host", StartRequest(avd_name="a")),
        ("@a -port 5560", StartRequest(avd_name="a", port=5560, adb_port=5561)),
        ("@a -ports 5560,5563", StartRequest(avd_name="a", port=5560, adb_port=5563)),
        ("@a -no-snapshot-load", StartRequest(avd_name="a", snapshot=None)),
        ("@a -no-snapshot-save", StartRequest(avd_name="a", saves_snapshot=False)),
        ("@a -no-snapshot", StartRequest(avd_name="a", snapshot=None, saves_snapshot=False)),
        ("@a -snapshot b", StartRequest(avd_name="a", snapshot="b")),
        ("@a -wipe-data", StartRequest(avd_name="a", snapshot=None, wipes_data=True)),
        ("@a -read-only", StartRequest(avd_name="a", read_only=True, saves_snapshot=False)),
    ],
)
def test_a_line_says_how_to_start(line: str, request_: StartRequest) -> None:
    """Names, ports and what is loaded and saved are understood."""
    assert parse_start(line.split()) == request_


@pytest.mark.parametrize(
    "line", ["", "@a -port", "@a -port 5553", "@a -port 5684", "@a -ports 1", "@a b", "@a -x"]
)
def test_a_line_that_makes_no_sense_is_refused(line: str) -> None:
    """Nothing is started for it."""
    with pytest.raises(BadCommandLine):
        parse_start(line.split())
