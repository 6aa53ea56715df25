"""The last executions of a client as evidence: payloads, envelopes, errors."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from pytest_clawperator.contracts.events import ExecutionFinished
from pytest_clawperator.plugin.evidence.client_activity import ClientActivity
from pytest_clawperator.plugin.evidence.collectors.evidence_piece import Piece

#: The file that this makes.
ENVELOPES = "envelopes.json"


def collect_envelopes(client: ClientActivity) -> Iterator[Piece]:
    """Yield what was sent and what came back, if anything was."""
    if client.executions:
        described = [_described(event) for event in client.executions]
        _shorten_all_but_last(described)
        # JSON escapes all that is not ASCII, and of ASCII all but this one.
        content = json.dumps(described, indent=1, ensure_ascii=True).replace("\x7f", "\\u007f")
        yield Piece("envelopes", ENVELOPES, content.encode())


def _described(event: ExecutionFinished) -> dict[str, Any]:
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(event.at)),
        "seconds": round(event.elapsed, 3),
        "execution": event.execution.to_wire(),
        "envelope": event.result.to_wire() if event.result is not None else None,
        "error": None if event.error is None else str(event.error),
    }


def _shorten_all_but_last(described: list[dict[str, Any]]) -> None:
    """Leave out the text of screens that others followed: each is as long as all the rest."""
    steps = [
        step for one in described if one["envelope"] for step in one["envelope"]["stepResults"]
    ]
    screens = [step for step in steps if step.get("actionType") == "snapshot_ui"]
    for step in screens[:-1]:
        text = step.get("data", {}).get("text")
        if text:
            step["data"] = {**step["data"], "text": f"... {len(text)} characters"}
