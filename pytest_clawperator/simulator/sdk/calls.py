"""The tools of the simulated SDK keep a record of how they were called, for tests."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

_FILE = "calls.jsonl"


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, or a download that one began."""

    tool: str
    arguments: tuple[str, ...]
    pid: int


def note_call(sdk: Path, tool: str, arguments: list[str]) -> None:
    """Add a call to the record."""
    line = json.dumps({"tool": tool, "arguments": arguments, "pid": os.getpid()}) + "\n"
    with (sdk / _FILE).open("ab", buffering=0) as record:
        record.write(line.encode())  # in one piece, beside others who do the same


def read_calls(sdk: Path) -> list[ToolCall]:
    """Return the calls so far, in their order."""
    try:
        lines = (sdk / _FILE).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    entries = [json.loads(line) for line in lines]
    return [ToolCall(one["tool"], tuple(one["arguments"]), one["pid"]) for one in entries]
