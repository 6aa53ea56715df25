"""What a script of a skill did: a value, as the client returns it and reports tell it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SkillRun:
    """A script that ran to its end: what it printed, and how many seconds it took."""

    skill_id: str
    output: str
    complaints: str = ""
    elapsed: float = 0.0
    exit_code: int = 0
