"""The folder of the lock files: where it is, and which ones are refused."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.flight import Flight
from pytest_clawperator.execution.locks.folder import lock_folder, lock_path, open_folder

IS_ROOT = os.name == "posix" and os.geteuid() == 0
AS_ROOT = pytest.mark.skipif(not IS_ROOT, reason="by design: only root can give a folder away")
STRANGER = 54_321


def mode_of(path: Path) -> int:
    """Return the permissions of a file or folder."""
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_folder_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CLAWPERATOR_LEASE_DIR says where the locks are, also after a change of the directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", "here")

    folder = lock_folder()

    assert folder == tmp_path / "here"


def test_the_folder_does_not_follow_the_jobs_own_temporary_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two jobs, each with a TMPDIR, and two users see each other's locks in a folder of root."""
    monkeypatch.delenv("CLAWPERATOR_LEASE_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    folder = lock_folder()

    assert folder == Path("/tmp").resolve()
    assert lock_path("PH1", "flight").parent == folder
    with open_folder(folder) as descriptor:
        assert os.fstat(descriptor).st_uid == 0


@pytest.mark.parametrize("umask", [0o077, 0o022, 0])
def test_a_new_folder_is_shared_and_sticky(tmp_path: Path, umask: int) -> None:
    """Whatever the umask, every user can put files there, and nobody can remove those of others."""
    old = os.umask(umask)
    try:
        with open_folder(tmp_path / "above" / "locks", create=True):
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


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o775])
def test_a_folder_where_others_can_remove_files_is_refused(tmp_path: Path, mode: int) -> None:
    """Without the sticky bit somebody could replace a lock; the error says what to do."""
    tmp_path.chmod(mode)

    with pytest.raises(ConfigurationError) as caught, open_folder(tmp_path):
        pass

    assert f"has mode {mode:04o}" in str(caught.value)
    assert "chmod +t" in str(caught.value)
    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)
    assert mode_of(tmp_path) == mode


def test_a_link_to_a_folder_is_refused_and_its_target_left_alone(tmp_path: Path) -> None:
    """What a link leads to is neither opened up nor written to."""
    home, link = tmp_path / "home", tmp_path / "locks"
    home.mkdir(mode=0o700)
    link.symlink_to(home)

    with (
        pytest.raises(ConfigurationError, match="is a symbolic link") as caught,
        Flight("phone", folder=link).claim("cmd-1", serial="s"),
    ):
        pass

    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)
    assert (mode_of(home), list(home.iterdir())) == (0o700, [])


def test_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    """No folder is made where a link leads to."""
    link = tmp_path / "locks"
    link.symlink_to(tmp_path / "nowhere")

    with (
        pytest.raises(ConfigurationError, match="locks"),
        Flight("phone", folder=link).claim("cmd-1", serial="s"),
    ):
        pass

    assert not (tmp_path / "nowhere").exists()


@AS_ROOT
def test_the_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner could replace every lock in it, sticky or not."""
    tmp_path.chmod(0o1777)
    os.chown(tmp_path, STRANGER, STRANGER)

    with pytest.raises(ConfigurationError) as caught, open_folder(tmp_path):
        pass

    assert f"belongs to user {STRANGER}" in str(caught.value)
    assert "CLAWPERATOR_LEASE_DIR" in str(caught.value)
