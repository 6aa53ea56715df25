"""Parsing of the arguments of a tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_clawperator.simulator.shell.exits import CommandFailure


@dataclass
class Options:
    """The arguments of a tool: one-letter flags, options with values, and operands."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)

    def __contains__(self, letter: str) -> bool:
        return letter in self.flags or letter in self.values

    def text(self, letter: str, default: str = "") -> str:
        """Return the last value of an option."""
        return self.values[letter][-1] if letter in self.values else default

    def number(self, letter: str, default: int) -> int:
        """Return the last value of an option as a number."""
        return whole_number(self.text(letter)) if letter in self.values else default


def whole_number(text: str) -> int:
    """Parse a number; raise the failure of the tools if it is none."""
    try:
        if len(text) > 18:
            raise ValueError
        return int(text)
    except ValueError:
        raise CommandFailure(f"not integer: {text}") from None


def parse_options(
    args: Sequence[str], *, flags: str = "", values: str = "", least: int = 0
) -> Options:
    """Parse the arguments of a tool: the letters in ``values`` take a value."""
    name, *waiting = args
    options = Options()
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            options.operands += waiting
            break
        if not word.startswith("-") or len(word) == 1:
            options.operands.append(word)
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in values:
                if not letters and not waiting:
                    raise _failure(name, f"Missing argument to -{letter}")
                options.values.setdefault(letter, []).append(letters or waiting.pop(0))
                break
            if letter not in flags:
                raise _failure(name, f"Unknown option '{word[2:] if letter == '-' else letter}'")
            options.flags.add(letter)
    if len(options.operands) < least:
        raise _failure(name, f"Needs {least} argument{'s' if least > 1 else ''}")
    return options


def _failure(name: str, message: str) -> CommandFailure:
    return CommandFailure(f'{message} (see "{name} --help")')
