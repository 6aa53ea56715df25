"""Reads the words, operators and here-documents of a shell script, quoting to the letter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from pytest_clawperator.simulator.shell.escapes import decode_ansi
from pytest_clawperator.simulator.shell.syntax import (
    Calculation,
    HereDocument,
    Parameter,
    Part,
    Program,
    ShellSyntaxError,
    Substitution,
    Text,
    Word,
)
from pytest_clawperator.simulator.shell.words import WordBuilder

# Each level costs about nine Python frames to parse and to run; this keeps clear of their limit.
MAX_NESTING = 40

# A word that is only read as such if it ends here.
WORD_END = r"(?=[ \t\n;&|<>()]|\\\n|\Z)"

_JOINED = r"(?:\\\n)*"  # a backslash at the end of a line joins it with the next, anywhere
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(
    "|".join(
        _JOINED.join(map(re.escape, operator))
        for operator in ("&&", "||", ";;", ";&", ";|", "&", "|", ";", "(", ")", "\n", "<", ">")
    )
)
_REDIRECT = re.compile(
    r"([0-9]?)("
    + "|".join(
        _JOINED.join(map(re.escape, operator))
        for operator in ("<<<", "<<-", "<<", ">>", ">|", "<>", "<&", ">&", "<", ">")
    )
    + f")|(&{_JOINED}>(?:{_JOINED}>)?)"
)
_PLAIN = re.compile(r"[^ \t\n'\"\\$`;&|<>()]+")
# Quoted text without expansions, however often the quotes change: 'it'"'"'s'.
_QUOTED_RUN = re.compile(r"(?:'[^']*'|\"[^\"\\$`]*\")+")
_QUOTED_PIECE = re.compile(r"'([^']*)'|\"([^\"\\$`]*)\"")
_ANSI = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKQUOTED = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_DELIMITER = re.compile(r"(?:[^ \t\n'\"\\;&|<>()]|'[^']*'|\"[^\"]*\"|\\.)+", re.DOTALL)
_DELIMITER_QUOTES = re.compile(r"'([^']*)'|\"([^\"]*)\"|\\(.)", re.DOTALL)
_NAME = re.compile(rf"[A-Za-z_](?:{_JOINED}[A-Za-z0-9_])*")
_SPECIAL = re.compile(r"[0-9@*#?$!-]")
_BRACED_NAME = re.compile(rf"{_NAME.pattern}|\d+|[@*#?$!-]")
_BRACED_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|/[/#%]?|:|(?=\})")
_PARENTHESES = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[()]", re.DOTALL)
_ARGUMENT = {stop: re.compile(rf"[^'\"\\$`}}{stop}]+") for stop in ("", "/", ":")}


class _Soft(NamedTuple):
    """A kind of text in which only ``$``, backquotes and some backslashes mean something."""

    plain: re.Pattern[str]  # what is read in one go, escapes included
    escape: re.Pattern[str]  # the escapes that lose their backslash


def _soft(*, ends: str, escapable: str) -> _Soft:
    return _Soft(
        re.compile(rf"(?:[^\\$`{ends}]+|\\.)+", re.DOTALL),
        re.compile(rf"\\(?:([$`\\{escapable}])|\n)"),
    )


_DOUBLE = _soft(ends='"', escapable='"')
_HERE = _soft(ends="", escapable="")
_QUOTED_ARGUMENT = _soft(ends='"}', escapable='"}')


class Scanner:
    """A position in a script, and the pieces that can be read from there."""

    def __init__(self, text: str, *, grammar: Callable[[Scanner], Program], depth: int = 0) -> None:
        self.text = text
        self.position = 0
        self.grammar = grammar
        self.depth = depth
        self.open: list[str] = []  # what was begun and not ended yet, for messages
        self.awaited: list[HereDocument] = []

    # Tokens

    def operator(self) -> str | None:
        """Skip blanks and comments, then look: an operator, "" at the end, None for a word."""
        self._skip_blanks()
        if self.position >= len(self.text):
            return ""
        if self.text[self.position] == "#":
            match = _COMMENT.match(self.text, self.position)
            assert match
            self.position = match.end()
            return self.operator() if self.position < len(self.text) else ""
        match = _OPERATOR.match(self.text, self.position)
        return match.group().replace("\\\n", "") if match else None

    def take_operator(self) -> str:
        """Read the operator that ``operator`` saw."""
        match = _OPERATOR.match(self.text, self.position)
        assert match
        self.position = match.end()
        if match.group() == "\n" and self.awaited:
            self._read_here_documents()
        return match.group().replace("\\\n", "")

    def skip_newlines(self) -> None:
        """Skip empty lines and comments."""
        while self.operator() == "\n":
            self.take_operator()

    def take_redirect(self) -> tuple[str, str] | None:
        """Read a redirection's descriptor and operator, if one is next."""
        self._skip_blanks()
        match = _REDIRECT.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match[1] or "", (match[2] or match[3]).replace("\\\n", "")

    def take_match(self, pattern: re.Pattern[str]) -> str | None:
        """Read what a pattern matches after blanks, if it does."""
        self._skip_blanks()
        match = pattern.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match.group().replace("\\\n", "")

    def looks_like(self, pattern: re.Pattern[str]) -> str | None:
        """Tell what a pattern would match after blanks, without reading it."""
        self._skip_blanks()
        match = pattern.match(self.text, self.position)
        return match.group() if match else None

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self.text, self.position)
        if match:
            self.position = match.end()

    def unexpected(self) -> ShellSyntaxError:
        """Make the error for what stands at the position."""
        operator = self.operator()
        if operator == "":
            return self.cut_short()
        if operator is None:
            start = self.position
            self.word()
            operator = self.text[start : self.position]
        if operator in ("<", ">"):
            operator += " "
        name = "newline" if operator == "\n" else f"'{operator}'"
        return ShellSyntaxError(f"syntax error: unexpected {name}")

    def cut_short(self) -> ShellSyntaxError:
        """Make the error for a script that ends too early."""
        what = f"unmatched '{self.open[-1]}'" if self.open else "unexpected EOF"
        return ShellSyntaxError(f"syntax error: {what}", incomplete=True)

    # Words

    def word(self) -> Word:
        """Read one word; empty where none begins here."""
        builder = WordBuilder()
        text, end = self.text, len(self.text)
        while self.position < end:
            match = _QUOTED_RUN.match(text, self.position)
            if match:
                self.position = match.end()
                pieces = _QUOTED_PIECE.findall(match.group())
                builder.text("".join(chain.from_iterable(pieces)), quoted=True)
                continue
            match = _PLAIN.match(text, self.position)
            if match:
                self.position = match.end()
                builder.text(match.group(), quoted=False)
            elif not self._quoting(builder):
                break
        return builder.word()

    def _quoting(self, builder: WordBuilder) -> bool:
        """Read one quoted or expanded piece of an unquoted word; False if there is none."""
        character = self.text[self.position]
        if character == '"':
            self._double_quoted(builder)
        elif character == "'":
            raise _no_closing_quote()
        elif character == "\\":
            self._escape(builder)
        elif character == "$":
            self._dollar(builder, quoted=False)
        elif character == "`":
            builder.part(self._backquoted(quoted=False))
        else:
            return False
        return True

    def _escape(self, builder: WordBuilder) -> None:
        escaped = self.text[self.position + 1 : self.position + 2]
        self.position += 2
        if escaped not in ("\n", ""):
            builder.text(escaped, quoted=True)

    def _double_quoted(self, builder: WordBuilder) -> None:
        self.position += 1
        if self.text.startswith('"', self.position):
            self.position += 1
            builder.text("", quoted=True)
            return
        with self.nested():
            self._expand_until('"', builder, kind=_DOUBLE)

    def _expand_until(self, closing: str, builder: WordBuilder, *, kind: _Soft) -> None:
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == closing:
                self.position += 1
                return
            match = kind.plain.match(self.text, self.position)
            if match:
                self.position = match.end()
                builder.text("".join(filter(None, kind.escape.split(match.group()))), quoted=True)
            elif character == '"':
                self._double_quoted(builder)
            elif character == "$":
                self._dollar(builder, quoted=True)
            elif character == "`":
                builder.part(self._backquoted(quoted=True))
            else:  # a backslash with nothing behind it
                self.position += 1
                builder.text("\\", quoted=True)
        if closing:
            raise _no_closing_quote()

    # Expansions

    def _dollar(self, builder: WordBuilder, *, quoted: bool) -> None:
        start = self.position
        self.position += 1
        while self.text.startswith("\\\n", self.position):
            self.position += 2
        character = self.text[self.position : self.position + 1]
        if character == "(":
            builder.part(self._parenthesised(quoted=quoted))
        elif character == "{":
            builder.part(self._braced(start, quoted=quoted))
        elif character == "'" and not quoted:
            self._ansi(builder)
        elif character == '"' and not quoted:
            self._double_quoted(builder)
        else:
            name = self._plain_name()
            if name:
                builder.part(Parameter(name, quoted))
            else:
                builder.text("$", quoted=True)

    def _plain_name(self) -> str | None:
        match = _NAME.match(self.text, self.position) or _SPECIAL.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match.group().replace("\\\n", "")

    def _ansi(self, builder: WordBuilder) -> None:
        match = _ANSI.match(self.text, self.position)
        if match is None:
            raise _no_closing_quote()
        self.position = match.end()
        builder.text(decode_ansi(match[1]), quoted=True)

    def _parenthesised(self, *, quoted: bool) -> Part:
        with self.nested():
            end = self.arithmetic_end(self.position)
            if end is not None:
                expression = self.text[self.position + 2 : end - 2]
                self.position = end
                return Calculation(self.within(expression).expandable(), quoted)
            self.position += 1
            self.open.append("(")
            body = self.grammar(self)
            if self.operator() != ")":
                raise self.unexpected()
            self.take_operator()
            self.open.pop()
            return Substitution(body, quoted)

    def arithmetic_end(self, start: int) -> int | None:
        """Tell where the ``((…))`` that begins at ``start`` ends; None if it is none."""
        if not self.text.startswith("((", start):
            return None
        depth = 0
        for match in _PARENTHESES.finditer(self.text, start):
            if match.group() == "(":
                depth += 1
            elif match.group() == ")":
                depth -= 1
                if depth == 1:
                    closes = self.text.startswith(")", match.end())
                    return match.end() + 1 if closes else None
        return None

    def expandable(self) -> Word:
        """Read the whole text as the inside of a here-document or of ``$((…))``."""
        builder = WordBuilder()
        self._expand_until("", builder, kind=_HERE)
        return builder.word()

    def _backquoted(self, *, quoted: bool) -> Part:
        match = _BACKQUOTED.match(self.text, self.position)
        if match is None:
            raise _no_closing_quote()
        self.position = match.end()
        escapable = r'[$`\\"]' if quoted else r"[$`\\]"
        script = re.sub(rf"\\({escapable})", r"\1", match[1])
        with self.nested():
            inner = self.within(script)
            body = self.grammar(inner)
            if inner.operator() != "":
                raise inner.unexpected()
        return Substitution(body, quoted)

    def _braced(self, start: int, *, quoted: bool) -> Parameter:
        self.position += 1
        with self.nested():
            length = self._length_of()
            if length is not None:
                return Parameter(length, quoted, "length")
            match = _BRACED_NAME.match(self.text, self.position)
            if match:
                self.position = match.end()
            operator = _BRACED_OPERATOR.match(self.text, self.position) if match else None
            if match is None or operator is None:
                self._argument("", quoted=quoted)
                return self._parameter(start, "", quoted=quoted, operator="bad")
            self.position = operator.end()
            return self._parameter(
                start, match.group().replace("\\\n", ""), quoted=quoted, operator=operator.group()
            )

    def _length_of(self) -> str | None:
        if not self.text.startswith("#", self.position):
            return None
        match = _BRACED_NAME.match(self.text, self.position + 1)
        if match is None or not self.text.startswith("}", match.end()):
            return None
        self.position = match.end() + 1
        return match.group().replace("\\\n", "")

    def _parameter(self, start: int, name: str, *, quoted: bool, operator: str) -> Parameter:
        """Read what follows the name and its operator inside ``${…}``."""
        argument = second = None
        kind = operator[:1]
        if operator and operator != "bad":
            pattern = kind in "#%/" or operator == ":"
            stop = kind if operator == ":" or kind == "/" else ""
            argument, stopped = self._argument(stop, quoted=quoted and not pattern)
            if stopped:
                second, _ = self._argument("", quoted=quoted)
        elif operator == "":
            self.position += 1
        source = self.text[start : self.position]
        return Parameter(name, quoted, operator, argument, second, source)

    def _argument(self, stop: str, *, quoted: bool) -> tuple[Word, bool]:
        """Read up to the closing brace, or to ``stop``; tell whether ``stop`` ended it."""
        builder = WordBuilder()
        if quoted:
            self._expand_until("}", builder, kind=_QUOTED_ARGUMENT)
            return builder.word(), False
        while self.position < len(self.text):
            character = self.text[self.position]
            if character in ("}", stop):
                self.position += 1
                return builder.word(), character == stop
            match = _ARGUMENT[stop].match(self.text, self.position)
            if match:
                builder.text(match.group(), quoted=False)
                self.position = match.end()
            elif character == "'":
                self._single_quoted(builder)
            else:
                self._quoting(builder)
        raise _no_closing_quote()

    def _single_quoted(self, builder: WordBuilder) -> None:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise _no_closing_quote()
        builder.text(self.text[self.position + 1 : end], quoted=True)
        self.position = end + 1

    # Here-documents

    def here_document(self, *, strip_tabs: bool) -> HereDocument:
        """Read the delimiter of a here-document; its body is read at the end of the line."""
        self._skip_blanks()
        match = _DELIMITER.match(self.text, self.position)
        if match is None:
            raise self.unexpected()
        self.position = match.end()
        delimiter = _DELIMITER_QUOTES.sub(
            lambda quote: quote[1] or quote[2] or quote[3] or "", match.group()
        )
        document = HereDocument(delimiter, match.group() != delimiter, strip_tabs)
        self.awaited.append(document)
        return document

    def _read_here_documents(self) -> None:
        awaited, self.awaited = self.awaited, []
        for document in awaited:
            body = self._here_body(document)
            if document.literal:
                document.body = Word((Text(body, True),), body)
            else:
                with self.nested():
                    document.body = self.within(body).expandable()

    def _here_body(self, document: HereDocument) -> str:
        lines: list[str] = []
        while self.position < len(self.text):
            end = self.text.find("\n", self.position)
            line = self.text[self.position : end if end >= 0 else len(self.text)]
            self.position += len(line) + 1
            if document.strip_tabs:
                line = line.lstrip("\t")
            if line == document.delimiter:
                # The newline after the delimiter ends a command too, where one is still open.
                self.position = min(self.position, len(self.text))
                return "".join(lines)
            lines.append(line + "\n")
        raise unclosed_here_document(document)

    # Nesting

    def within(self, text: str) -> Scanner:
        """Give a scanner for a piece of this script."""
        return Scanner(text, grammar=self.grammar, depth=self.depth)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count a level of nesting, and refuse scripts that only mean to exhaust the shell."""
        if self.depth >= MAX_NESTING:
            raise ShellSyntaxError(f"syntax error: nested deeper than {MAX_NESTING} levels")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def unclosed_here_document(document: HereDocument) -> ShellSyntaxError:
    """Make the error for a here-document without its last line."""
    return ShellSyntaxError(f"here document '{document.delimiter}' unclosed", incomplete=True)


def _no_closing_quote() -> ShellSyntaxError:
    return ShellSyntaxError("no closing quote", incomplete=True)
