"""A test whose device does not fit is skipped, or with ``--claw-strict`` fails."""

from __future__ import annotations

import pytest


def skip_or_fail(reason: str, *, strict: bool) -> None:
    """Skip the current test for this reason, or fail it if that is strict."""
    __tracebackhide__ = True
    if strict:
        pytest.fail(f"{reason} (--claw-strict)", pytrace=False)
    pytest.skip(reason)
