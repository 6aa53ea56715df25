"""The fixtures of this project: page objects on the device of the test."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import Conformance
from example_suite.pages.settings import Settings
from example_suite.pages.shop import Shop
from pytest_clawperator import Clawperator


@pytest.fixture
def settings(clawperator: Clawperator) -> Settings:
    """Give the Settings app."""
    return Settings(clawperator)


@pytest.fixture
def conformance(clawperator: Clawperator) -> Conformance:
    """Give the conformance app."""
    return Conformance(clawperator)


@pytest.fixture
def shop(clawperator: Clawperator) -> Shop:
    """Give the shop."""
    return Shop(clawperator)
