"""Character classes."""

from __future__ import annotations

from pytest_clawperator.simulator.shell.tools.patterns.characters import CLASSES


def test_printed_characters_and_controls_are_all_there_are() -> None:
    """Each ASCII character is either printed or a control character, never both."""
    assert sorted(CLASSES["print"] + CLASSES["cntrl"]) == [chr(code) for code in range(128)]


def test_upper_and_lower_case_stand_in_the_same_order() -> None:
    """So that ``tr`` can replace one class by the other."""
    assert CLASSES["upper"].lower() == CLASSES["lower"]
