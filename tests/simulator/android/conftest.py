"""A phone with something in its log."""

from __future__ import annotations

import pytest

from tests.simulator.android.logcat_phone import Phone


@pytest.fixture
def phone() -> Phone:
    """Return a phone with a few entries in its log."""
    phone = Phone()
    phone.log.write("I", "TaskScopeDefault", "first", pid=4242)
    phone.log.write("D", "E", "second", pid=77, tid=78)
    phone.log.write("E", "AndroidRuntime", "third", pid=4242, buffer="crash")
    return phone
