"""The device's log as evidence, with the crashes in it marked."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.envelopes import ENVELOPES
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import (
    Evidence,
    Piece,
    Unavailable,
)
from pytest_clawperator.report.crashes import Step, find_crashes, marked_log, without_dumps
from pytest_clawperator.visible_text import visible


def collect_log(
    client: ClientActivity, found: Evidence, *, is_whole: bool = False
) -> Iterator[Piece]:
    """Yield the log of the test; what crashed in it is added to ``found``.

    A second log of a test has what came after the first. Unless the whole is wanted, it has a
    line in the place of each hierarchy.
    """
    if client.transport is None:
        raise Unavailable("the device is behind another host, which keeps its log")
    lines, lost = client.take_log()
    if not is_whole:
        lines = without_dumps(lines, kept=_kept_screen(client))
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


def _kept_screen(client: ClientActivity) -> dict[Step, str]:
    """Return the step whose screen the file of envelopes has: the last look of the test."""
    for event in reversed(client.executions):
        for step in reversed(event.result.steps if event.result is not None else ()):
            if step.action_type == "snapshot_ui":
                return {(event.execution.command_id, step.id): ENVELOPES}
    return {}
