"""Post-processing has the published program's effect."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.log import snapshots_from_text
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.execution.postprocess import (
    Collected,
    needs_screenshot,
    needs_snapshots,
    postprocess,
    screenshot_path,
    warnings_of,
)
from tests.conformance.vectors import rows


def action(wire: dict[str, Any]) -> Action:
    """Make an action of a row, which need not keep the contract."""
    params = wire.get("params")
    if params is None:
        return Action(wire["id"], wire["type"])
    known = ActionParams(application_id=params.get("applicationId"), path=params.get("path"))
    return Action(wire["id"], wire["type"], known)


@pytest.mark.parametrize("row", rows("envelope_postprocess"))
def test_an_envelope_is_processed_as_published(row: dict[str, Any]) -> None:
    """What is needed, what comes out, and what is warned of."""
    actions = tuple(action(wire) for wire in row["execution"]["actions"])
    envelope = ResultEnvelope.model_validate(row["envelope"])
    picture = row["screenshot"] or {"ok": False}
    collected = Collected(
        actions=actions,
        serial=row["deviceId"],
        closed=frozenset(row["successfulCloseActionIds"]),
        snapshots=tuple(snapshots_from_text(row["logcat"] or "")),
        screenshot=screenshot_path(actions, picture["defaultPath"]) if picture["ok"] else None,
    )

    final = postprocess(envelope, collected)

    assert final.to_wire() == row["final"]
    assert [f"{warning}\n" for warning in warnings_of(final, collected)] == row["warnings"]
    assert needs_snapshots(envelope) == row["needsLogcatDump"]
    assert needs_screenshot(envelope) == row["needsScreencap"]
