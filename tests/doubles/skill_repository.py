"""A skills repository, as small as can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECIPE = {
    "commandId": "{{COMMAND_ID}}",
    "taskId": "{{TASK_ID}}",
    "source": "debug",
    "expectedFormat": "android-ui-automator",
    "timeoutMs": 20_000,
    "actions": [
        {"id": "open", "type": "open_app", "params": {"applicationId": "{{APP}}"}},
        {"id": "snap", "type": "snapshot_ui"},
    ],
}


def make_repository(root: Path) -> Path:
    """Make a repository without skills, and return its registry."""
    registry = root / "skills" / "skills-registry.json"
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps({"schemaVersion": "1.0", "skills": []}))
    return registry


def add_skill(
    registry: Path, skill_id: str, *, script: str = "", recipe: Any = None, **about: Any
) -> Path:
    """Add a skill with a script for a shell, and perhaps a recipe called ``open``."""
    app, _, intent = skill_id.rpartition(".")
    folder = f"skills/{skill_id}"
    entry = {
        "id": skill_id,
        "applicationId": app,
        "intent": intent,
        "summary": f"About {intent}",
        "path": folder,
        "skillFile": f"{folder}/SKILL.md",
        "scripts": [f"{folder}/scripts/run.sh"],
        "artifacts": [f"{folder}/artifacts/open.recipe.json"] if recipe is not None else [],
        **about,
    }
    root = registry.parent.parent
    texts = {
        f"{folder}/SKILL.md": "# A skill\n",
        f"{folder}/skill.json": json.dumps(entry),
        f"{folder}/scripts/run.sh": f"#!/bin/sh\n{script}\n",
    }
    if recipe is not None:
        texts[f"{folder}/artifacts/open.recipe.json"] = json.dumps(recipe)
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    document = json.loads(registry.read_text())
    registry.write_text(json.dumps({**document, "skills": [*document["skills"], entry]}))
    return root / folder
