"""Fonts and glyphs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.simulator.picture import fonts
from pytest_clawperator.simulator.picture.fonts import (
    Glyph,
    font_files,
    font_with,
    glyphs,
    has_font,
)
from pytest_clawperator.simulator.picture.text import text_mask
from tests.programs import ARABIC_FONT, CHINESE_FONT, INDIAN_FONT, Program, missing


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


def needs(program: Program) -> pytest.MarkDecorator:
    """Skip a test where a font is not installed."""
    return pytest.mark.skipif(missing(program) is not None, reason=str(missing(program)))


@pytest.fixture
def without_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Draw as on a machine that has no fonts."""
    monkeypatch.setattr(fonts, "font_files", tuple)
    for cached in (fonts._path_with, fonts._path_of_block, text_mask):
        cached.cache_clear()
    yield
    for cached in (fonts._path_with, fonts._path_of_block, text_mask):
        cached.cache_clear()


@pytest.mark.usefixtures("without_fonts")
@pytest.mark.parametrize(
    ("letter", "like"),
    [
        ("ø", "o"), ("Ø", "O"), ("ł", "l"), ("đ", "d"), ("Đ", "D"), ("ß", "B"),
        ("þ", "p"), ("ı", "i"), ("ï", "i"), ("ç", "c"), ("ę", "e"), ("ů", "u"),
    ],
)  # fmt: skip
def test_latin_letters_need_no_fonts(letter: str, like: str) -> None:
    """They are drawn by hand, and neither as a mark nor as the letter that they are like."""
    (glyph,) = glyphs(letter)

    assert not glyph.foreign
    assert not glyph.strange
    assert text_mask(letter, 40).tobytes() != text_mask(like, 40).tobytes()


@pytest.mark.usefixtures("without_fonts")
def test_other_scripts_are_marks_without_fonts() -> None:
    """Each character has a mark that stands for it."""
    assert glyphs("中ж") == [Glyph("", strange="中"), Glyph("", strange="ж")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("中文设置", marks=needs(CHINESE_FONT)),
        pytest.param("हिन्दी नमस्ते", marks=needs(INDIAN_FONT)),
        pytest.param("العربية: الإعدادات 42%", marks=needs(ARABIC_FONT)),
        pytest.param("עברית", marks=needs(ARABIC_FONT)),
        pytest.param("Ελληνικά", marks=needs(ARABIC_FONT)),
    ],
)
def test_a_text_of_one_script_is_drawn_with_its_font(text: str) -> None:
    """A font of the machine draws the whole text, so that its letters join and stand in order."""
    (glyph,) = glyphs(text)

    assert glyph.foreign == text
    assert text_mask(text, 40).getbbox() is not None


@needs(CHINESE_FONT)
@needs(ARABIC_FONT)
def test_scripts_in_one_text_have_their_own_fonts() -> None:
    """Each part of a text is drawn with a font that has it."""
    parts = [glyph.foreign or glyph.text for glyph in glyphs("A 世界, שלום")]

    assert parts == ["A", " ", "世界", ",", " ", "שלום"]
