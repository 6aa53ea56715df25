"""The published host program's answers, read from the folder named by CLAWPERATOR_VECTORS.

The rows are parsed once and never re-serialised: ``10.0``, ``1e999``, duplicate keys and
half characters in them are there on purpose.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.emulators import EmulatorProfile, Emulators
from pytest_clawperator.emulators.boot import BootLimits
from pytest_clawperator.emulators.sdk import Sdk, Tool
from tests.doubles.scenario_sdk import ScenarioSdk

FOLDER = os.environ.get("CLAWPERATOR_VECTORS")


def rows(name: str, wanted: Callable[[dict[str, Any]], bool] = lambda _: True) -> list[Any]:
    """Return the wanted rows of a file as pytest parameters, each with its own name as its id.

    Without vectors there is one parameter, which is skipped.
    """
    if not FOLDER:
        reason = "by design: CLAWPERATOR_VECTORS names no folder with conformance vectors"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="no-vectors")]
    # Lines end in "\n" only: JSON text may hold other line separators.
    text = (Path(FOLDER) / f"{name}.jsonl").read_bytes().decode("utf-8")
    parsed = [json.loads(line) for line in text.split("\n") if line]
    parsed = [row for row in parsed if wanted(row)]
    assert parsed, f"{name} has no such rows"
    return [pytest.param(row, id=ascii(row["name"])) for row in parsed]


def emulators_of(
    row: dict[str, Any], scenario: ScenarioSdk, home: Path, profile: EmulatorProfile | None = None
) -> Emulators:
    """Return the emulators of a row, on the SDK of its scenario, with its files in place."""
    for path, content in row["scenario"].get("files", {}).items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(content, newline="")
    for tool in Tool:
        (home / tool.value).touch()
    tools = {tool.variable: str(home / tool.value) for tool in Tool}
    ticks = iter(range(10_000))
    return Emulators(
        profile=profile or EmulatorProfile(),
        sdk=Sdk({"HOME": str(home), **tools, **row["env"]}),
        tools=scenario,
        host=scenario,
        limits=BootLimits(poll=0.0),
        clock=lambda: float(next(ticks)),
        pause=lambda seconds: None,
    )
