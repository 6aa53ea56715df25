"""Secrets in values that hold texts."""

from __future__ import annotations

from types import SimpleNamespace

from pytest_clawperator.redaction.nested import hide_in
from pytest_clawperator.redaction.redaction import SECRETS


class Report(SimpleNamespace):
    """An object of this package, which may be changed."""


def test_texts_are_hidden_however_deep_they_are() -> None:
    """Lists, tuples, dicts and objects of the package lose their secrets, other objects do not."""
    SECRETS.add("hunter2")
    foreign = SimpleNamespace(text="hunter2")
    report = Report(lines=["hunter2", ("hunter2", 1)], inner=Report(by={"hunter2": "hunter2"}))
    report.other, report.nodeid, report.itself = foreign, "hunter2", report

    hide_in(report, packages=["tests"], kept=["nodeid"])

    assert report.lines == ["[***]", ("[***]", 1)]
    assert report.inner.by == {"[***]": "[***]"}
    assert (report.nodeid, foreign.text) == ("hunter2", "hunter2")


def test_without_secrets_nothing_is_touched() -> None:
    """The same lists are there afterwards."""
    lines = ["hunter2"]
    report = Report(lines=lines)

    assert hide_in(report, packages=["tests"]).lines is lines
