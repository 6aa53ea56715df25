"""``to_match_screenshot``: a screen compared with a golden picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from PIL import Image

from pytest_clawperator.assertions.checks.check import Check, Verdict
from pytest_clawperator.assertions.expectation import Expectation
from pytest_clawperator.assertions.failure import Failure
from pytest_clawperator.assertions.golden import display, images
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.left_out import targets_of
from pytest_clawperator.assertions.golden.pixels import Comparison, compare
from pytest_clawperator.assertions.golden.store import (
    GoldenStore,
    write_atomically,
)
from pytest_clawperator.assertions.golden.update import update_when_settled
from pytest_clawperator.assertions.wait_loop import Clock, Outcome
from pytest_clawperator.client.device.no_device import NoDevice
from pytest_clawperator.client.direct_actions import DirectActions
from pytest_clawperator.client.plan.target import Target, TargetLike
from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.errors import ConfigurationError, ExecutionsOnlyError, ExpectationError
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.snapshot.tree import Bounds, secret_places

__tracebackhide__ = True  # a failure is shown at the test's own line

_SHOWN_OTHERS = 5
_BLACK_HINT = (
    "The app in front may forbid pictures of its windows (FLAG_SECURE), as banks do: compare the"
    " hierarchy with to_match_tree(), or use a build of the app that allows them."
)


@dataclass(frozen=True)
class Shot:
    """A picture of the screen with the masked parts painted over.

    ``unmasked`` are the targets of a mask that are not on the screen; ``is_black`` is whether
    there was nothing to see.
    """

    image: Image.Image
    hidden: tuple[Bounds, ...] = ()
    unmasked: tuple[Target, ...] = ()
    is_black: bool = False


@dataclass(frozen=True)
class GoldenPicture:
    """A golden picture to compare the screen with."""

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
        *,
        threshold: float,
        max_diff_pixels: int,
        mask: TargetLike | Sequence[TargetLike],
        mask_status_bar: bool,
    ) -> GoldenPicture:
        """Check what a test wrote, and ask the device what a picture depends on."""
        _check_number("threshold", threshold, 1)
        _check_number("max_diff_pixels", max_diff_pixels, None)
        return cls(
            goldens.checked_name(name),
            client,
            threshold,
            max_diff_pixels,
            targets_of(mask, verb="mask="),
            display.status_bar_height(client) if mask_status_bar else 0,
            goldens.current(),
            display.density(client),
        )

    def verify(
        self, expectation: Expectation, failure: Failure, timeout: float, *, is_negated: bool
    ) -> None:
        """Look until the screen matches; in an update run, write the golden."""
        if self.store.update and not is_negated:
            self._update(expectation.settings.clock, timeout)
            return
        check = Check(f'to match screenshot "{self.name}"', self._judge, "matched")

        def explain(check: Check[Shot], outcome: Outcome[Shot]) -> ExpectationError:
            return self._explain(failure, check, outcome)

        # Waiting does not bring a missing file.
        seconds = timeout if self._others() else 0.0
        wanted = check.negated() if is_negated else check
        expectation.verify(wanted, self._look, explain, about=failure, timeout=seconds)

    def _look(self) -> Shot:
        image = images.open_png(self.client.screenshot(), "the screenshot")
        hidden: list[Bounds] = []
        unmasked: list[Target] = []
        if self.mask or not SECRETS.is_empty:
            snapshot = self.client.snapshot()
            found = {n: target.resolve(snapshot) for n, target in enumerate(self.mask)}
            hidden = [node.bounds for nodes in found.values() for node in nodes]
            unmasked = [self.mask[n] for n, nodes in found.items() if not nodes]
            hidden += secret_places(snapshot)
        if self.status_bar:
            hidden.append(Bounds(0, 0, image.width, self.status_bar))
        is_black = images.is_black(image)
        return Shot(images.masked(image, hidden), tuple(hidden), tuple(unmasked), is_black)

    def _path(self, shot: Shot) -> Path:
        width, height = shot.image.size
        density = self.density
        key = f"-{width}x{height}" + (f"-{density}dpi" if density else "")
        path = self.store.path(self.name, f"{key}.png")
        made_elsewhere = [] if path.exists() else self._for_densities(shot)
        # One of this size, and no other, was made of such a device over adb.
        return made_elsewhere[0] if len(made_elsewhere) == 1 else path

    def _for_densities(self, shot: Shot) -> list[Path]:
        """Return the goldens of this size, where the device's host does not tell its density."""
        if self.density is not None or not isinstance(self.client.device, NoDevice):
            return []
        folder, size = self.store.folder / goldens.FOLDER, "{}x{}".format(*shot.image.size)
        return sorted(folder.glob(f"{self.name}-{size}-*dpi.png"))

    def _golden(self, shot: Shot) -> Image.Image | None:
        path = self._path(shot)
        content = self.store.read(path)
        if content is None:
            return None
        return images.masked(images.open_png(content, f"the golden {path}"), shot.hidden)

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
        comparison = compare(golden, shot.image, threshold=self.threshold, enough=most)
        holds = comparison.pixels <= most
        return Verdict(holds, str(comparison) if holds else f"more than {most} pixels that differ")

    def _refuse_to_guess(self, shot: Shot) -> None:
        """Raise if there are goldens for densities, and the device's host does not tell its."""
        fitting = [path.name for path in self._for_densities(shot)]
        if fitting:
            raise ExecutionsOnlyError(
                f"the density of the display is not told here, on which depends whether"
                f" {' or '.join(fitting)} is its golden",
                serial=self.client.serial,
            )

    def _matches(self, shot: Shot) -> bool:
        """Whether the golden may stay; one that cannot be read may not."""
        try:
            return bool(self._judge(shot).holds)
        except ConfigurationError:
            return False

    def _update(self, clock: Clock, timeout: float) -> None:
        update_when_settled(
            self._look,
            matches=self._matches,
            shown=lambda shot: shot.image.tobytes(),
            write=self._write,
            timeout=timeout,
            clock=clock,
        )

    def _write(self, shot: Shot) -> None:
        if shot.is_black:
            raise ConfigurationError(
                f'the golden "{self.name}" is not written: the picture of the screen is black',
                serial=self.client.serial,
                hint=_BLACK_HINT,
            )
        self.store.write(self._path(shot), images.to_png(shot.image))

    def _explain(
        self, failure: Failure, check: Check[Shot], outcome: Outcome[Shot]
    ) -> ExpectationError:
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
        look = f"Look at {files['side by side']}; if the screen is right, "
        return failure.error(
            check,
            replace(outcome, verdict=Verdict(False, str(comparison))),
            evidence=[
                *(f"mask: {target} is not on the screen" for target in shot.unmasked),
                *(f"{name}: {path}" for name, path in files.items()),
            ],
            hint=(look, Remedy(RemedyKind.REPLACE_GOLDEN, "the golden")),
            details={"pictures": {name: str(path) for name, path in files.items()}},
        )

    def _others(self) -> list[str]:
        """Return some file names of this golden, for screens of any size."""
        folder = self.store.folder / goldens.FOLDER
        return sorted(path.name for path in folder.glob(f"{self.name}-*.png"))[:_SHOWN_OTHERS]

    def _write_pictures(
        self, shot: Shot, golden: Image.Image, comparison: Comparison
    ) -> dict[str, Path]:
        """Write the screen, the differences, and both beside the golden; return the paths."""
        path = self._path(shot)
        difference = images.highlighted(shot.image, comparison.mask)
        pictures = {
            "actual": shot.image,
            "difference": difference,
            "side by side": images.side_by_side([golden, shot.image, difference]),
        }
        files = {"golden": path}
        for name, picture in pictures.items():
            file = self.store.output_folder() / f"{path.stem}.{name.replace(' ', '-')}.png"
            write_atomically(file, images.to_png(picture))
            files[name] = file
        return files


def _check_number(name: str, value: Any, most: float | None) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= (float("inf") if most is None else most):
        upto = "on" if most is None else f"to {most:g}"
        raise ConfigurationError(
            f"{name}= must be a number from 0 {upto}, found {describe(value)}",
            hint="threshold=0.1 lets colours differ a little; max_diff_pixels=50 lets 50 pixels.",
        )
