"""The markers, as ``pytest --markers`` shows them.

A new marker is a line here and a reader in ``marker_values.py``.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

import pytest

MARKERS = (
    'claw_device(api=">=33", abi=None, form=None, emulator=None, model=None, manufacturer=None):'
    " the device that the test requires; on another it is skipped, or fails with --claw-strict,"
    " which is on in CI.",
    'claw_app(package, launch=True, stop=True, clear=False, grant=[], missing="error"): the app'
    " that the test is about: started before the test, and stopped before and after it; with"
    ' missing="skip" the test is skipped where the app is not installed.',
    "claw_timeout(seconds): how long actions and expectations of the test look for a node.",
    "claw_matchers(kind): what happens when several nodes match an action on one: 'strict', an"
    " error; 'first', the first wins.",
    "claw_payload(path_or_dict): a payload of the test, which --claw-validate checks; a path"
    " starts from the folder of the test file.",
    "claw_skill(skill, artifact, app, intent): on the tests that --claw-skills collects, from the"
    " registry; for -m.",
)
#: The markers that bring a test its device, whether or not it names a fixture.
ASK_FOR_DEVICE = ("claw_device", "claw_app")
#: The names of all of them.
NAMES = frozenset(
    ["claw_device", "claw_app", "claw_timeout", "claw_matchers", "claw_payload", "claw_skill"]
)


def add_markers(config: pytest.Config) -> None:
    """Register the markers, so that ``--strict-markers`` accepts them."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)


def markers_of(item: pytest.Item) -> list[pytest.Mark]:
    """Return the markers of a test that are ours, the closest first."""
    return [mark for mark in item.iter_markers() if mark.name in NAMES]


def misspelt_marker(item: pytest.Item) -> tuple[pytest.Mark, str] | None:
    """Return an unregistered marker that is nearly one of ours, and the one that is meant."""
    for mark in item.iter_markers():
        if mark.name.startswith("claw") and mark.name not in NAMES:
            near = get_close_matches(mark.name, sorted(NAMES), n=1, cutoff=0.7)
            if near and not _is_registered(mark.name, item.config):
                return mark, near[0]
    return None


def _is_registered(name: str, config: pytest.Config) -> bool:
    return any(re.split(r"[(:]", line)[0].strip() == name for line in config.getini("markers"))


def signature_of(name: str) -> str:
    """Return how a marker is written."""
    line = next(line for line in MARKERS if line.startswith(f"{name}("))
    return line[: line.index("):") + 1]
