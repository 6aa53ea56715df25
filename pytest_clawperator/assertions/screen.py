"""Expectations about a whole screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from typing_extensions import Unpack

from pytest_clawperator.assertions.expectation import Check, Manner
from pytest_clawperator.assertions.failure import Failure, overlay_hint, overlay_lines
from pytest_clawperator.assertions.golden.trees import GoldenTree, Ignored
from pytest_clawperator.assertions.locator import LocatorAssertions
from pytest_clawperator.assertions.polling import Outcome, Verdict
from pytest_clawperator.assertions.view import LiveScreen, Screen
from pytest_clawperator.client.plan.target import TargetLike, target_of
from pytest_clawperator.contracts.selectors import MatcherKeywords
from pytest_clawperator.contracts.text.wording import describe
from pytest_clawperator.errors import ConfigurationError, ExpectationError
from pytest_clawperator.snapshot.near_miss import covering
from pytest_clawperator.snapshot.tree import Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

ScreenCheck = Check[Snapshot]


class SnapshotAssertions:
    """What can be expected of a snapshot, as it is."""

    def __init__(self, screen: Screen, manner: Manner) -> None:
        self._screen = screen
        self._manner = manner

    def node(
        self, target: TargetLike | None = None, /, **matcher: Unpack[MatcherKeywords]
    ) -> LocatorAssertions:
        """Expect something of a node on it.

        expect(snapshot).node(id="row").to_have_count(3)
        """
        wanted = target_of(target, matcher, verb="node")
        return LocatorAssertions(wanted, self._screen, self._manner)

    def to_have_node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> None:
        """Expect a node that fits to be on the screen.

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
        """Expect no node that fits to be on the screen."""
        self.node(target, **matcher).not_to_be_visible(timeout=timeout)

    def to_be_in_app(self, package: str, /, *, timeout: float | None = None) -> None:
        """Expect this app to be in front."""
        self._hold(_in_app(package), timeout)

    def not_to_be_in_app(self, package: str, /, *, timeout: float | None = None) -> None:
        """Expect another app to be in front."""
        self._hold(_in_app(package).negated(), timeout)

    def to_have_no_overlay(self, *, timeout: float | None = None) -> None:
        """Expect no window, such as a permission prompt, to lie over the app."""
        self._hold(_NO_OVERLAY, timeout)

    def not_to_have_no_overlay(self, *, timeout: float | None = None) -> None:
        """Expect a window to lie over the app."""
        self._hold(_NO_OVERLAY.negated(), timeout)

    def to_match_tree(
        self,
        golden: str,
        /,
        *,
        exact: bool = False,
        ignore: Ignored | Iterable[Ignored] = (),
        timeout: float | None = None,
    ) -> None:
        """Expect the screen to fit a golden: the name of a file in ``__screens__``, or a text.

        Every line of it must be there, in this order; with ``exact`` nothing else may be.
        Nodes that fit a matcher of ``ignore`` do not count.
        """
        tree = GoldenTree.of(golden, exact=exact, ignore=ignore)
        if tree.is_updated:
            tree.update(self._screen.look, self._manner, self._seconds(timeout))
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
        """Expect the screen not to fit a golden, which must be there all the same."""
        tree = GoldenTree.of(golden, exact=exact, ignore=ignore)
        self._match(tree, tree.check.negated(), timeout)

    def _match(self, tree: GoldenTree, check: ScreenCheck, timeout: float | None) -> None:
        def explain(check: ScreenCheck, outcome: Outcome[Snapshot]) -> ExpectationError:
            return tree.explain(self._failure, check, outcome)

        # A file that is not there does not come by waiting.
        seconds = self._seconds(timeout) if tree.golden is not None else 0.0
        self._manner.hold(check, self._screen.look, explain, timeout=seconds)

    def _hold(self, check: ScreenCheck, timeout: float | None) -> None:
        seconds = self._seconds(timeout)
        self._manner.hold(check, self._screen.look, self._explain, timeout=seconds)

    def _seconds(self, timeout: float | None) -> float:
        return self._screen.seconds(timeout, self._manner.settings.timeout)

    @property
    def _failure(self) -> Failure:
        return Failure("the screen", self._manner.message, self._screen.serial)

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
    """What can be expected of a device's screen, waited for."""

    def __init__(self, screen: LiveScreen, manner: Manner) -> None:
        super().__init__(screen, manner)
        self._live = screen

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

        There is one for each size and density of a screen. ``threshold`` is how much a
        pixel's colour may differ, from 0 to 1; ``mask`` are nodes that do not count.
        """
        from pytest_clawperator.assertions.golden.pictures import GoldenPicture

        golden = GoldenPicture.of(
            name, self._live.client, threshold, max_diff_pixels, mask, mask_status_bar
        )
        golden.hold(self._manner, self._failure, self._seconds(timeout))

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
        """Expect the screen to look otherwise than a picture, which must be there."""
        from pytest_clawperator.assertions.golden.pictures import GoldenPicture

        golden = GoldenPicture.of(
            name, self._live.client, threshold, max_diff_pixels, mask, mask_status_bar
        )
        golden.hold(self._manner, self._failure, self._seconds(timeout), negated=True)


def _in_app(package: Any) -> ScreenCheck:
    if not isinstance(package, str) or not package:
        raise ConfigurationError(
            f"an app is named by its package, found {describe(package)}",
            hint='Write to_be_in_app("com.android.settings").',
        )

    def judge(snapshot: Snapshot) -> Verdict:
        found = snapshot.foreground_package
        return Verdict(found == package, found or "an unknown app")

    return ScreenCheck(f"to be in app {package}", judge, "came to the front")


def _no_overlay(snapshot: Snapshot) -> Verdict:
    if snapshot.has_overlay is None:
        hint = "This Operator does not say whether windows lie over the app."
        return Verdict(None, "no word about overlays", hint)
    package = covering(snapshot) or snapshot.overlay_package or "another app"
    return Verdict(
        not snapshot.has_overlay, f"a window of {package}" if snapshot.has_overlay else "none"
    )


_NO_OVERLAY = ScreenCheck("to have no overlay", _no_overlay, "went away")
