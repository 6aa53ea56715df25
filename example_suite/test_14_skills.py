"""Lesson 14: skills. Packaged scripts and recipes for apps, used in tests.

They are in `skills/`; `clawperator-py skills list` lists them, and
`pytest --claw-skills=example_suite` runs their recipes without a test file.
"""

from __future__ import annotations

import pytest

from example_suite.pages.settings import PACKAGE as SETTINGS
from example_suite.pages.shop import PACKAGE as SHOP
from pytest_clawperator import Clawperator, SkillError, SkillFailedError, expect


def test_a_recipe_is_a_payload_with_variables(clawperator: Clawperator) -> None:
    """It is compiled with the values of its variables, and its envelope is returned."""
    envelope = clawperator.run_artifact(
        f"{SETTINGS}.open-entry", "open-entry", ENTRY="About", SIGN="Android"
    )

    expect(envelope).to_have_succeeded()
    expect(envelope.step("snap").snapshot).to_have_node(text_contains="Android")


@pytest.mark.claw_app(SHOP, launch=False, missing="skip")
def test_a_recipe_reads(clawperator: Clawperator) -> None:
    """What its steps read is in the envelope."""
    envelope = clawperator.run_artifact(f"{SHOP}.show-item", "show-item", NUMBER=3)

    expect(envelope).to_have_data("name", text="Item 3")
    expect(envelope).to_have_data("price", text="$19.00")


def test_a_script_uses_the_device_of_the_test(clawperator: Clawperator) -> None:
    """It runs the host program on the phone, which stays that of the test."""
    pytest.importorskip("click", reason="pip install 'pytest-clawperator[cli]'")

    done = clawperator.run_skill(f"{SETTINGS}.read-value", ["Android version"], timeout=60)

    assert done.output == f"Android version: {clawperator.device.info.release}\n"
    expect(clawperator.node(text="Android version")).to_be_visible()


def test_a_script_that_fails_fails_the_test(clawperator: Clawperator) -> None:
    """The error has what it printed."""
    with pytest.raises(SkillFailedError, match="usage") as caught:
        clawperator.run_skill(f"{SETTINGS}.read-value")

    assert caught.value.details["exitCode"] == 1


def test_a_slip_is_noticed_before_anything_is_sent(clawperator: Clawperator) -> None:
    """A variable that a recipe does not have is an error, and so is one without a value."""
    with pytest.raises(SkillError, match="has no variable NUMBR"):
        clawperator.run_artifact(f"{SHOP}.show-item", "show-item", NUMBER=3, NUMBR=4)
