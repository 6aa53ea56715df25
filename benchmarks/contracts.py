"""What validating payloads and envelopes costs, compared with ``json.loads`` of the same text."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.measuring import CPU, median_ratio, show
from pytest_clawperator.contracts.envelope import RESULT_PREFIX, parse_result_message
from pytest_clawperator.contracts.payload import validate_execution

PAIRS = 400
REPEATS = 5
STEPS = 50

ACTIONS: list[dict[str, Any]] = [
    {
        "type": "click",
        "params": {
            "matcher": {"resourceId": "com.example.app:id/submit_button", "textEquals": "Submit"},
            "clickType": "default",
        },
    },
    {
        "type": "wait_for_node",
        "params": {"matcher": {"textEquals": "Loading complete"}, "timeoutMs": 5000},
    },
    {
        "type": "scroll_until",
        "params": {
            "matcher": {"textContains": "About phone"},
            "container": {"resourceId": "com.android.settings:id/recycler_view"},
            "clickAfter": True,
            "direction": "down",
            "maxScrolls": 25,
        },
    },
    {"type": "snapshot_ui"},
    {
        "type": "enter_text",
        "params": {
            "matcher": {"resourceId": "com.example.app:id/search_input"},
            "text": "hello world",
            "submit": True,
        },
    },
]


def payload_text() -> str:
    """Return a payload with the most actions that are allowed, of five everyday types."""
    actions = [{"id": f"step-{n}", **ACTIONS[n % len(ACTIONS)]} for n in range(STEPS)]
    return json.dumps(
        {
            "commandId": "cmd-001",
            "taskId": "task-001",
            "source": "benchmark",
            "expectedFormat": "android-ui-automator",
            "timeoutMs": 30000,
            "actions": actions,
        }
    )


def envelope_text() -> str:
    """Return the envelope for such a payload."""
    steps = [
        {
            "id": f"step-{n}",
            "actionType": ACTIONS[n % len(ACTIONS)]["type"],
            "success": True,
            "data": {"resource_id": "com.example.app:id/submit_button", "label": "Submit"},
        }
        for n in range(STEPS)
    ]
    return json.dumps(
        {
            "commandId": "cmd-001",
            "taskId": "task-001",
            "status": "success",
            "stepResults": steps,
            "error": None,
        }
    )


def main() -> None:
    """Print one line for each figure."""
    payload, envelope = payload_text(), envelope_text()
    as_dict = json.loads(payload)
    message = f"{RESULT_PREFIX} {envelope}"
    loads_payload = lambda: json.loads(payload)  # noqa: E731 - a pair of thunks reads best inline
    figures = [
        ("validate 50 actions, JSON text", lambda: validate_execution(payload), loads_payload, 10),
        ("validate 50 actions, dict", lambda: validate_execution(as_dict), loads_payload, 10),
        (
            "parse a 50-step envelope",
            lambda: parse_result_message(message, "cmd-001"),
            lambda: json.loads(envelope),
            4,
        ),
    ]
    for name, subject, baseline, limit in figures:
        ratio = median_ratio(subject, baseline, pairs=PAIRS, repeats=REPEATS, clock=CPU)
        show(name, f"{ratio:.2f} x json.loads", f"<= {limit} x")


if __name__ == "__main__":
    main()
