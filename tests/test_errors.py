"""The error tree: its drawing, its texts and hints, and its way through pickle."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import (
    ClawperatorError,
    DeviceUnavailableError,
    ErrorCode,
    ExecutionValidationError,
    ExpectationError,
    NodeNotFoundError,
    Problem,
    SkillFailedError,
    StepFailedError,
    known_code,
)
from pytest_clawperator.remedies import Remedy, RemedyKind

CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type)
    and issubclass(value, BaseException)
    and value.__module__ == "pytest_clawperator"
    and not value.__name__.startswith("_")
]


def make(cls: Any) -> Any:
    """Make an error of any class with everything it can carry."""
    if cls is ExecutionValidationError:
        problem = Problem("actions.0", "bad", "x", "y", "z")
        return cls([problem], hint=Remedy(RemedyKind.NAME_PACKAGE), details={"k": [1]})
    if issubclass(cls, UserWarning):
        return cls("a warning")
    hint = ("Try again, or ", Remedy(RemedyKind.CHOOSE_DEVICE, "S1", count=2))
    return cls("broken", code="NEW_CODE", serial="S1", hint=hint, details={"k": [1]})


def drawn_tree() -> dict[str, str | None]:
    """Read the drawing in the module's docstring: class to parent."""
    parents: dict[str, str | None] = {}
    stack: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"    ((?:[│ ]   )*)([├└]── )?(\w+)(?:\((\w+)\))?$", line)
        if match is None:
            continue
        depth = len(match[1]) // 4 + (1 if match[2] else 0)
        parents[match[3]] = stack[depth - 1] if depth else match[4]
        stack[depth:] = [match[3]]
    return parents


def test_the_drawing_is_true() -> None:
    """The tree in the docstring is the tree of the code, class by class."""
    drawn = drawn_tree()

    assert set(drawn) == {cls.__name__ for cls in CLASSES}
    for cls in CLASSES:
        parent = drawn[cls.__name__]
        assert parent in {base.__name__ for base in cls.__mro__[1:]}
        direct = {base.__name__ for base in cls.__bases__}
        assert parent in direct


def test_every_error_pickles_whole() -> None:
    """Class, text and every attribute survive the way from a worker to the controller."""
    for cls in CLASSES:
        error = make(cls)

        for twin in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            assert type(twin) is cls, cls
            assert str(twin) == str(error), cls
            assert vars(twin) == vars(error), cls
            assert twin.args == error.args, cls


def test_every_error_has_a_code() -> None:
    """An error made with nothing but a message still has a code, and begins with it."""
    for cls in CLASSES:
        if issubclass(cls, UserWarning):
            continue
        error: Any = cls([Problem("", "bad")]) if cls is ExecutionValidationError else cls("bad")

        assert isinstance(error.code, ErrorCode), cls
        assert str(error).startswith(f"{error.code}: bad"), cls


def test_text_names_device_code_and_next_step() -> None:
    """An error about a device begins with its serial and ends in something to do."""
    error = DeviceUnavailableError(
        "the device is offline", serial="emulator-5554", hint="Run adb reconnect."
    )

    text = str(error)

    assert text == (
        "[emulator-5554] DEVICE_OFFLINE: the device is offline\n  hint: Run adb reconnect."
    )


def test_a_remedy_is_worded_for_scripts_until_a_front_words_it() -> None:
    """The hint is the advice in words: those of scripts first, then those of the front."""
    error = ClawperatorError("gone", hint=Remedy(RemedyKind.CORRECT_SERIAL))
    for_scripts = error.hint

    error.wording = lambda remedy: f"see to {remedy.kind.name}"

    assert for_scripts == "Correct serial=."
    assert error.hint == "See to CORRECT_SERIAL."
    assert str(error).endswith("hint: See to CORRECT_SERIAL.")


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (None, "It may still act."),
        ("Wait.", "Wait. It may still act."),
        (Remedy(RemedyKind.CORRECT_SERIAL), "Correct serial=. It may still act."),
    ],
)
def test_a_sentence_can_be_added_to_any_hint(hint: str | Remedy | None, told: str) -> None:
    """It follows what was said before, and the remedy stays data."""
    error = ClawperatorError("gone", hint=hint)

    error.add_hint("It may still act.")

    assert error.hint == told


def test_a_hint_can_be_replaced_by_a_text() -> None:
    """A text in the place of a remedy is the same for every reader."""
    error = ClawperatorError("gone", hint=Remedy(RemedyKind.CORRECT_SERIAL))

    error.hint = "Look at its cable."

    assert error.advice == ("Look at its cable.",)


def test_only_failures_of_app_or_test_are_assertions() -> None:
    """Failed steps and expectations count as failed; a broken lab does not."""
    assertions = {cls for cls in CLASSES if issubclass(cls, AssertionError)}

    assert assertions == {
        StepFailedError,
        *StepFailedError.__subclasses__(),
        SkillFailedError,
        ExpectationError,
    }
    assert not issubclass(ExpectationError, ClawperatorError)


def test_unknown_code_stays_a_string() -> None:
    """A newer Operator may send codes that the enum has not heard of."""
    error = NodeNotFoundError("gone", code="SOMETHING_NEW")

    assert error.code == "SOMETHING_NEW"
    assert not isinstance(error.code, ErrorCode)


def test_half_characters_can_be_printed() -> None:
    """Text from a screen may hold what no terminal can show; the error's text can be written."""
    for error in (StepFailedError("\udc00"), ExecutionValidationError([Problem("\udc00", "x")])):
        assert "\\udc00" in str(error)
        str(error).encode()


def test_many_problems_are_numbered_and_bounded() -> None:
    """Ten problems are shown and the rest counted; the attribute has them all."""
    problems = [Problem(f"actions.{n}", f"problem {n}", "this", "that") for n in range(25)]

    error = ExecutionValidationError(problems)

    text = str(error)
    assert text.startswith("EXECUTION_VALIDATION_FAILED: 25 problems\n1. problem 0 (at actions.0)")
    assert "10. problem 9" in text
    assert "problem 10" not in text
    assert text.endswith("... and 15 more")
    assert len(error.problems) == 25
    assert error.path == "actions.0"
    assert error.message == "problem 0"


def test_what_was_on_the_screen_stands_before_the_hint() -> None:
    """A failed step shows the nearest nodes and the first lines of the screen, then the hint."""
    outline = "\n".join(f"line {n}" for n in range(20))

    error = NodeNotFoundError("gone", nearest=["a", "b", "c", "d"], outline=outline, hint="Look.")

    lines = str(error).split("\n")
    assert lines[:4] == ["NODE_NOT_FOUND: gone", *(f"  nearest: {name}" for name in "abc")]
    assert lines[4:6] == ["  on the screen:", "    line 0"]
    assert lines[-2:] == ["    ... 6 more lines in .outline", "  hint: Look."]
    assert error.nearest == ("a", "b", "c", "d")


def test_a_single_hidden_line_of_the_screen_is_counted_as_one() -> None:
    """The count has its noun in the singular."""
    outline = "\n".join(f"line {n}" for n in range(NodeNotFoundError.shown_lines + 1))

    error = NodeNotFoundError("gone", outline=outline)

    assert str(error).endswith("\n    ... 1 more line in .outline")


@pytest.mark.parametrize("character", ["\x1b", "\r", "\x9b", "\u202e", "\ud83d"], ids=ascii)
def test_control_characters_are_shown_and_not_obeyed(character: str) -> None:
    """Whatever part of an error or warning has control characters, its text shows them."""
    shown = character.encode("unicode_escape").decode()
    problem = errors.Problem(path=character, message=character, found=character)
    explained: dict[str, Any] = {"serial": character, "hint": character, "code": character}

    for told, count in (
        (errors.DeviceError(character, **explained), 4),
        (errors.StepFailedError(character, nearest=[character], outline=character), 3),
        (errors.ExpectationError(character, **explained), 4),
        (errors.ExecutionValidationError([problem]), 3),
        (errors.ClawperatorWarning(character), 1),
    ):
        assert character not in str(told)
        assert str(told).count(shown) == count


def test_the_old_name_of_a_code_is_known() -> None:
    """The name from before the rename is the same code, by attribute and by value."""
    assert ErrorCode["RECEIVER_NOT_INSTALLED"] is ErrorCode.OPERATOR_NOT_INSTALLED
    assert known_code("RECEIVER_NOT_INSTALLED") is ErrorCode.OPERATOR_NOT_INSTALLED


def test_codes_compare_and_print_as_text() -> None:
    """A code can be compared with, and formatted as, its plain text."""
    assert ErrorCode.NODE_NOT_FOUND == "NODE_NOT_FOUND"
    assert f"{ErrorCode.NODE_NOT_FOUND}" == "NODE_NOT_FOUND"


def test_a_code_that_nobody_knows_stays_text() -> None:
    """A newer Operator may send codes that the enum does not have."""
    assert known_code("NODE_NOT_FOUND") is ErrorCode.NODE_NOT_FOUND
    assert known_code("SOMETHING_NEW") == "SOMETHING_NEW"
    assert not isinstance(known_code("SOMETHING_NEW"), ErrorCode)
