"""Fonts of the machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.simulator.picture import fonts
from pytest_clawperator.simulator.picture.fonts import font_files, font_with, has_font


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Look for fonts in one folder only."""
    monkeypatch.setattr(fonts, "_FOLDERS", (str(tmp_path),))
    forget()
    monkeypatch.setattr(fonts, "_MOST_FILES", 50)
    return tmp_path


@pytest.fixture(autouse=True)
def forget_afterwards() -> Iterator[None]:
    """Let the next test look for the real fonts."""
    yield
    forget()


def forget() -> None:
    """Forget which fonts there are."""
    for name in ("font_files", "_path_with", "_path_of_block"):
        getattr(fonts, name).cache_clear()


def test_plain_fonts_come_first(folder: Path) -> None:
    """A regular font is asked before a bold or slanted one, in an order that is always the same."""
    for name in ("B-Bold.ttf", "Z.otf", "A.ttf", "A-BoldItalic.ttf", "notes.txt"):
        (folder / name).write_bytes(b"")

    names = [Path(path).name for path in font_files()]

    assert names == ["A.ttf", "Z.otf", "B-Bold.ttf", "A-BoldItalic.ttf"]


def test_a_broken_file_is_no_font(folder: Path) -> None:
    """What cannot be read as a font has no characters."""
    (folder / "broken.ttf").write_bytes(b"no font at all")

    assert font_with("中", 20) is None
    assert not has_font("中")


def test_the_search_has_an_end(folder: Path) -> None:
    """In a folder with more files than that, some are not looked at."""
    for place in range(4):
        (folder / str(place)).mkdir()
        for number in range(20):
            (folder / str(place) / f"{number}.ttf").write_bytes(b"")

    assert len(font_files()) == 40
