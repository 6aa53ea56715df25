"""Text on a drawn screen."""

from __future__ import annotations

import pytest

from tests.simulator.picture.drawing import BOX, node, shown


@pytest.mark.parametrize("kind", ["text", "row_title", "row_summary", "title", "dialog_text"])
def test_text_uses_the_room_it_has(kind: str) -> None:
    """Long text is shortened near the right edge, not early and not beyond."""
    part = shown(node(kind, BOX._replace(bottom=BOX.top + 30), text="words " * 40))

    assert part is not None
    assert BOX.right - 30 < part.right <= BOX.right
