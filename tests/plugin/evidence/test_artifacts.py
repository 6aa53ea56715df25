"""Folders and names of evidence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.plugin.artifacts import Artifacts, folder_name, safe_file_name
from pytest_clawperator.report.sinks import Attachment


def test_folder_names_are_readable_safe_and_short() -> None:
    """A name tells the test, and holds nothing that a file system could mind."""
    name = folder_name("tests/ui/test_login.py::TestForm::test_wrong[käse/../x:y]")

    assert name.startswith("test_login-TestForm-test_wrong-k-se-..-x-y-")
    assert len(folder_name("test_x.py::test_" + "x" * 500)) < 80


def test_folder_names_differ_where_tests_do() -> None:
    """Two tests never share a folder, whatever the file system makes of letters."""
    nodes = ["a/test_x.py::test_a", "b/test_x.py::test_a", "a/test_x.py::test_A"]

    assert len({folder_name(node).lower() for node in nodes}) == 3


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("cart.json", "cart.json"),
        ("../../etc/passwd", "etc-passwd"),
        ("a b\\c:d?.png", "a-b-c-d.png"),
        ("con.txt", "_con.txt"),
        ("...", "file"),
        ("x" * 300 + ".png", "x" * 76 + ".png"),
    ],
)
def test_a_file_name_leads_nowhere_else_and_keeps_its_suffix(name: str, safe: str) -> None:
    """A file's name leads nowhere else and keeps its suffix."""
    assert safe_file_name(name) == safe


def test_attached_bytes_become_a_file(tmp_path: Path) -> None:
    """Bytes become a file that is told; the folder is made only then."""
    told: list[Attachment] = []
    artifacts = Artifacts(tmp_path / "run" / "test", on_attached=told.append)
    before = list(tmp_path.iterdir())

    path = artifacts.attach("cart.json", b"{}")

    assert (before, path, path.read_bytes()) == ([], tmp_path / "run/test/cart.json", b"{}")
    assert told == [Attachment(name="cart.json", path=path, mime="application/json")]


def test_attach_gives_a_suffix(tmp_path: Path) -> None:
    """A name without a suffix gets that of its kind."""
    artifacts = Artifacts(tmp_path / "test")

    assert artifacts.attach("note", b"x", "text/plain").name == "note.txt"


def test_attach_the_same_name_twice(tmp_path: Path) -> None:
    """Nothing is overwritten."""
    artifacts = Artifacts(tmp_path / "test")

    paths = [artifacts.attach("a.txt", content) for content in (b"1", b"2", b"3")]

    assert [path.name for path in paths] == ["a.txt", "a-2.txt", "a-3.txt"]
    assert paths[0].read_bytes() == b"1"


def test_attach_a_file(tmp_path: Path) -> None:
    """A file is copied; one that is in the folder already stays where it is."""
    source = tmp_path / "source.txt"
    source.write_bytes(b"text")
    artifacts = Artifacts(tmp_path / "test")
    inside = artifacts.folder / "own.txt"
    inside.write_bytes(b"own")

    copied = artifacts.attach("copy.txt", source)
    kept = artifacts.attach("own.txt", inside)

    assert (copied.read_bytes(), kept) == (b"text", inside)
    assert sorted(path.name for path in artifacts.folder.iterdir()) == ["copy.txt", "own.txt"]


def test_attach_what_is_not_there(tmp_path: Path) -> None:
    """A file that is missing is named."""
    with pytest.raises(ConfigurationError, match=r"gone\.txt cannot be attached") as caught:
        Artifacts(tmp_path / "test").attach("x.txt", tmp_path / "gone.txt")

    assert caught.value.code is ErrorCode.FILE_UNAVAILABLE


def test_attached_text_is_refused(tmp_path: Path) -> None:
    """A text could be either, so it is neither."""
    content: object = "text"

    with pytest.raises(ConfigurationError, match="found str, wanted bytes or a Path"):
        Artifacts(tmp_path / "test").attach("x.txt", content)  # type: ignore[arg-type]


def test_a_folder_that_was_deleted(tmp_path: Path) -> None:
    """It is made again, and until then nothing is in it."""
    artifacts = Artifacts(tmp_path / "run" / "test")
    artifacts.attach("a.txt", b"1")
    shutil.rmtree(tmp_path / "run")
    was_empty = artifacts.is_empty

    path = artifacts.attach("a.txt", b"2")

    assert was_empty
    assert (path, path.read_bytes()) == (tmp_path / "run/test/a.txt", b"2")


@pytest.mark.parametrize("blocked", ["run", "run/test/a.txt"])
def test_a_place_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocked: str
) -> None:
    """A file where a folder should be, or a full disk, is named with what to do."""
    artifacts = Artifacts(tmp_path / "run" / "test")
    if blocked == "run":
        (tmp_path / "run").write_bytes(b"a file")
    else:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "open", full)

    with pytest.raises(ConfigurationError, match=f"{blocked}.* cannot be written: ") as caught:
        artifacts.attach("a.txt", b"1")

    assert caught.value.code is ErrorCode.FILE_UNAVAILABLE
    assert "--claw-output" in str(caught.value.hint)


def test_a_folder_is_never_shared(tmp_path: Path) -> None:
    """What is there already is somebody else's."""
    first, second = (Artifacts(tmp_path / "test-1.5") for _ in range(2))

    assert [first.folder.name, second.folder.name] == ["test-1.5", "test-1.5-2"]
