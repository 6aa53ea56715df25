"""The value beside a label."""

from __future__ import annotations

from pytest_clawperator.assertions.checks.label_value import value_of
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import StepFailedError


def read(claw: Clawperator, label: str) -> str | None:
    """Read a value on the device, once; return None if there is none."""
    try:
        return claw.read_value(label=label, timeout=0)
    except StepFailedError as error:
        if error.code != "VALUE_NODE_NOT_FOUND":
            raise
        return None


def test_values_are_those_that_the_device_reads(real_expect: Expect, claw: Clawperator) -> None:
    """The value found beside a label is the one that the Operator finds."""
    claw.close_app("com.android.settings")
    claw.open_app("com.android.settings")
    claw.scroll_and_click(text="About phone")
    real_expect(claw.node(text="Android version")).to_be_visible()
    labels = [node for node in claw.snapshot().find_all(id="title") if node.label]

    found = {label.label: value_of(label) for label in labels}

    assert found == {text: read(claw, text) for text in found}
    assert None in found.values()
    real_expect(claw.node(text="Android version")).to_have_value(found["Android version"] or "")
