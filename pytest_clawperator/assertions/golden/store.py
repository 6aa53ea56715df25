"""The files of goldens: in ``__screens__``, next to the test that uses them."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clawperator.assertions.call_site import calling_frame
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, ErrorCode, file_problem

__tracebackhide__ = True  # a failure is shown at the test's own line

FOLDER = "__screens__"
SUFFIXES = (".yaml", ".png")

_LONGEST_NAME = 100
# What every file system accepts, without a path to another folder.
_NAME = re.compile(rf"\w(?:[\w .+-]{{0,{_LONGEST_NAME - 2}}}[\w+-])?")
_SCREEN_KEY = re.compile(r"-\d+x\d+(?:-\d+dpi)?$")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class GoldenStore:
    """The goldens of one folder of tests.

    With ``update``, a golden that is missing or does not match is written. ``used`` and
    ``written`` collect paths. ``output`` is the folder for pictures of differences.
    """

    folder: Path
    update: bool = False
    output: Path | None = None
    used: set[Path] = field(default_factory=set)
    written: set[Path] = field(default_factory=set)

    def path(self, name: str, ending: str) -> Path:
        """Return the path of a golden, and note that it is used."""
        path = self.folder / FOLDER / f"{checked_name(name)}{ending}"
        self.used.add(path)
        return path

    def output_folder(self) -> Path:
        """Return the folder for pictures of differences."""
        return self.output if self.output is not None else self.folder / FOLDER / "failed"

    def read(self, path: Path) -> bytes | None:
        """Return the content of a golden; None if there is no such file."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except UNUSABLE_FILE as exc:
            raise ConfigurationError(
                f"the golden {path} cannot be read: {file_problem(exc)}",
                code=ErrorCode.GOLDEN_UNREADABLE,
                hint="Check what is there and who may read it.",
            ) from exc

    def write(self, path: Path, content: bytes) -> None:
        """Write a golden; refuse to write another content in the same run."""
        if path in self.written and self.read(path) != content:
            raise ConfigurationError(
                f"the golden {path} was written in this run already, with something else",
                hint="Two expectations use the same name for different screens: rename one.",
            )
        write_atomically(path, content)
        self.written.add(path)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever reads half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        # Only its owner may read a temporary file; everybody may read a golden.
        os.chmod(file.name, 0o644)  # noqa: PTH101 - it is a name
        os.replace(file.name, path)  # noqa: PTH105 - it is a name
    except UNUSABLE_FILE as exc:
        raise ConfigurationError(
            f"{path} cannot be written: {file_problem(exc)}",
            hint="Goldens are kept next to the tests: make that folder writable.",
        ) from exc


def checked_name(name: Any) -> str:
    """Return the name of a golden; refuse one that could lead to another folder."""
    if isinstance(name, str) and _NAME.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    raise ConfigurationError(
        f"{shown(name):.120} cannot be the name of a golden",
        hint=f"Use up to {_LONGEST_NAME} letters, digits, spaces and . _ + -, as in 'login'.",
    )


def identity(path: Path) -> tuple[Path, str, str]:
    """Return what pictures of one name for several screen sizes have in common."""
    return path.parent, _SCREEN_KEY.sub("", path.stem), path.suffix


_current: GoldenStore | None = None


def use(store: GoldenStore | None) -> GoldenStore | None:
    """Use this store from now on; return the one that was used before."""
    global _current
    before, _current = _current, store
    return before


def current() -> GoldenStore:
    """Return the store in use; if none was set, that of the folder of the calling code."""
    if _current is not None:
        return _current
    file = Path(calling_frame().f_code.co_filename)
    return GoldenStore(file.parent if file.is_file() else Path.cwd())
