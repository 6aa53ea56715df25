"""A test whose device does not fit is skipped, or with ``--claw-strict`` fails."""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin.session.shared_failures import mark_shared
from pytest_clawperator.text import visible

_WHY = "--claw-strict; --claw-no-strict lets such tests be skipped"


def skip_or_fail(reason: str, *, strict: bool, device: object = None) -> None:
    """Skip the current test for this reason, or fail it if that is strict.

    ``device`` is the one that does not fit.
    """
    __tracebackhide__ = True
    told = reason if device is None else f"{reason}: {device}"
    if not strict:
        pytest.skip(visible(told))
    error = pytest.fail.Exception(visible(f"{told} ({_WHY})"), pytrace=False)
    mark_shared(error, visible(reason))
    raise error
