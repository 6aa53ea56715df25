"""Fonts and glyphs; measuring, shortening, wrapping and drawing text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.simulator.picture import text as fonts
from pytest_clawperator.simulator.picture.text import (
    ELLIPSIS,
    fitted,
    font_files,
    font_with,
    glyphs,
    has_font,
    text_mask,
    text_width,
    wrapped,
)
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
def test_letters_beyond_ascii_need_no_fonts() -> None:
    """Accents are drawn by hand, other scripts as marks, and none of them as its neighbour."""
    pairs = (
        *("øo", "ØO", "łl", "đd", "ĐD", "ßB", "þp", "ıi", "ïi", "çc", "ęe", "ůu", "ée", "üu", "ñn"),
        *("ÅA", "€C", "čc", "őo", "æa", "中国", "жш", "😀A", "✓x", "→x"),
    )
    for pair in pairs:
        masks = [text_mask(letter, 40) for letter in pair]
        assert masks[0].tobytes() != masks[1].tobytes(), pair
        assert masks[0].getbbox() is not None, pair
    assert [glyph.strange for glyph in glyphs("中жï")] == ["中", "ж", ""]


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


@pytest.mark.parametrize("width", [0, 10, 60, 200, 1000])
def test_shortened_text_fits_into_its_room(width: int) -> None:
    """Shortened text is never wider than its room, and says that it was shortened."""
    text = "Connected devices and everything else"

    result = fitted(text, 30, width)

    assert text_mask(result, 30, room=width).width <= max(width, 2)
    assert text_width(result, 30) * 0.85 <= width
    assert result in ("", text) or result.endswith(ELLIPSIS)


def test_wrapped_text_keeps_its_words() -> None:
    """Lines fit and hold every word, unless there are too few of them."""
    text = "one two three four five six seven\neight"

    lines = wrapped(text, 30, 200, 20)

    assert " ".join(lines).split() == text.split()
    assert all(text_mask(line, 30, room=200).width <= 202 for line in lines)
    assert len(wrapped(text, 30, 200, 2)) == 2
    assert wrapped(text, 30, 200, 2)[-1].endswith(ELLIPSIS)
