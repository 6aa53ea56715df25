"""The error tree: its drawing, its texts and hints, and its way through pickle."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.errors import ErrorCode
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
    if cls is errors.ExecutionValidationError:
        problem = errors.Problem("actions.0", "bad", "x", "y", "z")
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


def test_every_error_pickles_whole_and_has_a_code() -> None:
    """Class, text and every attribute survive the way from a worker to the controller."""
    for cls in CLASSES:
        error = make(cls)
        for twin in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            assert type(twin) is cls, cls
            assert str(twin) == str(error), cls
            assert vars(twin) == vars(error), cls
            assert twin.args == error.args, cls
        if not issubclass(cls, UserWarning):
            problem: Any = (
                [errors.Problem("", "bad")] if cls is errors.ExecutionValidationError else "bad"
            )
            plain: Any = cls(problem)
            assert isinstance(plain.code, ErrorCode), cls
            assert str(plain).startswith(f"{plain.code}: bad"), cls


def test_text_names_device_code_and_next_step() -> None:
    """An error about a device begins with its serial and ends in something to do."""
    error = errors.DeviceUnavailableError(
        "the device is offline", serial="emulator-5554", hint="Run adb reconnect."
    )

    text = str(error)

    assert text == (
        "[emulator-5554] DEVICE_OFFLINE: the device is offline\n  hint: Run adb reconnect."
    )


def test_a_remedy_is_worded_for_scripts_until_a_front_words_it() -> None:
    """The hint is the advice in words, first those of scripts; a text is for every reader."""
    error = errors.ClawperatorError("gone", hint=Remedy(RemedyKind.CORRECT_SERIAL))
    assert error.hint == "Correct serial=."

    error.wording = lambda remedy: f"see to {remedy.kind.name}"
    assert error.hint == "See to CORRECT_SERIAL."
    assert str(error).endswith("hint: See to CORRECT_SERIAL.")

    error.hint = "Look at its cable."
    assert error.advice == ("Look at its cable.",)


def test_a_sentence_can_be_added_to_any_hint() -> None:
    """It follows the hint, and a remedy stays data."""
    rows: list[tuple[str | Remedy | None, str]] = [
        (None, "It may still act."),
        ("Wait.", "Wait. It may still act."),
        (Remedy(RemedyKind.CORRECT_SERIAL), "Correct serial=. It may still act."),
    ]
    for hint, text in rows:
        error = errors.ClawperatorError("gone", hint=hint)
        error.add_hint("It may still act.")

        assert error.hint == text


def test_only_failures_of_app_or_test_are_assertions() -> None:
    """Failed steps and expectations count as failed; a broken lab does not."""
    assertions = {cls for cls in CLASSES if issubclass(cls, AssertionError)}

    assert assertions == {
        errors.StepFailedError,
        *errors.StepFailedError.__subclasses__(),
        errors.SkillFailedError,
        errors.ExpectationError,
    }
    assert not issubclass(errors.ExpectationError, errors.ClawperatorError)


def test_codes_are_text() -> None:
    """They compare and print as text; a former name is known, a new one stays a string."""
    assert ErrorCode.NODE_NOT_FOUND == "NODE_NOT_FOUND" == f"{ErrorCode.NODE_NOT_FOUND}"
    assert errors.known_code("NODE_NOT_FOUND") is ErrorCode.NODE_NOT_FOUND
    assert ErrorCode["RECEIVER_NOT_INSTALLED"] is ErrorCode.OPERATOR_NOT_INSTALLED
    assert errors.known_code("RECEIVER_NOT_INSTALLED") is ErrorCode.OPERATOR_NOT_INSTALLED
    for code in (
        errors.known_code("SOMETHING_NEW"),
        errors.NodeNotFoundError("x", code="SOMETHING_NEW").code,
    ):
        assert code == "SOMETHING_NEW"
        assert not isinstance(code, ErrorCode)


@pytest.mark.parametrize("character", ["\x1b", "\r", "\x9b", "\u202e", "\ud83d"], ids=ascii)
def test_control_characters_are_shown_and_not_obeyed(character: str) -> None:
    """Whatever part of an error or warning has them, its text can be written anywhere."""
    shown = character.encode("unicode_escape").decode()
    problem = errors.Problem(path=character, message=character, found=character)
    explained: dict[str, Any] = {"serial": character, "hint": character, "code": character}

    for error, count in (
        (errors.DeviceError(character, **explained), 4),
        (errors.StepFailedError(character, nearest=[character], outline=character), 3),
        (errors.ExpectationError(character, **explained), 4),
        (errors.ExecutionValidationError([problem]), 3),
        (errors.ClawperatorWarning(character), 1),
    ):
        assert character not in str(error)
        assert str(error).count(shown) == count
        str(error).encode()


def test_many_problems_are_numbered_and_bounded() -> None:
    """Ten problems are shown and the rest counted; the attribute has them all."""
    problems = [errors.Problem(f"actions.{n}", f"problem {n}", "this", "that") for n in range(25)]

    error = errors.ExecutionValidationError(problems)

    text = str(error)
    assert text.startswith("EXECUTION_VALIDATION_FAILED: 25 problems\n1. problem 0 (at actions.0)")
    assert "10. problem 9" in text
    assert "problem 10" not in text
    assert text.endswith("... and 15 more")
    assert len(error.problems) == 25
    assert error.path == "actions.0"
    assert error.message == "problem 0"


def test_the_screen_is_shown_before_the_hint() -> None:
    """A failed step shows the nearest nodes and the first lines of the screen, then the hint."""
    lines = [f"line {n}" for n in range(20)]

    error = errors.NodeNotFoundError(
        "gone", nearest=["a", "b", "c", "d"], outline="\n".join(lines), hint="Look."
    )
    one_more = errors.NodeNotFoundError(
        "gone", outline="\n".join(lines[: errors.NodeNotFoundError.shown_lines + 1])
    )

    shown = str(error).split("\n")
    assert shown[:4] == ["NODE_NOT_FOUND: gone", *(f"  nearest: {name}" for name in "abc")]
    assert shown[4:6] == ["  on the screen:", "    line 0"]
    assert shown[-2:] == ["    ... 6 more lines in .outline", "  hint: Look."]
    assert error.nearest == ("a", "b", "c", "d")
    assert str(one_more).endswith("\n    ... 1 more line in .outline")
