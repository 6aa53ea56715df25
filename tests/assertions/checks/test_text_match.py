"""How texts differ, where that is hard to see."""

from __future__ import annotations

import pytest

from tests.doubles.expecting import assertions, failure


@pytest.mark.parametrize(
    ("expected", "hint"),
    [
        ("sign IN", "They differ only in upper and lower case."),
        ("Sign  in ", "They differ only in white space: 'Sign in' is there."),
        ("Sign\N{ZERO WIDTH SPACE} in", "They look alike and are made of other characters"),
        ("Sign in" + "!" * 80, "They differ from character 8 on"),
    ],
)
def test_hard_to_see_differences_are_told(expected: str, hint: str) -> None:
    """Where two texts look the same, the failure says what the difference is."""
    told = failure(lambda: assertions({"id": "heading"}).to_have_text(expected))

    assert f"  hint: {hint}" in told


def test_difference_of_lists_is_told_by_its_index() -> None:
    """Where lists differ is said, however long they are."""
    told = failure(lambda: assertions({"role": "switch"}).to_have_text(["Wi-Fi", "Light"]))

    assert 'They differ from index 1 on: wanted "Light", found "Sound".' in told
