"""Other people's reports that show the files of a test.

A new format is a module in ``report/`` and a row in ``FORMATS``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from pytest_clawperator.plugin.evidence.artifacts import Attachment
from pytest_clawperator.report import allure_bridge
from pytest_clawperator.visible_text import visible


class AttachFile(Protocol):
    """Adds a file to the report of the current test."""

    def __call__(self, path: Path, *, name: str, mime: str) -> None:
        """Attach the file under this name."""


class Format(NamedTuple):
    """A report format: the plugin that is registered if the report is asked for.

    ``guard`` hides secrets in the report, however often it is called.
    """

    plugin: str
    attach: AttachFile
    guard: Callable[[], None]


FORMATS = (Format("allure_listener", allure_bridge.attach_file, allure_bridge.guard),)


def publisher_of(config: pytest.Config) -> Callable[[Attachment], None]:
    """Return the function that adds an attachment to each report that is asked for."""

    def publish(attachment: Attachment) -> None:
        for one in FORMATS:
            if config.pluginmanager.has_plugin(one.plugin):
                name = visible(attachment.name)
                one.attach(attachment.path, name=name, mime=attachment.mime)

    return publish


def guard_formats(config: pytest.Config) -> None:
    """Hide secrets in each report that is asked for."""
    for one in FORMATS:
        if config.pluginmanager.has_plugin(one.plugin):
            one.guard()
