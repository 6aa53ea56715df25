"""The lists of what is not supported stay true."""

from __future__ import annotations

import pytest

from tests.guests.verdicts import check


def test_what_fails_as_listed_is_accepted() -> None:
    """A call may fail if the list says why."""
    check({"push": None, "root": "not allowed"}, {"root": "a build for users"})


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ({"push": "closed", "root": "no"}, "push fails: closed"),
        ({"push": None, "root": None}, "root works and is on the list: a build for users"),
        ({"push": None}, "root is on the list and not called"),
    ],
)
def test_a_list_that_is_not_true_is_refused(outcomes: dict[str, str | None], told: str) -> None:
    """An unlisted failure, a listed success and a listed call that nobody makes are told."""
    with pytest.raises(AssertionError, match=told):
        check(outcomes, {"root": "a build for users"})
