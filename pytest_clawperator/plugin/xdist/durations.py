"""How long tests took in earlier runs, kept in pytest's cache."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import pytest

_KEY = "clawperator/durations"
_DAY = 86_400
# What was not run for a quarter of a year is most likely gone or renamed.
_KEPT_DAYS = 90


def load_durations(config: pytest.Config) -> Mapping[str, float]:
    """Return the seconds that tests took in earlier runs, by their ids."""
    return {nodeid: seconds for nodeid, (seconds, _) in _entries(config).items()}


def save_durations(config: pytest.Config, seen: Mapping[str, float]) -> None:
    """Add what tests took in this run: half of it counts, half of what was known before.

    Workers write nothing: their controller knows it all.
    """
    cache = getattr(config, "cache", None)
    if cache is None or not seen or hasattr(config, "workerinput"):
        return
    today = int(time.time() // _DAY)
    entries = {
        nodeid: entry for nodeid, entry in _entries(config).items() if today - entry[1] < _KEPT_DAYS
    }
    for nodeid, seconds in seen.items():
        before, _ = entries.get(nodeid, (seconds, today))
        entries[nodeid] = (round((before + seconds) / 2, 3), today)
    cache.set(_KEY, entries)


def _entries(config: pytest.Config) -> dict[str, tuple[float, int]]:
    cache = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    stored: Any = None if cache is None else cache.get(_KEY, None)
    if not isinstance(stored, dict):
        return {}
    return {nodeid: (entry[0], entry[1]) for nodeid, entry in stored.items() if _is_entry(entry)}


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, list) or len(entry) != 2 or type(entry[1]) is not int:
        return False
    return type(entry[0]) in (int, float) and math.isfinite(entry[0]) and entry[0] >= 0
