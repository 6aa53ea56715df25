"""The command line of logcat, and its error messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timezone, tzinfo

from pytest_clawperator.simulator.log.buffer import BUFFERS
from pytest_clawperator.simulator.log.logcat_filters import Filters, compile_regex, parse_time
from pytest_clawperator.simulator.log.logcat_format import LogFormat, find_timezone

HELP = """
  Usage: logcat [OPTION]... [FILTERSPEC]...

  -b BUFFER, --buffer=BUFFER   Read these buffers: main system radio events crash, default, all.
  -c, --clear                  Empty the buffers and exit.
  -d                           Print what is there and exit.
  -t N | TIME                  The last N entries, or those since TIME, and exit.
  -T N | TIME                  The same, but go on.
  -v FORMAT, --format=FORMAT   brief long process raw tag thread threadtime time
                               color descriptive epoch monotonic nsec printable uid usec UTC year
                               zone
  -D, --dividers               Say each time another buffer's entries begin.
  -B, --binary                 Entries as logd holds them.
  -f FILE, --file=FILE         Print to a file on the device.
  -s                           The same as the filter '*:S'.
  -e EXPR, --regex=EXPR        Only messages that match.
  -m N, --max-count=N          Exit after N entries.
  --print                      With -e and -m: print the others too, without counting them.
  --pid=PID                    Only this process.
  --uid=UIDS                   Only these users.
  -g, --buffer-size            Tell the size of the buffers.
  -G SIZE, --buffer-size=SIZE  Change it; K and M may follow the number.

  A FILTERSPEC is TAG[:PRIORITY], '*' stands for every tag; priorities: V D I W E F S.
  TIME is 'MM-DD hh:mm:ss.mmm', 'YYYY-MM-DD hh:mm:ss.mmm' or 'sssss.mmm'.
  Without filters ANDROID_LOG_TAGS counts, without -v ANDROID_PRINTF_LOG.
"""

_DEFAULT_BUFFERS = ("main", "system", "crash")
_DELIMITERS = re.compile(r"[,:; \t\n\r\f]")
_SHORT_WITH_VALUE = "tTGfrnvbPme"
_SHORT_PLAIN = "cdDhLgsBSp"
# Long name to the short one it stands for, and whether it takes a value: "=" must, "?" may.
_LONG: Mapping[str, tuple[str, str]] = {
    "binary": ("B", ""),
    "buffer": ("b", "="),
    "buffer-size": ("g", "?"),
    "clear": ("c", ""),
    "debug": ("debug", ""),
    "dividers": ("D", ""),
    "file": ("f", "="),
    "format": ("v", "="),
    "grep": ("e", "="),
    "head": ("m", "="),
    "help": ("h", ""),
    "id": ("id", "="),
    "last": ("L", ""),
    "max-count": ("m", "="),
    "pid": ("pid", "="),
    "print": ("print", ""),
    "proto": ("proto", ""),
    "prune": ("p", "?"),
    "regex": ("e", "="),
    "rotate-count": ("n", "="),
    "rotate-kbytes": ("r", "="),
    "statistics": ("S", ""),
    "tail": ("t", "="),
    "uid": ("uid", "="),
    "wrap": ("wrap", "?"),
}
_NOT_HERE = {
    "r": "-r",
    "n": "-n",
    "S": "-S",
    "p": "-p",
    "P": "-P",
    "id": "--id",
    "proto": "--proto",
    "wrap": "--wrap",
}


class LogcatProblem(Exception):
    """Logcat ends here: with this message on stderr and this status."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class LogcatOptions:
    """What one call of logcat is to do."""

    follow: bool = True
    help: bool = False
    clear: bool = False
    show_size: bool = False
    new_size: int | None = None
    from_last_boot: bool = False
    buffers: set[str] = field(default_factory=set)
    format: LogFormat = field(default_factory=LogFormat)
    format_given: bool = False
    filters: Filters = field(default_factory=Filters)
    tail_lines: int | None = None
    tail_micros: int | None = None
    exit_after_tail: bool = False
    pid: int | None = None
    uids: set[int] = field(default_factory=set)
    regex: re.Pattern[bytes] | None = None
    max_count: int | None = None
    print_anyway: bool = False
    dividers: bool = False
    binary: bool = False
    file: str | None = None
    warnings: list[str] = field(default_factory=list)


def parse_options(args: Sequence[str], *, env: Mapping[str, str], now: float) -> LogcatOptions:
    """Parse the arguments after the command's name; LogcatProblem for a mistake."""
    zone = find_timezone(env.get("TZ", "UTC")) or timezone.utc
    options = LogcatOptions(format=LogFormat(timezone=zone))
    specifications = []
    for name, value in _split(args):
        if name == "":
            specifications.append(value)
        elif name in ("t", "T"):
            _tail(options, name, value, now=now, zone=zone)
        elif name in _NOT_HERE:
            raise LogcatProblem(f"{_NOT_HERE[name]} does not exist on a simulated device.")
        else:
            _HANDLERS[name](options, value)
    _check(options)
    _format_from_environment(options, env)
    _add_filters(options, specifications, env)
    return options


def _split(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield options with their values, and with an empty name what is no option."""
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            yield from (("", other) for other in rest)
            return
        if word.startswith("--"):
            yield _long_option(word, rest)
        elif word.startswith("-") and word != "-":
            yield from _short_options(word, rest)
        else:
            yield "", word


def _long_option(word: str, rest: list[str]) -> tuple[str, str]:
    name, equals, value = word[2:].partition("=")
    matches = [name] if name in _LONG else [long for long in _LONG if long.startswith(name)]
    if len(matches) != 1:
        raise LogcatProblem(f"Unknown option '{word}'.")
    short, takes = _LONG[matches[0]]
    if takes == "=" and not equals:
        if not rest:
            raise LogcatProblem(f"Option '{word}' needs an argument.")
        value = rest.pop(0)
    elif equals and not takes:
        raise LogcatProblem(f"Unknown option '{word}'.")
    return ("G" if short == "g" and value else short), value


def _short_options(word: str, rest: list[str]) -> Iterator[tuple[str, str]]:
    letters = word[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in _SHORT_WITH_VALUE:
            if not letters and not rest:
                raise LogcatProblem(f"Option '{word}' needs an argument.")
            yield letter, letters or rest.pop(0)
            return
        if letter not in _SHORT_PLAIN:
            raise LogcatProblem(f"Unknown option '{word}'.")
        yield letter, ""


def _tail(options: LogcatOptions, letter: str, value: str, *, now: float, zone: tzinfo) -> None:
    if letter == "t":
        options.follow = False
        options.exit_after_tail = True
    if value.strip("0123456789"):
        parsed = parse_time(value, now=now, zone=zone)
        if parsed is None:
            raise LogcatProblem(f"-{letter} '{value}' not in time format.")
        options.tail_micros, used = parsed
        if used < len(value):
            options.warnings.append(
                f"WARNING: -{letter} '{value[:used]}' '{value[used:]}' time truncated"
            )
    else:
        options.tail_lines = _number(value) or 0
        if options.tail_lines < 1:
            options.warnings.append(f"WARNING: -{letter} {value} invalid, setting to 1")
            options.tail_lines = 1


def _set_format(options: LogcatOptions, value: str) -> None:
    for word in _DELIMITERS.split(value):
        changed = options.format.with_word(word)
        if changed is None:
            raise LogcatProblem(f"Invalid -v '{word}'.")
        options.format_given |= changed.verb == word
        options.format = changed


def _set_buffers(options: LogcatOptions, value: str) -> None:
    for word in _DELIMITERS.split(value):
        if word == "default":
            options.buffers.update(_DEFAULT_BUFFERS)
        elif word == "all":
            options.buffers.update(BUFFERS)
        elif word in BUFFERS:
            options.buffers.add(word)
        else:
            raise LogcatProblem(f"Unknown -b buffer '{word}'.")


def _set_regex(options: LogcatOptions, value: str) -> None:
    options.regex = compile_regex(value)
    if options.regex is None:
        raise LogcatProblem("Aborted", status=134)


def _set_size(options: LogcatOptions, value: str) -> None:
    match = re.fullmatch(r"([0-9]{1,12})([bkmg]?)", value.lower())
    size = int(match[1]) * 1024 ** "bkmg".index(match[2] or "b") if match else 0
    if size < 1:
        raise LogcatProblem("-G must be specified as <num><multiplier>.")
    options.new_size = size


def _set_pid(options: LogcatOptions, value: str) -> None:
    if options.pid is not None:
        raise LogcatProblem("Only one --pid argument can be provided.")
    options.pid = _number(value)
    if not options.pid:
        raise LogcatProblem(f"pid '{value}' out of range.")


def _set_uids(options: LogcatOptions, value: str) -> None:
    for word in _DELIMITERS.split(value):
        uid = _number(word)
        if uid is None:
            raise LogcatProblem(f"Unable to parse UID '{word}'")
        options.uids.add(uid)


def _set_max_count(options: LogcatOptions, value: str) -> None:
    options.max_count = _number(value)
    if not options.max_count:
        raise LogcatProblem(f"-m '{value}' isn't an integer greater than zero.")


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def _check(options: LogcatOptions) -> None:
    if options.max_count and options.exit_after_tail:
        raise LogcatProblem("Cannot use -m (--max-count) and -t together.")
    if options.print_anyway and not (options.regex and options.max_count):
        options.warnings.append(
            "WARNING: --print ignored, to be used in combination with\n"
            "         --regex <expr> and --max-count <N>"
        )
        options.print_anyway = False
    if not options.buffers:
        options.buffers.update(_DEFAULT_BUFFERS, ("kernel",))


def _format_from_environment(options: LogcatOptions, env: Mapping[str, str]) -> None:
    if options.format_given or not env.get("ANDROID_PRINTF_LOG"):
        return
    for word in _DELIMITERS.split(env["ANDROID_PRINTF_LOG"]):
        changed = options.format.with_word(word)
        if changed is None:
            options.warnings.append(f"invalid format in ANDROID_PRINTF_LOG '{word}'")
        else:
            options.format = changed


def _add_filters(
    options: LogcatOptions, specifications: Sequence[str], env: Mapping[str, str]
) -> None:
    if not specifications:
        tags = env.get("ANDROID_LOG_TAGS", "")
        if not options.filters.add(tags):
            raise LogcatProblem(f"Invalid filter expression '{tags}' in ANDROID_LOG_TAGS.")
    for specification in specifications:
        if not options.filters.add(specification):
            raise LogcatProblem(f"Invalid filter expression '{specification}'.")


def _flag(name: str, to: bool = True) -> Callable[[LogcatOptions, str], None]:
    return lambda options, _: setattr(options, name, to)


def _silence(options: LogcatOptions, _: str) -> None:
    options.filters.add("*:S")


def _set_file(options: LogcatOptions, value: str) -> None:
    options.file = value


_HANDLERS: Mapping[str, Callable[[LogcatOptions, str], None]] = {
    "B": _flag("binary"),
    "D": _flag("dividers"),
    "G": _set_size,
    "L": _flag("from_last_boot"),
    "b": _set_buffers,
    "c": _flag("clear"),
    "d": _flag("follow", False),
    "debug": lambda options, _: None,
    "e": _set_regex,
    "f": _set_file,
    "g": _flag("show_size"),
    "h": _flag("help"),
    "m": _set_max_count,
    "pid": _set_pid,
    "print": _flag("print_anyway"),
    "s": _silence,
    "uid": _set_uids,
    "v": _set_format,
}
