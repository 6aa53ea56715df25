"""What a report of another format gets: events as they happen, files, and pytest's reports."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol
from urllib.parse import quote

from pytest_clawperator.pictures import smaller
from pytest_clawperator.report.trace import DeviceUsed, TraceBegan, TraceEvent
from pytest_clawperator.text import visible


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file of a test: what it is called, where it is, and what is in it.

    ``kind`` is what it shows: ``screenshot``, ``snapshot``, ``log``, ``envelopes``, ``video``,
    ``picture``, ``trace`` or ``attachment``.
    """

    name: str
    path: Path
    mime: str
    kind: str = "attachment"


class ReportSink(Protocol):
    """A report of another format, in the process that runs the tests.

    Tests follow one another; ``TraceBegan`` is the first event of each attempt that uses a
    device, ``TraceEnded`` the last, unless the test is broken off. Secrets are hidden. A class
    that derives from this one defines what it needs. With ``--claw-trace=off``, one that does
    not need steps is told only of the test and its devices.
    """

    needs_steps: ClassVar[bool] = True

    def write(self, event: TraceEvent) -> None:
        """Take note of what happens in a test."""
        return

    def attach(self, attachment: Attachment) -> None:
        """Add a file to the report of the current test."""
        return

    def complete(self, report: Any) -> None:
        """Add to pytest's report of a phase that ended, which goes on to the controller."""
        return


# The words of pytest-html for what it shows, which travel from workers as they are.
_IMAGE, _URL = "image", "url"


class HtmlSink(ReportSink):
    """Adds pictures and links to the rows of tests; links start in ``folder``.

    A report that is ``whole``, in one file, has the pictures in it.
    """

    needs_steps = False

    def __init__(self, folder: Path, *, whole: bool) -> None:
        self._folder = folder
        self._whole = whole
        self._extras: list[dict[str, str | None]] = []

    def write(self, event: TraceEvent) -> None:
        """Begin with another test."""
        if isinstance(event, TraceBegan):
            self._extras = []

    def attach(self, attachment: Attachment) -> None:
        """Add a link, and the picture itself."""
        link = quote(Path(os.path.relpath(attachment.path, self._folder)).as_posix())
        if attachment.kind == "screenshot":
            self._add_picture(attachment, link)
        self._extras.append(_extra(_URL, link, name=attachment.name))

    def complete(self, report: Any) -> None:
        """Add what came since the last phase."""
        if self._extras:
            report.extras = [*getattr(report, "extras", ()), *self._extras]
            self._extras = []

    def _add_picture(self, attachment: Attachment, link: str) -> None:
        if not self._whole:
            self._extras.append(_extra(_IMAGE, link, name=attachment.name, mime=attachment.mime))
            return
        try:
            small, _, _ = smaller(attachment.path.read_bytes())
        except (OSError, ValueError):  # the link is there all the same
            return
        content = base64.b64encode(small).decode("ascii")
        self._extras.append(_extra(_IMAGE, content, name=attachment.name, mime="image/webp"))


def _extra(kind: str, content: str, *, name: str, mime: str | None = None) -> dict[str, str | None]:
    extension = None if mime is None else mime.partition("/")[2]
    return {
        "name": name,
        "format_type": kind,
        "content": content,
        "mime_type": mime,
        "extension": extension,
    }


_PREFIX = "clawperator_"

# What is told of a device, and how a trace calls it.
_FACTS = {"model": "model", "api": "API level"}


class JUnitSink(ReportSink):
    """Adds properties to reports, which are not only for JUnit XML.

    ``show`` returns a path as it is written down. Properties of the test's own stay.
    """

    needs_steps = False

    def __init__(self, show: Callable[[Path], str]) -> None:
        self._show = show
        self._properties: list[tuple[str, str]] = []

    def write(self, event: TraceEvent) -> None:
        """Take note of a device."""
        if isinstance(event, TraceBegan):
            self._properties = []
        elif isinstance(event, DeviceUsed):
            self._add("device", event.serial)
            for name, key in _FACTS.items():
                if key in event.about:
                    self._add(name, event.about[key])

    def attach(self, attachment: Attachment) -> None:
        """Take note of a file."""
        self._add(attachment.kind, self._show(attachment.path))

    def complete(self, report: Any) -> None:
        """Add what is known by now."""
        known = report.user_properties
        report.user_properties = [*known, *(one for one in self._properties if one not in known)]
        if report.when == "teardown":
            self._properties = []

    def _add(self, name: str, value: str) -> None:
        self._properties.append((f"{_PREFIX}{name}", visible(value)))
