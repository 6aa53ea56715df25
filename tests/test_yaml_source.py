"""YAML with places: values as editors read them, and limits for hostile files."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.yaml_source import (
    MAX_BYTES,
    MAX_DEPTH,
    Items,
    Mapping,
    Mistake,
    Scalar,
    Source,
    place_of,
    read_yaml,
    without_places,
)

PATH = Path("app.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("OK", "OK"), ("Off", "Off"), ("12:30", "12:30"), ("1_000", "1_000"), ("yes", "yes"),
        ("'5'", "5"), ("!!str 5", "5"), ("5", 5), ("-5", -5), ("0x1F", 31), ("0o17", 15),
        ("017", 17), ("2.5", 2.5), (".5", 0.5), ("1e3", 1000.0), ("true", True), ("TRUE", True),
        ("False", False), ("null", None), ("~", None), ("", None), ("2026-01-02", "2026-01-02"),
        ("9" * 30, "9" * 30),
    ],
)  # fmt: skip
def test_only_numbers_and_few_words_are_not_texts(text: str, value: object) -> None:
    """What people write on screens stays text; the rest is as in YAML 1.2."""
    found = read_yaml(PATH, text=text)

    assert isinstance(found, Scalar)
    assert (found.value, type(found.value)) == (value, type(value))


def test_every_part_knows_its_place() -> None:
    """Keys and values have lines and columns, counted from 1, also after an odd character."""
    tree = read_yaml(PATH, text="# a comment\nname: {é: [1, two]}\n")

    assert isinstance(tree, Mapping)
    assert tree.entries["name"].mark == (2, 1)
    inner = tree.get("name")
    assert isinstance(inner, Mapping)
    assert inner.entries["é"].mark == (2, 8)
    items = inner.get("é")
    assert isinstance(items, Items)
    assert [item.mark for item in items.items] == [(2, 12), (2, 15)]


def test_an_anchor_stands_for_its_value() -> None:
    """What is anchored can be repeated."""
    tree = read_yaml(PATH, text="a: &it {b: 1}\nc: *it\n")

    assert isinstance(tree, Mapping)
    assert tree.get("c") is tree.get("a")


BILLION_LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: 1\nb: 2\na: 3", (3, 1), "the key `a` is there twice"),
        ("a: !!python/object:os.system x", (1, 4), "is not allowed; write plain values"),
        ("a: !include b", (1, 4), "the tag `!include` is not allowed"),
        ("a: !!set {b, c}", (1, 4), "is not allowed"),
        ("5: a", (1, 1), "a key must be a text"),
        ("true: a", (1, 1), "a key must be a text"),
        ("[a]: b", (1, 1), "a key must be a text"),
        ("a: &a [*a]", (1, 8), "no anchor `&a` ends above"),
        ("a: *b", (1, 4), "no anchor `&b` ends above"),
        ("a: &b {c: 1}\nd: {<<: *b}", (2, 5), "`<<` is not supported"),
        ("a: 1\n---\nb: 2", (2, 1), "a second document begins"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), (1, 61), "nested more than 60 deep"),
        ("[" * 100_000, (1, 61), "nested more than 60 deep"),
        (BILLION_LAUGHS, (6, 10), "more than 200000 values, with what anchors repeat"),
        ("a: b: c", (1, 5), "this is not YAML"),
        ("a:\n  - 'x\n", (3, 1), "this is not YAML"),
        ("a: \0", (1, 1), "this is not YAML"),
    ],
    ids=range(17),
)
def test_unsupported_yaml_is_refused(text: str, place: tuple[int, int], message: str) -> None:
    """Tags, repeated keys, explosions and what is not YAML are mistakes with a place."""
    with pytest.raises(Mistake) as caught:
        read_yaml(PATH, text=text)

    assert message in caught.value.message
    assert caught.value.mark == place


def test_unusable_files_are_refused(tmp_path: Path) -> None:
    """A missing file, a folder, other bytes and a huge file are each named."""
    odd = tmp_path / "odd.yaml"
    odd.write_bytes(b"a: 1\nb: \xff\xfe\x00")
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * (MAX_BYTES + 1))

    for path, message in {
        tmp_path / "none.yaml": ":1:1: it cannot be read",
        tmp_path: ":1:1: it cannot be read",
        odd: ":2:1: this is not text in UTF-8",
        huge: ":1:1: longer than 1000000 bytes",
    }.items():
        with pytest.raises(ConfigurationError) as refused:
            Source(path, hint="Look again.")
        assert f"{path}{message}" in refused.value.message


def test_texts_of_a_source_know_their_places() -> None:
    """Keys and texts of plain data have a place, which can be taken off again."""
    data = Source(PATH, text="a: 1\nb: [x, 'y']", hint="").data

    assert data == {"a": 1, "b": ["x", "y"]}
    assert [place_of(one) for one in (*data, *data["b"])] == [
        *("app.yaml:1:1", "app.yaml:2:1", "app.yaml:2:5", "app.yaml:2:8"),
    ]
    plain = without_places(data)
    assert plain == data
    assert isinstance(plain, dict)
    assert {type(one) for one in (*plain, *plain["b"])} == {str}


def test_a_place_leads_to_the_deepest_part_of_the_file() -> None:
    """A schema may ask for a part that is missing, or written in a short form."""
    text = "a: 1\nb:\n  - x: 2\n    y: 3\n  - z: 4\nc: {row: [5, 6]}\n"
    source = Source(PATH, text=text, short_forms=("items",), hint="")

    assert {
        place: source.spot(place)
        for place in ((), ("a",), ("b", 0, "y"), ("b", 1, "no"), ("b", 7), ("c", "items", 1))
    } == {
        (): "app.yaml:1:1",
        ("a",): "app.yaml:1:1",
        ("b", 0, "y"): "app.yaml:4:5",
        ("b", 1, "no"): "app.yaml:5:5",
        ("b", 7): "app.yaml:2:1",
        ("c", "items", 1): "app.yaml:6:14",
    }


def test_an_error_of_a_source_has_place_and_hint() -> None:
    """Details name file, line and column; a mistake without a hint gets that of the source."""
    with pytest.raises(ConfigurationError) as refused:
        Source(PATH, text="a: 1\n a: 2", hint="Read the page.")
    error = Source(PATH, text="a: 1", hint="Read the page.").error(("a",), "too small")

    assert "near that line" in str(refused.value.hint)
    assert (error.message, error.hint) == ("app.yaml:1:1: too small", "Read the page.")
    assert error.details == {"file": "app.yaml", "line": 1, "column": 1}


@settings(deadline=None, database=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises another error."""
    with contextlib.suppress(ConfigurationError):
        Source(PATH, text=text, hint="")
