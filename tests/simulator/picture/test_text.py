"""Measuring, shortening, wrapping and drawing text."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.picture.text import (
    ELLIPSIS,
    fitted,
    text_mask,
    text_width,
    wrapped,
)


@pytest.mark.parametrize("width", [0, 10, 60, 200, 1000])
def test_shortened_text_fits_into_its_room(width: int) -> None:
    """Shortened text is never wider than its room, and says that it was shortened."""
    text = "Connected devices and everything else"

    result = fitted(text, 30, width)

    assert text_mask(result, 30, room=width).width <= max(width, 2)
    assert text_width(result, 30) * 0.85 <= width
    assert result in ("", text) or result.endswith(ELLIPSIS)


def test_wrapped_text_keeps_its_words() -> None:
    """Lines fit and hold every word, unless there are too few of them."""
    text = "one two three four five six seven\neight"

    lines = wrapped(text, 30, 200, 20)

    assert " ".join(lines).split() == text.split()
    assert all(text_mask(line, 30, room=200).width <= 202 for line in lines)
    assert len(wrapped(text, 30, 200, 2)) == 2
    assert wrapped(text, 30, 200, 2)[-1].endswith(ELLIPSIS)
