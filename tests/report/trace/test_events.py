"""The events of a trace are those that the document lists."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from pytest_clawperator.report import trace

DOCUMENT = Path(__file__).parents[3] / "docs" / "trace.md"
ROW = re.compile(r"^\| `([\w-]+)` \| ([`\w ]+) \|", re.MULTILINE)
OBJECTS = (trace.Source, trace.Excerpt, trace.Failure, trace.Poll)


def listed() -> dict[str, list[str]]:
    """Return the keys of each kind and object in the document."""
    rows = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
    return {name: re.findall(r"`(\w+)`", keys) for name, keys in rows}


def test_the_document_lists_every_kind_with_its_keys() -> None:
    """Each class of an event is a row, and each field but the time a key of it."""
    kinds = {
        one.kind: [field.name for field in fields(one) if field.name != "at"]
        for one in trace.TraceEvent.__subclasses__()
        if one.__module__ == trace.__name__  # the record of a run has kinds of its own
    }
    objects = {one.__name__.lower(): [field.name for field in fields(one)] for one in OBJECTS}

    assert listed() == {**kinds, **objects}


def test_what_is_not_known_is_left_out() -> None:
    """Empty values take no room, and false and nought are values."""
    event = trace.TraceEnded(at=1.0, outcome="passed", seconds=0)

    assert event.to_json() == {
        "kind": "outcome",
        "at": 1.0,
        "outcome": "passed",
        "seconds": 0,
        "is_infrastructure": False,
    }
