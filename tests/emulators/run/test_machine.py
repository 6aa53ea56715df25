"""What a machine has for emulators."""

from __future__ import annotations

import os
import sys

import pytest

from pytest_clawperator.emulators import fleet
from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.fleet import (
    boots_at_once,
    check_memory,
    is_headless,
    most_emulators,
)
from pytest_clawperator.errors import EmulatorError

SMALL = EmulatorProfile(ram=1024)


@pytest.mark.parametrize(
    ("count", "available", "said"),
    [
        (3, 3500, "3 emulators need about 4608 MB of memory, and 3500 MB are free"),
        (3, 3500, "Start at most 2, or give each less memory: ram=1024."),
        (1, 1000, "1 emulator needs about 1536 MB of memory, and 1000 MB are free"),
        (1, 1000, "End other programs, or give each less memory"),
    ],
)
def test_too_little_memory_is_told_with_what_fits(count: int, available: int, said: str) -> None:
    """The error says what is needed, what there is, and how many fit."""
    with pytest.raises(EmulatorError) as raised:
        check_memory([SMALL] * count, available=available)

    assert said in str(raised.value)


@pytest.mark.parametrize(("count", "available"), [(0, 0), (1, 1536), (9, None)])
def test_enough_or_unknown_memory_is_no_error(count: int, available: int | None) -> None:
    """Where the memory is not known, nothing is refused."""
    check_memory([SMALL] * count, available=available)


@pytest.mark.parametrize(
    ("environment", "headless"),
    [({"CI": "true", "DISPLAY": ":0"}, True), ({"DISPLAY": ":0"}, False), ({}, True),
     ({"WAYLAND_DISPLAY": "wayland-0"}, False)],
)  # fmt: skip
def test_there_is_a_window_only_where_one_can_be_seen(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], headless: bool
) -> None:
    """In CI and without a display there is none."""
    monkeypatch.setattr(sys, "platform", "linux")

    assert is_headless(environment) is headless


@pytest.mark.parametrize(
    ("cores", "memory", "boots", "most"),
    [(8, 100_000, 4, 4), (8, 3200, 4, 2), (1, 100_000, 1, 1), (8, 0, 4, 1), (None, None, 1, 1)],
)
def test_cores_and_memory_limit_how_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
    cores: int | None,
    memory: int | None,
    boots: int,
    most: int,
) -> None:
    """A boot keeps two cores busy; there is always one emulator."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(fleet, "free_memory", lambda: memory)

    assert (boots_at_once(), most_emulators(SMALL)) == (boots, most)
