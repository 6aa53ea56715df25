"""Lesson 1: payloads are files, and a file is judged before any phone is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator import validate_execution

FILES = sorted((Path(__file__).parent / "payloads").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_payload_file(file: Path) -> None:
    """Each payload file keeps the contract; its plan is printed as a dry run shows it."""
    execution = validate_execution(file.read_bytes())

    plan = execution.plan()
    print(f"{plan['commandId']}: {plan['actionCount']} action(s) within {plan['timeoutMs']} ms")
    for action in plan["actions"]:
        print(f"  {action['id']:8} {action['type']:20} {action.get('params', '')}")
    assert plan["actionCount"] == len(execution.actions)


def test_aliases_become_canonical() -> None:
    """Other spellings are understood, and travel under their canonical names."""
    file = Path(__file__).parent / "payloads" / "aliases.json"

    tap = validate_execution(file.read_bytes()).to_wire()["actions"][1]

    assert tap == {
        "id": "tap",
        "type": "click",
        "params": {"matcher": {"textEquals": "Connections"}},
    }
