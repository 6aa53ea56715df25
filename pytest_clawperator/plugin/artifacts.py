"""The files of a test: where they are kept, and what they are called."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import count
from pathlib import Path

from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, ErrorCode, file_problem
from pytest_clawperator.redaction import hide_in_document
from pytest_clawperator.report.sinks import Attachment

_UNKNOWN = "application/octet-stream"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
# Windows allows 260 characters for a whole path; a run, a test and a file must fit below
# wherever the user keeps them.
_LONGEST_TEST, _LONGEST_FILE = 60, 80


class Artifacts:
    """The files of one test, or of one attempt at it; the folder is made when it is needed."""

    def __init__(
        self,
        wanted: Path,
        *,
        on_attached: Callable[[Attachment], None] = lambda _: None,
    ) -> None:
        self._wanted = wanted
        self._folder: Path | None = None
        self._on_attached = on_attached

    @property
    def folder(self) -> Path:
        """The folder of this test only; it is created again if it was deleted."""
        if self._folder is None or self.is_empty:
            with _refused(self._wanted):
                self._folder = _make_folder(self._wanted)
        return self._folder

    @property
    def is_empty(self) -> bool:
        """Whether the folder does not exist yet, or was deleted."""
        return self._folder is None or not self._folder.is_dir()

    def attach(self, name: str, content: bytes | Path, mime: str | None = None) -> Path:
        """Keep bytes, or a copy of a file, and show it in reports; return its path.

        ``clawperator_artifacts.attach("cart.json", json.dumps(cart).encode())``

        A name that is taken gets a number. ``mime`` is the type, if the name does not show it.
        Secrets in text are hidden.
        """
        if not isinstance(content, (bytes, Path)):
            raise ConfigurationError(
                f"attach({name!r}): found {type(content).__name__}, wanted bytes or a Path",
                hint="Text becomes bytes by .encode(), the name of a file a Path by Path(...).",
            )
        mime = mime or mimetypes.guess_type(name)[0] or _UNKNOWN
        if not Path(name).suffix:
            name += mimetypes.guess_extension(mime) or ""
        path = self._write(safe_file_name(name), content, is_text=_is_text(mime))
        self._on_attached(Attachment(name=name, path=path, mime=mime))
        return path

    def _write(self, name: str, content: bytes | Path, *, is_text: bool) -> Path:
        if isinstance(content, Path):
            if content.absolute().parent == self.folder.absolute():
                return content
            content = _read(content)
        if is_text:
            content = hide_in_document(content, name=name)
        for path in _numbered(self.folder / name, Path(name).suffix):
            with _refused(path), suppress(FileExistsError):
                with path.open("xb") as file:
                    file.write(content)
                return path
        raise AssertionError("numbers do not end")


def folder_name(nodeid: str) -> str:
    """Return the name of a test's folder: safe, short, readable and unique."""
    file, _, test = nodeid.partition("::")
    readable = _safe(f"{Path(file).stem}-{test}")[:_LONGEST_TEST].strip("-.")
    return f"{readable}-{sha256(nodeid.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"


def safe_file_name(name: str) -> str:
    """Return a form of the name that every file system accepts, with the same suffix."""
    suffix = _safe(Path(name).suffix)[:12]
    stem = _safe(name.removesuffix(Path(name).suffix))[: _LONGEST_FILE - len(suffix)]
    # Some names are devices on Windows, whatever their suffix.
    reserved = re.fullmatch(r"con|prn|aux|nul|com\d|lpt\d", stem.partition(".")[0].lower())
    return f"{'_' if reserved else ''}{stem.strip('-.') or 'file'}{suffix}"


def _is_text(mime: str) -> bool:
    kind, _, detail = mime.partition("/")
    return kind == "text" or detail.endswith(("json", "xml", "yaml", "javascript"))


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one with a hint."""
    try:
        yield
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be written: {exc.strerror or exc}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="See that there is room, and that nothing else is in the place of its folders;"
            " --claw-output names another place.",
        ) from exc


def _make_folder(wanted: Path) -> Path:
    """Create a new folder; one that exists belongs to another run or test."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    for path in _numbered(wanted):
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise AssertionError("numbers do not end")


def _numbered(path: Path, suffix: str = "") -> Iterator[Path]:
    yield path
    for number in count(2):
        yield path.with_name(f"{path.name.removesuffix(suffix)}-{number}{suffix}")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except UNUSABLE_FILE as exc:
        raise ConfigurationError(
            f"{path} cannot be attached: {file_problem(exc)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="Write the file first; a path starts from the folder that pytest runs in.",
        ) from exc
