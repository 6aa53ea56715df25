"""Numbers are read as the reference host reads them."""

from __future__ import annotations

import math

import pytest

from pytest_clawperator.cli.options import read_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("500", 500),
        (" 1.5 ", 1.5),
        (".5", 0.5),
        ("5.", 5),
        ("1e3", 1000),
        ("-5", -5),
        ("0x10", 16),
        ("0b11", 3),
        ("0o17", 15),
        ("", 0),
        ("\ufeff7", 7),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e999", math.inf),
    ],
)
def test_a_text_is_the_number_it_says(text: str, number: float) -> None:
    """White space around it does not count, and a blank text is nothing."""
    assert read_number(text) == number


@pytest.mark.parametrize("text", ["abc", "5s", "1_000", "٥", "--5", "0x", "infinity", "NaN", "1,5"])
def test_what_is_no_number_is_none(text: str) -> None:
    """What only Python would read is none either."""
    assert math.isnan(read_number(text))
