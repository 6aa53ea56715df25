"""A browser, for the engine of pages."""

from __future__ import annotations

from tests.doubles.chromium import browser

__all__ = ["browser"]
