"""Screenshots and searches in lists: what is sent and what comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    NodeNotFoundError,
    TransportError,
)
from tests.doubles.runner import Phone, client, first, page


def test_scroll_until_lets_the_device_search() -> None:
    """The device searches by itself; it may take a second for each scroll."""
    found = {"termination_reason": "TARGET_FOUND", "scrolls_executed": "3", "direction": "down"}
    phone = Phone(data={"scroll_until": found})

    outcome = first(phone).scroll_until(text="Bread", click=True, max_scrolls=40)

    assert outcome.found
    assert outcome.scrolls_executed == 3
    assert phone.params("scroll_until") == [
        {
            "matcher": {"textEquals": "Bread"},
            "direction": "down",
            "maxScrolls": 40,
            "maxDurationMs": 40_000,
            "clickAfter": True,
        }
    ]


def test_scroll_and_click_waits_in_both_retry_objects() -> None:
    """Both of its retry objects last as long as was asked."""
    phone = Phone(data={"scroll_and_click": {"direction": "Up"}})

    outcome = first(phone).scroll_and_click(text="Tea", direction="up", max_scrolls=3, timeout=0)

    assert outcome.found
    assert phone.sent[0][0]["params"] == {
        "matcher": {"textEquals": "Tea"},
        "direction": "up",
        "maxSwipes": 3,
        "scrollRetry": {"maxAttempts": 1},
        "clickRetry": {"maxAttempts": 1},
    }


def test_a_target_that_is_not_in_the_list_is_not_waited_for() -> None:
    """After a whole list was searched another search would start at its end."""
    missing = {"error": "NODE_NOT_FOUND"}
    phone = Phone(page("Tea"), data={"scroll_and_click": missing})

    with pytest.raises(NodeNotFoundError):
        first(phone).scroll_and_click(text="Bread", timeout=60)

    assert phone.types == [["scroll_and_click"], ["snapshot_ui"]]


def test_a_search_that_the_device_calls_a_success() -> None:
    """To the specification the end of a list is a success; without its target it is none."""
    ended = {"termination_reason": "MAX_SCROLLS_REACHED", "scrolls_executed": "20"}
    phone = Phone(page("Tea"), data={"scroll_until": ended})

    with pytest.raises(NodeNotFoundError) as missed:
        client(phone).scroll_until(text="Bread")

    assert missed.value.code is ErrorCode.TARGET_NOT_FOUND
    assert "MAX_SCROLLS_REACHED after 20 scrolls" in missed.value.message
    assert missed.value.step.success is False


PNG = b"\x89PNG picture"


def test_screenshot_returns_the_bytes_of_a_png() -> None:
    """A screenshot is the bytes of a PNG."""
    phone = Phone(picture=PNG)

    assert client(phone).screenshot() == PNG
    assert phone.params("take_screenshot") == [{}]


def test_screenshot_to_a_file(tmp_path: Path) -> None:
    """It is written where it is wanted, in a new folder if need be."""
    path = tmp_path / "new" / "screen.png"

    client(Phone(picture=PNG)).screenshot(path)

    assert path.read_bytes() == PNG


def test_screenshot_that_cannot_be_written(tmp_path: Path) -> None:
    """A path that is a folder is told as such."""
    with pytest.raises(ConfigurationError, match="cannot be written"):
        client(Phone(picture=PNG)).screenshot(tmp_path)


def test_screenshot_without_bytes() -> None:
    """A picture that stayed on another host is told with its path."""
    phone = Phone(data={"take_screenshot": {"path": "/far/away.png"}})

    with pytest.raises(TransportError) as lost:
        client(phone).screenshot()

    assert lost.value.details == {"path": "/far/away.png"}
