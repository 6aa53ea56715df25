"""The files of goldens, and their names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.store import GoldenStore
from pytest_clawperator.errors import ConfigurationError, ErrorCode


def test_goldens_are_next_to_the_test(tmp_path: Path) -> None:
    """The path of a golden is in a folder next to the test, and asking for it marks it as used."""
    store = GoldenStore(tmp_path)

    path = store.path("login", ".yaml")

    assert path == tmp_path / "__screens__" / "login.yaml"
    assert store.used == {path}


@pytest.mark.parametrize("name", ["login", "Sign in", "a.b-c_d+e", "日本語", "x" * 100, "1"])
def test_usual_names_are_accepted(name: str) -> None:
    """A name may have letters of any script, digits, spaces and a few signs."""
    assert goldens.checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "C:x", ".hidden", "a\0b", "a\nb"),
        *("x" * 101, "CON", "nul.txt", "a ", "a.", "~", "$HOME", "*", None, 3),
    ],
)
def test_hostile_names_are_refused(name: object) -> None:
    """A name that leads to another folder, or that no file can have, is refused."""
    with pytest.raises(ConfigurationError, match="cannot be the name of a golden"):
        goldens.checked_name(name)


@given(st.text())
def test_no_name_leads_to_another_folder(name: str) -> None:
    """Any name is refused, or is a file right inside the folder."""
    store = GoldenStore(Path("/tests"))

    try:
        path = store.path(name, ".yaml")
    except ConfigurationError:
        path = Path("/tests/__screens__/refused")

    assert Path(os.path.normpath(path)).parent == Path("/tests/__screens__")


def test_a_written_golden_is_readable_and_noted(tmp_path: Path) -> None:
    """A written golden can be read, is noted, and leaves no temporary file."""
    store = GoldenStore(tmp_path)
    path = store.path("login", ".yaml")

    store.write(path, b"- ...\n")

    assert store.read(path) == b"- ...\n"
    assert store.written == {path}
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_golden_reads_as_none(tmp_path: Path) -> None:
    """Reading a missing file is no error."""
    assert GoldenStore(tmp_path).read(tmp_path / "nothing.yaml") is None


def test_an_unreadable_golden_is_named(tmp_path: Path) -> None:
    """The error for a golden that cannot be read names the path."""
    with pytest.raises(ConfigurationError, match=str(tmp_path)) as caught:
        GoldenStore(tmp_path).read(tmp_path)

    assert caught.value.code == ErrorCode.GOLDEN_UNREADABLE


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """The error for a golden that cannot be written names the path."""
    (tmp_path / "__screens__").write_text("in the way")
    store = GoldenStore(tmp_path)

    with pytest.raises(ConfigurationError, match="cannot be written"):
        store.write(store.path("login", ".yaml"), b"")


def test_pictures_of_all_screens_are_one_golden() -> None:
    """Pictures of one name for several screen sizes have one identity."""
    folder = Path("__screens__")

    small = goldens.identity(folder / "login-720x1280-320dpi.png")

    assert small == goldens.identity(folder / "login-1080x2400.png")
    assert small != goldens.identity(folder / "logout-1080x2400.png")
    assert small != goldens.identity(folder / "login.yaml")


def test_the_folder_of_the_caller_is_the_default() -> None:
    """Without a store, goldens are next to the code that asks for them."""
    before = goldens.use(None)
    try:
        store = goldens.current()
    finally:
        goldens.use(before)

    assert store.folder == Path(__file__).parent
    assert not store.update
