"""Error codes: their names, their text, and codes that are not known."""

from __future__ import annotations

from pytest_clawperator.error_codes import ErrorCode, known_code


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
