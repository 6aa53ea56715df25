"""Exceptions and numbers as Java has them."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[+-]?[0-9]{1,12}")


class JavaException(Exception):
    """An exception inside a service; the shell shows it with its stack."""

    def __init__(self, message: str, *, kind: str = "java.lang.IllegalArgumentException") -> None:
        super().__init__(message)
        self.kind = kind


def java_int(text: str) -> int:
    """Parse a whole number as Java does."""
    if not _INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise JavaException(f'For input string: "{text}"', kind="java.lang.NumberFormatException")
    return int(text)


def java_float(text: str) -> float:
    """Parse a decimal number as Java does."""
    try:
        value = float(text)
    except ValueError:
        raise JavaException(
            f'For input string: "{text}"', kind="java.lang.NumberFormatException"
        ) from None
    if value != value or abs(value) == float("inf"):
        raise JavaException(f'For input string: "{text}"', kind="java.lang.NumberFormatException")
    return value
