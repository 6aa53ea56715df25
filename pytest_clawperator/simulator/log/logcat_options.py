"""The command line of logcat, and its error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_clawperator.simulator.log.buffer import BUFFERS
from pytest_clawperator.simulator.log.logcat_filters import Filters, parse_time
from pytest_clawperator.simulator.log.logcat_format import FORMATS

_DEFAULT_BUFFERS = ("main", "system", "crash")
_WITH_VALUE = frozenset(("G", "T", "b", "pid", "t", "v"))
_PLAIN = frozenset(("c", "d", "g", "s"))
_LONG = {
    "buffer": "b",
    "buffer-size": "G",
    "clear": "c",
    "format": "v",
    "pid": "pid",
    "tail": "t",
}


class LogcatProblem(Exception):
    """Logcat ends with this message on stderr, and fails."""


@dataclass
class LogcatOptions:
    """What one call of logcat is to do."""

    follow: bool = True
    clear: bool = False
    show_size: bool = False
    new_size: int | None = None
    buffers: set[str] = field(default_factory=set)
    format: str = "threadtime"
    filters: Filters = field(default_factory=Filters)
    tail_lines: int | None = None
    tail_micros: int | None = None
    pid: int | None = None


def parse_options(args: Sequence[str], *, env: Mapping[str, str], now: float) -> LogcatOptions:
    """Parse the arguments after the command's name; LogcatProblem for a mistake."""
    options = LogcatOptions()
    specifications = []
    for name, value in _split(args):
        if name == "":
            specifications.append(value)
        elif name in ("t", "T"):
            _set_tail(options, name, value, now=now)
        elif name == "v":
            if value not in FORMATS:
                raise LogcatProblem(f"Invalid -v '{value}'.")
            options.format = value
        elif name == "b":
            _set_buffers(options, value)
        elif name == "G":
            options.new_size = _size(value)
        elif name == "pid":
            options.pid = _number(value)
            if not options.pid:
                raise LogcatProblem(f"pid '{value}' out of range.")
        elif name == "s":
            options.filters.add("*:S")
        else:
            options.follow &= name != "d"
            options.clear |= name == "c"
            options.show_size |= name == "g"
    options.buffers = options.buffers or {*_DEFAULT_BUFFERS, "kernel"}
    for specification in specifications or [env.get("ANDROID_LOG_TAGS", "")]:
        if not options.filters.add(specification):
            raise LogcatProblem(f"Invalid filter expression '{specification}'.")
    return options


def _split(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield options with their values, and with an empty name what is not an option."""
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            yield "", word
            continue
        long, equals, value = word[2:].partition("=")
        if word.startswith("--"):
            letters, value = [_LONG.get(long, word)], value if equals else ""
        else:
            letters = list(word[1:])
        while letters:
            letter = letters.pop(0)
            if letter in _PLAIN and not equals:
                yield letter, ""
            elif letter not in _WITH_VALUE:
                raise LogcatProblem(f"Unknown option '{word}'.")
            elif attached := value or "".join(letters):
                yield letter, attached
                break
            elif rest:
                yield letter, rest.pop(0)
            else:
                raise LogcatProblem(f"Option '{word}' needs an argument.")


def _set_tail(options: LogcatOptions, letter: str, value: str, *, now: float) -> None:
    options.follow &= letter == "T"
    if value.strip("0123456789"):
        options.tail_micros = parse_time(value, now=now)
        if options.tail_micros is None:
            raise LogcatProblem(f"-{letter} '{value}' not in time format.")
    else:
        options.tail_lines = max(1, _number(value) or 0)


def _set_buffers(options: LogcatOptions, value: str) -> None:
    for word in value.split(","):
        named = {"default": _DEFAULT_BUFFERS, "all": BUFFERS}.get(word, (word,))
        if not set(named) <= set(BUFFERS):
            raise LogcatProblem(f"Unknown -b buffer '{word}'.")
        options.buffers.update(named)


def _size(value: str) -> int:
    match = re.fullmatch(r"([0-9]{1,12})([bkmg]?)", value.lower())
    size = int(match[1]) * 1024 ** "bkmg".index(match[2] or "b") if match else 0
    if size < 1:
        raise LogcatProblem("-G must be specified as <num><multiplier>.")
    return size


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
