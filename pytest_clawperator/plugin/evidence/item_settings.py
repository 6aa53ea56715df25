"""The settings of one test, which a conftest may have changed for its folder."""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.input.settings import Settings
from pytest_clawperator.plugin.stash import ITEM_SETTINGS

FIXTURE = "clawperator_settings"


def settings_of_item(item: pytest.Item) -> Settings:
    """Return what ``clawperator_settings`` gave the test, or else the settings of the run.

    They are remembered, because they are needed even when the fixture has ended.
    """
    # pytest tells only here which of several fixtures of a name is that of a test.
    known = getattr(item, "_fixtureinfo", None)
    fixtures = known.name2fixturedefs.get(FIXTURE) if known is not None else None
    cached = fixtures[-1].cached_result if fixtures else None
    if cached is not None and isinstance(cached[0], Settings):
        item.stash[ITEM_SETTINGS] = cached[0]
    return item.stash.get(ITEM_SETTINGS, None) or settings_of(item.config)
