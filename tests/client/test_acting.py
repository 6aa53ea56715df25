"""The default timeout that all action methods share."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.errors import ConfigurationError
from tests.doubles.runner import Phone, client


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5", True])
def test_a_timeout_that_is_no_number_of_seconds_is_refused(timeout: Any) -> None:
    """The default is checked where it is given, and where it is changed."""
    claw = client(Phone())

    with pytest.raises(ConfigurationError, match="timeout= must be"):
        client(Phone(), timeout=timeout)
    with pytest.raises(ConfigurationError, match="timeout= must be"):
        claw.timeout = timeout

    assert claw.timeout == 5.0


def test_a_batch_takes_the_clients_timeout() -> None:
    """A batch begins with the client's default, and has its own from then on."""
    claw = client(Phone(), timeout=2)

    batch = claw.batch()
    claw.timeout = 3

    assert batch.timeout == 2
