"""The checks of a whole screen."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import ConfigurationError
from tests.doubles.expecting import failure
from tests.doubles.runner import PACKAGE, SHOP, Phone, client

PROMPT = "com.android.permissioncontroller"


def device(**data: str) -> Clawperator:
    """Return a client whose snapshots have these data."""
    return client(Phone(data={"snapshot_ui": {"text": SHOP, **data}}), timeout=0.1)


def test_the_app_in_front_is_compared_by_package(expect: Expect) -> None:
    """The snapshot names the app in front; a failure names what was found."""
    claw = client(Phone(SHOP))

    expect(claw).to_be_in_app(PACKAGE)
    expect(claw).not_to_be_in_app("com.other")
    told = failure(lambda: expect(claw).to_be_in_app("com.other", timeout=0.02))

    assert f"expected the screen to be in app com.other, found {PACKAGE}\n" in told
    assert f"  waited: 2 × {PACKAGE} in 20 ms\n" in told


def test_a_window_over_the_app_fails_with_its_package(expect: Expect) -> None:
    """A failure names the package of the window over the app, and what to do."""
    free, covered = device(has_overlay="false"), device(has_overlay="true", overlay_package=PROMPT)

    expect(free).to_have_no_overlay()
    expect(covered).not_to_have_no_overlay()
    told = failure(expect(covered).to_have_no_overlay)

    assert f"expected the screen to have no overlay, found a window of {PROMPT}\n" in told
    assert f"hint: Answer or close the window of {PROMPT} first." in told


@pytest.mark.parametrize("check", ["to_have_no_overlay", "not_to_have_no_overlay"])
def test_an_unknown_overlay_fails_both_ways(expect: Expect, check: str) -> None:
    """Without a word about overlays, neither check of them holds."""
    told = failure(getattr(expect(device()), check))

    assert "found no information about overlays" in told


@pytest.mark.parametrize("package", [5, "", None])
def test_a_package_that_is_no_text_is_refused(expect: Expect, package: Any) -> None:
    """An argument that cannot be a package is a mistake of the test."""
    with pytest.raises(ConfigurationError, match="named by its package"):
        expect(client(Phone(SHOP))).not_to_be_in_app(package)
