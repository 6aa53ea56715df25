"""What to do about an error, as data, and the words that each front has for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_clawperator import remedies
from pytest_clawperator.cli.output import for_command_line
from pytest_clawperator.plugin.failures import for_pytest
from pytest_clawperator.remedies import Remedy, RemedyKind, for_scripts

PACKAGE = Path(__file__).parent.parent / "pytest_clawperator"
# The command line writes projects for pytest, and explains how to use phones in tests; test files
# are written for pytest.
FOR_PYTEST = {"plugin", "cli", "test_files"}
LIBRARY = [path for path in PACKAGE.rglob("*.py") if not FOR_PYTEST & set(path.parts)]
FRONTS = {"scripts": for_scripts, "pytest": for_pytest, "command line": for_command_line}

# What only one kind of reader can use.
OPTION = re.compile(r"--claw-|\bpytest\b(?!-clawperator)|\bpytest_clawperator_\w")
CALL = re.compile(r"\bconnect\(")
DOCTOR = "find out what is wrong with `clawperator-py doctor`."


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


def test_every_front_has_its_own_words_for_every_kind() -> None:
    """They are a phrase that fits into a sentence; options are pytest's, calls are scripts'."""
    for kind in RemedyKind:
        remedy = example(kind)
        for front in FRONTS.values():
            words = front(remedy)
            assert words[0].islower(), (kind, front)
            assert not words.endswith((".", " ")), (kind, front)
            assert "{" not in words, (kind, front)
        assert not OPTION.search(for_scripts(remedy) + for_command_line(remedy)), kind
        assert not CALL.search(for_pytest(remedy) + for_command_line(remedy)), kind
        assert len({front(remedy) for front in FRONTS.values()}) == len(FRONTS), kind


def test_the_subject_is_part_of_the_words() -> None:
    """A hint can be copied as it is."""
    remedy = Remedy(RemedyKind.CHOOSE_REMOTE_DEVICE, "PH{1}", url="http://lab:3000")

    assert for_scripts(remedy) == "choose one: connect(url='http://lab:3000', serial='PH{1}')"
    assert for_pytest(remedy) == "choose one: --claw-device http://lab:3000/'PH{1}'"


@pytest.mark.parametrize(
    ("hint", "text", "with_doctor"),
    [
        (None, None, "Find out what is wrong with `clawperator-py doctor`."),
        ("pip install it", "pip install it", f"pip install it; or {DOCTOR}"),
        ("Look.", "Look.", f"Look; or {DOCTOR}"),
        (
            Remedy(RemedyKind.CORRECT_APK),
            "Correct operator_apk=.",
            f"Correct operator_apk=; or {DOCTOR}",
        ),
        (
            ("Look, or ", Remedy(RemedyKind.CORRECT_APK)),
            "Look, or correct operator_apk=.",
            f"Look, or correct operator_apk=; or {DOCTOR}",
        ),
        (
            (Remedy(RemedyKind.CORRECT_APK), ", or look."),
            "Correct operator_apk=, or look.",
            f"Correct operator_apk=, or look; or {DOCTOR}",
        ),
    ],
)
def test_a_hint_is_one_sentence_of_its_parts(
    hint: remedies.Hint | None, text: str | None, with_doctor: str
) -> None:
    """Texts stay as they are, a remedy begins with a capital; another one is added once."""
    parts, doctor = remedies.parts_of(hint), Remedy(RemedyKind.RUN_DOCTOR)

    assert remedies.in_words(parts, for_scripts) == text
    assert (
        remedies.in_words(
            remedies.with_remedy(remedies.with_remedy(parts, doctor), doctor), for_scripts
        )
        == with_doctor
    )
    assert remedies.with_remedy(parts, None) == parts


def test_the_library_speaks_to_no_front() -> None:
    """Outside of the fronts' own words no text names an option, a hook or a call."""
    found = [
        f"{path.relative_to(PACKAGE)}: {text}"
        for path in LIBRARY
        for text in texts(path.read_text(encoding="utf-8"))
        if OPTION.search(text) or (CALL.search(text) and path.name != "remedies.py")
    ]

    assert found == []


def test_words_for_one_front_are_noticed() -> None:
    """The check itself can fail; the package, its modules and its extras may be named."""
    for code in (
        'hint="Use --claw-device."',
        'f(f"{name}: run pytest with it.")',
        'hint = ("Have pytest_clawperator_processors return it.",)',
        'f("Switch it on: connect(grant=True).")',
    ):
        assert any(OPTION.search(text) or CALL.search(text) for text in texts(code)), code
    for text in (
        "pip install 'pytest-clawperator[redis]'",
        "python -m pytest_clawperator.simulator",
    ):
        assert not OPTION.search(text)
