"""The fixtures of this project: page objects for the device of the test."""

from __future__ import annotations

import pytest

from example_suite.pages.conformance import Conformance
from example_suite.pages.settings import Settings
from example_suite.pages.shop import Shop
from pytest_clawperator import Clawperator


@pytest.fixture
def settings(clawperator: Clawperator) -> Settings:
    """Return the page object of the Settings app."""
    return Settings(clawperator)


@pytest.fixture
def conformance(clawperator: Clawperator) -> Conformance:
    """Return the page object of the conformance app."""
    return Conformance(clawperator)


@pytest.fixture
def shop(clawperator: Clawperator) -> Shop:
    """Return the page object of the shop."""
    return Shop(clawperator)
