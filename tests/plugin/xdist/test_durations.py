"""Durations of earlier runs: kept, averaged and forgotten."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_clawperator.plugin.scheduler import load_durations, save_durations

KEY = "clawperator/durations"


class Cache:
    """pytest's cache, as far as it is used."""

    def __init__(self, stored: object = None) -> None:
        self.stored = stored

    def get(self, key: str, default: object) -> object:
        """Give what is stored."""
        assert key == KEY
        return default if self.stored is None else self.stored

    def set(self, key: str, value: dict[str, tuple[float, int]]) -> None:
        """Store as JSON does."""
        assert key == KEY
        self.stored = {name: list(entry) for name, entry in value.items()}


def config_with(cache: Cache, **more: object) -> Any:
    """Make a configuration with a cache."""
    return SimpleNamespace(cache=cache, **more)


def test_half_of_a_duration_counts() -> None:
    """What a test took counts half, what was known of it the other half."""
    config = config_with(Cache())

    save_durations(config, {"test_a": 4.0, "test_b": 1.0})
    save_durations(config, {"test_a": 2.0})

    assert load_durations(config) == {"test_a": 3.0, "test_b": 1.0}


def test_tests_not_run_for_long_are_forgotten() -> None:
    """Tests that were not run for a quarter of a year are forgotten."""
    today = int(time.time() // 86_400)
    config = config_with(Cache({"old": [1.0, today - 91], "new": [1.0, today - 80]}))

    save_durations(config, {"test_a": 4.0})

    assert load_durations(config) == {"new": 1.0, "test_a": 4.0}


@pytest.mark.parametrize(
    "stored",
    [
        ["list"],
        "text",
        {"test_a": 3.0},
        {"test_a": [1.0]},
        {"test_a": [True, 1]},
        {"test_a": ["1.0", 1]},
        {"test_a": [1.0, "1"]},
        {"test_a": [float("nan"), 1]},
        {"test_a": [-1.0, 1]},
    ],
    ids=repr,
)
def test_corrupted_entries_are_ignored(stored: object) -> None:
    """What nobody wrote like this is ignored, and replaced."""
    config = config_with(Cache(stored))

    before = dict(load_durations(config))
    save_durations(config, {"test_b": 2.0})

    assert before == {}
    assert load_durations(config) == {"test_b": 2.0}


def test_workers_write_no_durations() -> None:
    """Workers write nothing: their controller does."""
    config = config_with(Cache(), workerinput={})

    save_durations(config, {"test_a": 1.0})

    assert load_durations(config) == {}


def test_a_run_without_tests_leaves_the_cache_alone() -> None:
    """A run without tests leaves the cache alone."""
    cache = Cache()

    save_durations(config_with(cache), {})

    assert cache.stored is None


def test_without_a_cache_nothing_is_known() -> None:
    """Without pytest's cache nothing is known, and nothing is kept."""
    config: Any = SimpleNamespace()

    save_durations(config, {"test_a": 1.0})

    assert load_durations(config) == {}


def test_the_real_cache_keeps_durations(pytester: pytest.Pytester) -> None:
    """The real cache keeps durations from run to run, and a broken file is ignored."""
    first = pytester.parseconfigure()
    save_durations(first, {"test_a": 1.5})
    kept = load_durations(pytester.parseconfigure())

    pytester.path.joinpath(".pytest_cache", "v", KEY).write_text("{", encoding="utf-8")

    assert kept == {"test_a": 1.5}
    assert load_durations(pytester.parseconfigure()) == {}
