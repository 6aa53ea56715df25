"""When an update run writes a golden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.store import GoldenStore
from pytest_clawperator.assertions.golden.update import update_when_settled
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.errors import ErrorCode, ExpectationError, SnapshotError
from tests.doubles.clock import FakeTime

SETTINGS = "com.android.settings"


def updated(look: Callable[[], str], *, timeout: float = 5.0, golden: str = "") -> list[str]:
    """Run one update in no time; return what was written."""
    written: list[str] = []
    update_when_settled(
        look,
        matches=lambda seen: seen == golden,
        shown=lambda seen: seen,
        write=written.append,
        timeout=timeout,
        clock=FakeTime().clock,
    )
    return written


def test_a_screen_is_written_once_it_no_longer_changes() -> None:
    """What is shown on the way to the last screen is not written."""
    screens = iter(["loading", "half", *["done"] * 100])

    assert updated(lambda: next(screens)) == ["done"]


def test_a_screen_that_never_settles_is_written_at_the_deadline() -> None:
    """A screen that always changes is written as the last look saw it."""
    numbers = iter(range(1_000))
    seen: list[str] = []

    def look() -> str:
        seen.append(str(next(numbers)))
        return seen[-1]

    assert updated(look, timeout=1.0) == [seen[-1]]


def test_a_screen_that_matches_later_is_not_written() -> None:
    """A golden that matches in the end stays as it is."""
    screens = iter(["loading", "golden"])

    assert updated(lambda: next(screens), golden="golden") == []


def test_a_screen_that_is_never_read_is_not_written() -> None:
    """If no look succeeds, the reason is raised."""

    def look() -> str:
        raise SnapshotError("no tree", code=ErrorCode.UI_TREE_UNAVAILABLE)

    with pytest.raises(SnapshotError, match="no tree"):
        updated(look)


def test_a_written_golden_matches_the_same_screen(
    real_expect: Expect, claw: Clawperator, tmp_path: Path
) -> None:
    """A tree and a picture written from a phone match its screen again, and no other."""
    claw.close_app(SETTINGS)
    claw.open_app(SETTINGS)
    real_expect(claw.node(text="Connections")).to_be_visible()
    goldens.use(GoldenStore(tmp_path, update=True))
    real_expect(claw).to_match_tree("settings")
    real_expect(claw).to_match_screenshot("settings")

    goldens.use(GoldenStore(tmp_path))
    real_expect(claw).to_match_tree("settings", exact=True)
    real_expect(claw).to_match_screenshot("settings", mask=[claw.node(text="Settings")])
    claw.click(text="Connections")
    real_expect(claw).not_to_match_tree("settings")
    with pytest.raises(ExpectationError, match="pixels that differ"):
        real_expect(claw).to_match_screenshot("settings", timeout=0)

    names = {path.name for path in (tmp_path / "__screens__").iterdir()}
    assert names == {"settings.yaml", "settings-1080x2400-420dpi.png", "failed"}
