"""Lesson 7: envelopes. The result of an execution is data, even if it failed."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import PACKAGE
from pytest_clawperator import (
    Clawperator,
    Click,
    NodeMatcher,
    NodeNotFoundError,
    ReadText,
    Retry,
    WaitForNode,
    expect,
)

pytestmark = pytest.mark.claw_app(PACKAGE, missing="skip")

COUNTER = NodeMatcher.of(id=f"{PACKAGE}:id/txt_counter")
# One attempt; without a retry object the Operator tries for some seconds.
MISSING = WaitForNode(NodeMatcher.of(text="Nowhere"), retry=Retry(max_attempts=1), id="gone")


def test_each_action_has_a_step(clawperator: Clawperator) -> None:
    """Each action has a step in the envelope, found by its id; its data are texts."""
    envelope = clawperator.execute(
        [
            Click(NodeMatcher.of(text="Increment"), id="click"),
            ReadText(COUNTER, id="read"),
        ]
    )

    assert envelope.ok
    assert envelope.step("read").data["text"] == "Counter: 1"
    expect(envelope).to_have_step("click", action_type="click", success=True)
    expect(envelope).to_have_data("read", text="Counter: 1")


def test_a_failure_is_data(clawperator: Clawperator) -> None:
    """`execute` returns a failed envelope, with a code to branch on."""
    envelope = clawperator.execute([MISSING])

    assert not envelope.ok
    assert envelope.code == "NODE_NOT_FOUND"
    expect(envelope).to_have_failed(code="NODE_NOT_FOUND")


def test_a_failure_can_be_raised(clawperator: Clawperator) -> None:
    """`raise_for_status` raises the error class of the code."""
    envelope = clawperator.execute([MISSING])

    with pytest.raises(NodeNotFoundError) as raised:
        envelope.raise_for_status()
    assert raised.value.serial == clawperator.serial
    assert raised.value.hint


def test_what_the_run_knows(clawperator: Clawperator) -> None:
    """The result also has the device, the duration, and the log of the run."""
    envelope = clawperator.execute([{"id": "snap", "type": "snapshot_ui"}])

    assert envelope.serial == clawperator.serial
    assert envelope.elapsed > 0
    assert any("[Clawperator-Result]" in entry.message for entry in envelope.log)
