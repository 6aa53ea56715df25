"""An app that pretends to be the Operator."""

from __future__ import annotations

import pytest

from tests.simulator.operator.fakes import Bench, action, command

HOME = action("press_key", key="home")


@pytest.mark.parametrize(
    ("kind", "beginnings"),
    [
        ("envelope", ['[Clawperator-Result] {"commandId":"c1"']),
        ("command", ["[Clawperator-Command] start commandId=c1", "[Clawperator-Result] {"]),
        ("refusal", ["[Operator-Receiver] Failed to parse agent command payload\n"]),
        ("crash", ["FATAL EXCEPTION: main\nProcess: com.clawperator.operator, PID: "]),
        ("death", ["Process com.clawperator.operator (pid "]),
    ],
)
def test_forged_lines_come_from_another_process(kind: str, beginnings: list[str]) -> None:
    """Another process logs them before the Operator takes the command, and after."""
    bench = Bench()
    bench.faults.set("forged_lines", kind=kind)

    bench.send(command(HOME))

    forged = [entry.message for entry in bench.entries() if entry.pid != bench.app.pid]
    assert len(forged) == 2 * len(beginnings)
    assert all(map(str.startswith, forged, beginnings * 2))
    assert len([entry for entry in bench.entries() if "success" in entry.message]) > 0
