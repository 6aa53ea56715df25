"""What the plugin writes to the terminal: line by line, and nothing in it is obeyed."""

from __future__ import annotations

import pytest

from pytest_clawperator.text import visible


def write_line(reporter: pytest.TerminalReporter, text: str, **markup: bool) -> None:
    """Write a line; control characters in it are shown."""
    reporter.line(visible(text), **markup)
