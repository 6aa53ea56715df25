"""What a percent sign in a failure does to the published app.

It logs a failed command with the reason as the *format*, so a reason that holds a percent sign
(a matcher for "50 % off", an address with ``%20``) is formatted, mostly in vain.
"""

from __future__ import annotations

import re

_SPECIFIER = re.compile(r"%(\d+\$|<)?([-#+ 0,(]*)(\d+)?(\.\d+)?([tT]?)([a-zA-Z%])")
_GENERAL = frozenset("bBhHsS")
_OTHERS = frozenset("cCdoxXeEfgGaA")
_DATES = frozenset("HIklMSLQpNszTrRcCdejmyYaAbBhDFZ")
# The order in which Java looks for flags that do not go with the conversion.
_BAD_FLAGS = "#+ 0,("


class FormatFailure(Exception):
    """Formatting threw; the message is that of the Java exception."""


def formatted(message: str, argument: str) -> str:
    """Format a message with one exception as its argument, as the app's log does.

    ``argument`` is the exception as text, which begins with its class.
    """
    count = message.count("%")
    if not count:
        return message
    if count > 1:
        raise FormatFailure(
            f"Message contains {count} placeholders, but 1 arguments were provided.\n"
            f"  message: {message}, args: {argument}"
        )
    found = _SPECIFIER.search(message)
    if found is None:
        rest = message.partition("%")[2]
        raise FormatFailure(f"Conversion = '{rest[:1] or '%'}'")
    value = _converted(found, argument)
    return message[: found.start()] + value + message[found.end() :]


def _converted(found: re.Match[str], argument: str) -> str:
    index, flags, width, precision, date, conversion = found.groups()
    _require_known(date, conversion)
    if conversion == "n" and not date:
        return "\n"
    if index not in (None, "1$"):
        raise FormatFailure(f"Format specifier '{found[0]}'")
    bad = next((flag for flag in _BAD_FLAGS if flag in flags), None)
    is_general = conversion in _GENERAL and not date
    if bad is not None and (is_general or date or conversion == "c"):
        raise FormatFailure(f"Conversion = {conversion}, Flags = {bad}")
    if "-" in flags and width is None:
        raise FormatFailure(found[0])
    if not is_general:
        raise FormatFailure(f"{conversion} != {argument.partition(':')[0]}")
    text = argument if conversion in "sS" else "true" if conversion in "bB" else "5c8eee0"
    text = text if precision is None else text[: int(precision[1:])]
    wide = min(int(width or 0), 4096)
    text = text.ljust(wide) if "-" in flags else text.rjust(wide)
    return text.upper() if conversion.isupper() else text


def _require_known(date: str, conversion: str) -> None:
    if date and conversion not in _DATES:
        raise FormatFailure(f"Conversion = '{date}{conversion}'")
    if not date and conversion not in _GENERAL | _OTHERS | {"n"}:
        raise FormatFailure(f"Conversion = '{conversion}'")
