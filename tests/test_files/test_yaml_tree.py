"""YAML with places: values as editors read them, and limits for what is hostile."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.test_files.yaml_tree import (
    MAX_DEPTH,
    Items,
    Mapping,
    Mark,
    Mistake,
    Scalar,
    YamlNode,
    read_yaml,
)


def tree_of(text: str, folder: Path) -> YamlNode:
    """Read a text."""
    path = folder / "a.yaml"
    path.write_text(text, encoding="utf-8")
    return read_yaml(path)


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
def test_only_numbers_and_few_words_are_no_texts(text: str, value: object, tmp_path: Path) -> None:
    """What people write on screens stays text; the rest is as in YAML 1.2."""
    found = tree_of(text, tmp_path)

    assert isinstance(found, Scalar)
    assert (found.value, type(found.value)) == (value, type(value))


def test_every_part_knows_its_place(tmp_path: Path) -> None:
    """Keys and values have lines and columns, counted from 1, also behind an odd character."""
    tree = tree_of("# a comment\nname: {é: [1, two]}\n", tmp_path)

    assert isinstance(tree, Mapping)
    assert tree.entries["name"].mark == Mark(2, 1)
    inner = tree.entries["name"].value
    assert isinstance(inner, Mapping)
    assert inner.entries["é"].mark == Mark(2, 8)
    items = inner.entries["é"].value
    assert isinstance(items, Items)
    assert [item.mark for item in items.items] == [Mark(2, 12), Mark(2, 15)]


def test_an_anchor_stands_for_its_value(tmp_path: Path) -> None:
    """What is anchored can be repeated."""
    tree = tree_of("a: &it {b: 1}\nc: *it\n", tmp_path)

    assert isinstance(tree, Mapping)
    assert tree.get("c") is tree.get("a")


BILLION_LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("a: 1\nb: 2\na: 3", (3, 1), 'the key "a" is there twice'),
        ("a: !!python/object:os.system x", (1, 4), "is not allowed; write plain values"),
        ("a: !include b", (1, 4), 'the tag "!include" is not allowed'),
        ("a: !!set {b, c}", (1, 4), "is not allowed"),
        ("5: a", (1, 1), "a key must be a text"),
        ("true: a", (1, 1), "a key must be a text"),
        ("[a]: b", (1, 1), "a key must be a text"),
        ("a: &a [*a]", (1, 8), 'no anchor "&a" ends above'),
        ("a: *b", (1, 4), 'no anchor "&b" ends above'),
        ("a: &b {c: 1}\nd: {<<: *b}", (2, 5), "`<<` is not understood"),
        ("a: 1\n---\nb: 2", (2, 1), "a second document begins"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), (1, 41), "nested more than 40 deep"),
        ("[" * 100_000, (1, 41), "nested more than 40 deep"),
        (BILLION_LAUGHS, (5, 10), "more than 20000 values, with what anchors repeat"),
        ("a: b: c", (1, 5), "this is not YAML"),
    ],
    ids=range(15),
)
def test_what_is_not_understood_is_told_with_its_place(
    text: str, place: tuple[int, int], told: str, tmp_path: Path
) -> None:
    """Tags, repeated keys, explosions and other YAML that nobody needs are mistakes."""
    with pytest.raises(Mistake) as caught:
        tree_of(text, tmp_path)

    assert told in caught.value.message
    assert caught.value.mark == place
