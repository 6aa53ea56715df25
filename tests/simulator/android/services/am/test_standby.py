"""``am get-standby-bucket`` and ``am set-standby-bucket``."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import OPERATOR, Phone


@pytest.mark.parametrize(("word", "number"), [("rare", "40"), ("45", "45"), ("active", "10")])
def test_an_app_stays_in_the_bucket_it_is_put_into(word: str, number: str) -> None:
    """A bucket is set by its name or its number, and printed as a number."""
    phone = Phone()
    assert phone.out(f"am get-standby-bucket {OPERATOR}") == "10\n"

    phone.out(f"am set-standby-bucket {OPERATOR} {word}")

    assert phone.out(f"am get-standby-bucket {OPERATOR}") == f"{number}\n"
