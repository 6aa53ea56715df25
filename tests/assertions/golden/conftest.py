"""What tests of goldens share: a folder of their own, and a device that shows pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.assertions.golden import store as goldens
from tests.doubles.camera import Camera


@pytest.fixture(autouse=True)
def own_store() -> Iterator[None]:
    """Restore the store of goldens after each test."""
    before = goldens.use(None)
    yield
    goldens.use(before)


@pytest.fixture
def camera(tmp_path: Path) -> Camera:
    """Return a device whose screen is drawn by the test."""
    return Camera(tmp_path)
