"""The options that commands share: global ones, those that select a node, and mistakes in them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import click

from pytest_clawperator.contracts.ecmascript import trim
from pytest_clawperator.contracts.selector_flags import (
    FLAG_FIELDS,
    FLAG_SPELLINGS,
    FlagKind,
    parse_selector_flags,
)
from pytest_clawperator.errors import ClawperatorError, ConfigurationError, ErrorCode
from pytest_clawperator.remedies import Hint

# Options for required values.
_REQUIRED = ("--app", "--key", "--label", "--label-desc", "--label-id", "--payload")


class Mistake(ConfigurationError):
    """A mistake in a command line.

    ``exit_code`` is the published program's: 0 where a command only prints its usage. ``fields``
    are added to the answer in JSON.
    """

    default_code = ErrorCode.USAGE

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | str | None = None,
        exit_code: int = 1,
        hint: Hint | None = None,
        fields: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.exit_code = exit_code
        self.fields = dict(fields or {})


def missing_argument(message: str, *, hint: str) -> Mistake:
    """Return the error for a missing argument."""
    return Mistake(message, code=ErrorCode.MISSING_ARGUMENT, hint=hint)


def invalid(message: str, *, hint: str | None = None) -> Mistake:
    """Return the error for contradictory arguments or an invalid value."""
    return Mistake(message, code=ErrorCode.EXECUTION_VALIDATION_FAILED, hint=hint)


def of_click(error: click.UsageError) -> Mistake:
    """Return an error of click as a ``Mistake``."""
    help_hint = None if error.ctx is None else f"See `{error.ctx.command_path} --help`."
    if isinstance(error, click.NoSuchOption):
        near = error.possibilities[0] if error.possibilities else None
        meant = f". Did you mean '{near}'?" if near else ""
        return Mistake(f"unrecognized flag '{error.option_name}'{meant}", hint=help_hint)
    if isinstance(error, click.BadOptionUsage):
        if error.option_name == "--coordinate":
            return invalid("--coordinate requires two non-negative integers (x y)")
        code = ErrorCode.MISSING_ARGUMENT if error.option_name in _REQUIRED else None
        return Mistake(f"{error.option_name} requires a value", code=code, hint=help_hint)
    if isinstance(error, click.MissingParameter):
        name = error.param.human_readable_name if error.param is not None else "an argument"
        command = error.ctx.info_name if error.ctx is not None else "the command"
        message = f"{command} requires {name}"
        return Mistake(message, code=ErrorCode.MISSING_ARGUMENT, hint=help_hint)
    return Mistake(error.format_message().removesuffix("."), hint=help_hint)


OutputMode = Literal["json", "pretty"]

LOG_LEVELS = ("debug", "info", "warn", "error")

MATCHERS = ("strict", "first")


@dataclass(frozen=True, kw_only=True)
class GlobalOptions:
    """The global options: device, Operator, output and the like.

    ``timeout`` is text in milliseconds, which each command interprets itself. ``output`` is JSON
    by default if stdout is not a terminal.
    """

    device: str | None = None
    operator_package: str | None = None
    output: OutputMode = "json"
    is_json_explicit: bool = False
    timeout: str | None = None
    adb: str | None = None
    lease: str | None = None
    matchers: str = "strict"
    log_level: str | None = None
    is_verbose: bool = False

    @property
    def is_quiet(self) -> bool:
        """Whether only errors are printed."""
        return self.log_level == "error"

    @property
    def is_talkative(self) -> bool:
        """Whether to print more than notices."""
        return self.is_verbose or self.log_level in ("debug", "info")


def split_global_options(argv: Sequence[str]) -> tuple[GlobalOptions, list[str]]:
    """Return the global options of a command line, and its other words.

    Everything after ``--`` belongs to the command.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    rest: list[str] = []
    found: dict[str, str] = {}
    switches: set[str] = set()
    words = iter(_with_values_apart(argv[:end]))
    for word in words:
        if word in _SWITCHES:
            switches.add(word)
            found = {**found, "--output": "json"} if word == "--json" else found
        elif word in _VALUES:
            found[_VALUES[word].opts[0]] = _value(word, next(words, None))
        else:
            rest.append(word)
    return _options(found, switches), [*rest, *argv[end:]]


def default_output() -> OutputMode:
    """Return the default output: for people at a terminal, else for programs."""
    return "pretty" if sys.stdout is not None and sys.stdout.isatty() else "json"


class GlobalOption(click.Option):
    """An option that is taken from the command line before click sees it.

    ``such_as`` is an example of its value; a switch has none.
    """

    def __init__(self, *names: str, such_as: str | None = None, **how: Any) -> None:
        super().__init__(list(names), expose_value=False, is_flag=such_as is None, **how)
        self.such_as = such_as


def _connected_serials(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return matching serials for completion, without starting an adb server."""
    try:
        server = import_module("pytest_clawperator.transport.server").locate_server()
        return [serial for serial, _ in server.devices() if serial.startswith(incomplete)]
    except ClawperatorError:
        return []


_GLOBAL_OPTIONS = (
    GlobalOption(
        "--device",
        "--device-id",
        such_as="emulator-5554",
        metavar="SERIAL",
        help="The device; else the only one.",
        shell_complete=_connected_serials,
    ),
    GlobalOption(
        "--operator-package",
        "--receiver-package",
        such_as="com.clawperator.operator.dev",
        metavar="PACKAGE",
        help="The Operator app's package.",
    ),
    GlobalOption(
        "--output",
        "--format",
        such_as="json",
        type=click.Choice(["json", "pretty"]),
        help="For programs or for people; default: people at a terminal, else programs.",
    ),
    GlobalOption("--json", help="The same as --output json."),
    GlobalOption(
        "--timeout", "--timeout-ms", such_as="30000", metavar="MS", help="How long it may take."
    ),
    GlobalOption(
        "--adb",
        such_as="127.0.0.1:5037",
        metavar="HOST:PORT",
        help="The adb server; default: 127.0.0.1:5037.",
    ),
    GlobalOption(
        "--lease",
        such_as="redis://lab:6379/0",
        metavar="URL",
        help="Where leases are kept, if not on this machine.",
    ),
    GlobalOption(
        "--matchers",
        such_as="first",
        type=click.Choice(MATCHERS),
        help="Whether an element must be the only match (strict), or the first wins.",
    ),
    GlobalOption(
        "--log-level",
        such_as="debug",
        type=click.Choice(LOG_LEVELS),
        help="What is printed on stderr.",
    ),
    GlobalOption("--verbose", help="Print more on stderr."),
)

_SWITCHES = [one.opts[0] for one in _GLOBAL_OPTIONS if one.such_as is None]

# Each option that has a value, by all of its names.
_VALUES = {name: one for one in _GLOBAL_OPTIONS if one.such_as for name in one.opts}


def as_parameters() -> list[click.Parameter]:
    """Return the options for help and completion; they are never parsed by click."""
    return list(_GLOBAL_OPTIONS)


def _with_values_apart(words: Sequence[str]) -> Iterator[str]:
    """Split ``--device=SERIAL`` in two."""
    for word in words:
        name, equals, value = word.partition("=")
        yield from (name, value) if equals and name in _VALUES else (word,)


def _value(name: str, value: str | None) -> str:
    # A negative number is reported as a wrong number.
    is_option = value is not None and value.startswith("-") and not name.startswith("--timeout")
    if value is None or not value.strip() or is_option:
        raise Mistake(f"{name} requires a value", hint=f"As in {name} {_VALUES[name].such_as}.")
    return value


def _options(found: dict[str, str], switches: set[str]) -> GlobalOptions:
    level = found.get("--log-level", "").lower() or None
    if level is not None and level not in LOG_LEVELS:
        raise Mistake(f"--log-level must be one of: {', '.join(LOG_LEVELS)}")
    matchers = found.get("--matchers", MATCHERS[0])
    if matchers not in MATCHERS:
        raise Mistake(f"--matchers must be one of: {', '.join(MATCHERS)}")
    asked = found.get("--output")
    is_json = asked == "json"
    return GlobalOptions(
        device=found.get("--device"),
        operator_package=found.get("--operator-package"),
        output=default_output() if asked is None else "pretty" if asked == "pretty" else "json",
        is_json_explicit=is_json,
        timeout=found.get("--timeout"),
        adb=found.get("--adb"),
        lease=found.get("--lease"),
        matchers=matchers,
        log_level=level,
        is_verbose="--verbose" in switches,
    )


_HELP: Mapping[str, str] = {
    "text": "Its text.",
    "text-contains": "A part of its text.",
    "id": "Its resource id, such as com.example:id/ok.",
    "desc": "Its content description.",
    "desc-contains": "A part of its content description.",
    "role": "Its role, such as button.",
    "selector": "A whole matcher as JSON, instead of the others.",
}


class SelectorOption(click.Option):
    """A flag that is taken from the command line before click sees it."""

    kind: FlagKind


@dataclass(frozen=True)
class Selectors:
    """The flags for an element or a container, except those in ``without``.

    The command gets the matcher as ``parameter``.
    """

    kind: FlagKind = "element"
    without: frozenset[str] = frozenset()

    @property
    def parameter(self) -> str:
        """The name under which the command gets the matcher."""
        return "matcher" if self.kind == "element" else "container"

    def as_parameters(self) -> list[SelectorOption]:
        """Return the flags for help and completion."""
        return [self._option(name) for name in self._names()]

    def take(self, words: Sequence[str]) -> tuple[dict[str, Any] | None, list[str]]:
        """Return the matcher that the flags describe, None without flags, and the other words."""
        ours = [flag for name in self._names() for flag in self._spellings(name)]
        end = words.index("--") if "--" in words else len(words)
        mine: list[str] = []
        others: list[str] = []
        place = 0
        while place < end:
            flag, equals, value = words[place].partition("=")
            if flag not in ours:
                others.append(words[place])
                place += 1
            elif equals:
                mine += [flag, value]
                place += 1
            else:
                has_value = place + 1 < end and not words[place + 1].startswith("-")
                mine += words[place : place + 1 + has_value]
                place += 1 + has_value
        matcher = parse_selector_flags(mine, self.kind) if mine else None
        return matcher, [*others, *words[end:]]

    def _names(self) -> list[str]:
        return [name for name in _HELP if name not in self.without]

    def _spellings(self, name: str) -> list[str]:
        others = [other for other, meant in FLAG_SPELLINGS.items() if meant == name]
        prefix = "--" if self.kind == "element" else "--container-"
        return [f"{prefix}{spelling}" for spelling in (name, *others)]

    def _option(self, name: str) -> SelectorOption:
        metavar = "JSON" if name == "selector" else "ROLE" if name == "role" else "TEXT"
        option = SelectorOption(
            self._spellings(name), expose_value=False, metavar=metavar, help=_HELP[name]
        )
        option.kind = self.kind
        return option


ELEMENT, CONTAINER = Selectors(), Selectors("container")

#: For a command whose ``--text`` is the text that it types.
TYPED_INTO = Selectors(without=frozenset({"text"}))


def require_selector(
    command: str, matcher: dict[str, Any] | None, *, without: Sequence[str] = ()
) -> None:
    """Raise if no element was selected."""
    if matcher is None:
        flags = ", ".join(f"--{name}" for name in (*FLAG_FIELDS, "selector") if name not in without)
        raise Mistake(
            f"{command} requires a selector",
            code=ErrorCode.MISSING_SELECTOR,
            hint=f"Say which element is meant with one of {flags}.",
        )


_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)

_OTHER_BASE = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", re.ASCII)

_INFINITY = re.compile(r"[+-]?Infinity")


def read_number(text: str) -> float:
    """Return a text as a number, as JavaScript does: NaN if it is not one, 0 if it is blank."""
    plain = trim(text)
    if not plain:
        return 0
    if _OTHER_BASE.fullmatch(plain):
        return float(int(plain, 0))
    if _DECIMAL.fullmatch(plain) or _INFINITY.fullmatch(plain):
        value = float(plain)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return math.nan
