"""The options that every command has; they may stand before and after the command's name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

import click

from pytest_clawperator.cli.mistakes import Mistake
from pytest_clawperator.errors import ClawperatorError

OutputMode = Literal["json", "pretty"]
LOG_LEVELS = ("debug", "info", "warn", "error")

# Each option that has a value, by its first name.
_VALUES = {
    "--device": "--device",
    "--device-id": "--device",
    "--operator-package": "--operator-package",
    "--receiver-package": "--operator-package",
    "--output": "--output",
    "--format": "--output",
    "--timeout": "--timeout",
    "--timeout-ms": "--timeout",
    "--adb": "--adb",
    "--lease": "--lease",
    "--log-level": "--log-level",
}
_SWITCHES = ("--json", "--verbose")
# What a value looks like.
_SUCH_AS = {
    "--device": "emulator-5554",
    "--operator-package": "com.clawperator.operator.dev",
    "--output": "json",
    "--timeout": "30000",
    "--adb": "127.0.0.1:5037",
    "--lease": "redis://lab:6379/0",
    "--log-level": "debug",
}
# Their values may begin with a dash: a wrong number is told as a wrong number.
_MAY_BEGIN_WITH_DASH = ("--timeout",)


@dataclass(frozen=True, kw_only=True)
class GlobalOptions:
    """What was said about the device, the Operator and the output.

    ``timeout`` is text in milliseconds, which each command understands in its own way.
    ``output`` is what was asked for, else JSON where nobody watches: in a pipe or a file.
    """

    device: str | None = None
    operator_package: str | None = None
    output: OutputMode = "json"
    is_json_explicit: bool = False
    timeout: str | None = None
    adb: str | None = None
    lease: str | None = None
    log_level: str | None = None
    is_verbose: bool = False

    @property
    def is_quiet(self) -> bool:
        """Whether only errors shall be told."""
        return self.log_level == "error"

    @property
    def is_talkative(self) -> bool:
        """Whether more shall be told than what is out of the ordinary."""
        return self.is_verbose or self.log_level in ("debug", "info")


def split_global_options(argv: Sequence[str]) -> tuple[GlobalOptions, list[str]]:
    """Return the global options of a command line, and the rest of it.

    What follows ``--`` belongs to the command.
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
            found[_VALUES[word]] = _value(word, next(words, None))
        else:
            rest.append(word)
    return _options(found, switches), [*rest, *argv[end:]]


def default_output() -> OutputMode:
    """Return the output for whoever reads it: a person at a terminal, or else a program."""
    return "pretty" if sys.stdout is not None and sys.stdout.isatty() else "json"


def as_parameters() -> list[click.Parameter]:
    """Return the options for help and completion; they are never parsed by click."""
    return [
        _shown(
            "--device",
            "--device-id",
            metavar="SERIAL",
            help="The device; else the only one.",
            shell_complete=_connected_serials,
        ),
        _shown(
            "--operator-package",
            "--receiver-package",
            metavar="PACKAGE",
            help="The Operator app's package.",
        ),
        _shown(
            "--output",
            "--format",
            type=click.Choice(["json", "pretty"]),
            help="For programs or for people; default: for whoever reads it.",
        ),
        _shown("--json", is_flag=True, help="The same as --output json."),
        _shown("--timeout", "--timeout-ms", metavar="MS", help="How long it may take."),
        _shown("--adb", metavar="HOST:PORT", help="The adb server; default: 127.0.0.1:5037."),
        _shown("--lease", metavar="URL", help="Where leases are kept, if not on this machine."),
        _shown("--log-level", type=click.Choice(LOG_LEVELS), help="What is told on stderr."),
        _shown("--verbose", is_flag=True, help="Tell more on stderr."),
    ]


class GlobalOption(click.Option):
    """An option that is taken from the command line before click sees it."""


def _shown(*names: str, **how: object) -> GlobalOption:
    return GlobalOption(list(names), expose_value=False, **how)  # type: ignore[arg-type] # passed on


def _connected_serials(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Return the serials that begin so, for completion; no adb server is started for that."""
    try:
        server = import_module("pytest_clawperator.transport.server").locate_server()
        return [serial for serial, _ in server.devices() if serial.startswith(incomplete)]
    except ClawperatorError:
        return []


def _with_values_apart(words: Sequence[str]) -> Iterator[str]:
    """Split ``--device=SERIAL`` in two."""
    for word in words:
        name, equals, value = word.partition("=")
        yield from (name, value) if equals and name in _VALUES else (word,)


def _value(name: str, value: str | None) -> str:
    may_begin = _VALUES[name] in _MAY_BEGIN_WITH_DASH
    if value is None or not value.strip() or (value.startswith("-") and not may_begin):
        raise Mistake(f"{name} requires a value", hint=f"As in {name} {_SUCH_AS[_VALUES[name]]}.")
    return value


def _options(found: dict[str, str], switches: set[str]) -> GlobalOptions:
    level = found.get("--log-level", "").lower() or None
    if level is not None and level not in LOG_LEVELS:
        raise Mistake(f"--log-level must be one of: {', '.join(LOG_LEVELS)}")
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
        log_level=level,
        is_verbose="--verbose" in switches,
    )
