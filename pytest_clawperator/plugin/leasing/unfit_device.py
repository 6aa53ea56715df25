"""A test whose device does not fit is skipped, or with ``--claw-strict`` fails."""

from __future__ import annotations

import pytest

from pytest_clawperator.visible_text import visible


def skip_or_fail(reason: str, *, strict: bool) -> None:
    """Skip the current test for this reason, or fail it if that is strict."""
    __tracebackhide__ = True
    if strict:
        pytest.fail(visible(f"{reason} (--claw-strict)"), pytrace=False)
    pytest.skip(visible(reason))
