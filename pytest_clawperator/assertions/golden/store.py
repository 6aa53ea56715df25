"""Where goldens are kept: in ``__screens__``, next to the test that uses them."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clawperator.assertions.soft import caller
from pytest_clawperator.errors import ConfigurationError, ErrorCode

__tracebackhide__ = True  # a failure is shown at the test's own line

FOLDER = "__screens__"
SUFFIXES = (".yaml", ".png")

_LONGEST_NAME = 100
# What every file system takes, and what leads nowhere else.
_NAME = re.compile(rf"\w(?:[\w .+-]{{0,{_LONGEST_NAME - 2}}}[\w+-])?")
_SCREEN_KEY = re.compile(r"-\d+x\d+(?:-\d+dpi)?$")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class GoldenStore:
    """The goldens of one folder of tests.

    With ``update`` a golden that is missing or does not fit is written. ``used`` and
    ``written`` fill up with paths. ``output`` is where pictures of differences go.
    """

    folder: Path
    update: bool = False
    output: Path | None = None
    used: set[Path] = field(default_factory=set)
    written: set[Path] = field(default_factory=set)

    def path(self, name: str, ending: str) -> Path:
        """Give the path of a golden, which is used from now on."""
        path = self.folder / FOLDER / f"{checked_name(name)}{ending}"
        self.used.add(path)
        return path

    def output_folder(self) -> Path:
        """Give the folder for pictures of differences."""
        return self.output if self.output is not None else self.folder / FOLDER / "failed"

    def read(self, path: Path) -> bytes | None:
        """Give what a golden holds; None where there is none."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise ConfigurationError(
                f"the golden {path} cannot be read: {exc.strerror or exc}",
                code=ErrorCode.GOLDEN_UNREADABLE,
                hint="Check what is there and who may read it.",
            ) from exc

    def write(self, path: Path, content: bytes) -> None:
        """Write a golden; once in a run, unless it is the same again."""
        if path in self.written and self.read(path) != content:
            raise ConfigurationError(
                f"the golden {path} was written in this run already, with something else",
                hint="Two expectations use the same name for different screens: rename one.",
            )
        write_whole(path, content)
        self.written.add(path)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        # A temporary file is its owner's only; a golden is read by everybody.
        os.chmod(file.name, 0o644)  # noqa: PTH101 - it is a name
        os.replace(file.name, path)  # noqa: PTH105 - it is a name
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be written: {exc.strerror or exc}",
            hint="Goldens are kept next to the tests: make that folder writable.",
        ) from exc


def checked_name(name: Any) -> str:
    """Give the name of a golden, made sure of being one that leads nowhere else."""
    if isinstance(name, str) and _NAME.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    raise ConfigurationError(
        f"{name!r:.120} cannot be the name of a golden",
        hint=f"Use up to {_LONGEST_NAME} letters, digits, spaces and . _ + -, as in 'login'.",
    )


def identity(path: Path) -> tuple[Path, str, str]:
    """Say what a golden is one of: a picture has one for each size of a screen."""
    return path.parent, _SCREEN_KEY.sub("", path.stem), path.suffix


_current: GoldenStore | None = None


def use(store: GoldenStore | None) -> GoldenStore | None:
    """Take the goldens from this store from now on; give the one that was used before."""
    global _current
    before, _current = _current, store
    return before


def current() -> GoldenStore:
    """Give the store in use; unless one was set, that of the folder of the calling code."""
    if _current is not None:
        return _current
    file = Path(caller().f_code.co_filename)
    return GoldenStore(file.parent if file.is_file() else Path.cwd())
