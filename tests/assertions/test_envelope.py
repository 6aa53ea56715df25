"""Expectations about an envelope: what a failure says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_clawperator.assertions.envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.errors import ExpectationError
from pytest_clawperator.execution.result import RunResult
from tests.doubles.envelopes import envelope

Hold = Callable[[EnvelopeAssertions], None]


def test_a_failure_lists_every_step_and_what_to_do() -> None:
    """A failure lists the steps, and the hint for the code of the envelope."""
    with pytest.raises(ExpectationError) as caught:
        Expect()(envelope(is_failed=True), "the shop opens").to_have_succeeded()

    lines = str(caught.value).split("\n")

    assert lines[0].startswith("EXPECTATION_FAILED: the shop opens: expected the envelope of")
    assert lines[1:4] == [
        "  steps:",
        '    1. step "open" (open_app) succeeded',
        '    2. step "tap" (click) failed: NODE_NOT_FOUND: nothing there',
    ]
    assert lines[4].startswith("  hint: Take a snapshot")


def test_a_failure_begins_with_the_serial() -> None:
    """The failure of a run begins with the serial, like every error about a device."""
    run = RunResult.of(envelope(is_failed=True), serial="phone-1", elapsed=0.1)

    with pytest.raises(ExpectationError, match=r"^\[phone-1\] EXPECTATION_FAILED: "):
        Expect()(run).to_have_succeeded()


def test_a_plain_assert_shows_the_failed_step() -> None:
    """The repr of an envelope is short and names the step that failed."""
    shown = repr(RunResult.of(envelope(is_failed=True), serial="phone-1", elapsed=0.1))

    assert shown == (
        '<RunResult failed: step "tap" (click) failed: NODE_NOT_FOUND, "nothing there"; 2 steps>'
    )
    assert repr(envelope()) == "<ResultEnvelope success, 2 steps>"
