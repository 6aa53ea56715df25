"""The parts of a parsed script: words with their quoting, and commands."""

from __future__ import annotations

from typing import NamedTuple

# Named tuples: that many dataclasses would be a noticeable part of the start-up time.


class ShellSyntaxError(Exception):
    """The text is not a supported script; ``incomplete`` where more text could make it one."""

    def __init__(self, message: str, *, incomplete: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.incomplete = incomplete


def unsupported(what: str) -> ShellSyntaxError:
    """Return the error for syntax that a phone's shell knows and this one does not."""
    return ShellSyntaxError(f"syntax error: {what} is not supported by the simulated shell")


class Text(NamedTuple):
    """Literal characters; quoted ones are never split, expanded or reserved."""

    text: str
    quoted: bool


class Parameter(NamedTuple):
    """``$name`` or ``${name}``."""

    name: str
    quoted: bool


class Substitution(NamedTuple):
    """``$(…)``."""

    body: Program
    quoted: bool


Part = Text | Parameter | Substitution


class Word(NamedTuple):
    """One word; ``static`` is its text where no expansion can change it."""

    parts: tuple[Part, ...]
    static: str | None = None


class Assignment(NamedTuple):
    """``name=value`` in front of a command, or alone."""

    name: str
    value: Word


class Redirect(NamedTuple):
    """One redirection."""

    fd: int
    operator: str
    target: Word


class Simple(NamedTuple):
    """A command with its arguments."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]


class Group(NamedTuple):
    """``{ …; }`` or ``( … )``."""

    body: Program
    in_subshell: bool


class If(NamedTuple):
    """``if … then … elif … else … fi``."""

    arms: tuple[tuple[Program, Program], ...]
    otherwise: Program


class Loop(NamedTuple):
    """``while`` and ``until``."""

    condition: Program
    body: Program
    until: bool


Command = Simple | Group | If | Loop


class Redirected(NamedTuple):
    """A command with its redirections, in the order written."""

    command: Command
    redirects: tuple[Redirect, ...]


class Pipeline(NamedTuple):
    """Commands joined by ``|``; ``negated`` by a ``!`` in front."""

    commands: tuple[Redirected, ...]
    negated: bool


class Chain(NamedTuple):
    """Pipelines joined by ``&&`` and ``||``; the first one's operator is empty."""

    links: tuple[tuple[str, Pipeline], ...]


Program = tuple[Chain, ...]
