"""Tests with markers: wrong markers are refused, and what they ask for is given to the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator.errors import PayloadError, is_file
from pytest_clawperator.plugin.features.payloads import load_payload
from pytest_clawperator.plugin.input.marker_values import marker_error, marker_value
from pytest_clawperator.plugin.input.option_values import is_validating
from pytest_clawperator.plugin.markers import ASK_FOR_DEVICE, markers_of, misspelt_marker
from pytest_clawperator.plugin.stash import MARKER_PROBLEMS
from pytest_clawperator.plugin.worker_input import is_worker

# Comes before every other fixture of a test, so that a device that does not fit is reported first.
_DEVICE_CHECK = "_clawperator_requirements"
_SHOWN_PROBLEMS = 20


def apply_markers(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse markers that make no sense, and give tests that ask for a device its fixtures."""
    refused: dict[int, str] = {}
    for item in items:
        marks = markers_of(item)
        if problems := dict(_problems(item, marks)):
            for mark, problem in problems.items():
                refused.setdefault(mark, problem)  # tests that share a marker tell of it once
            item.stash[MARKER_PROBLEMS] = "\n".join(problems.values())
        else:
            _add_fixtures(item, {mark.name for mark in marks})
    if refused and not is_worker(config):
        raise pytest.UsageError(*_shortened(list(refused.values())))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose markers make no sense, in a worker: there, refusing is crashing."""
    if MARKER_PROBLEMS in item.stash:
        pytest.fail(item.stash[MARKER_PROBLEMS], pytrace=False)


def _add_fixtures(item: pytest.Item, names: set[str]) -> None:
    wanted = [_DEVICE_CHECK] if "claw_device" in names else []
    wanted += ["clawperator"] if names.intersection(ASK_FOR_DEVICE) else []
    fixtures = getattr(item, "fixturenames", None)
    if fixtures is not None:
        fixtures[:0] = [name for name in wanted if name not in fixtures]


def _problems(item: pytest.Item, marks: list[pytest.Mark]) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with markers, by the identity of the marker."""
    for mark in marks:
        try:
            value = marker_value(item, mark)
            if mark.name == "claw_payload" and not is_validating(item.config):
                _check_payload(item, mark, value)
        except pytest.UsageError as exc:
            yield id(mark), str(exc)
    misspelt = misspelt_marker(item)
    if misspelt is not None:
        mark, meant = misspelt
        yield id(mark), str(marker_error(item, mark, f"no such marker; did you mean {meant}?"))


def _shortened(problems: list[str]) -> list[str]:
    rest = len(problems) - _SHOWN_PROBLEMS
    more = [f"... and {rest} more markers that make no sense"] if rest > 1 else []
    return [*problems[: _SHOWN_PROBLEMS if more else None], *more]


def _check_payload(item: pytest.Item, mark: pytest.Mark, payload: Path | Any) -> None:
    """Judge what is written in the marker; what is in a file is judged where it is used."""
    if isinstance(payload, Path):
        if not is_file(payload):
            state = "is a folder" if payload.is_dir() else "is not there"
            problem = f"the file {payload} {state}; a path starts from the folder of the test file"
            raise marker_error(item, mark, problem)
        return
    try:
        load_payload(payload)
    except PayloadError as exc:
        raise marker_error(item, mark, str(exc)) from exc
