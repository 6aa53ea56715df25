"""Reports of other tools: the protocol they implement, and the ones for pytest-html and JUnit."""

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
    """A file of a test: its name, its path and its media type.

    ``kind`` is one of ``screenshot``, ``snapshot``, ``log``, ``envelopes``, ``video``,
    ``picture``, ``trace`` or ``attachment``.
    """

    name: str
    path: Path
    mime: str
    kind: str = "attachment"


class ReportSink(Protocol):
    """A report of another format, in the process that runs the tests.

    Tests run one after another; ``TraceBegan`` is the first event of each attempt that uses a
    device, ``TraceEnded`` the last, unless the test is broken off. Secrets are hidden. A subclass
    defines the methods that it needs. With ``--claw-trace=off``, a sink that does not need steps
    gets only the events of the test and its devices.
    """

    needs_steps: ClassVar[bool] = True

    def write(self, event: TraceEvent) -> None:
        """Handle an event of the current test."""
        return

    def attach(self, attachment: Attachment) -> None:
        """Add a file to the report of the current test."""
        return

    def complete(self, report: Any) -> None:
        """Add to pytest's report of a phase that ended, before it is sent to the controller."""
        return


# The names that pytest-html has for these; workers send them unchanged.
_IMAGE, _URL = "image", "url"


class HtmlSink(ReportSink):
    """Add pictures and links to the rows of pytest-html; links are relative to ``folder``.

    A ``whole`` report is a single file and contains the pictures.
    """

    needs_steps = False

    def __init__(self, folder: Path, *, whole: bool) -> None:
        self._folder = folder
        self._whole = whole
        self._extras: list[dict[str, str | None]] = []

    def write(self, event: TraceEvent) -> None:
        """Forget the extras of the test before."""
        if isinstance(event, TraceBegan):
            self._extras = []

    def attach(self, attachment: Attachment) -> None:
        """Add a link, and for a screenshot the picture itself."""
        link = quote(Path(os.path.relpath(attachment.path, self._folder)).as_posix())
        if attachment.kind == "screenshot":
            self._add_picture(attachment, link)
        self._extras.append(_extra(_URL, link, name=attachment.name))

    def complete(self, report: Any) -> None:
        """Add what was attached since the last phase."""
        if self._extras:
            report.extras = [*getattr(report, "extras", ()), *self._extras]
            self._extras = []

    def _add_picture(self, attachment: Attachment, link: str) -> None:
        if not self._whole:
            self._extras.append(_extra(_IMAGE, link, name=attachment.name, mime=attachment.mime))
            return
        try:
            small, _, _ = smaller(attachment.path.read_bytes())
        except (OSError, ValueError):  # the link remains
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

# Properties of a device, and their names in a trace.
_FACTS = {"model": "model", "api": "API level"}


class JUnitSink(ReportSink):
    """Add the devices and files of a test as properties, which JUnit XML and others show.

    ``show`` formats a path. Properties that the test itself recorded stay.
    """

    needs_steps = False

    def __init__(self, show: Callable[[Path], str]) -> None:
        self._show = show
        self._properties: list[tuple[str, str]] = []

    def write(self, event: TraceEvent) -> None:
        """Record the properties of a device."""
        if isinstance(event, TraceBegan):
            self._properties = []
        elif isinstance(event, DeviceUsed):
            self._add("device", event.serial)
            for name, key in _FACTS.items():
                if key in event.about:
                    self._add(name, event.about[key])

    def attach(self, attachment: Attachment) -> None:
        """Record the path of a file."""
        self._add(attachment.kind, self._show(attachment.path))

    def complete(self, report: Any) -> None:
        """Add the properties known so far."""
        known = report.user_properties
        report.user_properties = [*known, *(one for one in self._properties if one not in known)]
        if report.when == "teardown":
            self._properties = []

    def _add(self, name: str, value: str) -> None:
        self._properties.append((f"{_PREFIX}{name}", visible(value)))
