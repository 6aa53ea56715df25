"""The shell language: from the text of a script to commands with their words and quoting."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from pytest_clawperator.simulator.shell.shell import MAX_NESTING

# Named tuples: that many dataclasses would be a noticeable part of the start-up time.


class ShellSyntaxError(Exception):
    """The text is not a supported script; ``incomplete`` where more text could make it one."""

    def __init__(self, message: str, *, incomplete: bool = False) -> None:
        super().__init__(message)
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


class Redirect(NamedTuple):
    """One redirection."""

    fd: int
    operator: str
    target: Word


class Simple(NamedTuple):
    """A command with its arguments, and the variables that are set in front of it."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]


class Group(NamedTuple):
    """``{ …; }`` or ``( … )``."""

    body: Program
    in_subshell: bool


class If(NamedTuple):
    """``if … then … else … fi``."""

    condition: Program
    body: Program
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


# Commands joined by ``|``.
Pipeline = tuple[Redirected, ...]
# Pipelines joined by ``&&`` and ``||``; the first one's operator is empty.
Chain = tuple[tuple[str, Pipeline], ...]
Program = tuple[Chain, ...]


# A reserved word counts as one only if it ends here.
_WORD_END = r"(?=[ \t\n;&|<>()]|\\\n|\Z)"
# Blanks and a comment; then an operator, or the end, where a word does not begin.
_NEXT_OPERATOR = re.compile(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?(&&|\|\||;;|[&|;()\n<>]|\Z)?")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_REDIRECT = re.compile(r"([0-9]?)(<<|<>|>>|<&|>&|<|>)|(&>)")
_PLAIN = re.compile(r"[^ \t\n'\"\\$`;&|<>()]+")
# Quoted text without expansions, however often the quotes change: 'it'"'"'s'.
_QUOTED_RUN = re.compile(r"(?:'[^']*'|\"[^\"\\$`]*\")+")
_QUOTED_PIECE = re.compile(r"'([^']*)'|\"([^\"\\$`]*)\"")
_DOUBLE_QUOTED = re.compile(r"(?:[^\\$`\"]+|\\.)+", re.DOTALL)
_DOUBLE_QUOTED_ESCAPE = re.compile(r'\\(?:([$`\\"])|\n)')
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[?$])|\{([A-Za-z_][A-Za-z0-9_]*|[?$])\}")
# What begins an expansion that a phone's shell knows and this one does not.
_UNSUPPORTED_EXPANSION = re.compile(r"\(\(|[0-9@*#!-]|\{[^}]{0,40}\}?|['\"]")
_UNSUPPORTED = frozenset(("!", "case", "elif", "for", "function", "select"))
_RESERVED_WORDS = (
    *("if", "then", "else", "fi", "while", "until", "do", "done", "esac", "{", "}"),
    *sorted(_UNSUPPORTED),
)
_RESERVED = re.compile(rf"(?:{'|'.join(map(re.escape, _RESERVED_WORDS))}){_WORD_END}")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class Parser:
    """Reads a script one complete line at a time, as a shell runs it, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0

    def next(self) -> Program | None:
        """Read up to the end of the line on which a command is complete; None at the end."""
        self._skip_newlines()
        if self._operator() == "":
            return None
        chains: list[Chain] = []
        while self._operator() not in ("", "\n"):
            chain, is_separated = self._chain()
            chains.append(chain)
            if not is_separated and self._operator() not in ("", "\n"):
                raise self._unexpected()
        if self._operator() == "\n":
            self._take("\n")
        return tuple(chains)

    def _program(self, ends: Collection[str]) -> Program:
        """Read commands up to one of the reserved words, a closing parenthesis, or the end."""
        chains: list[Chain] = []
        is_separated = True
        while True:
            is_separated = self._operator() == "\n" or is_separated
            self._skip_newlines()
            if self._operator() in ("", ")") or self._reserved() in ends:
                return tuple(chains)
            if not is_separated:
                raise self._unexpected()
            chain, is_separated = self._chain()
            chains.append(chain)

    def _chain(self) -> tuple[Chain, bool]:
        """Read pipelines joined by ``&&`` and ``||``, and the separator if there is one."""
        links = [("", self._pipeline())]
        while (operator := self._operator() or "") in ("&&", "||"):
            self._take(operator)
            self._skip_newlines()
            links.append((operator, self._pipeline()))
        if operator == "&":
            raise unsupported("'&'")
        if operator == ";":
            self._take(operator)
        return tuple(links), operator == ";"

    def _body(self, *ends: str, take: bool = True) -> Program:
        """Read a list that must end in one of these words, and with ``take`` that word."""
        body = self._program(ends)
        word = self._reserved()
        if word not in ends or not body:
            raise self._unexpected()
        self._take(word if take and word else "")
        return body

    def _up_to_parenthesis(self) -> Program:
        body = self._program(())
        if self._operator() != ")":
            raise self._unexpected()
        self._take(")")
        return body

    def _pipeline(self) -> Pipeline:
        commands = [self._command()]
        while self._operator() == "|":
            self._take("|")
            self._skip_newlines()
            commands.append(self._command())
        return tuple(commands)

    # Commands

    def _command(self) -> Redirected:
        reserved = self._reserved()
        if reserved is None and self._operator() == "(":
            reserved = "("
        if reserved is None:
            return self._simple()
        if reserved in _UNSUPPORTED:
            raise unsupported(f"'{reserved}'")
        if reserved not in ("(", "{", "if", "while", "until"):
            raise self._unexpected()
        self._take(reserved)
        with self._nested():
            command = self._compound(reserved)
        redirects = []
        while (redirect := self._redirect()) is not None:
            redirects.append(redirect)
        return Redirected(command, tuple(redirects))

    def _compound(self, reserved: str) -> Command:
        if reserved == "(":
            return Group(self._up_to_parenthesis(), in_subshell=True)
        if reserved == "{":
            return Group(self._body("}"), in_subshell=False)
        if reserved != "if":
            return Loop(self._body("do"), self._body("done"), until=reserved == "until")
        condition = self._body("then")
        body = self._body("else", "fi", take=False)
        word = self._reserved() or ""
        self._take(word)
        return If(condition, body, self._body("fi") if word == "else" else ())

    def _simple(self) -> Redirected:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            operator = self._operator()
            if operator is not None:
                break
            name = None if words else self._peek(_ASSIGNMENT)
            if name:
                self._take(name)
                assignments.append((name[:-1], self._word()))
            else:
                words.append(self._word())
        if operator == "(" or not (assignments or words or redirects):
            raise self._unexpected()
        return Redirected(Simple(tuple(assignments), tuple(words)), tuple(redirects))

    def _redirect(self) -> Redirect | None:
        self._peek(_BLANKS)
        match = _REDIRECT.match(self._text, self._position)
        if match is None:
            return None
        operator = match[2] or match[3]
        if operator in ("<<", "<>", "&>"):
            raise unsupported(f"'{operator}'")
        self._position = match.end()
        if self._operator() is not None:
            raise self._unexpected()
        fd = int(match[1]) if match[1] else int(operator[0] != "<")
        return Redirect(fd, operator, self._word())

    # Reserved words and operators

    def _reserved(self) -> str | None:
        return self._peek(_RESERVED)

    def _take(self, word: str) -> None:
        self._position += len(word)

    def _operator(self) -> str | None:
        """Skip blanks and comments; return an operator, "" at the end, None before a word."""
        match = _NEXT_OPERATOR.match(self._text, self._position)
        assert match
        operator = match[1]
        self._position = match.end() if operator is None else match.start(1)
        return operator

    def _skip_newlines(self) -> None:
        """Skip empty lines and comments."""
        while self._operator() == "\n":
            self._take("\n")

    def _peek(self, pattern: re.Pattern[str]) -> str | None:
        """Skip blanks; return what a pattern matches there, without reading it."""
        blanks = _BLANKS.match(self._text, self._position)
        assert blanks
        self._position = blanks.end()
        match = pattern.match(self._text, self._position)
        return match.group() if match else None

    def _unexpected(self) -> ShellSyntaxError:
        """Return the error for what stands at the position."""
        operator = self._operator()
        if operator == "":
            return ShellSyntaxError("syntax error: unexpected EOF", incomplete=True)
        if operator is None:
            start = self._position
            self._word()
            operator = self._text[start : self._position]
        name = "newline" if operator == "\n" else f"'{operator}'"
        return ShellSyntaxError(f"syntax error: unexpected {name}")

    # Words

    def _word(self) -> Word:
        """Read one word; empty if none begins here."""
        parts: list[Part] = []
        while self._position < len(self._text):
            if match := _QUOTED_RUN.match(self._text, self._position):
                pieces = _QUOTED_PIECE.findall(match.group())
                parts.append(Text("".join(chain.from_iterable(pieces)), True))
                self._position = match.end()
            elif match := _PLAIN.match(self._text, self._position):
                parts.append(Text(match.group(), False))
                self._position = match.end()
            elif not self._read_special(parts):
                break
        return _whole_word(parts)

    def _read_special(self, parts: list[Part]) -> bool:
        """Read one quoted or expanded piece outside of quotes; return whether there is one."""
        character = self._text[self._position]
        if character == '"':
            self._read_double_quoted(parts)
        elif character == "'":  # one with an end is part of a quoted run
            raise _no_closing_quote()
        elif character == "\\":
            escaped = self._text[self._position + 1 : self._position + 2]
            self._position += 2
            if escaped not in ("\n", ""):
                parts.append(Text(escaped, True))
        elif character == "$":
            self._read_dollar(parts, quoted=False)
        elif character == "`":
            raise unsupported("'`'")
        else:
            return False
        return True

    def _read_double_quoted(self, parts: list[Part]) -> None:
        self._position += 1
        with self._nested():
            while self._position < len(self._text):
                character = self._text[self._position]
                if character == '"':
                    self._position += 1
                    return
                match = _DOUBLE_QUOTED.match(self._text, self._position)
                if match:
                    self._position = match.end()
                    text = filter(None, _DOUBLE_QUOTED_ESCAPE.split(match.group()))
                    parts.append(Text("".join(text), True))
                elif character == "$":
                    self._read_dollar(parts, quoted=True)
                elif character == "`":
                    raise unsupported("'`'")
                else:  # a backslash with nothing behind it
                    self._position += 1
        raise _no_closing_quote()

    def _read_dollar(self, parts: list[Part], *, quoted: bool) -> None:
        self._position += 1
        if match := _NAME.match(self._text, self._position):
            self._position = match.end()
            parts.append(Parameter(match[1] or match[2], quoted))
            return
        other = _UNSUPPORTED_EXPANSION.match(self._text, self._position)
        if other and not (quoted and other.group() in "\"'"):
            if other.group().startswith("{") and not other.group().endswith("}"):
                raise _no_closing_quote()
            raise unsupported(f"'${other.group()}'")
        if not self._text.startswith("(", self._position):
            parts.append(Text("$", True))
            return
        self._take("(")
        with self._nested():
            parts.append(Substitution(self._up_to_parenthesis(), quoted))

    @contextmanager
    def _nested(self) -> Iterator[None]:
        """Count a level of nesting; raise a syntax error if there are too many."""
        if self._depth >= MAX_NESTING:
            raise ShellSyntaxError(f"syntax error: nested deeper than {MAX_NESTING} levels")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


def _whole_word(parts: list[Part]) -> Word:
    """Join the parts of a word; raise a syntax error if it has a brace expansion."""
    texts = [part for part in parts if isinstance(part, Text)]
    plain = "".join("" if text.quoted else text.text for text in texts)
    opened, comma = plain.find("{"), plain.find(",", plain.find("{"))
    if -1 < opened < comma < plain.rfind("}"):
        raise unsupported("'{a,b}'")
    if "*" in plain or "?" in plain or len(texts) < len(parts):
        return Word(tuple(parts))
    return Word(tuple(parts), "".join(text.text for text in texts))


def _no_closing_quote() -> ShellSyntaxError:
    return ShellSyntaxError("no closing quote", incomplete=True)
