"""Golden pictures: a screen against how it looked."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, UnidentifiedImageError

from pytest_clawperator.assertions.expectation import Check, Manner
from pytest_clawperator.assertions.failure import Failure
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.settling import keep
from pytest_clawperator.assertions.golden.store import UPDATE_OPTION, GoldenStore, write_whole
from pytest_clawperator.assertions.polling import Outcome, Verdict
from pytest_clawperator.assertions.role_check import check_roles, listed_of
from pytest_clawperator.client.direct_actions import DirectActions
from pytest_clawperator.client.plan.target import Target, TargetLike, target_of
from pytest_clawperator.contracts.text.wording import describe
from pytest_clawperator.errors import (
    ClawperatorError,
    ConfigurationError,
    ErrorCode,
    ExpectationError,
)
from pytest_clawperator.snapshot.bounds import Bounds

__tracebackhide__ = True  # a failure is shown at the test's own line

_MASK_COLOUR = (255, 0, 255)
_DIFFERENCE_COLOUR = (220, 0, 0)
_GAP = 16
_SHOWN_OTHERS = 5
# The library looks at the neighbours of a pixel and at theirs; it takes some 20 microseconds
# for each pixel, so only the surroundings of what differs are given to it.
_TILE, _MARGIN = 8, 2
_MOST_TILES = 2_000
# For a picture of what differs, edges matter less.
_EXPLAINED_TILES = 200
# A pixel whose channels differ by less than this times the threshold is within it.
_SURELY_WITHIN = 175
_STATUS_BAR_DP, _USUAL_WIDTH_DP = 24, 411
# An override is printed after what the screen was made with.
_DENSITY = re.compile(r"(?:Physical|Override) density: (\d+)")
_STATUS_BAR = re.compile(
    r"\btype=(?:ITYPE_STATUS_BAR|statusBars)\b[^\n]*?\bframe=\[0,0\]\[\d+,(\d+)\]"
)


@dataclass(frozen=True)
class Shot:
    """A picture of the screen, with what does not count painted over."""

    image: Image.Image
    hidden: tuple[Bounds, ...] = ()
    unmasked: tuple[Target, ...] = ()

    @cached_property
    def png(self) -> bytes:
        """The picture as a file."""
        return _png(self.image)


@dataclass(frozen=True)
class Comparison:
    """Where two pictures differ: white pixels of ``mask``."""

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
    """Find the pixels that differ by more than the threshold and are no smoothed edges.

    Where more than ``enough`` were found, the rest is not looked at. Without it all are
    marked, and where they are many, smoothed edges among them, too.
    """
    candidates = _candidates(golden, actual, threshold)
    tiles = list(_tiles(candidates))
    if len(tiles) > _MOST_TILES:  # so much is no matter of edges
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
    """Give the tiles that have something in them."""
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
    from pixelmatch.contrib.PIL import pixelmatch

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


@dataclass(frozen=True)
class GoldenPicture:
    """What the screen is to look like."""

    name: str
    client: DirectActions
    threshold: float
    max_diff_pixels: int
    mask: tuple[Target, ...]
    status_bar: int
    store: GoldenStore
    density: int | None = None
    _judged: dict[bytes, Verdict] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        client: DirectActions,
        threshold: float,
        max_diff_pixels: int,
        mask: TargetLike | Sequence[TargetLike],
        mask_status_bar: bool,
    ) -> GoldenPicture:
        """Make sure that all is there that is needed, and all makes sense."""
        _check_library()
        _check_number("threshold", threshold, 1)
        _check_number("max_diff_pixels", max_diff_pixels, None)
        hidden = tuple(target_of(each, {}, verb="mask=") for each in listed_of(mask))
        for target in hidden:
            check_roles(target)
        return cls(
            goldens.checked_name(name),
            client,
            threshold,
            max_diff_pixels,
            hidden,
            _status_bar_height(client) if mask_status_bar else 0,
            goldens.current(),
            _density(client),
        )

    def hold(
        self, manner: Manner, failure: Failure, timeout: float, *, negated: bool = False
    ) -> None:
        """Watch until the screen looks so."""
        if self.store.update and not negated:
            self._update(manner, timeout)
            return
        check = Check(f'to match screenshot "{self.name}"', self._judge, "matched")

        def explain(check: Check[Shot], outcome: Outcome[Shot]) -> ExpectationError:
            return self._explain(failure, check, outcome)

        wanted = check.negated() if negated else check
        # A file that is not there does not come by waiting.
        manner.hold(wanted, self._look, explain, timeout=timeout if self._others() else 0.0)

    def _look(self) -> Shot:
        image = _opened(self.client.screenshot(), "the screenshot")
        hidden: list[Bounds] = []
        unmasked: list[Target] = []
        if self.mask:
            snapshot = self.client.snapshot()
            found = {n: target.resolve(snapshot) for n, target in enumerate(self.mask)}
            hidden = [node.bounds for nodes in found.values() for node in nodes]
            unmasked = [self.mask[n] for n, nodes in found.items() if not nodes]
        if self.status_bar:
            hidden.append(Bounds(0, 0, image.width, self.status_bar))
        return Shot(_painted(image, hidden), tuple(hidden), tuple(unmasked))

    def _path(self, shot: Shot) -> Path:
        width, height = shot.image.size
        density = self.density
        key = f"-{width}x{height}" + (f"-{density}dpi" if density else "")
        return self.store.path(self.name, f"{key}.png")

    def _golden(self, shot: Shot) -> Image.Image | None:
        path = self._path(shot)
        content = self.store.read(path)
        if content is None:
            return None
        return _painted(_opened(content, f"the golden {path}"), shot.hidden)

    def _judge(self, shot: Shot) -> Verdict:
        """Compare; a picture that was judged before is not judged again."""
        seen = shot.image.tobytes()
        if seen not in self._judged:
            self._judged.clear()
            self._judged[seen] = self._judge_anew(shot)
        return self._judged[seen]

    def _judge_anew(self, shot: Shot) -> Verdict:
        golden = self._golden(shot)
        if golden is None or golden.size != shot.image.size:
            found = "no such file" if golden is None else "{}x{} pixels in it".format(*golden.size)
            return Verdict(None, f"{found}: {self._path(shot)}")
        most = self.max_diff_pixels
        comparison = compare(golden, shot.image, threshold=self.threshold, enough=most)
        holds = comparison.pixels <= most
        return Verdict(holds, str(comparison) if holds else f"more than {most} pixels that differ")

    def _fits(self, shot: Shot) -> bool:
        """Tell whether the golden may stay; one that cannot be read may not."""
        try:
            return bool(self._judge(shot).holds)
        except ConfigurationError:
            return False

    def _update(self, manner: Manner, timeout: float) -> None:
        """Wait until the screen fits or has come to rest; keep one that does not fit."""
        keep(
            self._look,
            fits=self._fits,
            shown=lambda shot: shot.image.tobytes(),
            write=lambda shot: self.store.write(self._path(shot), shot.png),
            timeout=timeout,
            clock=manner.settings.clock,
        )

    def _explain(
        self, failure: Failure, check: Check[Shot], outcome: Outcome[Shot]
    ) -> ExpectationError:
        shot = outcome.seen
        golden = None if shot is None else self._golden(shot)
        if shot is None or golden is None or golden.size != shot.image.size:
            others = self._others()
            there = f" There are others: {', '.join(others)}." if others else ""
            hint = f"Run pytest with {UPDATE_OPTION} to write it.{there}"
            return failure.error(check, outcome, hint=hint)
        comparison = compare(golden, shot.image, threshold=self.threshold)
        files = self._write_pictures(shot, golden, comparison)
        hint = f"Look at {files['side by side']}; if it is right, {UPDATE_OPTION} takes it over."
        return failure.error(
            check,
            replace(outcome, verdict=Verdict(False, str(comparison))),
            evidence=[
                *(f"mask: {target} is not on the screen" for target in shot.unmasked),
                *(f"{name}: {path}" for name, path in files.items()),
            ],
            hint=hint,
            details={"pictures": {name: str(path) for name, path in files.items()}},
        )

    def _others(self) -> list[str]:
        """Name some pictures of this name, for whatever screens."""
        folder = self.store.folder / goldens.FOLDER
        return sorted(path.name for path in folder.glob(f"{self.name}-*.png"))[:_SHOWN_OTHERS]

    def _write_pictures(
        self, shot: Shot, golden: Image.Image, comparison: Comparison
    ) -> dict[str, Path]:
        """Write what is there, where it differs, and both beside the golden."""
        path = self._path(shot)
        difference = _highlighted(shot.image, comparison.mask)
        pictures = {
            "actual": shot.image,
            "difference": difference,
            "side by side": _beside([golden, shot.image, difference]),
        }
        files = {"golden": path}
        for name, picture in pictures.items():
            file = self.store.output_folder() / f"{path.stem}.{name.replace(' ', '-')}.png"
            write_whole(file, _png(picture))
            files[name] = file
        return files


def _density(client: DirectActions) -> int | None:
    """Ask the device, which may have changed it since it was listed."""
    try:
        found = _DENSITY.findall(client.device.shell("wm density").stdout)
    except ClawperatorError:  # no shell: the device hangs off another host
        found = []
    return int(found[-1]) if found else client.device.info.density


def _status_bar_height(client: DirectActions) -> int:
    """Ask the device; where it does not say, the bar is as high as on most phones."""
    info = client.device.info
    try:
        printed = client.device.shell("dumpsys window displays").stdout
        found = _STATUS_BAR.search(printed)
    except ClawperatorError:  # no shell: the device hangs off another host
        found = None
    if found is not None:
        return int(found[1])
    if info.density:
        return round(_STATUS_BAR_DP * info.density / 160)
    return round(_STATUS_BAR_DP * min(info.size or (1080, 0)) / _USUAL_WIDTH_DP)


def _painted(image: Image.Image, hidden: Sequence[Bounds]) -> Image.Image:
    painted = image.copy()
    draw = ImageDraw.Draw(painted)
    for left, top, right, bottom in hidden:
        if left < right and top < bottom:
            draw.rectangle((left, top, right - 1, bottom - 1), fill=_MASK_COLOUR)
    return painted


def _highlighted(image: Image.Image, mask: Image.Image) -> Image.Image:
    """Fade a picture, and mark where it differs, single pixels too."""
    white = Image.new("RGB", image.size, "white")
    faded = Image.blend(white, image.convert("L").convert("RGB"), 0.25)
    faded.paste(_DIFFERENCE_COLOUR, mask=mask.filter(ImageFilter.MaxFilter(5)))
    return faded


def _beside(images: Sequence[Image.Image]) -> Image.Image:
    width = sum(image.width for image in images) + _GAP * (len(images) - 1)
    wide = Image.new("RGB", (width, max(image.height for image in images)), "gray")
    left = 0
    for image in images:
        wide.paste(image, (left, 0))
        left += image.width + _GAP
    return wide


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _opened(content: bytes, name: str) -> Image.Image:
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as file:
            image: Image.Image = file.convert("RGB")
            return image
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as exc:
        raise ConfigurationError(
            f"{name} is no PNG that can be read{_reason(exc)}",
            code=ErrorCode.GOLDEN_UNREADABLE,
            hint=f"Write it anew with {UPDATE_OPTION}, or restore it.",
        ) from exc


def _reason(error: Exception) -> str:
    # Pillow's own text for "no picture at all" names an object in memory.
    return "" if isinstance(error, UnidentifiedImageError) else f": {error}"


def _check_library() -> None:
    try:
        import pixelmatch  # noqa: F401 - an extra: asked for before a picture is taken
    except ImportError as exc:
        raise ConfigurationError(
            "to_match_screenshot() needs pixelmatch, which is not installed",
            code=ErrorCode.HOST_DEPENDENCY_MISSING,
            hint="pip install 'pytest-clawperator[visual]'",
        ) from exc


def _check_number(name: str, value: Any, most: float | None) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= (float("inf") if most is None else most):
        upto = "on" if most is None else f"to {most:g}"
        raise ConfigurationError(
            f"{name}= must be a number from 0 {upto}, found {describe(value)}",
            hint="threshold=0.1 lets colours differ a little; max_diff_pixels=50 lets 50 pixels.",
        )
