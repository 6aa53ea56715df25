"""The density and the status bar that a picture depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.errors import ExpectationError
from tests.doubles.camera import INSETS, WHITE, Camera, boxed, png


def test_the_status_bar_is_left_out(expect: Expect, camera: Camera) -> None:
    """The bar at the top, 24 dp high, is left out unless it is asked for."""
    camera.keep(WHITE)

    expect(camera.show(boxed(0, 0, 119, 23))).to_match_screenshot("home")
    expect(camera.claw).not_to_match_screenshot("home", mask_status_bar=False)
    expect(camera.show(boxed(0, 0, 119, 24))).not_to_match_screenshot("home")


def test_the_device_says_how_high_its_status_bar_is(expect: Expect, tmp_path: Path) -> None:
    """The height that the device reports is used instead of the usual one."""
    camera = Camera(tmp_path, insets=INSETS)
    camera.keep(WHITE)

    expect(camera.show(boxed(0, 0, 119, 29))).to_match_screenshot("home")
    expect(camera.show(boxed(0, 0, 119, 30))).not_to_match_screenshot("home")


@pytest.mark.parametrize(("density", "key"), [(320, "home-120x200-320dpi"), (None, "home-120x200")])
def test_the_file_name_has_size_and_density(
    expect: Expect, tmp_path: Path, density: int | None, key: str
) -> None:
    """Each kind of screen has a golden of its own."""
    camera = Camera(tmp_path, density=density)
    path = camera.keep(WHITE, key)

    expect(camera.show(WHITE)).to_match_screenshot("home")

    assert camera.store.used == {path}


def test_an_overridden_density_is_the_one_that_counts(expect: Expect, tmp_path: Path) -> None:
    """The file name has the density that the screen has now."""
    camera = Camera(tmp_path, insets="Physical density: 160\nOverride density: 320\n")
    camera.phone.picture = png(WHITE)

    with pytest.raises(ExpectationError, match="home-120x200-320dpi"):
        expect(camera.claw).to_match_screenshot("home")
