"""What a shell script is made of: words with their quoting, and commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# Named tuples: two dozen dataclasses would be a noticeable part of the start-up time.


class ShellSyntaxError(Exception):
    """The script is no shell script; ``incomplete`` where more text could make it one."""

    def __init__(self, message: str, *, incomplete: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.incomplete = incomplete


class Text(NamedTuple):
    """Characters that stand for themselves; quoted ones are never split, globbed or reserved."""

    text: str
    quoted: bool


class Parameter(NamedTuple):
    """``$name`` or ``${name…}``; the operator follows the name, or is ``length`` (``${#x}``)."""

    name: str
    quoted: bool
    operator: str = ""
    argument: Word | None = None
    second: Word | None = None
    source: str = ""


class Substitution(NamedTuple):
    """``$(…)`` or backquotes."""

    body: Program
    quoted: bool


class Calculation(NamedTuple):
    """``$((…))``."""

    expression: Word
    quoted: bool


Part = Text | Parameter | Substitution | Calculation


class Word(NamedTuple):
    """One word; ``static`` is its text where no expansion can change it."""

    parts: tuple[Part, ...]
    static: str | None = None


class Assignment(NamedTuple):
    """``name=value`` in front of a command, or alone."""

    name: str
    value: Word
    append: bool = False


@dataclass
class HereDocument:
    """Text on the lines below its command, known only once those are read."""

    delimiter: str
    literal: bool
    strip_tabs: bool
    body: Word | None = None


class Redirect(NamedTuple):
    """One redirection."""

    fd: int
    operator: str
    target: Word | HereDocument


class Simple(NamedTuple):
    """A command with its arguments."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]


class Subshell(NamedTuple):
    """``( … )``."""

    body: Program


class Group(NamedTuple):
    """``{ …; }``."""

    body: Program


class If(NamedTuple):
    """``if … then … elif … else … fi``."""

    arms: tuple[tuple[Program, Program], ...]
    otherwise: Program


class Loop(NamedTuple):
    """``while`` and ``until``."""

    condition: Program
    body: Program
    until: bool


class For(NamedTuple):
    """``for name in …``; ``words`` is None where the positional parameters are meant."""

    name: str
    words: tuple[Word, ...] | None
    body: Program


class CaseArm(NamedTuple):
    """The patterns of one branch, its body, and whether it goes on to the next (``;&``, ``;|``)."""

    patterns: tuple[Word, ...]
    body: Program
    ending: str


class Case(NamedTuple):
    """``case word in … esac``."""

    word: Word
    arms: tuple[CaseArm, ...]


class Function(NamedTuple):
    """``name() command``."""

    name: str
    body: Redirected


class Arithmetic(NamedTuple):
    """``(( … ))``."""

    expression: Word


class Condition(NamedTuple):
    """``[[ … ]]``: an operator over words, or ``!``, ``&&`` and ``||`` over conditions."""

    operator: str
    operands: tuple[Word | Condition, ...]


Command = Simple | Subshell | Group | If | Loop | For | Case | Function | Arithmetic | Condition


class Redirected(NamedTuple):
    """A command with its redirections, in the order written."""

    command: Command
    redirects: tuple[Redirect, ...]


class Pipeline(NamedTuple):
    """Commands joined by ``|``; an odd number of ``!`` turns the status round."""

    commands: tuple[Redirected, ...]
    negated: bool
    timed: bool = False


class Chain(NamedTuple):
    """Pipelines joined by ``&&`` and ``||``; the first one's operator is empty."""

    links: tuple[tuple[str, Pipeline], ...]
    background: bool


Program = tuple[Chain, ...]
