"""The device's file system."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.files import FileSystem, FileSystemError


@pytest.fixture
def files() -> FileSystem:
    """Return a file system whose clock stands at 100."""
    return FileSystem(clock=lambda: 100.0)


def reason(error: pytest.ExceptionInfo[FileSystemError]) -> str:
    """Return the text a shell would print."""
    return error.value.reason


def test_a_written_file_is_read_back_with_its_time(files: FileSystem) -> None:
    """What was written comes back; shared storage has several paths, and the clock dates files."""
    files.write("/sdcard/Download/x", b"hello", mtime=42)

    assert files.read("/storage/emulated/0/Download/x") == b"hello"
    found = files.stat("/storage/self/primary/Download/x")
    assert stat.S_ISREG(found.mode)
    assert (found.size, found.mtime) == (5, 42)
    assert stat.S_ISDIR(files.stat("/sdcard").mode)
    files.append("/sdcard/Download/x", b"!")
    assert files.read("/sdcard/Download/x") == b"hello!"
    files.touch("/sdcard/Download/x")
    files.append("/sdcard/made", b"one")
    assert [files.stat(f"/sdcard/{name}").mtime for name in ("Download/x", "made")] == [100, 100]


def test_resolve_gives_the_real_path(files: FileSystem) -> None:
    """Dots and aliases go, relative paths start at the working folder."""
    for path, expected in {
        "/": "/",
        "a": "/data/local/a",
        "../x/./y": "/data/x/y",
        "/sdcard/../a": "/storage/emulated/a",
        "/../..": "/",
        "/sdcard//b/": "/storage/emulated/0/b",
        "": "/data/local",
    }.items():
        assert files.resolve(path, "/data/local") == expected, path


def test_bad_places_to_write_are_refused(files: FileSystem) -> None:
    """Each refusal has the text of the real one."""
    files.write("/sdcard/file", b"")

    for path, expected in [
        ("/system/x", "Read-only file system"),
        ("/x", "Read-only file system"),
        ("/etc/hosts", "Read-only file system"),
        ("/sdcard/none/x", "No such file or directory"),
        ("/sdcard", "Is a directory"),
        ("/sdcard/file/x", "Not a directory"),
        ("/sdcard/file/", "Not a directory"),
        ("/sdcard/" + "n" * 256, "File name too long"),
        ("/sdcard/" + "n/" * 3000, "File name too long"),
        ("/sdcard/a\0b", "Invalid argument"),
        ("/sdcard/\ud800", "Invalid argument"),
        ("", "No such file or directory"),
    ]:
        with pytest.raises(FileSystemError) as error:
            files.write(path, b"x")
        assert reason(error) == expected, path


def test_the_maker_of_the_image_may_write_anywhere(files: FileSystem) -> None:
    """Provided files appear in parts that cannot be written, folders included."""
    files.provide("/system/priv-app/Settings/Settings.apk", b"apk")

    assert files.read("/system/priv-app/Settings/Settings.apk") == b"apk"
    with pytest.raises(FileSystemError):
        files.remove("/system/priv-app", recursive=True)


def test_mkdir_with_and_without_parents(files: FileSystem) -> None:
    """One folder needs its parent; with parents everything is made, and twice is fine."""
    with pytest.raises(FileSystemError) as missing:
        files.mkdir("/sdcard/a/b")
    files.mkdir("/sdcard/a/b/", parents=True)
    files.mkdir("/sdcard/a/b", parents=True)
    with pytest.raises(FileSystemError) as twice:
        files.mkdir("/sdcard/a/b")

    assert files.is_dir("/sdcard/a/b")
    assert reason(missing) == "No such file or directory"
    assert reason(twice) == "File exists"


def test_listdir_is_sorted_and_only_for_folders(files: FileSystem) -> None:
    """Names come sorted; a file has none."""
    for name in ("b", "a", "C"):
        files.write(f"/data/local/tmp/{name}", b"")

    assert files.listdir("/data/local/tmp") == ["C", "a", "b"]
    with pytest.raises(FileSystemError) as error:
        files.listdir("/data/local/tmp/a")
    assert reason(error) == "Not a directory"


def test_remove_takes_folders_only_when_asked(files: FileSystem) -> None:
    """A folder goes with everything in it, and its space with it."""
    files.mkdir("/sdcard/d/e", parents=True)
    files.write("/sdcard/d/e/f", b"12345")

    with pytest.raises(FileSystemError) as error:
        files.remove("/sdcard/d")
    files.remove("/sdcard/d", recursive=True)

    assert reason(error) == "Is a directory"
    assert not files.exists("/sdcard/d")
    assert files.used_bytes == 0


def test_the_roots_cannot_be_removed(files: FileSystem) -> None:
    """A careless ``rm -rf /`` leaves a phone."""
    for path in ("/", "/data", "/sdcard", "/storage/emulated", "/dev/null", "/system"):
        with pytest.raises(FileSystemError):
            files.remove(path, recursive=True)


def test_nothing_can_be_written_on_a_full_device() -> None:
    """While the device counts as full, writing fails and reading does not."""
    full = False
    files = FileSystem(clock=lambda: 0.0, is_full=lambda: full)
    files.write("/sdcard/a", b"x")
    full = True

    changes: list[Callable[[], None]] = [
        lambda: files.write("/sdcard/a", b"y"),
        lambda: files.append("/sdcard/a", b"y"),
        lambda: files.write("/sdcard/b", b""),
        lambda: files.mkdir("/sdcard/d"),
    ]
    for change in changes:
        with pytest.raises(FileSystemError) as error:
            change()
        assert reason(error) == "No space left on device"
    assert files.read("/sdcard/a") == b"x"
    files.remove("/sdcard/a")


def test_the_capacity_is_a_limit() -> None:
    """A file that does not fit is refused; replacing counts only the difference."""
    files = FileSystem(clock=lambda: 0.0, capacity_bytes=10)
    files.write("/sdcard/a", b"12345678")

    with pytest.raises(FileSystemError):
        files.append("/sdcard/a", b"901")
    files.write("/sdcard/a", b"1234567890")

    assert files.free_bytes == 0


def test_dev_null_swallows_everything(files: FileSystem) -> None:
    """Writing to it succeeds, reading gives nothing."""
    files.write("/dev/null", b"x" * 100)
    files.append("/dev/null", b"x")

    assert files.read("/dev/null") == b""
    assert files.used_bytes == 0


_paths = st.lists(
    st.sampled_from(["sdcard", "data", "local", "tmp", "a", "b", "..", ".", "", "dev", "null"])
    | st.text(max_size=3),
    max_size=5,
).map(lambda names: "/" + "/".join(names))

_operations = st.lists(
    st.tuples(
        st.sampled_from(["write", "append", "mkdir", "mkdirs", "remove", "rmtree"]),
        _paths,
        _paths,
    ),
    max_size=25,
)


@settings(max_examples=50, deadline=None)
@given(_operations)
def test_any_sequence_of_operations_fails_cleanly_or_is_done(
    operations: list[tuple[str, str, str]],
) -> None:
    """Afterwards each name in a folder is a file or a folder that can be described."""
    files = FileSystem(clock=lambda: 0.0)
    for name, path, other in operations:
        with contextlib.suppress(FileSystemError):
            _apply(files, name, path, other)

    folders = ["/"]
    while folders:
        folder = folders.pop()
        for name in files.listdir(folder):
            path = f"{folder}/{name}"
            (folders.append if files.is_dir(path) else files.read)(path)


def _apply(files: FileSystem, name: str, path: str, other: str) -> None:
    if name in ("write", "append"):
        getattr(files, name)(path, other.encode("utf-8", "replace"))
    elif name == "rmtree":
        files.remove(path, recursive=True)
    elif name == "mkdirs":
        files.mkdir(path, parents=True)
    else:
        getattr(files, name)(path)
