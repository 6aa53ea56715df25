"""Lesson 2: a payload that breaks the contract is told every break, and the way out."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_clawperator import ExecutionValidationError, complete_execution

MISTAKES: dict[str, list[dict[str, Any]]] = {
    "a misspelt parameter": [{"type": "scroll_until", "params": {"maxScroll": 5}}],
    "a misspelt action": [{"type": "clik", "params": {"matcher": {"text": "OK"}}}],
    "a wrong direction": [{"type": "scroll", "params": {"direction": "dwon"}}],
    "nothing to click": [{"type": "click"}],
    "a wait without an end": [
        {"type": "wait_for_navigation", "params": {"expectedPackage": "com.android.settings"}}
    ],
    "an empty matcher": [{"type": "read_text", "params": {"matcher": {"textEquals": ""}}}],
    "two at once": [
        {"type": "press_key", "params": {"key": "bakc"}},
        {"type": "enter_text", "params": {"matcher": {"rôle": "textfield"}, "text": ""}},
    ],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_refusal(mistake: str) -> None:
    """The refusal says where, what was found, what is allowed, and what was meant."""
    with pytest.raises(ExecutionValidationError) as refused:
        complete_execution(MISTAKES[mistake])

    print(refused.value)
    assert all(problem.path and problem.found for problem in refused.value.problems)
