"""Plans of scrolls: how long a search may take, and how often it may scroll."""

from __future__ import annotations

import pytest

from pytest_clawperator.errors import ConfigurationError
from tests.doubles.runner import Phone, client


@pytest.mark.parametrize(("scrolls", "duration"), [(1, 10_000), (20, 20_000), (200, 100_000)])
def test_time_for_a_search(scrolls: int, duration: int) -> None:
    """A search gets no less than the Operator's own limit, and no more than a run can last."""
    phone = Phone()

    client(phone).scroll_until(max_scrolls=scrolls)

    assert phone.params("scroll_until")[0]["maxDurationMs"] == duration
    assert phone.executions[0].timeout_ms > duration


@pytest.mark.parametrize("scrolls", [0, 51])
def test_more_swipes_than_the_operator_makes(scrolls: int) -> None:
    """What the Operator would quietly change is refused."""
    with pytest.raises(ConfigurationError, match="1 to 50 times") as refused:
        client(Phone()).scroll_and_click(text="Tea", max_scrolls=scrolls)

    assert "scroll_until" in str(refused.value.hint)
