"""The checks of a whole screen."""

from __future__ import annotations

from typing import Any

from pytest_clawperator.assertions.checks.check import Check, Verdict
from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.tree import Snapshot

ScreenCheck = Check[Snapshot]


def in_app(package: Any) -> ScreenCheck:
    """Return the check that this app is in front."""
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
        return Verdict(None, "no information about overlays", hint)
    package = snapshot.covering_package or snapshot.overlay_package or "another app"
    return Verdict(
        not snapshot.has_overlay, f"a window of {package}" if snapshot.has_overlay else "none"
    )


NO_OVERLAY = ScreenCheck("to have no overlay", _no_overlay, "went away")
