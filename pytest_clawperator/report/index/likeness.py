"""Which failures are alike: those that differ only in numbers, ids and quoted texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from pytest_clawperator.report.index.record import ErrorSummary

_LONGEST = 300
# What differs from one failure to the next although the reason is the same, in this order.
_VARYING = (
    (re.compile(r"\[[^\]\s]{3,}\] (?=[A-Z][A-Z_]+:)"), ""),  # a serial at the beginning
    (re.compile(r"(['\"`])(?:\\.|(?!\1).){0,2000}?\1"), "'…'"),
    (re.compile(r"[“‘][^”’]{0,2000}[”’]"), "'…'"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "…"),
    (re.compile(r"\b(?=[a-z]*\d)[0-9a-f]{6,}\b", re.IGNORECASE), "…"),
    (re.compile(r"\bemulator-\d+\b"), "…"),
    (re.compile(r"-?\d+(?:[.,:]\d+)*"), "…"),
    (re.compile(r"\s+"), " "),
)


class Failed(Protocol):
    """What has an error or not."""

    @property
    def error(self) -> ErrorSummary | None:
        """Why it failed."""


def likeness(error: ErrorSummary) -> str:
    """Return what an error has in common with those that are like it."""
    text = error.message[:_LONGEST]
    for pattern, mark in _VARYING:
        text = pattern.sub(mark, text)
    return f"{error.code or ''}: {text.strip()}"


def groups_of(tests: Iterable[Failed]) -> list[list[int]]:
    """Return the places of tests whose errors are alike, the largest group first."""
    groups: dict[str, list[int]] = {}
    for place, test in enumerate(tests):
        if test.error is not None:
            groups.setdefault(likeness(test.error), []).append(place)
    return sorted(groups.values(), key=len, reverse=True)
