"""Where goldens are kept, and which names they may have."""

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
    """A golden lies in a folder next to the test, and asking for it uses it."""
    store = GoldenStore(tmp_path)

    path = store.path("login", ".yaml")

    assert path == tmp_path / "__screens__" / "login.yaml"
    assert store.used == {path}


@pytest.mark.parametrize("name", ["login", "Sign in", "a.b-c_d+e", "日本語", "x" * 100, "1"])
def test_names(name: str) -> None:
    """Names are words as people write them."""
    assert goldens.checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "C:x", ".hidden", "a\0b", "a\nb"),
        *("x" * 101, "CON", "nul.txt", "a ", "a.", "~", "$HOME", "*", None, 3),
    ],
)
def test_hostile_names_are_refused(name: object) -> None:
    """A name that could lead elsewhere, or that no file can have, is refused."""
    with pytest.raises(ConfigurationError, match="cannot be the name of a golden"):
        goldens.checked_name(name)


@given(st.text())
def test_no_name_leads_elsewhere(name: str) -> None:
    """Whatever the name, it is refused or names a file right inside the folder."""
    store = GoldenStore(Path("/tests"))

    try:
        path = store.path(name, ".yaml")
    except ConfigurationError:
        path = Path("/tests/__screens__/refused")

    assert Path(os.path.normpath(path)).parent == Path("/tests/__screens__")


def test_writing_is_whole_and_noted(tmp_path: Path) -> None:
    """A written golden can be read, is noted, and leaves nothing else behind."""
    store = GoldenStore(tmp_path)
    path = store.path("login", ".yaml")

    store.write(path, b"- ...\n")

    assert store.read(path) == b"- ...\n"
    assert store.written == {path}
    assert list(path.parent.iterdir()) == [path]


def test_missing_golden_reads_as_none(tmp_path: Path) -> None:
    """What is not there is no error yet."""
    assert GoldenStore(tmp_path).read(tmp_path / "nothing.yaml") is None


def test_unreadable_golden_is_named(tmp_path: Path) -> None:
    """What is there and cannot be read is."""
    with pytest.raises(ConfigurationError, match=str(tmp_path)) as caught:
        GoldenStore(tmp_path).read(tmp_path)

    assert caught.value.code == ErrorCode.GOLDEN_UNREADABLE


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """Where nothing can be written, the path is told."""
    (tmp_path / "__screens__").write_text("in the way")
    store = GoldenStore(tmp_path)

    with pytest.raises(ConfigurationError, match="cannot be written"):
        store.write(store.path("login", ".yaml"), b"")


def test_pictures_of_all_screens_are_one_golden() -> None:
    """The pictures of one name for screens of other sizes count as used together."""
    folder = Path("__screens__")

    small = goldens.identity(folder / "login-720x1280-320dpi.png")

    assert small == goldens.identity(folder / "login-1080x2400.png")
    assert small != goldens.identity(folder / "logout-1080x2400.png")
    assert small != goldens.identity(folder / "login.yaml")


def test_callers_folder_is_the_default() -> None:
    """Without a store, goldens are next to the code that asks for them."""
    before = goldens.use(None)
    try:
        store = goldens.current()
    finally:
        goldens.use(before)

    assert store.folder == Path(__file__).parent
    assert not store.update
