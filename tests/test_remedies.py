"""What to do about an error, as data, and the words that each front has for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator.cli.output import for_command_line
from pytest_clawperator.plugin.failures import for_pytest
from pytest_clawperator.remedies import (
    Remedy,
    RemedyKind,
    for_scripts,
    in_words,
    parts_of,
    with_remedy,
)

PACKAGE = Path(__file__).parent.parent / "pytest_clawperator"
# The command line writes projects for pytest, and says how phones are used in tests; test files
# are written for pytest.
FOR_PYTEST = {"plugin", "cli", "test_files"}
LIBRARY = [path for path in PACKAGE.rglob("*.py") if not FOR_PYTEST & set(path.parts)]
FRONTS = {"scripts": for_scripts, "pytest": for_pytest, "command line": for_command_line}

# What only one kind of reader can use.
OPTION = re.compile(r"--claw-|\bpytest\b(?!-clawperator)|\bpytest_clawperator_\w")
CALL = re.compile(r"\bconnect\(")


def example(kind: RemedyKind) -> Remedy:
    """Make a remedy with a subject of every sort."""
    return Remedy(kind, "SUBJECT", url="http://lab:3000", count=7)


def texts(source: str) -> Iterator[str]:
    """Yield the texts in a module's code, without its docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield node.value if isinstance(node.value, str) else ""


def test_every_front_has_words_for_every_kind() -> None:
    """No kind is forgotten, and its words are a phrase that fits into a sentence."""
    for kind in RemedyKind:
        for front in FRONTS.values():
            words = front(example(kind))

            assert words[0].islower(), (kind, front)
            assert not words.endswith((".", " ")), (kind, front)
            assert "{" not in words, (kind, front)


def test_each_front_keeps_to_its_own_words() -> None:
    """Only who runs pytest hears of its options, and only scripts hear of calls."""
    for kind in RemedyKind:
        remedy = example(kind)

        assert not OPTION.search(for_scripts(remedy) + for_command_line(remedy)), kind
        assert not CALL.search(for_pytest(remedy) + for_command_line(remedy)), kind
        assert len({front(remedy) for front in FRONTS.values()}) == len(FRONTS), kind


def test_the_subject_stands_in_the_words() -> None:
    """Who reads a hint can copy it as it is."""
    remedy = Remedy(RemedyKind.CHOOSE_REMOTE_DEVICE, "PH{1}", url="http://lab:3000")

    assert for_scripts(remedy) == "choose one: connect(url='http://lab:3000', serial='PH{1}')"
    assert for_pytest(remedy) == "choose one: --claw-device http://lab:3000/'PH{1}'"


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (None, None),
        ("pip install it", "pip install it"),
        (Remedy(RemedyKind.CORRECT_APK), "Correct operator_apk=."),
        (("Look, or ", Remedy(RemedyKind.CORRECT_APK)), "Look, or correct operator_apk=."),
        ((Remedy(RemedyKind.CORRECT_APK), ", or look."), "Correct operator_apk=, or look."),
    ],
)
def test_a_hint_is_one_sentence_of_its_parts(hint: str | Remedy | None, told: str | None) -> None:
    """Texts stay as they are; a remedy begins with a capital and ends in a full stop."""
    parts = parts_of(hint)

    assert in_words(parts, for_scripts) == told


def test_the_library_speaks_to_no_front() -> None:
    """Outside of the fronts' own words no text names an option, a hook or a call."""
    found = [
        f"{path.relative_to(PACKAGE)}: {text}"
        for path in LIBRARY
        for text in texts(path.read_text(encoding="utf-8"))
        if OPTION.search(text) or (CALL.search(text) and path.name != "remedies.py")
    ]

    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        'hint="Use --claw-device."',
        'f(f"{name}: run pytest with it.")',
        'hint = ("Have pytest_clawperator_processors return it.",)',
        'f("Switch it on: connect(grant=True).")',
    ],
)
def test_words_for_one_front_are_noticed(code: str) -> None:
    """The check itself can fail: each of these texts is refused."""
    assert any(OPTION.search(text) or CALL.search(text) for text in texts(code))


def test_names_of_the_package_are_no_words_for_a_front() -> None:
    """The package, its modules and its extras may be named."""
    for text in (
        "pip install 'pytest-clawperator[redis]'",
        "python -m pytest_clawperator.simulator",
    ):
        assert not OPTION.search(text)


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (None, "Find out what is wrong with `clawperator-py doctor`."),
        ("Look.", "Look; or find out what is wrong with `clawperator-py doctor`."),
        (
            Remedy(RemedyKind.CORRECT_APK),
            "Correct operator_apk=; or find out what is wrong with `clawperator-py doctor`.",
        ),
    ],
)
def test_another_way_out_ends_a_hint(hint: str | Remedy | None, told: str) -> None:
    """It is added once, and the hint stays one sentence."""
    doctor = Remedy(RemedyKind.RUN_DOCTOR)

    parts = with_remedy(with_remedy(parts_of(hint), doctor), doctor)

    assert in_words(parts, for_scripts) == told
    assert with_remedy(parts_of(hint), None) == parts_of(hint)
