"""``date``: the device's date and time."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.tools.options import parse_options

_USUAL_FORMAT = "%a %b %e %H:%M:%S %Z %Y"
_CONVERSION = re.compile(r"%([0-9]?)(.)", re.DOTALL)
_COMBINED = {"D": "%m/%d/%y", "F": "%Y-%m-%d", "R": "%H:%M", "T": "%H:%M:%S"}
# Not left to the host, whose language may be another one.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


async def date(invocation: Invocation) -> int:
    """Print the device's date and time, in the format behind ``+`` if one is given."""
    operands = parse_options(invocation.args, flags="u").operands
    form = operands[0] if operands else f"+{_USUAL_FORMAT}"
    if not form.startswith("+"):
        raise CommandFailure("cannot set date: Operation not permitted")
    await invocation.out(_formatted(form[1:], invocation.shell.clock()) + "\n")
    return 0


def _formatted(form: str, moment: float) -> str:
    whole = int(moment // 1)
    now = datetime.fromtimestamp(whole, timezone.utc)
    nanoseconds = f"{min(999_999_999, round((moment - whole) * 1_000_000) * 1000):09d}"
    values = {
        "%": "%",
        "a": _DAYS[now.weekday()],
        "b": _MONTHS[now.month - 1],
        "d": f"{now.day:02d}",
        "e": f"{now.day:2d}",
        "H": f"{now.hour:02d}",
        "j": f"{now.timetuple().tm_yday:03d}",
        "m": f"{now.month:02d}",
        "M": f"{now.minute:02d}",
        "n": "\n",
        "N": nanoseconds,
        "s": str(whole),
        "S": f"{now.second:02d}",
        "t": "\t",
        "y": f"{now.year % 100:02d}",
        "Y": str(now.year),
        "z": "+0000",
        "Z": "GMT",
    }

    def fill(match: re.Match[str]) -> str:
        digits, letter = match.groups()
        if letter == "N" and digits:  # %3N is milliseconds
            return nanoseconds[: int(digits)]
        return values.get(letter, match[0])

    form = re.sub("%([DFRT])", lambda match: _COMBINED[match[1]], form)
    return _CONVERSION.sub(fill, form)
