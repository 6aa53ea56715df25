"""What the scripts of skills printed during a test, as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clawperator.contracts.events import SkillFinished
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Piece


def collect_skill_output(client: ClientActivity) -> Iterator[Piece]:
    """Yield what was printed, if any skill ran."""
    if client.skills:
        text = "\n".join(map(_described, client.skills))
        yield Piece("skills", "skills.txt", text.encode("utf-8", "replace"))


def _described(event: SkillFinished) -> str:
    complaints = f"--- stderr\n{event.complaints}" if event.complaints else ""
    return f"=== {event.skill_id}, {event.elapsed:.1f} s\n{event.output}{complaints}"
