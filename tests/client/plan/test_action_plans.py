"""Plans of actions: what cannot be meant is refused, and what is too long is split."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator.errors import ConfigurationError, ExecutionValidationError
from tests.doubles.runner import SHOP, Phone, client


@pytest.mark.parametrize("value", ["", " ", "\n"])
def test_blank_text_is_refused_before_it_is_sent(value: str) -> None:
    """The Operator would refuse the whole payload in silence."""
    phone = Phone()

    with pytest.raises(ExecutionValidationError) as refused:
        client(phone).enter_text(value, text="Tea")

    assert ".clear()" in str(refused.value)
    assert phone.executions == []


@pytest.mark.parametrize("extra", [{"text": "Tea"}, {"within": {"text": "Tea"}}])
def test_a_point_and_a_node(extra: Any) -> None:
    """It is either a point or a node."""
    with pytest.raises(ConfigurationError) as refused:
        client(Phone()).click(at=(1, 2), **extra)

    assert "which is meant" in refused.value.message


def test_a_point_that_is_none() -> None:
    """A point is two whole numbers; the payload's judge says so."""
    with pytest.raises(ExecutionValidationError) as refused:
        client(Phone()).click(at=(1.5, -2))  # type: ignore[arg-type]

    assert [problem.path for problem in refused.value.problems] == [
        "actions.0.params.coordinate.x",
        "actions.0.params.coordinate.y",
    ]


def test_navigation_to_what_cannot_be_looked_up() -> None:
    """A short id of a screen that is still to come is refused with what would do."""
    with pytest.raises(ConfigurationError) as refused:
        client(Phone()).wait_for_navigation(id="title")

    assert "whole id" in str(refused.value.hint)


def test_navigation_is_split_at_the_operators_limit() -> None:
    """Thirty seconds is the most that one wait may last."""
    phone = Phone(data={"wait_for_navigation": {"error": "NAVIGATION_TIMEOUT"}})

    with pytest.raises(AssertionError):
        client(phone).wait_for_navigation(package="com.a", timeout=45)

    waits = [params["timeoutMs"] for params in phone.params("wait_for_navigation")]
    assert waits[0] == 30_000
    assert 0 < waits[1] <= 15_000
    assert len(waits) == 2


def test_a_point_and_a_locator() -> None:
    """A tap that is told of both a point and a locator says that one is too many."""
    claw = client(Phone(SHOP))

    with pytest.raises(ConfigurationError, match="which is meant"):
        claw.click(claw.node(text="Tea"), at=(1, 2))
