"""Signals, by name and number."""

from __future__ import annotations

NAMES = (
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
    "USR2", "PIPE", "ALRM", "TERM",
)  # fmt: skip
"""The names of the first signals, in the order of their numbers."""

HANGUP = 1
TERMINATE = 15
KILL = 9
_LAST = 64


def signal_number(text: str) -> int | None:
    """Return the number of a signal; None for an unknown one."""
    name = text.upper().removeprefix("SIG")
    if name in NAMES:
        return NAMES.index(name) + 1
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1
    return number if 0 <= number <= _LAST else None
