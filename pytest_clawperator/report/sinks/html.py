"""pytest-html: the picture of a failure in the row of its test, and links to the files."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pytest_clawperator.pictures import smaller
from pytest_clawperator.report.sinks.protocol import Attachment, ReportSink
from pytest_clawperator.report.trace.events import TraceBegan, TraceEvent

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
