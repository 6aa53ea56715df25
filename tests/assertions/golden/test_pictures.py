"""Screens against golden pictures."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.pictures import compare
from pytest_clawperator.assertions.golden.store import GoldenStore
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.errors import ConfigurationError, ErrorCode, ExpectationError
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.clock import FakeTime
from tests.doubles.runner import SERIAL, Phone, node, screen
from tests.doubles.transport import ScriptedTransport

SIZE = (120, 200)
WHITE = Image.new("RGB", SIZE, "white")
INSETS = "  InsetsSource id=9 type=statusBars frame=[0,0][120,30] visible=true"


def png(image: Image.Image) -> bytes:
    """Give a picture as a file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def opened(path: Path | str) -> Image.Image:
    """Read a picture."""
    return Image.open(io.BytesIO(Path(path).read_bytes()))


def boxed(*box: int, fill: str = "black") -> Image.Image:
    """Draw a box on white: left, top, right, bottom, all of them in it."""
    image = WHITE.copy()
    ImageDraw.Draw(image).rectangle(box, fill=fill)
    return image


class Shell(ScriptedTransport):
    """A device that says how high its status bar is."""

    printed = ""

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Answer whatever is asked with the windows."""
        return ShellResult(self.printed, "", 0)


class Camera:
    """A device, what it shows, and the folder of its goldens."""

    def __init__(self, folder: Path, density: int | None = 160, insets: str = "") -> None:
        self.folder = folder
        self.store = GoldenStore(folder)
        self.phone = Phone(screen(node(text="12:00", id="clock", bounds="[10,50][60,80]")))
        transport = Shell()
        transport.printed = insets
        info = DeviceInfo(serial=SERIAL, key=SERIAL, density=density)
        self.claw = Clawperator(self.phone, device=Device(transport, info), timeout=0.1)
        goldens.use(self.store)

    def show(self, image: Image.Image) -> Clawperator:
        """Show something from now on."""
        self.phone.picture = png(image)
        return self.claw

    def keep(self, image: Image.Image, key: str = "home-120x200-160dpi") -> Path:
        """Put a golden in place."""
        path = self.folder / "__screens__" / f"{key}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(png(image))
        return path


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[Camera]:
    """Give a device whose screen is drawn by the test."""
    before = goldens.use(None)
    yield Camera(tmp_path)
    goldens.use(before)


@pytest.fixture
def expect() -> Expect:
    """Give an expect whose time takes none."""
    expect = Expect(clock=FakeTime().clock)
    expect.configure(linger=0)
    return expect


def test_same_picture_matches(expect: Expect, camera: Camera) -> None:
    """A screen that looks as it did matches, and its golden counts as used."""
    path = camera.keep(boxed(20, 60, 60, 90))

    expect(camera.show(boxed(20, 60, 60, 90))).to_match_screenshot("home")

    assert camera.store.used == {path}


def test_difference_is_told_and_drawn(expect: Expect, camera: Camera) -> None:
    """What differs is told in pixels and place, and drawn beside the golden."""
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


def test_pictures_go_to_the_output_folder(expect: Expect, camera: Camera) -> None:
    """Where an output folder is given, nothing is written next to the tests."""
    camera.keep(WHITE)
    output = camera.folder / "out"
    goldens.use(GoldenStore(camera.folder, output=output))

    with pytest.raises(ExpectationError):
        expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home", timeout=0)

    assert len(list(output.iterdir())) == 3
    assert len(list((camera.folder / "__screens__").iterdir())) == 1


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


def test_threshold_and_number_of_pixels(expect: Expect, camera: Camera) -> None:
    """A slight difference of colour, or of a few pixels, can be allowed."""
    camera.keep(WHITE)

    expect(camera.show(boxed(20, 60, 60, 90, fill="#f0f0f0"))).to_match_screenshot("home")
    expect(camera.claw).not_to_match_screenshot("home", threshold=0.01)
    expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home", max_diff_pixels=100)
    expect(camera.claw).not_to_match_screenshot("home", max_diff_pixels=99)
    expect(camera.claw).to_match_screenshot("home", threshold=1)


def test_masked_nodes_do_not_count(expect: Expect, camera: Camera) -> None:
    """What lies where a masked node is does not count."""
    camera.keep(WHITE)
    claw = camera.show(boxed(10, 50, 59, 79))

    expect(claw).to_match_screenshot("home", mask=[claw.node(id="clock")])
    expect(claw).not_to_match_screenshot("home")


def test_status_bar_does_not_count(expect: Expect, camera: Camera) -> None:
    """The bar at the top, 24 dp high, is left out unless it is asked for."""
    camera.keep(WHITE)

    expect(camera.show(boxed(0, 0, 119, 23))).to_match_screenshot("home")
    expect(camera.claw).not_to_match_screenshot("home", mask_status_bar=False)
    expect(camera.show(boxed(0, 0, 119, 24))).not_to_match_screenshot("home")


def test_device_knows_its_status_bar(expect: Expect, tmp_path: Path) -> None:
    """A device that says how high its bar is, is believed."""
    before = goldens.use(None)
    camera = Camera(tmp_path, insets=INSETS)
    camera.keep(WHITE)

    expect(camera.show(boxed(0, 0, 119, 29))).to_match_screenshot("home")
    expect(camera.show(boxed(0, 0, 119, 30))).not_to_match_screenshot("home")

    goldens.use(before)


@pytest.mark.parametrize(("density", "key"), [(320, "home-120x200-320dpi"), (None, "home-120x200")])
def test_key_is_size_and_density(
    expect: Expect, tmp_path: Path, density: int | None, key: str
) -> None:
    """Each kind of screen has a golden of its own."""
    before = goldens.use(None)
    camera = Camera(tmp_path, density=density)
    path = camera.keep(WHITE, key)

    expect(camera.show(WHITE)).to_match_screenshot("home")

    assert camera.store.used == {path}
    goldens.use(before)


def test_missing_golden_fails_at_once(expect: Expect, camera: Camera) -> None:
    """Without a golden it fails without waiting, and says how to get one."""
    with pytest.raises(ExpectationError) as caught:
        expect(camera.show(WHITE)).to_match_screenshot("home")

    assert "found no such file: " in str(caught.value)
    assert "home-120x200-160dpi.png" in str(caught.value)
    assert "hint: Write it with a GoldenStore that has update=True." in str(caught.value)
    assert len(camera.phone.executions) == 1


def test_goldens_of_other_screens_are_named(expect: Expect, camera: Camera) -> None:
    """Where there are goldens for other screens, they are told."""
    camera.keep(WHITE, "home-720x1280-320dpi")

    with pytest.raises(ExpectationError, match=r"There are others: home-720x1280-320dpi\.png\."):
        expect(camera.show(WHITE)).to_match_screenshot("home")


def test_update_writes_what_does_not_fit(expect: Expect, camera: Camera) -> None:
    """An updated golden holds the screen at rest, with what does not count painted over."""
    path = camera.keep(WHITE)
    store = GoldenStore(camera.folder, update=True)
    goldens.use(store)

    expect(camera.show(boxed(20, 60, 29, 69))).to_match_screenshot("home")

    kept = opened(path)
    assert kept.getpixel((25, 65)) == (0, 0, 0)
    assert kept.getpixel((5, 5)) == (255, 0, 255)
    assert store.written == {path}


def test_update_leaves_what_fits(expect: Expect, camera: Camera) -> None:
    """A golden that fits is not written again."""
    camera.keep(WHITE)
    store = GoldenStore(camera.folder, update=True)
    goldens.use(store)

    expect(camera.show(WHITE)).to_match_screenshot("home")

    assert store.written == set()


def test_broken_golden_is_named(expect: Expect, camera: Camera) -> None:
    """A golden that is no picture is told with its file."""
    path = camera.keep(WHITE)
    path.write_bytes(b"\x89PNG no more")

    with pytest.raises(ConfigurationError, match="is no PNG that can be read") as caught:
        expect(camera.show(WHITE)).to_match_screenshot("home")

    assert caught.value.code == ErrorCode.GOLDEN_UNREADABLE
    assert str(path) in caught.value.message


def test_golden_of_another_size_is_told(expect: Expect, camera: Camera) -> None:
    """A golden that was cut by hand is told with its size."""
    camera.keep(Image.new("RGB", (50, 50)))

    with pytest.raises(ExpectationError, match="found 50x50 pixels in it: "):
        expect(camera.show(WHITE)).to_match_screenshot("home")


@pytest.mark.parametrize("name", ["../home", "a/b", ""])
def test_hostile_names_are_refused(expect: Expect, camera: Camera, name: str) -> None:
    """A name cannot lead out of the folder of goldens."""
    with pytest.raises(ConfigurationError, match="cannot be the name of a golden"):
        expect(camera.show(WHITE)).to_match_screenshot(name)


@pytest.mark.parametrize("options", [{"threshold": 2}, {"threshold": "x"}, {"max_diff_pixels": -1}])
def test_nonsense_is_refused(expect: Expect, camera: Camera, options: dict[str, float]) -> None:
    """Numbers that make no sense are refused before a picture is taken."""
    with pytest.raises(ConfigurationError, match="must be a number from 0"):
        expect(camera.show(WHITE)).to_match_screenshot("home", **options)  # type: ignore[arg-type]

    assert camera.phone.executions == []


def test_missing_library_names_the_extra(
    expect: Expect, camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library the message says what to install."""
    monkeypatch.setitem(sys.modules, "pixelmatch", None)

    with pytest.raises(ConfigurationError) as caught:
        expect(camera.show(WHITE)).to_match_screenshot("home")

    assert caught.value.code == ErrorCode.HOST_DEPENDENCY_MISSING
    assert caught.value.hint == "pip install 'pytest-clawperator[visual]'"


def test_smoothed_edges_are_no_difference() -> None:
    """A line whose edge is smoothed otherwise counts as the same."""
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


def test_quite_another_screen_is_told_quickly() -> None:
    """A whole screen that differs is not looked at pixel by pixel."""
    size = (1080, 1200)

    found = compare(Image.new("RGB", size), Image.new("RGB", size, "white"), threshold=0.1)

    assert found.pixels == 1080 * 1200


def test_update_replaces_what_cannot_be_read(expect: Expect, camera: Camera) -> None:
    """A golden that is no picture is written anew by an update."""
    camera.store = GoldenStore(camera.folder, update=True)
    goldens.use(camera.store)
    path = camera.folder / "__screens__" / "home-120x200-160dpi.png"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"no picture")
    camera.phone.picture = png(WHITE)

    expect(camera.claw).to_match_screenshot("home")

    assert opened(path).size == SIZE


def test_density_is_asked_for_anew(expect: Expect, tmp_path: Path) -> None:
    """The key of a picture has the density that the screen has now."""
    camera = Camera(tmp_path, insets="Physical density: 160\nOverride density: 320\n")
    camera.phone.picture = png(WHITE)
    goldens.use(camera.store)

    with pytest.raises(ExpectationError, match="home-120x200-320dpi"):
        expect(camera.claw).to_match_screenshot("home")


def test_many_differences_are_told_roughly() -> None:
    """Where very much differs, edges are not looked at one by one."""
    golden, actual = Image.new("RGB", (400, 400)), Image.new("RGB", (400, 400), "white")

    comparison = compare(golden, actual, threshold=0.1)

    assert comparison.is_rough
    assert str(comparison).startswith("up to 160000 pixels")
