"""Reading YAML with lines."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.apps.yaml_source import MAX_BYTES, read_source

PATH = Path("app.yaml")


def test_words_stay_words() -> None:
    """`Off`, `no` and `12:30` are texts; only true, false, numbers and null are not."""
    data = read_source(PATH, text="[Off, no, 12:30, 2024-01-01, true, 7, 1.5, null, '7']").data

    assert data == ["Off", "no", "12:30", "2024-01-01", True, 7, 1.5, None, "7"]


def test_every_part_knows_its_line() -> None:
    """A place gives the line and column of its deepest part that the file has."""
    source = read_source(PATH, text="a: 1\nb:\n  - x: 2\n    y: 3\n  - z: 4\n")

    marks = [source.mark(place) for place in ((), ("a",), ("b", 0, "y"), ("b", 1, "no"))]
    assert marks == [(1, 1), (1, 1), (4, 5), (5, 5)]


def test_anchors_repeat_a_part() -> None:
    """An alias stands for what its anchor named."""
    assert read_source(PATH, text="a: &x [1, 2]\nb: *x\n").data == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\na: 2\n", 2, "twice"),
        ("a: 1\n b: 2\n", 2, "not YAML"),
        ("a:\n  - 'x\n", 3, "not YAML"),
        ("a: &x [*x]\n", 1, "no finished anchor"),
        ("a: *y\n", 1, "no finished anchor"),
        ("a: !!python/name:os.system x\n", 1, "tag"),
        ("? [1]\n: 2\n", 1, "plain word"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: " + "[" * 100_000, 1, "nested more than"),
        ("- " * 100 + "a", 1, "nested more than"),
    ],
)
def test_a_mistake_in_form_has_its_line(text: str, line: int, part: str) -> None:
    """What is not plain YAML of one document is refused, with file and line."""
    with pytest.raises(ConfigurationError) as refused:
        read_source(PATH, text=text)

    assert f"app.yaml:{line}:" in refused.value.message
    assert part in refused.value.message


def test_aliases_cannot_explode() -> None:
    """Anchors that hold anchors that hold anchors are counted as often as they are used."""
    text = "a0: &a0 [x]\n"
    for number in range(1, 12):
        text += f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n"

    with pytest.raises(ConfigurationError, match="more than"):
        read_source(PATH, text=text)


@settings(deadline=None, database=None)
@given(st.text(max_size=60))
def test_no_text_does_harm(text: str) -> None:
    """Any text is either read, or refused with a ConfigurationError."""
    with contextlib.suppress(ConfigurationError):
        read_source(PATH, text=text)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a folder, other bytes and a huge file are each named."""
    odd = tmp_path / "odd.yaml"
    odd.write_bytes(b"\xff\xfe\x00")
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * (MAX_BYTES + 1))

    for path, part in (
        (tmp_path / "none.yaml", "cannot be read"),
        (tmp_path, "cannot be read"),
        (odd, "UTF-8"),
        (huge, "longer than"),
    ):
        with pytest.raises(ConfigurationError) as refused:
            read_source(path)
        assert part in refused.value.message
        assert str(path) in refused.value.message
