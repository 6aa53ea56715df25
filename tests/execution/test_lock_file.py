"""The folder of the lock files: where it is, and which ones are refused."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution import lock_file
from pytest_clawperator.execution.flight import Flight

IS_ROOT = os.name == "posix" and os.geteuid() == 0
AS_ROOT = pytest.mark.skipif(not IS_ROOT, reason="by design: only root can give a folder away")
STRANGER = 54_321


def mode_of(path: Path) -> int:
    """Return the permissions of a file or folder."""
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_folder_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CLAWPERATOR_LEASE_DIR names the folder, also after a change of the directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", "here")

    folder = lock_file.lock_folder()

    assert folder == tmp_path / "here"


def test_the_folder_does_not_follow_the_jobs_own_temporary_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two jobs, each with a TMPDIR, and two users see each other's locks in a folder of root."""
    monkeypatch.delenv("CLAWPERATOR_LEASE_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    folder = lock_file.lock_folder()

    assert folder == Path("/tmp").resolve()
    assert lock_file.lock_path("PH1", "flight").parent == folder
    with lock_file.open_folder(folder) as descriptor:
        assert os.fstat(descriptor).st_uid == 0


@pytest.mark.parametrize("umask", [0o077, 0o022, 0])
def test_a_new_folder_is_shared_and_sticky(tmp_path: Path, umask: int) -> None:
    """Whatever the umask, every user can put files there, but not remove those of others."""
    old = os.umask(umask)
    try:
        with lock_file.open_folder(tmp_path / "above" / "locks", create=True):
            made = mode_of(tmp_path / "above" / "locks")
    finally:
        os.umask(old)

    assert made == 0o1777


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    """A folder of the user's own is used and not opened up to others."""
    tmp_path.chmod(0o700)

    with Flight("phone", folder=tmp_path).claim("cmd-1", serial="s"):
        pass

    assert mode_of(tmp_path) == 0o700


@pytest.mark.parametrize(
    ("mode", "owner", "words"),
    [
        *((mode, None, f"has mode {mode:04o}") for mode in (0o777, 0o770, 0o775)),
        pytest.param(0o1777, STRANGER, f"belongs to user {STRANGER}", marks=AS_ROOT),
    ],
)
def test_a_folder_where_others_can_remove_files_is_refused(
    tmp_path: Path, mode: int, owner: int | None, words: str
) -> None:
    """Without the sticky bit other users could replace a lock, and the owner always can."""
    tmp_path.chmod(mode)
    if owner is not None:
        os.chown(tmp_path, owner, owner)

    with pytest.raises(ConfigurationError, match=words) as caught, lock_file.open_folder(tmp_path):
        pass

    assert ("chmod +t" in str(caught.value)) is (owner is None)
    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)
    assert mode_of(tmp_path) == mode


def test_a_link_to_a_folder_is_refused_and_its_target_left_alone(tmp_path: Path) -> None:
    """The target of a link is neither opened up, nor written to, nor made."""
    home, nowhere = tmp_path / "home", tmp_path / "nowhere"
    home.mkdir(mode=0o700)
    for target, words in ((home, "is a symbolic link"), (nowhere, "locks")):
        link = tmp_path / f"locks-{target.name}"
        link.symlink_to(target)

        with (
            pytest.raises(ConfigurationError, match=words) as caught,
            Flight("phone", folder=link).claim("cmd-1", serial="s"),
        ):
            pass

        assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)
    assert (mode_of(home), list(home.iterdir())) == (0o700, [])
    assert not nowhere.exists()


VICTIM = b"precious"
ON_LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="by design: only Linux has names without files"
)


def bound_socket(path: Path) -> None:
    """Put a socket at a path, which may be longer than a socket's may be."""
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


#: What can be in the place of a lock file; each is made from the path and a victim's file.
IN_PLACE: dict[str, Callable[[Path, Path], object]] = {
    "a symbolic link": lambda path, victim: path.symlink_to(victim),
    "a folder": lambda path, victim: path.mkdir(),
    "a named pipe": lambda path, victim: os.mkfifo(path),
    "a socket": lambda path, victim: bound_socket(path),
    "one of 2 names of the same file": lambda path, victim: path.hardlink_to(victim),
}


@pytest.mark.parametrize("kind", IN_PLACE)
def test_anything_but_a_plain_file_is_refused(tmp_path: Path, kind: str) -> None:
    """The error names what is there; nothing is waited for, followed or overwritten."""
    path, victim = tmp_path / "phone.flight", tmp_path / "victim"
    victim.write_bytes(VICTIM)
    victim.chmod(0o600)
    IN_PLACE[kind](path, victim)
    before = path.lstat()

    for use in (lock_file.open_lock_file, lock_file.find_lock_file):
        with pytest.raises(ConfigurationError) as caught:
            use(path)

        assert f"{path} is {kind} (owner: user {os.getuid()})" in str(caught.value)
        assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)
    assert (path.lstat().st_mode, path.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert (victim.read_bytes(), mode_of(victim)) == (VICTIM, 0o600)


def test_a_private_file_in_its_place_stays_private(tmp_path: Path) -> None:
    """A file with contents may be private, linked here: only an empty one is opened up."""
    private, empty = tmp_path / "a.flight", tmp_path / "b.flight"
    private.write_bytes(VICTIM)
    empty.touch()
    for path in (private, empty):
        path.chmod(0o600)
        lock_file.open_lock_file(path).close()

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (private, empty)]

    assert modes == [0o600, 0o666]


@pytest.mark.parametrize("end", ["file", "folder", "replaced", "linked"])
def test_a_lock_on_a_removed_file_no_longer_stands(tmp_path: Path, end: str) -> None:
    """The next user would lock another file, so the first lock protects nothing."""
    path = tmp_path / "locks" / "phone.flight"
    file = lock_file.open_lock_file(path)
    stood = file.lock() and file.stands()

    if end in ("file", "linked"):
        path.unlink()
    if end == "linked":
        path.symlink_to(tmp_path)
    if end in ("folder", "replaced"):
        shutil.rmtree(path.parent)
    if end == "replaced":
        lock_file.open_lock_file(path).close()
    stands = file.stands()
    file.remove()
    file.close()

    assert stood
    assert not stands
    assert path.is_symlink() == (end == "linked")
    assert path.exists() == (end in ("replaced", "linked"))


@ON_LINUX
def test_a_name_outlasts_the_file(tmp_path: Path) -> None:
    """While its holder lives, the name is taken, though folder and file are new."""
    path = tmp_path / "locks" / "phone.flight"
    first = lock_file.open_lock_file(path)
    taken = [first.lock() and first.take_name()]
    shutil.rmtree(path.parent)

    second = lock_file.open_lock_file(path)
    taken += [second.lock(), second.take_name()]
    first.close()
    taken.append(second.take_name())
    second.close()

    assert taken == [True, True, False, True]


def test_a_lock_is_free_again_though_a_child_has_the_file(tmp_path: Path) -> None:
    """A program that was started meanwhile does not keep the file locked."""
    file = lock_file.lock_standing(tmp_path / "phone.lease")
    assert file is not None
    descriptor = os.dup(file._open_descriptor)  # as between fork and exec
    taken = lock_file.lock_standing(tmp_path / "phone.lease")
    file.close()

    freed = lock_file.lock_standing(tmp_path / "phone.lease")
    os.close(descriptor)

    assert taken is None
    assert freed is not None
    freed.close()


FORKED = """
import os, sys
from pathlib import Path
from pytest_clawperator.execution.lock_file import lock_standing

file = lock_standing(Path(sys.argv[1]))
file.take_name()
if os.fork() == 0:
    was_open = file.is_open
    file.close()
    other = lock_standing(Path(sys.argv[1]))
    os._exit(0 if not was_open and other is None else 1)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_a_forked_child_has_no_part_in_the_lock(tmp_path: Path) -> None:
    """A child cannot end the lock of its parent, and does not have it either."""
    path = tmp_path / "phone.lease"

    ended = subprocess.run([sys.executable, "-c", FORKED, str(path)], check=False)

    assert ended.returncode == 0
