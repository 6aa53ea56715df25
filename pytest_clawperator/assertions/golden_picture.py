"""``to_match_screenshot``: compare a screen with a golden picture."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, UnidentifiedImageError
from pixelmatch.contrib.PIL import pixelmatch

from pytest_clawperator import errors
from pytest_clawperator.assertions import golden as goldens
from pytest_clawperator.assertions.checks import Check, Verdict
from pytest_clawperator.assertions.expectation import Expectation
from pytest_clawperator.assertions.failure import Failure
from pytest_clawperator.assertions.golden import (
    GoldenStore,
    targets_of,
    update_when_settled,
    write_atomically,
)
from pytest_clawperator.assertions.wait import Clock, LiveScreen, Outcome
from pytest_clawperator.client.actions import Actions
from pytest_clawperator.client.device import NoDevice
from pytest_clawperator.client.target import Target, TargetLike
from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.snapshot.tree import Bounds, secret_places

__tracebackhide__ = True  # a failure is shown at the test's own line
_SHOWN_OTHERS = 5
# With 1 even black would be like white.
_MOST_THRESHOLD = 0.9

_BLACK_HINT = (
    "The app in front may forbid pictures of its windows (FLAG_SECURE), as banks do: compare the"
    " hierarchy with to_match_tree(), or use a build of the app that allows them."
)


@dataclass(frozen=True)
class Shot:
    """A picture of the screen with the masked parts painted over.

    ``secrets`` are the places of secrets, ``readable`` those that anyone can read, unlike the
    bullets of a password field. ``unmasked`` are the targets of a mask that are not on the
    screen; ``is_black`` is whether there was nothing to see.
    """

    image: Image.Image
    hidden: tuple[Bounds, ...] = ()
    secrets: tuple[Bounds, ...] = ()
    readable: tuple[Bounds, ...] = ()
    unmasked: tuple[Target, ...] = ()
    is_black: bool = False


@dataclass(frozen=True)
class GoldenPicture:
    """A golden picture to compare the screen with."""

    name: str
    client: Actions
    threshold: float
    max_diff_pixels: int
    mask: tuple[Target, ...]
    status_bar: int
    store: GoldenStore
    density: int | None = None
    _judged: dict[bytes, Verdict] = field(default_factory=dict)
    _contents: dict[Path, bytes | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        client: Actions,
        *,
        threshold: float,
        max_diff_pixels: int,
        mask: TargetLike | Sequence[TargetLike],
        mask_status_bar: bool,
    ) -> GoldenPicture:
        """Check what a test wrote, and ask the device what a picture depends on."""
        _check_number("threshold", threshold, _MOST_THRESHOLD)
        _check_number("max_diff_pixels", max_diff_pixels, None)
        return cls(
            goldens.checked_name(name),
            client,
            threshold,
            max_diff_pixels,
            targets_of(mask, verb="mask="),
            status_bar_height(client) if mask_status_bar else 0,
            goldens.current(),
            density(client),
        )

    def verify(
        self, expectation: Expectation, failure: Failure, timeout: float, *, is_negated: bool
    ) -> None:
        """Look until the screen matches; in an update run, write the golden."""
        if self.store.update and not is_negated:
            self._update(expectation.settings.clock, timeout)
            return
        check = Check(f'to match screenshot "{self.name}"', self._judge, "matched")

        def explain(check: Check[Shot], outcome: Outcome[Shot]) -> errors.ExpectationError:
            return self._explain(failure, check, outcome)

        # Waiting does not bring a missing file.
        seconds = timeout if self._others() else 0.0
        wanted = check.negated() if is_negated else check
        screen = LiveScreen(self.client)
        expectation.verify(
            wanted, self._look, explain, about=failure, screen=screen, timeout=seconds
        )

    def _look(self) -> Shot:
        image = open_png(self.client.screenshot(), "the screenshot")
        hidden: list[Bounds] = []
        unmasked: list[Target] = []
        secrets: list[Bounds] = []
        readable: list[Bounds] = []
        if self.mask or not SECRETS.is_empty:
            snapshot = self.client.snapshot()
            found = {n: target.resolve(snapshot) for n, target in enumerate(self.mask)}
            hidden = [node.bounds for nodes in found.values() for node in nodes]
            unmasked = [self.mask[n] for n, nodes in found.items() if not nodes]
            secrets = secret_places(snapshot)
            readable = secret_places(snapshot, only_readable=True)
        if self.status_bar:
            hidden.append(Bounds(0, 0, image.width, self.status_bar))
        return Shot(
            masked(image, hidden),
            tuple(hidden),
            secrets=tuple(secrets),
            readable=tuple(readable),
            unmasked=tuple(unmasked),
            is_black=is_black(image),
        )

    def _path(self, shot: Shot) -> Path:
        width, height = shot.image.size
        density = self.density
        key = f"-{width}x{height}" + (f"-{density}dpi" if density else "")
        path = self.store.path(self.name, f"{key}.png")
        made_elsewhere = [] if path.exists() else self._for_densities(shot)
        # One of this size, and no other, was made of such a device over adb.
        return made_elsewhere[0] if len(made_elsewhere) == 1 else path

    def _for_densities(self, shot: Shot) -> list[Path]:
        """Return the goldens of this size, if the device's host does not report its density."""
        if self.density is not None or not isinstance(self.client.device, NoDevice):
            return []
        folder, size = self.store.folder / goldens.FOLDER, "{}x{}".format(*shot.image.size)
        return sorted(folder.glob(f"{self.name}-{size}-*dpi.png"))

    def _golden(self, shot: Shot) -> Image.Image | None:
        path = self._path(shot)
        if path not in self._contents:
            self._contents[path] = self.store.read(path)
        content = self._contents[path]
        if content is None:
            return None
        return masked(open_png(content, f"the golden {path}"), shot.hidden)

    def _judge(self, shot: Shot) -> Verdict:
        """Compare with the golden; the same picture is compared once."""
        seen = shot.image.tobytes()
        if seen not in self._judged:
            self._judged.clear()
            self._judged[seen] = self._compare(shot)
        return self._judged[seen]

    def _compare(self, shot: Shot) -> Verdict:
        if shot.is_black:  # it would match any other that is black
            return Verdict(None, "a black picture")
        golden = self._golden(shot)
        if golden is None and self.density is None:
            self._refuse_to_guess(shot)
        if golden is None or golden.size != shot.image.size:
            found = "no such file" if golden is None else "{}x{} pixels in it".format(*golden.size)
            return Verdict(None, f"{found}: {self._path(shot)}")
        most = self.max_diff_pixels
        self._check_is_seen(shot)
        comparison = compare(golden, shot.image, threshold=self.threshold, enough=most)
        holds = comparison.pixels <= most
        return Verdict(holds, str(comparison) if holds else f"more than {most} pixels that differ")

    def _check_is_seen(self, shot: Shot) -> None:
        """Raise if whatever the screen shows would match."""
        plain = Image.new("RGB", shot.image.size, "white")
        painted = ImageChops.difference(masked(plain, shot.hidden), plain).convert("L")
        seen = painted.histogram()[0]
        if seen <= self.max_diff_pixels:
            raise errors.ConfigurationError(
                f'any screen would match "{self.name}": {seen} of its pixels are not masked, and'
                f" {self.max_diff_pixels} may differ",
                serial=self.client.serial,
                hint="Paint over less with mask=, or let fewer pixels differ.",
            )

    def _refuse_to_guess(self, shot: Shot) -> None:
        """Raise if goldens differ by density, and the device's host does not report its density."""
        fitting = [path.name for path in self._for_densities(shot)]
        if fitting:
            raise errors.ExecutionsOnlyError(
                f"the density of the display is unknown here, so the golden may be"
                f" {' or '.join(fitting)}",
                serial=self.client.serial,
            )

    def _matches(self, shot: Shot) -> bool:
        """Whether the golden may stay; one that cannot be read may not."""
        try:
            return bool(self._judge(shot).holds)
        except errors.ConfigurationError:
            return False

    def _update(self, clock: Clock, timeout: float) -> None:
        update_when_settled(
            self._look,
            matches=self._matches,
            shown=lambda shot: shot.image.tobytes(),
            keep=self._keep,
            write=self._write,
            timeout=timeout,
            clock=clock,
        )

    def _keep(self, shot: Shot) -> None:
        path = self._path(shot)
        self.store.keep(path, self._contents[path] or b"")

    def _write(self, shot: Shot) -> None:
        self._check_is_seen(shot)
        masks = shot.hidden
        shown = [each for each in shot.readable if not any(one.contains(each) for one in masks)]
        if shown:
            raise errors.ConfigurationError(
                f'the golden "{self.name}" is not written: it would show a secret, in {shown[0]}',
                serial=self.client.serial,
                hint="Paint over the node, as in mask=claw.node(id='token').",
            )
        if shot.is_black:
            raise errors.ConfigurationError(
                f'the golden "{self.name}" is not written: the picture of the screen is black',
                serial=self.client.serial,
                hint=_BLACK_HINT,
            )
        self.store.write(self._path(shot), to_png(shot.image))

    def _explain(
        self, failure: Failure, check: Check[Shot], outcome: Outcome[Shot]
    ) -> errors.ExpectationError:
        shot = outcome.seen
        if shot is not None and shot.is_black:
            return failure.error(check, outcome, hint=_BLACK_HINT)
        golden = None if shot is None else self._golden(shot)
        if shot is None or golden is None or golden.size != shot.image.size:
            others = self._others()
            there = f" There are others: {', '.join(others)}." if others else ""
            write = Remedy(RemedyKind.WRITE_GOLDEN, "it")
            return failure.error(check, outcome, hint=(write, f".{there}"))
        comparison = compare(golden, shot.image, threshold=self.threshold)
        files = self._write_pictures(shot, golden, comparison)
        compare_them = f"See {files['side by side']}; if the screen is right, "
        return failure.error(
            check,
            replace(outcome, verdict=Verdict(False, str(comparison))),
            evidence=[
                *(f"mask: {target} is not on the screen" for target in shot.unmasked),
                *(f"{name}: {path}" for name, path in files.items()),
            ],
            hint=(compare_them, Remedy(RemedyKind.REPLACE_GOLDEN, "the golden")),
            details={"pictures": {name: str(path) for name, path in files.items()}},
        )

    def _others(self) -> list[str]:
        """Return some file names of this golden, for screens of any size."""
        folder = self.store.folder / goldens.FOLDER
        return sorted(path.name for path in folder.glob(f"{self.name}-*.png"))[:_SHOWN_OTHERS]

    def _write_pictures(
        self, shot: Shot, golden: Image.Image, comparison: Comparison
    ) -> dict[str, Path]:
        """Write the screen, the differences, and both beside the golden; return the paths.

        What shows a secret is painted over only here: it must not hide a difference.
        """
        path = self._path(shot)
        actual = masked(shot.image, shot.secrets)
        difference = highlighted(actual, comparison.mask)
        pictures = {
            "actual": actual,
            "difference": difference,
            "side by side": side_by_side([golden, actual, difference]),
        }
        files = {"golden": path}
        for name, picture in pictures.items():
            file = self.store.output_folder() / f"{path.stem}.{name.replace(' ', '-')}.png"
            write_atomically(file, to_png(picture))
            files[name] = file
        return files


def _check_number(name: str, value: Any, most: float | None) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= (float("inf") if most is None else most):
        upto = "on" if most is None else f"to {most:g}"
        raise errors.ConfigurationError(
            f"{name}= must be a number from 0 {upto}, found {describe(value)}",
            hint="threshold=0.1 lets colours differ a little; max_diff_pixels=50 lets 50 pixels.",
        )


# What a picture depends on besides its pixels

_STATUS_BAR_DP, _USUAL_WIDTH_DP, _USUAL_SIZE = 24, 411, (1080, 2400)
# An override is printed after the physical density.
_DENSITY = re.compile(r"(?:Physical|Override) density: (\d+)")

_STATUS_BAR = re.compile(
    r"\btype=(?:ITYPE_STATUS_BAR|statusBars)\b[^\n]*?\bframe=\[0,0\]\[\d+,(\d+)\]"
)


def density(client: Actions) -> int | None:
    """Ask the device for its density, which may have changed since it was listed."""
    found = _DENSITY.findall(_printed(client, "wm density"))
    return int(found[-1]) if found else client.device.info.density


def status_bar_height(client: Actions) -> int:
    """Ask the device for the height of its status bar, else return that of most phones."""
    found = _STATUS_BAR.search(_printed(client, "dumpsys window displays"))
    if found is not None:
        return int(found[1])
    info = client.device.info
    if info.density:
        return round(_STATUS_BAR_DP * info.density / 160)
    return round(_STATUS_BAR_DP * min(info.size or _USUAL_SIZE) / _USUAL_WIDTH_DP)


def _printed(client: Actions, command: str) -> str:
    try:
        return client.device.shell(command).stdout
    except errors.ClawperatorError:  # a device on another host has no shell
        return ""


# Reading, writing and drawing pictures

_MASK_COLOUR = (255, 0, 255)
_DIFFERENCE_COLOUR = (220, 0, 0)
_GAP = 16


def to_png(image: Image.Image) -> bytes:
    """Return a picture as PNG."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def open_png(content: bytes, name: str) -> Image.Image:
    """Read a PNG; ``name`` is what an error calls it."""
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as file:
            image: Image.Image = file.convert("RGB")
            return image
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as exc:
        raise errors.ConfigurationError(
            f"{name} is not a readable PNG{_reason(exc)}",
            code=errors.ErrorCode.GOLDEN_UNREADABLE,
            hint=(Remedy(RemedyKind.REPLACE_GOLDEN, "it"), ", or restore it."),
        ) from exc


def is_black(image: Image.Image) -> bool:
    """Whether there is nothing to see but, perhaps, bars at the upper and lower edge."""
    edge = image.height // 10
    middle = image.crop((0, edge, image.width, image.height - edge))
    return middle.convert("L").getextrema() == (0, 0)


def _reason(error: Exception) -> str:
    # Pillow's own text for "no picture at all" names an object in memory.
    return "" if isinstance(error, UnidentifiedImageError) else f": {error}"


def masked(image: Image.Image, hidden: Sequence[Bounds]) -> Image.Image:
    """Return a copy in which these rectangles are painted over."""
    copy = image.copy()
    draw = ImageDraw.Draw(copy)
    for left, top, right, bottom in hidden:
        if left < right and top < bottom:
            draw.rectangle((left, top, right - 1, bottom - 1), fill=_MASK_COLOUR)
    return copy


def highlighted(image: Image.Image, mask: Image.Image) -> Image.Image:
    """Return a faded copy in which the white pixels of a mask stand out, even single ones."""
    white = Image.new("RGB", image.size, "white")
    faded = Image.blend(white, image.convert("L").convert("RGB"), 0.25)
    faded.paste(_DIFFERENCE_COLOUR, mask=mask.filter(ImageFilter.MaxFilter(5)))
    return faded


def side_by_side(images: Sequence[Image.Image]) -> Image.Image:
    """Return one picture with all of these in a row."""
    width = sum(image.width for image in images) + _GAP * (len(images) - 1)
    wide = Image.new("RGB", (width, max(image.height for image in images)), "gray")
    left = 0
    for image in images:
        wide.paste(image, (left, 0))
        left += image.width + _GAP
    return wide


# Comparing pixels

# pixelmatch looks at the neighbours of a pixel and at their neighbours.
_TILE, _MARGIN = 8, 2
_MOST_TILES = 2_000
# For the picture of the differences, smoothed edges matter less.
_EXPLAINED_TILES = 200
# A pixel whose channels differ by less than this times the threshold is within it.
_SURELY_WITHIN = 175


@dataclass(frozen=True)
class Comparison:
    """Where two pictures differ: white pixels of ``mask``.

    ``is_rough`` means that smoothed edges may be among them.
    """

    mask: Image.Image
    is_rough: bool = False

    @cached_property
    def pixels(self) -> int:
        """How many pixels differ."""
        return int(self.mask.histogram()[255])

    def __str__(self) -> str:
        if not self.pixels:
            return "no difference"
        share = self.pixels / (self.mask.width * self.mask.height)
        noun = "pixel" if self.pixels == 1 else "pixels"
        where = Bounds(*(self.mask.getbbox() or (0, 0, 0, 0)))
        some = "up to " if self.is_rough else ""
        return f"{some}{self.pixels} {noun} that differ ({share:.2%}) in {where}"


def compare(
    golden: Image.Image, actual: Image.Image, *, threshold: float, enough: int | None = None
) -> Comparison:
    """Find the pixels that differ by more than the threshold and are not smoothed edges.

    With ``enough`` the comparison stops as soon as more pixels were found. Without it, all
    are marked; if they are many, smoothed edges are marked too.
    """
    candidates = _candidates(golden, actual, threshold)
    tiles = list(_tiles(candidates))
    if len(tiles) > _MOST_TILES:  # so much cannot be only edges
        return Comparison(candidates, is_rough=True)
    mask = Image.new("L", golden.size)
    found = 0
    closely = len(tiles) if enough is not None else _EXPLAINED_TILES
    for tile in tiles[closely:]:
        mask.paste(candidates.crop(tile), tile[:2])
    for tile in tiles[:closely]:
        part = _differing(golden, actual, tile, threshold)
        mask.paste(part, tile[:2])
        found += part.histogram()[255]
        if enough is not None and found > enough:
            break
    return Comparison(mask, is_rough=len(tiles) > closely)


def _candidates(golden: Image.Image, actual: Image.Image, threshold: float) -> Image.Image:
    """Mark the pixels that may differ by more than the threshold."""
    most, *others = ImageChops.difference(golden, actual).split()
    for channel in others:
        most = ImageChops.lighter(most, channel)
    least = int(_SURELY_WITHIN * threshold)
    return most.point([0 if value <= least else 255 for value in range(256)])


def _tiles(candidates: Image.Image) -> Iterator[Bounds]:
    """Yield the tiles in which any pixel is marked."""
    small = candidates.reduce(_TILE)
    for place, value in enumerate(small.tobytes()):
        if value:
            left, top = place % small.width * _TILE, place // small.width * _TILE
            right, bottom = left + _TILE, top + _TILE
            width, height = candidates.size
            yield Bounds(left, top, min(right, width), min(bottom, height))


def _differing(
    golden: Image.Image, actual: Image.Image, tile: Bounds, threshold: float
) -> Image.Image:
    """Mark the pixels of a tile that differ."""
    left, top = max(0, tile.left - _MARGIN), max(0, tile.top - _MARGIN)
    right = min(golden.width, tile.right + _MARGIN)
    bottom = min(golden.height, tile.bottom + _MARGIN)
    around = (left, top, right, bottom)
    output = Image.new("RGBA", (right - left, bottom - top))
    pixelmatch(
        golden.crop(around),
        actual.crop(around),
        output,
        threshold=threshold,
        diff_mask=True,
    )
    inner = (tile.left - left, tile.top - top, tile.right - left, tile.bottom - top)
    return output.getchannel("A").crop(inner)
