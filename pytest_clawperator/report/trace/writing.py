"""Writing a trace: each event is in the file before the test goes on."""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_clawperator.redaction import SECRETS, hide_in, hide_in_document
from pytest_clawperator.report.trace.events import TraceEvent
from pytest_clawperator.text import visible, visible_in_xml

EVENTS_FILE = "trace.jsonl"
BLOBS_FOLDER = "blobs"
# Of two blobs of a test, so many digits of the checksum are never the same by chance.
_DIGITS = 32
# Blobs that are text, in which a secret may stand.
_TEXTS = (".xml", ".txt", ".json")
_PRINTED = bytes([*range(0x20, 0x7F), 0x09, 0x0A])
_TRIES = 10
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


class TraceWriter:
    """Appends events to the trace of one attempt at a test, in a folder that it makes.

    A line is written by one call of the system: a process that is killed loses at most the
    event that it was writing. A blob is written before the line that names it. Secrets are
    hidden; those that become known only later are hidden at the end.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._blobs = folder / BLOBS_FOLDER
        _make_folder(self._blobs)
        self._file: int | None = os.open(folder / EVENTS_FILE, _NEW | os.O_APPEND, 0o644)
        self._kept: set[str] = set()
        self._lock = threading.Lock()
        self._secrets = SECRETS.secrets

    def write(self, event: TraceEvent) -> None:
        """Append an event, without secrets; after the end it is left out."""
        line = to_line(hide_in(event.to_json()))
        with self._lock:
            if self._file is not None:
                _write_all(self._file, line)

    def keep(self, content: bytes, suffix: str) -> str:
        """Keep a blob, once for equal contents, and return the name of its file."""
        if suffix in _TEXTS:
            content = _harmless(hide_in_document(content, name=suffix), suffix)
        name = f"{sha256(content).hexdigest()[:_DIGITS]}{suffix}"
        with self._lock:
            if name not in self._kept and self._file is not None:
                self._kept.add(name)
                file = os.open(self._blobs / name, _NEW, 0o644)
                try:
                    _write_all(file, content)
                finally:
                    os.close(file)
        return name

    def close(self) -> None:
        """End the trace; what comes later is not in it."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None
                if SECRETS.secrets != self._secrets:
                    self._hide_later_secrets()

    def _hide_later_secrets(self) -> None:
        events = self.folder / EVENTS_FILE
        lines = events.read_bytes().splitlines(keepends=True)
        # Line by line, because each is a document of its own.
        events.write_bytes(b"".join(hide_in_document(line, name=".json") for line in lines))
        for name in self._kept:
            if name.endswith(_TEXTS):
                path = self._blobs / name
                path.write_bytes(hide_in_document(path.read_bytes(), name=name))


def _make_folder(folder: Path) -> None:
    """Make a folder, also while others remove empty ones around it."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            folder.mkdir(parents=True)
            return
    folder.mkdir(parents=True)


def _harmless(content: bytes, suffix: str) -> bytes:
    """Return a text in which control characters are shown, for whoever prints the file."""
    if content.isascii() and not content.translate(None, _PRINTED):
        return content
    show = visible_in_xml if suffix == ".xml" else visible
    return show(content.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")


def to_line(data: Any) -> bytes:
    """Return data as one line; half characters and numbers beyond JSON can be read back."""
    try:
        text = _encode(data)
    except (TypeError, ValueError):
        text = _encode(_finite(data))
    # JSON escapes all that is not ASCII, and of ASCII all but this one.
    return text.replace("\x7f", "\\u007f").encode("ascii") + b"\n"


def _finite(value: Any) -> Any:
    """Return data in which numbers that JSON lacks are texts."""
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value


def _write_all(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]
