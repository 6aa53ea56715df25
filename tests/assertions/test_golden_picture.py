"""Pictures of screens, compared with goldens: density, status bar, masks, updates."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from pytest_clawperator.assertions import golden as goldens
from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.golden import GoldenStore
from pytest_clawperator.assertions.golden_picture import compare
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device import NoDevice
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionsOnlyError,
    ExpectationError,
)
from pytest_clawperator.redaction import SECRETS
from tests.doubles.camera import INSETS, SIZE, WHITE, Camera, boxed, opened, png
from tests.doubles.clock import FakeTime
from tests.doubles.runner import SERIAL


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
    """Each kind of screen has its own golden."""
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


def test_smoothed_edges_do_not_differ() -> None:
    """A line whose edge is smoothed differently counts as the same."""
    golden, actual = WHITE.copy(), WHITE.copy()
    ImageDraw.Draw(golden).polygon([(0, 50), (120, 60), (120, 200), (0, 200)], fill="black")
    for x in range(120):
        y = 50 + x * 10 // 120
        for below in range(200):
            shade = 0 if below > y else 255
            actual.putpixel((x, below), (shade, shade, shade))
        actual.putpixel((x, y), (128, 128, 128))

    found = compare(golden, actual, threshold=0.1)

    assert found.pixels < 12


def test_many_differences_are_counted_roughly() -> None:
    """If most pixels differ, anti-aliased edges are not told apart."""
    golden, actual = Image.new("RGB", (400, 400)), Image.new("RGB", (400, 400), "white")

    comparison = compare(golden, actual, threshold=0.1)

    assert comparison.is_rough
    assert str(comparison).startswith("up to 160000 pixels")


@pytest.fixture
def expect() -> Expect:
    """Return an expect whose waiting takes no time, and that does not linger."""
    expect = Expect(clock=FakeTime().clock)
    expect.configure(linger=0)
    return expect


def test_a_difference_is_described_and_drawn(expect: Expect, camera: Camera) -> None:
    """A failure gives the number and position of the pixels, and writes pictures of them."""
    camera.keep(WHITE)

    with pytest.raises(ExpectationError) as caught:
        expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home")

    assert (
        'expected the screen to match screenshot "home", found 100 pixels that differ (0.42%) '
        "in [20,60][30,70]"
    ) in str(caught.value)
    files = caught.value.details["pictures"]
    assert opened(files["actual"]).size == SIZE
    assert opened(files["side by side"]).size == (3 * SIZE[0] + 32, SIZE[1])
    difference = opened(files["difference"])
    assert difference.getpixel((25, 65)) == (220, 0, 0)
    assert difference.getpixel((100, 150)) == (255, 255, 255)


def test_a_golden_made_over_adb_is_found_without_the_density(
    expect: Expect, camera: Camera
) -> None:
    """A host that only runs executions does not report it; the only golden of the size is used."""
    camera.keep(WHITE)
    claw = Clawperator(camera.phone, device=NoDevice(SERIAL, "far away"), timeout=0.1)

    camera.show(WHITE)
    expect(claw).to_match_screenshot("home")
    camera.show(boxed(10, 50, 90, 150))
    with pytest.raises(ExpectationError):
        expect(claw).to_match_screenshot("home")


def test_a_golden_is_not_guessed_where_the_density_is_unknown(
    expect: Expect, camera: Camera
) -> None:
    """Of several densities none is taken; without goldens for densities none is needed."""
    camera.keep(WHITE)
    camera.keep(WHITE, "home-120x200-320dpi")
    camera.show(WHITE)
    claw = Clawperator(camera.phone, device=NoDevice(SERIAL, "far away"), timeout=0.1)

    with pytest.raises(ExecutionsOnlyError, match=r"160dpi\.png or \S+320dpi\.png"):
        expect(claw).to_match_screenshot("home")

    camera.keep(WHITE, "home-120x200")
    expect(claw).to_match_screenshot("home")


def test_pictures_go_to_the_output_folder(expect: Expect, camera: Camera) -> None:
    """With an output folder, nothing is written next to the tests."""
    camera.keep(WHITE)
    output = camera.folder / "out"
    goldens.use(GoldenStore(camera.folder, output=output))

    with pytest.raises(ExpectationError):
        expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home", timeout=0)

    assert len(list(output.iterdir())) == 3
    assert len(list((camera.folder / "__screens__").iterdir())) == 1


def test_secrets_are_not_in_pictures(expect: Expect, camera: Camera) -> None:
    """A golden that would show one is not written, unless it is masked; differences hide it."""
    SECRETS.add("12:00")
    goldens.use(GoldenStore(camera.folder, update=True))
    claw = camera.show(boxed(20, 60, 29, 69))

    with pytest.raises(ConfigurationError, match="it would show a secret"):
        expect(claw).to_match_screenshot("home")
    expect(claw).to_match_screenshot("home", mask=claw.node(text="12:00"))
    goldens.use(GoldenStore(camera.folder))
    with pytest.raises(ExpectationError, match="that differ") as caught:
        expect(claw).to_match_screenshot("home")

    (path,) = (camera.folder / "__screens__").glob("*.png")
    actual = caught.value.details["pictures"]["actual"]
    assert opened(path).getpixel((25, 65)) == (255, 0, 255)
    assert opened(Path(actual)).getpixel((25, 65)) == (255, 0, 255)


@pytest.mark.parametrize("is_there", [False, True], ids=["written", "found right"])
def test_one_name_for_two_pictures_is_refused(
    expect: Expect, camera: Camera, is_there: bool
) -> None:
    """An update does not replace a picture that another expectation wrote or found right."""
    if is_there:
        camera.keep(WHITE)
    goldens.use(GoldenStore(camera.folder, update=True))
    expect(camera.show(WHITE)).to_match_screenshot("home")
    (path,) = (camera.folder / "__screens__").iterdir()
    kept = path.read_bytes()

    with pytest.raises(ConfigurationError, match="two screens in this run"):
        expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home")

    assert path.read_bytes() == kept


def test_picture_is_waited_for(expect: Expect, camera: Camera) -> None:
    """A screen that looks right a moment later matches."""
    camera.keep(WHITE)
    camera.show(boxed(20, 60, 29, 69))
    pictures = iter([png(boxed(20, 60, 29, 69)), png(WHITE)])

    def answer(action: object) -> dict[str, str]:
        camera.phone.picture = next(pictures)
        return {"path": "/tmp/x.png"}

    camera.phone.data["take_screenshot"] = answer

    expect(camera.claw).to_match_screenshot("home")

    assert next(pictures, None) is None


def test_small_differences_can_be_allowed(expect: Expect, camera: Camera) -> None:
    """A slight difference of colour, or a few pixels, can be allowed."""
    camera.keep(WHITE)

    expect(camera.show(boxed(20, 60, 60, 90, fill="#f0f0f0"))).to_match_screenshot("home")
    expect(camera.claw).not_to_match_screenshot("home", threshold=0.01)
    expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home", max_diff_pixels=100)
    expect(camera.claw).not_to_match_screenshot("home", max_diff_pixels=99)
    expect(camera.show(boxed(20, 60, 60, 90, fill="#808080"))).to_match_screenshot(
        "home", threshold=0.9
    )


def test_masked_nodes_are_left_out(expect: Expect, camera: Camera) -> None:
    """The bounds of a masked node are left out of the comparison."""
    camera.keep(WHITE)
    claw = camera.show(boxed(10, 50, 59, 79))

    expect(claw).to_match_screenshot("home", mask=[claw.node(id="clock")])
    expect(claw).not_to_match_screenshot("home")


def test_a_missing_golden_fails_at_once(expect: Expect, camera: Camera) -> None:
    """Without waiting, with how to write one, and those for other screen sizes."""
    with pytest.raises(ExpectationError) as caught:
        expect(camera.show(WHITE)).to_match_screenshot("home")

    assert "found no such file: " in str(caught.value)
    assert "home-120x200-160dpi.png" in str(caught.value)
    assert (
        "hint: Write it: call expect.configure(goldens=GoldenStore(FOLDER, update=True)) before."
        in str(caught.value)
    )
    assert len(camera.phone.executions) == 1
    camera.keep(WHITE, "home-720x1280-320dpi")
    with pytest.raises(ExpectationError, match=r"There are others: home-720x1280-320dpi\.png\."):
        expect(camera.claw).to_match_screenshot("home")


def test_an_update_writes_a_picture_that_does_not_match(expect: Expect, camera: Camera) -> None:
    """An update writes the settled screen, with the masked parts painted over."""
    path = camera.keep(WHITE)
    store = GoldenStore(camera.folder, update=True)
    goldens.use(store)

    expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home")

    kept = opened(path)
    assert kept.getpixel((25, 65)) == (0, 0, 0)
    assert kept.getpixel((5, 5)) == (255, 0, 255)
    assert store.written == {path}


def test_an_update_leaves_a_picture_that_matches(expect: Expect, camera: Camera) -> None:
    """It is not written again."""
    camera.keep(WHITE)
    store = GoldenStore(camera.folder, update=True)
    goldens.use(store)

    expect(camera.show(WHITE)).to_match_screenshot("home")

    assert store.written == set()


def test_an_unreadable_golden_is_named(expect: Expect, camera: Camera) -> None:
    """The error for a golden that is not a picture names the file."""
    path = camera.keep(WHITE)
    path.write_bytes(b"\x89PNG no more")

    with pytest.raises(ConfigurationError, match="is not a readable PNG") as caught:
        expect(camera.show(WHITE)).to_match_screenshot("home")

    assert caught.value.code == ErrorCode.GOLDEN_UNREADABLE
    assert str(path) in caught.value.message


def test_a_golden_of_another_size_fails_with_its_size(expect: Expect, camera: Camera) -> None:
    """A golden that was cut by hand fails with its size."""
    camera.keep(Image.new("RGB", (50, 50)))

    with pytest.raises(ExpectationError, match="found 50x50 pixels in it: "):
        expect(camera.show(WHITE)).to_match_screenshot("home")


@pytest.mark.parametrize("update", [False, True])
def test_a_picture_that_any_screen_would_match_is_refused(
    expect: Expect, camera: Camera, update: bool
) -> None:
    """Nothing is left of it, or as many pixels may differ as it has."""
    camera.keep(WHITE)
    goldens.use(GoldenStore(camera.folder, update=update))
    claw = camera.show(boxed(20, 60, 29, 69))

    everything: list[dict[str, Any]] = [
        {"mask": claw.node(role="container")},
        {"max_diff_pixels": SIZE[0] * SIZE[1]},
    ]
    for options in everything:
        with pytest.raises(ConfigurationError, match='any screen would match "home"'):
            expect(claw).to_match_screenshot("home", **options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("../home", {}, "cannot be the name of a golden"),
        ("", {}, "cannot be the name of a golden"),
        ("home", {"threshold": 1}, "must be a number from 0 to 0.9"),
        ("home", {"threshold": "x"}, "must be a number from 0"),
        ("home", {"max_diff_pixels": -1}, "must be a number from 0"),
    ],
)
def test_wrong_arguments_are_refused(
    expect: Expect, camera: Camera, name: str, options: dict[str, Any], message: str
) -> None:
    """A number is refused before a picture is taken; a name cannot lead out of the folder."""
    with pytest.raises(ConfigurationError, match=message):
        expect(camera.show(WHITE)).to_match_screenshot(name, **options)

    assert camera.phone.executions == [] or not options


def test_a_missing_pixelmatch_names_the_extra(
    expect: Expect, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pixelmatch the error says what to install."""
    monkeypatch.setitem(sys.modules, "pixelmatch", None)

    with pytest.raises(ConfigurationError) as caught:
        expect(camera.show(WHITE)).to_match_screenshot("home")

    assert caught.value.code == ErrorCode.HOST_DEPENDENCY_MISSING
    assert caught.value.hint == "pip install 'pytest-clawperator[visual]'"


def test_an_update_replaces_an_unreadable_picture(expect: Expect, camera: Camera) -> None:
    """A golden that is not a picture is overwritten by an update."""
    camera.store = GoldenStore(camera.folder, update=True)
    goldens.use(camera.store)
    path = camera.folder / "__screens__" / "home-120x200-160dpi.png"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"no picture")
    camera.phone.picture = png(WHITE)

    expect(camera.claw).to_match_screenshot("home")

    assert opened(path).size == SIZE


BLACK = Image.new("RGB", SIZE, "black")


def test_a_black_picture_is_neither_matched_nor_written(expect: Expect, camera: Camera) -> None:
    """An app that forbids pictures would otherwise pass whatever it shows; the error says why."""
    camera.keep(BLACK)

    with pytest.raises(ExpectationError, match="found a black picture") as caught:
        expect(camera.show(BLACK)).to_match_screenshot("home")
    goldens.use(GoldenStore(camera.folder, update=True))
    with pytest.raises(ConfigurationError, match="is not written") as refused:
        expect(camera.claw).to_match_screenshot("home")

    assert "FLAG_SECURE" in str(caught.value.hint)
    assert "FLAG_SECURE" in str(refused.value.hint)
