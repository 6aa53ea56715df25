"""What a client did in a test is noted for that test only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pytest_clawperator.contracts.events import ExecutionFinished
from pytest_clawperator.contracts.payload import complete_execution
from pytest_clawperator.plugin.clients import ClientActivity

FIELD = {"textEquals": "Password"}
TYPING = {"id": "type", "type": "enter_text", "params": {"matcher": FIELD, "text": "hunter2"}}


def test_what_was_typed_in_one_test_does_not_count_in_the_next() -> None:
    """A password that one test typed does not cost the next test its video."""
    client: Any = SimpleNamespace(runner=None)
    activity = ClientActivity(client)
    typed = []

    for _ in range(2):
        activity.begin()
        typed.append(set(activity.typed))
        execution = complete_execution([TYPING])
        activity(ExecutionFinished(serial="PH1", at=0.0, execution=execution, elapsed=0.1))
        typed.append(set(activity.typed))

    assert typed == [set(), {"hunter2"}, set(), {"hunter2"}]
