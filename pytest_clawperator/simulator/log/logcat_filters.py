"""Which log entries a reader wants: filter specifications, and points in time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from pytest_clawperator.simulator.log.buffer import PRIORITIES

_LEVELS = f"{PRIORITIES}S"
_DATE = re.compile(
    r"\s*(?:(\d{4})-)?(1[0-2]|0?[1-9])-(3[01]|[12]\d|0?[1-9])"
    r"\s+(\d{1,2}):(\d{1,2}):(\d{1,2})\.(\d*)"
)
_SECONDS = re.compile(r"\s*(\d{1,12})\.(\d*)")


@dataclass
class Filters:
    """Which priorities of which tags are printed."""

    default: int = 0
    tags: dict[str, int] = field(default_factory=dict)

    def add(self, specification: str) -> bool:
        """Add rules such as ``Tag:W *:S``; False if one of them is invalid."""
        return all(self._add_rule(rule) for rule in re.split("[ \t,]", specification) if rule)

    @property
    def pass_all(self) -> bool:
        """Whether there is no rule that keeps anything back."""
        return self.default == 0 and not self.tags

    def passes(self, tag: str, priority: str) -> bool:
        """Whether an entry is to be printed."""
        return _LEVELS.index(priority) >= self.tags.get(tag, self.default)

    def _add_rule(self, rule: str) -> bool:
        tag, colon, letter = rule.partition(":")
        # A tag alone is printed whole, and '*' alone from D on.
        level = _LEVELS.find(letter.upper()[:1] or "?") if colon else int(tag == "*")
        if not tag or level < 0:
            return False
        if tag == "*":
            self.default = level
        else:
            self.tags[tag] = level
        return True


def parse_time(text: str, *, now: float) -> int | None:
    """Parse what ``-T`` takes into microseconds since 1970; None if it is not a time."""
    match = _DATE.match(text)
    if match is None:
        seconds = _SECONDS.match(text)
        return int(seconds[1]) * 1_000_000 + _fraction(seconds[2]) if seconds else None
    year = int(match[1]) if match[1] else datetime.fromtimestamp(now, tz=timezone.utc).year
    month, day, hour, minute, second = (int(match[group]) for group in range(2, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
    since_epoch = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return since_epoch // timedelta(microseconds=1) + _fraction(match[7])


def _fraction(digits: str) -> int:
    return int(digits[:6].ljust(6, "0")) if digits else 0
