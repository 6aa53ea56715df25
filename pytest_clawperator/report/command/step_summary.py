"""A summary in Markdown, as GitHub shows it beside the steps of a job."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.report.index.index_page import told_counts
from pytest_clawperator.report.index.likeness import groups_of
from pytest_clawperator.report.index.reading import Run
from pytest_clawperator.report.index.record import TestEnded
from pytest_clawperator.text import visible

#: The variable that names the file.
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"

# GitHub refuses a step that writes more than a mebibyte, and nobody reads that much.
_MOST_GROUPS, _MOST_TESTS = 30, 10
_MOST_BYTES = 500_000
_LONGEST = 300
_MARKUP = r"""<>&"'\`*_[]~|@#:"""
_PICTURES = ("screenshot.png", "setup-screenshot.png", "teardown-screenshot.png")


def add_summary(path: Path, runs: Sequence[Run], *, url: str | None, start: Path) -> None:
    """Append a summary of runs to a file.

    ``url`` is where the folder ``start`` is published. GitHub shows no picture that is not: there
    are none without it.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(summary_text(runs, url=url, start=start))
    except OSError as exc:
        raise ConfigurationError(
            f"the summary {path} cannot be written: {exc.strerror or exc}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint=f"Name a file with --summary, or unset {SUMMARY_VARIABLE}.",
        ) from exc


def summary_text(runs: Sequence[Run], *, url: str | None, start: Path) -> str:
    """Return the summary: how many tests had which outcome, and failures that are alike."""
    pairs = [(run, test) for run in runs for test in run.tests]
    tests = [test for _, test in pairs]
    lines = [f"### {told_counts(tests)}", ""]
    groups = groups_of(tests)
    told = size = 0
    for group in groups[:_MOST_GROUPS]:
        found = _group_lines([pairs[place] for place in group], url, start)
        size += sum(len(line.encode()) + 1 for line in found)
        if size > _MOST_BYTES:
            break
        lines += found
        told += 1
    if len(groups) > told:
        lines += [f"… and {len(groups) - told} more kinds of failures.", ""]
    return "\n".join([*lines, ""])


def _group_lines(group: Sequence[tuple[Run, TestEnded]], url: str | None, start: Path) -> list[str]:
    error = group[0][1].error
    assert error is not None
    told = f"{error.code}: {error.message}" if error.code else error.message
    lines = [f"<details open><summary>{len(group)} × <code>{_safe(told)}</code></summary>", "<ul>"]
    for run, test in group[:_MOST_TESTS]:
        devices = f" <code>{_safe(', '.join(test.devices))}</code>" if test.devices else ""
        lines.append(f"<li>{_linked(run, test, url, start)}{devices}</li>")
    if len(group) > _MOST_TESTS:
        lines.append(f"<li>… and {len(group) - _MOST_TESTS} more</li>")
    lines.append("</ul>")
    if picture := _picture(*group[0], url, start):
        lines.append(f'<img src="{picture}" width="240" alt="the screen of the first of them">')
    return [*lines, "</details>", ""]


def _linked(run: Run, test: TestEnded, url: str | None, start: Path) -> str:
    name = f"<code>{_safe(test.nodeid)}</code>"
    if url is None or not test.page:
        return name
    return f'<a href="{_address(run.folder / test.page, url, start)}">{name}</a>'


def _picture(run: Run, test: TestEnded, url: str | None, start: Path) -> str | None:
    if url is None or not test.folder:
        return None
    places = [run.folder / test.folder / name for name in _PICTURES]
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else _address(found, url, start)


def _address(path: Path, url: str, start: Path) -> str:
    relative = Path(os.path.relpath(path.resolve(), start.resolve())).as_posix()
    return html.escape(f"{url.rstrip('/')}/{quote(relative)}", quote=True)


def _safe(text: str) -> str:
    """Return text in which nothing is markup, of HTML or Markdown, in one line.

    It belongs into ``<code>``, where GitHub makes no links of names and numbers either.
    """
    line = visible(" ".join(text[:_LONGEST].split()))
    whole = line.encode("utf-8", "replace").decode("utf-8")
    return "".join(f"&#{ord(one)};" if one in _MARKUP else one for one in whole)
