"""Which log entries a reader wants: filter specifications, points in time, expressions."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo

from pytest_clawperator.simulator.log.buffer import PRIORITIES

_UNSET, _VERBOSE, _DEBUG, _SILENT = 1, 2, 3, 8
_DATE = re.compile(
    r"\s*(?:(\d{4})-)?(1[0-2]|0?[1-9])-(3[01]|[12]\d|0?[1-9])"
    r"\s+(\d{1,2}):(\d{1,2}):(\d{1,2})\.(\d*)"
)
_SECONDS = re.compile(r"\s*(\d+)\.(\d*)")
_POSIX_CLASSES = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:punct:]": r"!-/:-@\[-`{-~",
    "[:space:]": r"\s",
    "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9a-fA-F",
}


@dataclass
class Filters:
    """Which priorities of which tags are printed."""

    default: int = _VERBOSE
    tags: dict[str, int] = field(default_factory=dict)

    def add(self, specification: str) -> bool:
        """Add rules such as ``Tag:W *:S``; False if one of them is invalid."""
        return all(self._add_rule(rule) for rule in re.split("[ \t,]", specification) if rule)

    @property
    def pass_all(self) -> bool:
        """Whether there is no rule that keeps anything back."""
        return self.default == _VERBOSE and not self.tags

    def passes(self, tag: str, priority: str) -> bool:
        """Whether an entry is to be printed."""
        return PRIORITIES.index(priority) + _VERBOSE >= self.tags.get(tag, self.default)

    def _add_rule(self, rule: str) -> bool:
        tag, colon, letters = rule.partition(":")
        level = _filter_level(letters[:1]) if colon else _UNSET
        if not tag or level is None:
            return False
        if tag == "*":
            self.default = _DEBUG if level == _UNSET else level
        else:
            self.tags[tag] = _VERBOSE if level == _UNSET else level
        return True


def parse_time(text: str, *, now: float, zone: tzinfo) -> tuple[int, int] | None:
    """Parse what ``-T`` takes: microseconds since 1970, and how much of the text was used."""
    match = _DATE.match(text)
    if match is None:
        seconds = _SECONDS.match(text)
        if seconds is None or len(seconds[1]) > 12:
            return None
        return int(seconds[1]) * 1_000_000 + _fraction(seconds[2]), seconds.end()
    year = int(match[1]) if match[1] else datetime.fromtimestamp(now, tz=zone).year
    month, day, hour, minute, second = (int(match[group]) for group in range(2, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None
    since_epoch = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return since_epoch // timedelta(microseconds=1) + _fraction(match[7]), match.end()


def _fraction(digits: str) -> int:
    return int(digits[:6].ljust(6, "0")) if digits else 0


def compile_regex(text: str) -> re.Pattern[bytes] | None:
    """Compile what ``-e`` takes; None if it is no expression."""
    for name, characters in _POSIX_CLASSES.items():
        text = text.replace(name, characters)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(text.encode("utf-8", "surrogateescape"))
    except (re.error, OverflowError, RecursionError, UnicodeError):
        return None


def _filter_level(letter: str) -> int | None:
    letter = letter.lower()
    if letter and letter in "vdiwefs":
        return "vdiwefs".index(letter) + _VERBOSE
    if letter == "*":
        return _UNSET
    if letter and letter in "123456789":
        return int(letter) if int(letter) < _SILENT else _VERBOSE
    return None
