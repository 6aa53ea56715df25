"""Reads the operators and words of a script, with their quoting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain

from pytest_clawperator.simulator.shell.language.syntax import (
    Parameter,
    Part,
    Program,
    ShellSyntaxError,
    Substitution,
    Text,
    Word,
    unsupported,
)
from pytest_clawperator.simulator.shell.shell import MAX_NESTING

# A reserved word counts as one only if it ends here.
WORD_END = r"(?=[ \t\n;&|<>()]|\\\n|\Z)"

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_OPERATOR = re.compile(r"&&|\|\||;;|[&|;()\n<>]")
# Blanks and a comment; then an operator, or the end, where a word does not begin.
_NEXT_OPERATOR = re.compile(rf"(?:[ \t]|\\\n)*(?:#[^\n]*)?({_OPERATOR.pattern}|\Z)?")
_REDIRECT = re.compile(r"([0-9]?)(<<|<>|>>|<&|>&|<|>)|(&>)")
# Most words are plain or in single quotes, and can be nothing else.
_SIMPLE_WORD = re.compile(
    r"(?:[ \t]|\\\n)*(?:([A-Za-z0-9_./:%@^+-]+)|'([^']*)')(?=[ \t\n;&|()]|\Z)"
)
_PLAIN = re.compile(r"[^ \t\n'\"\\$`;&|<>()]+")
# Quoted text without expansions, however often the quotes change: 'it'"'"'s'.
_QUOTED_RUN = re.compile(r"(?:'[^']*'|\"[^\"\\$`]*\")+")
_QUOTED_PIECE = re.compile(r"'([^']*)'|\"([^\"\\$`]*)\"")
_DOUBLE_QUOTED = re.compile(r"(?:[^\\$`\"]+|\\.)+", re.DOTALL)
_DOUBLE_QUOTED_ESCAPE = re.compile(r'\\(?:([$`\\"])|\n)')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[?$]")
_BRACED_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*|[?$])\}")
_UNSUPPORTED_PARAMETER = re.compile(r"[0-9@*#!-]")


class Scanner:
    """A position in a script, and the pieces that can be read from there."""

    def __init__(self, text: str, *, grammar: Callable[[Scanner], Program], depth: int = 0) -> None:
        self.text = text
        self.position = 0
        self.open: list[str] = []  # what has begun and not ended yet, for messages
        self._grammar = grammar
        self._depth = depth

    # Operators

    def operator(self) -> str | None:
        """Skip blanks and comments; return an operator, "" at the end, None before a word."""
        match = _NEXT_OPERATOR.match(self.text, self.position)
        assert match
        operator = match[1]
        self.position = match.end() if operator is None else match.start(1)
        return operator

    def take_operator(self) -> None:
        """Read the operator that ``operator`` returned."""
        match = _OPERATOR.match(self.text, self.position)
        assert match
        self.position = match.end()

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
        if match[2] in ("<<", "<>"):
            raise unsupported(f"'{match[2]}'")
        self.position = match.end()
        return match[1] or "", match[2] or match[3]

    def take_match(self, pattern: re.Pattern[str]) -> str | None:
        """Read what a pattern matches after blanks, if it does."""
        found = self.peek(pattern)
        self.position += len(found or "")
        return found

    def peek(self, pattern: re.Pattern[str]) -> str | None:
        """Return what a pattern matches after blanks, without reading it."""
        self._skip_blanks()
        match = pattern.match(self.text, self.position)
        return match.group() if match else None

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self.text, self.position)
        if match:
            self.position = match.end()

    def unexpected(self) -> ShellSyntaxError:
        """Return the error for what stands at the position."""
        operator = self.operator()
        if operator == "":
            what = f"unmatched '{self.open[-1]}'" if self.open else "unexpected EOF"
            return ShellSyntaxError(f"syntax error: {what}", incomplete=True)
        if operator is None:
            start = self.position
            self.word()
            operator = self.text[start : self.position]
        name = "newline" if operator == "\n" else f"'{operator}'"
        return ShellSyntaxError(f"syntax error: unexpected {name}")

    # Words

    def take_simple_word(self) -> Word | None:
        """Read a word without expansions or changes of quoting, if one is next."""
        match = _SIMPLE_WORD.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        plain, quoted = match.groups()
        text = quoted if plain is None else plain
        return Word((Text(text, plain is None),), text)

    def word(self) -> Word:
        """Read one word; empty where none begins here."""
        parts = _Parts()
        while self.position < len(self.text):
            match = _QUOTED_RUN.match(self.text, self.position)
            if match:
                self.position = match.end()
                pieces = _QUOTED_PIECE.findall(match.group())
                parts.add_text("".join(chain.from_iterable(pieces)), quoted=True)
                continue
            match = _PLAIN.match(self.text, self.position)
            if match:
                self.position = match.end()
                parts.add_text(match.group(), quoted=False)
            elif not self._read_special(parts):
                break
        return parts.word()

    def _read_special(self, parts: _Parts) -> bool:
        """Read one quoted or expanded piece outside of quotes; return whether there is one."""
        character = self.text[self.position]
        if character == '"':
            self._read_double_quoted(parts)
        elif character == "'":
            self._read_single_quoted(parts)
        elif character == "\\":
            escaped = self.text[self.position + 1 : self.position + 2]
            self.position += 2
            if escaped not in ("\n", ""):
                parts.add_text(escaped, quoted=True)
        elif character == "$":
            self._read_dollar(parts, quoted=False)
        elif character == "`":
            raise unsupported("'`'")
        else:
            return False
        return True

    def _read_single_quoted(self, parts: _Parts) -> None:
        end = self.text.find("'", self.position + 1)
        if end < 0:
            raise _no_closing_quote()
        parts.add_text(self.text[self.position + 1 : end], quoted=True)
        self.position = end + 1

    def _read_double_quoted(self, parts: _Parts) -> None:
        self.position += 1
        with self.nested():
            while self.position < len(self.text):
                character = self.text[self.position]
                if character == '"':
                    self.position += 1
                    return
                match = _DOUBLE_QUOTED.match(self.text, self.position)
                if match:
                    self.position = match.end()
                    text = filter(None, _DOUBLE_QUOTED_ESCAPE.split(match.group()))
                    parts.add_text("".join(text), quoted=True)
                elif character == "$":
                    self._read_dollar(parts, quoted=True)
                elif character == "`":
                    raise unsupported("'`'")
                else:  # a backslash with nothing behind it
                    self.position += 1
        raise _no_closing_quote()

    # Expansions

    def _read_dollar(self, parts: _Parts, *, quoted: bool) -> None:
        self.position += 1
        if self.text.startswith("((", self.position):
            raise unsupported("'$(('")
        character = self.text[self.position : self.position + 1]
        if character == "'" and not quoted:
            raise unsupported("$'...'")
        if character == "(":
            parts.add(self._substitution(quoted=quoted))
        elif character == "{":
            parts.add(self._braced(quoted=quoted))
        elif not (character == '"' and not quoted):  # $"..." is "..."
            if _UNSUPPORTED_PARAMETER.match(character):
                raise unsupported(f"'${character}'")
            match = _NAME.match(self.text, self.position)
            if match:
                self.position = match.end()
                parts.add(Parameter(match.group(), quoted))
            else:
                parts.add_text("$", quoted=True)

    def _braced(self, *, quoted: bool) -> Parameter:
        """Read ``{name}`` behind the dollar sign."""
        match = _BRACED_NAME.match(self.text, self.position)
        if match is None:
            end = self.text.find("}", self.position)
            if end < 0:
                raise _no_closing_quote()
            raise unsupported(f"'${self.text[self.position : end + 1][:40]}'")
        self.position = match.end()
        return Parameter(match[1], quoted)

    def _substitution(self, *, quoted: bool) -> Substitution:
        self.position += 1
        with self.nested():
            self.open.append("(")
            body = self._grammar(self)
            if self.operator() != ")":
                raise self.unexpected()
            self.take_operator()
            self.open.pop()
        return Substitution(body, quoted)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count a level of nesting; raise a syntax error where there are too many."""
        if self._depth >= MAX_NESTING:
            raise ShellSyntaxError(f"syntax error: nested deeper than {MAX_NESTING} levels")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


class _Parts:
    """Collects the parts of a word; neighbouring text of the same quoting is one part."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._texts: list[str] = []
        self._quoted = False

    def add_text(self, text: str, *, quoted: bool) -> None:
        """Append characters; empty quoted text still makes the word exist."""
        if self._texts and self._quoted != quoted:
            self._flush()
        self._quoted = quoted
        self._texts.append(text)

    def add(self, part: Part) -> None:
        """Append an expansion."""
        self._flush()
        self._parts.append(part)

    def _flush(self) -> None:
        if self._texts:
            self._parts.append(Text("".join(self._texts), self._quoted))
            self._texts = []

    def word(self) -> Word:
        """Return the word; raise a syntax error if it has a brace expansion."""
        self._flush()
        parts = tuple(self._parts)
        texts = [part for part in parts if isinstance(part, Text)]
        plain = "".join("" if text.quoted else text.text for text in texts)
        opened, comma = plain.find("{"), plain.find(",", plain.find("{"))
        if -1 < opened < comma < plain.rfind("}"):
            raise unsupported("'{a,b}'")
        is_wild = "*" in plain or "?" in plain or -1 < plain.find("[") < plain.rfind("]")
        if is_wild or len(texts) < len(parts):
            return Word(parts)
        return Word(parts, "".join(text.text for text in texts))


def _no_closing_quote() -> ShellSyntaxError:
    return ShellSyntaxError("no closing quote", incomplete=True)
