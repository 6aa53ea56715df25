"""The folder of the lock files: where it is, and whether it is safe to use."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError

FOLDER_HINT = (
    "Set CLAWPERATOR_LEASE_DIR to a folder on a local disk, the same for all users of the"
    " devices: one that root made for all (install -d -m 1777 FOLDER), or your own if nobody"
    " else uses them."
)

_VARIABLE = "CLAWPERATOR_LEASE_DIR"
_PREFIX = "pytest-clawperator-"
_SHARED_MODE, _PRIVATE_MODE = 0o1777, 0o700
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ROOT = 0
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


def lock_folder() -> Path:
    """Return the folder of the locks, which all users of the machine share.

    Without ``CLAWPERATOR_LEASE_DIR`` it is ``/tmp`` itself. A folder inside it would belong to
    the user who comes first, who could replace everybody's locks; in ``/tmp``, which is root's,
    nobody can. ``TMPDIR`` is often a job's own, and two jobs must see each other's locks.
    """
    chosen = os.environ.get(_VARIABLE)
    return Path(chosen).absolute() if chosen else _temporary_folder()


def lock_path(key: str, kind: str, *, folder: Path | None = None) -> Path:
    """Return the path of a device's file of this kind; two keys never share one."""
    readable = re.sub(r"[^A-Za-z0-9.-]+", "_", key)[:60]
    digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return (folder or lock_folder()) / f"{_PREFIX}{readable}-{digest}.{kind}"


@contextmanager
def open_folder(path: Path, *, create: bool = False, private: bool = False) -> Iterator[int]:
    """Open the folder if it is safe, and yield its descriptor.

    A new one is for all users, or ``private``, for this user alone. Raise ``FileNotFoundError`` if
    there is none, or somebody removed a new one at once, and ``ConfigurationError`` if it cannot
    be used.
    """
    is_new, mode = False, _PRIVATE_MODE if private else _SHARED_MODE
    try:
        descriptor = _opened(path)
    except FileNotFoundError:
        if not create:
            raise
        is_new = _make(path, mode)
        descriptor = _opened(path)
    try:
        _check(path, os.fstat(descriptor))
        # The umask had its say. Only an empty folder can be the one that was just made.
        if is_new and not os.listdir(descriptor):  # noqa: PTH208 - a path may lead elsewhere
            os.fchmod(descriptor, mode)
        yield descriptor
    finally:
        os.close(descriptor)


def unusable_folder(path: Path, reason: str) -> ConfigurationError:
    """Return the error for a folder in which no lock file can be."""
    return ConfigurationError(
        f"the folder of the lock files, {path}, {reason}",
        hint=FOLDER_HINT,
        details={"path": str(path)},
    )


@lru_cache(maxsize=1)
def _temporary_folder() -> Path:
    if os.name != "posix":
        return Path(tempfile.gettempdir())
    return Path("/tmp").resolve()  # noqa: S108 - shared on purpose; a link on macOS


def _make(path: Path, mode: int) -> bool:
    """Create the folder; False if there is something of that name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode)
    except FileExistsError:
        return False
    except OSError as exc:
        raise unusable_folder(path, f"cannot be made: {exc.strerror}") from exc
    return True


def _check(path: Path, found: os.stat_result) -> None:
    """Raise unless nobody but root and this user can replace what others put into the folder."""
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid not in (_ROOT, os.geteuid()):
        reason = f"belongs to user {found.st_uid}, who could replace the locks of all others"
    elif mode & _WRITABLE_BY_OTHERS and not mode & stat.S_ISVTX:
        reason = (
            f"has mode {mode:04o}: without the sticky bit (chmod +t), whoever can write to it could"
            " replace the locks of others"
        )
    else:
        return
    raise unusable_folder(path, reason)


def _opened(path: Path) -> int:
    try:
        return os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as exc:
        reason = f"cannot be opened: {exc.strerror}"
        if path.is_symlink():
            reason = "is a symbolic link, which may lead anywhere; name the folder itself"
        elif exc.errno == errno.ENOTDIR:
            reason = "is no folder"
        raise unusable_folder(path, reason) from exc
