"""``expect(client)`` and ``expect(snapshot)``: the expectations about a whole screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from typing_extensions import Unpack

from pytest_clawperator.assertions import checks
from pytest_clawperator.assertions.checks import ScreenCheck
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expectation import Expectation, Stating, require_check
from pytest_clawperator.assertions.failure import Failure, overlay_hint, overlay_lines
from pytest_clawperator.assertions.golden import GoldenTree, Ignored
from pytest_clawperator.assertions.wait import LiveScreen, Outcome, ScreenSource
from pytest_clawperator.client.device import Device
from pytest_clawperator.client.device_commands import parse_packages
from pytest_clawperator.client.target import TargetLike, target_of
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import MatcherKeywords
from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionsOnlyError,
    ExpectationError,
)
from pytest_clawperator.snapshot.tree import Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line


class SnapshotAssertions(Stating, HintsAtNames):
    """What can be expected of a snapshot; nothing waits, because it does not change."""

    _own_word = "expect(...)"
    _their_names = foreign_names.EXPECT_SCREEN

    def __init__(self, screen: ScreenSource, expectation: Expectation) -> None:
        self._screen = screen
        self._expectation = expectation

    def node(
        self, target: TargetLike | None = None, /, **matcher: Unpack[MatcherKeywords]
    ) -> LocatorAssertions:
        """Expect something of a node on the screen.

        expect(snapshot).node(id="row").to_have_count(3)
        """
        self._state()
        wanted = target_of(target, matcher, verb="node")
        # Another node is another expectation, which needs a check of its own.
        expectation = replace(self._expectation)
        checks_of_node = LocatorAssertions(wanted, self._screen, expectation)
        require_check(expectation)
        return checks_of_node

    def to_have_node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> None:
        """Expect a matching node on the screen.

        expect(envelope.step("snap").snapshot).to_have_node(text_contains="Wi-Fi")
        """
        self.node(target, **matcher).to_be_visible(timeout=timeout)

    def not_to_have_node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> None:
        """Expect no matching node on the screen."""
        self.node(target, **matcher).not_to_be_visible(timeout=timeout)

    def to_be_in_app(self, package: str, /, *, timeout: float | None = None) -> None:
        """Expect this app to be in front."""
        self._verify(checks.in_app(package), timeout)

    def not_to_be_in_app(self, package: str, /, *, timeout: float | None = None) -> None:
        """Expect another app to be in front."""
        self._verify(checks.in_app(package).negated(), timeout)

    def to_have_no_overlay(self, *, timeout: float | None = None) -> None:
        """Expect no window, such as a permission prompt, over the app."""
        self._verify(checks.NO_OVERLAY, timeout)

    def not_to_have_no_overlay(self, *, timeout: float | None = None) -> None:
        """Expect a window over the app."""
        self._verify(checks.NO_OVERLAY.negated(), timeout)

    def to_match_tree(
        self,
        golden: str,
        /,
        *,
        exact: bool = False,
        ignore: Ignored | Iterable[Ignored] = (),
        timeout: float | None = None,
    ) -> None:
        """Expect the screen to match a golden: the name of a file in ``__screens__``, or a text.

        Every line of the golden must be on the screen, in this order; with ``exact`` nothing
        else may be. Nodes that match ``ignore`` are left out.
        """
        tree = GoldenTree.of(golden, exact=exact, ignore=ignore)
        if tree.is_updated:
            clock = self._expectation.settings.clock
            tree.update(self._screen.look, clock, self._seconds(timeout))
        else:
            self._match(tree, tree.check, timeout)

    def not_to_match_tree(
        self,
        golden: str,
        /,
        *,
        exact: bool = False,
        ignore: Ignored | Iterable[Ignored] = (),
        timeout: float | None = None,
    ) -> None:
        """Expect the screen not to match a golden; the golden itself must exist."""
        tree = GoldenTree.of(golden, exact=exact, ignore=ignore)
        self._match(tree, tree.check.negated(), timeout)

    def _match(self, tree: GoldenTree, check: ScreenCheck, timeout: float | None) -> None:
        def explain(check: ScreenCheck, outcome: Outcome[Snapshot]) -> ExpectationError:
            return tree.explain(self._failure, check, outcome)

        # Waiting does not bring a missing file.
        seconds = self._seconds(timeout) if tree.golden is not None else 0.0
        self._expectation.verify(
            check,
            self._screen.look,
            explain,
            about=self._failure,
            screen=self._screen,
            timeout=seconds,
        )

    def _verify(self, check: ScreenCheck, timeout: float | None) -> None:
        seconds = self._seconds(timeout)
        self._expectation.verify(
            check,
            self._screen.look,
            self._explain,
            about=self._failure,
            screen=self._screen,
            timeout=seconds,
        )

    def _seconds(self, timeout: float | None) -> float:
        return self._screen.seconds(timeout, self._expectation.settings.timeout)

    @property
    def _failure(self) -> Failure:
        return Failure("the screen", self._expectation.message, self._screen.serial)

    def _explain(self, check: ScreenCheck, outcome: Outcome[Snapshot]) -> ExpectationError:
        snapshot = outcome.seen
        if snapshot is None:
            return self._failure.error(check, outcome)
        return self._failure.error(
            check,
            outcome,
            evidence=overlay_lines(snapshot),
            snapshot=snapshot,
            hint=outcome.verdict.hint or overlay_hint(snapshot),
        )


class ScreenAssertions(SnapshotAssertions):
    """What can be expected of a device's screen; each check waits."""

    def __init__(self, screen: LiveScreen, expectation: Expectation) -> None:
        super().__init__(screen, expectation)
        self._live = screen

    def not_to_be_in_app(self, package: str, /, *, timeout: float | None = None) -> None:
        """Expect another app to be in front; this one must be installed, or its name is wrong."""
        super().not_to_be_in_app(package, timeout=timeout)
        client = self._live.client
        if package not in client.performer.apps.seen.in_front:
            with suppress(ExecutionsOnlyError):  # without a shell nobody knows
                _require_app(client.device, package)

    def to_match_screenshot(
        self,
        name: str,
        /,
        *,
        threshold: float = 0.1,
        max_diff_pixels: int = 0,
        mask: TargetLike | Sequence[TargetLike] = (),
        mask_status_bar: bool = True,
        timeout: float | None = None,
    ) -> None:
        """Expect the screen to look like a picture in ``__screens__``.

        There is one picture for each size and density of a screen. ``threshold`` is how much
        a pixel's colour may differ, from 0 to 1; nodes that match ``mask`` are left out.
        """
        self._match_picture(
            name,
            timeout,
            is_negated=False,
            threshold=threshold,
            max_diff_pixels=max_diff_pixels,
            mask=mask,
            mask_status_bar=mask_status_bar,
        )

    def not_to_match_screenshot(
        self,
        name: str,
        /,
        *,
        threshold: float = 0.1,
        max_diff_pixels: int = 0,
        mask: TargetLike | Sequence[TargetLike] = (),
        mask_status_bar: bool = True,
        timeout: float | None = None,
    ) -> None:
        """Expect the screen not to look like a picture; the picture itself must exist."""
        self._match_picture(
            name,
            timeout,
            is_negated=True,
            threshold=threshold,
            max_diff_pixels=max_diff_pixels,
            mask=mask,
            mask_status_bar=mask_status_bar,
        )

    def _match_picture(
        self, name: str, timeout: float | None, *, is_negated: bool, **options: Any
    ) -> None:
        if find_spec("pixelmatch") is None:
            raise ConfigurationError(
                "to_match_screenshot() needs pixelmatch, which is not installed",
                code=ErrorCode.HOST_DEPENDENCY_MISSING,
                hint="pip install 'pytest-clawperator[visual]'",
            )
        # Here and not above: Pillow is heavy, and pixelmatch is an extra.
        from pytest_clawperator.assertions.golden_picture import GoldenPicture

        golden = GoldenPicture.of(name, self._live.client, **options)
        seconds = self._seconds(timeout)
        golden.verify(self._expectation, self._failure, seconds, is_negated=is_negated)


def _require_app(device: Device, package: str) -> None:
    """Raise if an app is not installed: it is never in front."""
    if device.is_installed(package):
        return
    near = closest(package, sorted(parse_packages(device.shell("pm list packages").stdout)))
    raise ConfigurationError(
        f"the app {package} is not installed, so that it is never in front",
        serial=device.serial,
        hint=f"Did you mean {near!r}?" if near else "Correct the name, or install the app first.",
    )
