"""How texts differ, where that is hard to see."""

from __future__ import annotations

import pytest

from tests.doubles.expecting import assertions, failure


@pytest.mark.parametrize(
    ("expected", "hint"),
    [
        ("sign IN", "They differ only in upper and lower case."),
        ("Sign  in ", "They differ only in white space: 'Sign in' is there."),
        ("Sign\N{ZERO WIDTH SPACE} in", "They look alike but consist of different characters"),
        ("Sign in" + "!" * 80, "They differ from character 8 on"),
    ],
)
def test_differences_that_are_hard_to_see_are_named(expected: str, hint: str) -> None:
    """If two texts look the same, the failure describes the difference."""
    message = failure(lambda: assertions({"id": "heading"}).to_have_text(expected))

    assert f"  hint: {hint}" in message


def test_lists_that_differ_name_the_first_index() -> None:
    """A failure names the index at which two lists begin to differ."""
    message = failure(lambda: assertions({"role": "switch"}).to_have_text(["Wi-Fi", "Light"]))

    assert 'They differ from index 1 on: wanted "Light", found "Sound".' in message
