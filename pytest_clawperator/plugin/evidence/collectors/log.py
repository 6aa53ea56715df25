"""The device's log as evidence, with the crashes in it marked."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import (
    Evidence,
    Piece,
    Unavailable,
)
from pytest_clawperator.report.crashes import find_crashes, marked_log
from pytest_clawperator.visible_text import visible


def collect_log(client: ClientActivity, found: Evidence) -> Iterator[Piece]:
    """Yield the log of the test; what crashed in it is added to ``found``.

    A second log of a test has what came after the first.
    """
    if client.transport is None:
        raise Unavailable("the device is behind another host, which keeps its log")
    lines, lost = client.take_log()
    crashes = find_crashes(lines, system=client.system_processes)
    found.crashes += crashes
    found.traces += [
        visible(b"\n".join(lines[place] for place in crash.lines).decode("utf-8", "replace"))
        for crash in crashes
    ]
    if not lines:
        raise Unavailable("nothing was logged since the test began, or since its log before")
    text = visible(marked_log(lines, crashes))  # whoever prints the file on a terminal is safe
    if lost:
        text = f"the first {lost} lines of this test were too many to be kept\n{text}"
    yield Piece("log", "log.txt", text.encode(), "; ".join(map(str, crashes)))
