"""The texts of toasts, as the notification manager knows them while they are up."""

from __future__ import annotations

import re

# The text comes last but one, and may have line breaks.
_TOAST = re.compile(
    r"TextToastRecord\{[^\n]*? text=(.*?) duration=-?\d+\}$", re.DOTALL | re.MULTILINE
)

#: Since this API level the system itself shows toasts of text, and so knows the text.
TOLD_SINCE_API = 30


def toast_texts(dump: str) -> list[str]:
    """Return the texts of the toasts in what ``dumpsys notification`` printed, in their order."""
    return _TOAST.findall(dump)
