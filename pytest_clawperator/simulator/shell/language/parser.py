"""The grammar of the shell: from text to commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from pytest_clawperator.simulator.shell.language.lexer import WORD_END, Scanner
from pytest_clawperator.simulator.shell.language.syntax import (
    Assignment,
    Chain,
    Command,
    Group,
    If,
    Loop,
    Pipeline,
    Program,
    Redirect,
    Redirected,
    Simple,
    Word,
    unsupported,
)

_RESERVED_WORDS = (
    *("if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done"),
    *("case", "esac", "function", "select", "{", "}", "!"),
)
_UNSUPPORTED = frozenset(("case", "for", "function", "select"))
_RESERVED = re.compile(rf"(?:{'|'.join(map(re.escape, _RESERVED_WORDS))}){WORD_END}")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_NEWLINE = re.compile(r"\n")


class Parser:
    """Reads a script one complete line at a time, as a shell runs it."""

    def __init__(self, text: str) -> None:
        self._scanner = Scanner(text, grammar=_inner_program)

    def next(self) -> Program | None:
        """Read up to the end of the line on which a command is complete; None at the end."""
        self._scanner.skip_newlines()
        if self._scanner.operator() == "":
            return None
        return _Grammar(self._scanner).line()


def _inner_program(scanner: Scanner) -> Program:
    return _Grammar(scanner).program(())


class _Grammar:
    """Recursive descent over a scanner."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._compounds: dict[str, Callable[[], Command]] = {
            "{": self._group,
            "if": self._if,
            "while": self._loop,
            "until": self._loop,
        }

    # Lists

    def line(self) -> Program:
        """Read commands up to the end of the line."""
        chains: list[Chain] = []
        while self._scanner.operator() not in ("", "\n"):
            chain, is_separated = self._chain()
            chains.append(chain)
            if not is_separated and self._scanner.operator() not in ("", "\n"):
                raise self._scanner.unexpected()
        self._scanner.take_match(_NEWLINE)
        return tuple(chains)

    def program(self, ends: Collection[str]) -> Program:
        """Read commands up to one of the reserved words, a closing parenthesis, or the end."""
        chains: list[Chain] = []
        is_separated = True
        while True:
            is_separated = self._scanner.operator() == "\n" or is_separated
            self._scanner.skip_newlines()
            if self._is_at_end(ends):
                return tuple(chains)
            if not is_separated:
                raise self._scanner.unexpected()
            chain, is_separated = self._chain()
            chains.append(chain)

    def _is_at_end(self, ends: Collection[str]) -> bool:
        operator = self._scanner.operator()
        if operator is not None:
            return operator in ("", ")")
        return bool(ends) and self._reserved() in ends

    def _chain(self) -> tuple[Chain, bool]:
        """Read pipelines joined by ``&&`` and ``||``, and the separator if there is one."""
        links = [("", self._pipeline())]
        while (operator := self._scanner.operator()) in ("&&", "||"):
            self._scanner.take_operator()
            self._scanner.skip_newlines()
            links.append((operator or "", self._pipeline()))
        if operator == "&":
            raise unsupported("'&'")
        if operator == ";":
            self._scanner.take_operator()
        return Chain(tuple(links)), operator == ";"

    def _body(self, *ends: str) -> Program:
        """Read a list that must end in one of these words, which is left to be read."""
        body = self.program(ends)
        if self._reserved() not in ends or not body:
            raise self._scanner.unexpected()
        return body

    def _pipeline(self) -> Pipeline:
        negated = False
        while (reserved := self._reserved()) == "!":
            self._take("!")
            negated = not negated
        commands = [self._command(reserved)]
        while self._scanner.operator() == "|":
            self._scanner.take_operator()
            self._scanner.skip_newlines()
            commands.append(self._command(self._reserved()))
        return Pipeline(tuple(commands), negated)

    # Commands

    def _command(self, reserved: str | None) -> Redirected:
        """Read a command that begins with this reserved word, or with none."""
        if reserved is None and self._scanner.operator() != "(":
            return self._simple()
        if reserved in _UNSUPPORTED:
            raise unsupported(f"'{reserved}'")
        if reserved is not None and reserved not in self._compounds:
            raise self._scanner.unexpected()
        with self._scanner.nested():
            command = self._compounds[reserved]() if reserved else self._subshell()
        redirects = []
        while (redirect := self._redirect()) is not None:
            redirects.append(redirect)
        return Redirected(command, tuple(redirects))

    def _simple(self) -> Redirected:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            simple = self._scanner.take_simple_word()
            if simple is not None:
                words.append(simple)
                continue
            redirect = self._redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            operator = self._scanner.operator()
            if operator is not None:
                break
            name = None if words else self._scanner.take_match(_ASSIGNMENT)
            if name:
                assignments.append(Assignment(name[:-1], self._scanner.word()))
            else:
                words.append(self._scanner.word())
        if operator == "(" and len(words) == 1:
            raise unsupported("a function")
        if operator == "(" or not (assignments or words or redirects):
            raise self._scanner.unexpected()
        return Redirected(Simple(tuple(assignments), tuple(words)), tuple(redirects))

    def _redirect(self) -> Redirect | None:
        found = self._scanner.take_redirect()
        if found is None:
            return None
        descriptor, operator = found
        fd = int(descriptor) if descriptor else int(operator[0] != "<")
        target = self._scanner.take_simple_word()
        if target is None and self._scanner.operator() is not None:
            raise self._scanner.unexpected()
        return Redirect(fd, operator, target or self._scanner.word())

    def _subshell(self) -> Group:
        if self._scanner.text.startswith("((", self._scanner.position):
            raise unsupported("'(('")
        self._scanner.take_operator()
        self._scanner.open.append("(")
        body = self.program(())
        if self._scanner.operator() != ")" or not body:
            raise self._scanner.unexpected()
        self._scanner.take_operator()
        self._scanner.open.pop()
        return Group(body, in_subshell=True)

    def _group(self) -> Group:
        self._begin("{")
        body = self._body("}")
        self._end("}")
        return Group(body, in_subshell=False)

    def _if(self) -> If:
        self._begin("if")
        arms = []
        otherwise: Program = ()
        while True:
            condition = self._body("then")
            self._take("then")
            arms.append((condition, self._body("elif", "else", "fi")))
            reserved = self._reserved()
            if reserved == "elif":
                self._take("elif")
                continue
            if reserved == "else":
                self._take("else")
                otherwise = self._body("fi")
            self._end("fi")
            return If(tuple(arms), otherwise)

    def _loop(self) -> Loop:
        word = self._reserved() or ""
        self._begin(word)
        condition = self._body("do")
        return Loop(condition, self._do(), word == "until")

    def _do(self) -> Program:
        if self._reserved() != "do":
            raise self._scanner.unexpected()
        self._take("do")
        body = self._body("done")
        self._end("done")
        return body

    # Reserved words

    def _reserved(self) -> str | None:
        return self._scanner.peek(_RESERVED)

    def _take(self, word: str) -> None:
        self._scanner.position += len(word)

    def _begin(self, word: str) -> None:
        self._take(word)
        self._scanner.open.append(word)

    def _end(self, word: str) -> None:
        self._take(word)
        self._scanner.open.pop()
