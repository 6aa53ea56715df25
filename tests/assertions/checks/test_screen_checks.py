"""The checks of a whole screen."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import (
    ConfigurationError,
)
from tests.doubles.expecting import failure
from tests.doubles.runner import PACKAGE, SHOP, Phone, client

PROMPT = "com.android.permissioncontroller"


def device(**data: str) -> Clawperator:
    """Make a device whose snapshots come with these data."""
    return client(Phone(data={"snapshot_ui": {"text": SHOP, **data}}), timeout=0.1)


def test_app_in_front(expect: Expect) -> None:
    """The app in front is told by the snapshot, and waited for."""
    claw = client(Phone(SHOP))

    expect(claw).to_be_in_app(PACKAGE)
    expect(claw).not_to_be_in_app("com.other")
    told = failure(lambda: expect(claw).to_be_in_app("com.other", timeout=0.02))

    assert f"expected the screen to be in app com.other, found {PACKAGE}\n" in told
    assert f"  waited: 2 × {PACKAGE} in 20 ms\n" in told


def test_overlay(expect: Expect) -> None:
    """A window over the app is told by its package."""
    free, covered = device(has_overlay="false"), device(has_overlay="true", overlay_package=PROMPT)

    expect(free).to_have_no_overlay()
    expect(covered).not_to_have_no_overlay()
    told = failure(expect(covered).to_have_no_overlay)

    assert f"expected the screen to have no overlay, found a window of {PROMPT}\n" in told
    assert f"hint: Answer or close the window of {PROMPT} first." in told


@pytest.mark.parametrize("check", ["to_have_no_overlay", "not_to_have_no_overlay"])
def test_unknown_overlay_is_neither(expect: Expect, check: str) -> None:
    """An Operator that says nothing of overlays proves neither that there is one nor none."""
    told = failure(getattr(expect(device()), check))

    assert "found no word about overlays" in told


@pytest.mark.parametrize("package", [5, "", None])
def test_app_is_named_by_a_text(expect: Expect, package: Any) -> None:
    """What can be no package is a mistake of the test."""
    with pytest.raises(ConfigurationError, match="named by its package"):
        expect(client(Phone(SHOP))).not_to_be_in_app(package)
