"""The grammar of the device's shell: from text to the commands it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from pytest_clawperator.simulator.shell.condition_parser import parse_condition
from pytest_clawperator.simulator.shell.lexer import (
    WORD_END,
    Scanner,
    unclosed_here_document,
)
from pytest_clawperator.simulator.shell.syntax import (
    Arithmetic,
    Assignment,
    Case,
    CaseArm,
    Chain,
    Command,
    For,
    Function,
    Group,
    HereDocument,
    If,
    Loop,
    Pipeline,
    Program,
    Redirect,
    Redirected,
    ShellSyntaxError,
    Simple,
    Subshell,
    Text,
    Word,
)

RESERVED_WORDS = (
    *("if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done"),
    *("case", "in", "esac", "function", "{", "}", "!", "[["),
)
_RESERVED = re.compile(rf"(?:{'|'.join(map(re.escape, RESERVED_WORDS))}){WORD_END}")
_TIME = re.compile(rf"time{WORD_END}")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_FUNCTION = re.compile(r"[^ \t\n'\"\\$`;&|<>()=]+")
_PLAIN_ARGUMENT = re.compile(r"[A-Za-z0-9_./:,%@^+-]+(?=[ \t\n;&|()]|\Z)")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Parser:
    """Reads a script one complete command at a time, as a shell runs it."""

    def __init__(self, text: str) -> None:
        self._scanner = Scanner(text, grammar=_inner_program)

    def next(self) -> Program | None:
        """Read up to the end of the line on which a command is complete; None at the end."""
        grammar = _Grammar(self._scanner)
        grammar.skip_newlines()
        if self._scanner.operator() == "":
            return None
        return grammar.line()

    @property
    def line(self) -> int:
        """The number of the line last read."""
        read = self._scanner.text[: self._scanner.position]
        return max(1, read.count("\n") + (not read.endswith("\n")))


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
            "for": self._for,
            "case": self._case,
            "function": self._function_word,
            "[[": lambda: parse_condition(self._scanner),
        }

    # Lists

    def line(self) -> Program:
        """Read commands up to the end of the line."""
        chains: list[Chain] = []
        while True:
            chain = self._chain()
            operator = self._scanner.operator()
            if operator in (";", "&"):
                self._scanner.take_operator()
            chains.append(Chain(chain, operator == "&"))
            if operator in (";", "&"):
                operator = self._scanner.operator()
                if operator not in ("", "\n"):
                    continue
            if operator == "\n":
                self._scanner.take_operator()
            elif operator != "":
                raise self._scanner.unexpected()
            self._check_documents()
            return tuple(chains)

    def program(self, ends: Collection[str]) -> Program:
        """Read commands up to one of the reserved words or operators, or the end."""
        chains: list[Chain] = []
        while True:
            self.skip_newlines()
            if self._at_end(ends):
                return tuple(chains)
            chain = self._chain()
            operator = self._scanner.operator()
            if operator in (";", "&", "\n"):
                self._scanner.take_operator()
            chains.append(Chain(chain, operator == "&"))
            if operator not in (";", "&", "\n") and not self._at_end(ends):
                raise self._scanner.unexpected()

    def skip_newlines(self) -> None:
        """Skip empty lines and comments."""
        self._scanner.skip_newlines()

    def _at_end(self, ends: Collection[str]) -> bool:
        operator = self._scanner.operator()
        if operator == "":
            self._check_documents()
            return True
        if operator is not None:
            return operator in (")", ";;", ";&", ";|")
        return bool(ends) and self._reserved() in ends

    def _check_documents(self) -> None:
        if self._scanner.awaited:
            raise unclosed_here_document(self._scanner.awaited[0])

    def _body(self, *ends: str) -> Program:
        """Read a list that must end in one of these words, which is left to be read."""
        body = self.program(ends)
        if self._reserved() not in ends:
            raise self._scanner.unexpected()
        return body

    def _chain(self) -> tuple[tuple[str, Pipeline], ...]:
        links = [("", self._pipeline())]
        while (operator := self._scanner.operator()) in ("&&", "||"):
            self._scanner.take_operator()
            self.skip_newlines()
            links.append((operator or "", self._pipeline()))
        return tuple(links)

    def _pipeline(self) -> Pipeline:
        timed = self._scanner.take_match(_TIME) is not None
        negated = False
        while self._reserved() == "!":
            self._take_reserved("!")
            negated = not negated
        if timed and self._scanner.operator() in ("", "\n", ";"):
            return Pipeline((Redirected(Group(()), ()),), negated, timed)
        commands = [self._command()]
        while self._scanner.operator() == "|":
            self._scanner.take_operator()
            self.skip_newlines()
            commands.append(self._stage())
        return Pipeline(tuple(commands), negated, timed)

    def _stage(self) -> Redirected:
        """Read a command behind ``|``; a ``!`` there turns round the status of that one."""
        if self._reserved() != "!":
            return self._command()
        self._take_reserved("!")
        with self._scanner.nested():
            inner = Pipeline((self._stage(),), True)
        return Redirected(Group((Chain((("", inner),), False),)), ())

    # Commands

    def _command(self) -> Redirected:
        reserved = self._reserved()
        if reserved is None and self._scanner.operator() == "(":
            with self._scanner.nested():
                return self._redirected(self._parenthesised())
        if reserved is None:
            return self._simple()
        if reserved not in self._compounds:
            raise self._scanner.unexpected()
        with self._scanner.nested():
            return self._redirected(self._compounds[reserved]())

    def _redirected(self, command: Command) -> Redirected:
        redirects = []
        while (redirect := self._redirect()) is not None:
            redirects.append(redirect)
        return Redirected(command, tuple(redirects))

    def _simple(self) -> Redirected:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            # Most arguments are plain; nothing of what follows can be meant by them.
            plain = self._scanner.take_match(_PLAIN_ARGUMENT) if words else None
            if plain is not None:
                words.append(Word((Text(plain, False),), plain))
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
                assignments.append(
                    Assignment(name.rstrip("+="), self._scanner.word(), name.endswith("+="))
                )
            elif not words and not assignments and self._scanner.looks_like(_FUNCTION):
                start = self._scanner.position
                words.append(self._scanner.word())
                if self._scanner.operator() == "(":
                    name = self._scanner.text[start : self._scanner.position].strip()
                    return Redirected(self._function(name), ())
            else:
                words.append(self._scanner.word())
        if operator == "(" or not (assignments or words or redirects):
            raise self._scanner.unexpected()
        return Redirected(Simple(tuple(assignments), tuple(words)), tuple(redirects))

    def _redirect(self) -> Redirect | None:
        found = self._scanner.take_redirect()
        if found is None:
            return None
        descriptor, operator = found
        fd = int(descriptor) if descriptor else int(operator[0] != "<")
        target: Word | HereDocument
        if operator in ("<<", "<<-"):
            target = self._scanner.here_document(strip_tabs=operator == "<<-")
        else:
            if self._scanner.operator() is not None:
                raise self._scanner.unexpected()
            target = self._scanner.word()
        return Redirect(fd, operator, target)

    def _function(self, name: str) -> Function:
        self._scanner.take_operator()
        if self._scanner.operator() != ")":
            raise self._scanner.unexpected()
        self._scanner.take_operator()
        return self._function_body(name)

    def _function_word(self) -> Function:
        self._take_reserved("function")
        name = self._scanner.take_match(_FUNCTION)
        if name is None:
            raise self._scanner.unexpected()
        if self._scanner.operator() == "(":
            return self._function(name)
        return self._function_body(name)

    def _function_body(self, name: str) -> Function:
        self.skip_newlines()
        with self._scanner.nested():
            return Function(name, self._command())

    def _parenthesised(self) -> Command:
        scanner = self._scanner
        end = scanner.arithmetic_end(scanner.position)
        if end is not None:
            expression = scanner.text[scanner.position + 2 : end - 2]
            scanner.position = end
            return Arithmetic(scanner.within(expression).expandable())
        scanner.take_operator()
        scanner.open.append("(")
        body = self.program(())
        if scanner.operator() != ")":
            raise scanner.unexpected()
        scanner.take_operator()
        scanner.open.pop()
        return Subshell(body)

    def _group(self) -> Group:
        self._begin("{")
        body = self._body("}")
        self._end("}")
        return Group(body)

    def _if(self) -> If:
        self._begin("if")
        arms = []
        otherwise: Program = ()
        while True:
            condition = self._filled(self._body("then"))
            self._take_reserved("then")
            body = self._filled(self._body("elif", "else", "fi"))
            arms.append((condition, body))
            reserved = self._reserved()
            if reserved == "elif":
                self._take_reserved("elif")
                continue
            if reserved == "else":
                self._take_reserved("else")
                otherwise = self._filled(self._body("fi"))
            self._end("fi")
            return If(tuple(arms), otherwise)

    def _loop(self) -> Loop:
        word = self._reserved() or ""
        self._begin(word)
        condition = self._filled(self._body("do"))
        return Loop(condition, self._do(), word == "until")

    def _for(self) -> For:
        self._take_reserved("for")
        start = self._scanner.position
        if self._scanner.operator() is not None:
            raise self._scanner.unexpected()
        self._scanner.word()
        name = self._scanner.text[start : self._scanner.position].strip()
        if not _IDENTIFIER.match(name):
            raise ShellSyntaxError("for: bad identifier")
        self._scanner.open.append("for")
        self.skip_newlines()
        words: tuple[Word, ...] | None = None
        if self._reserved() == "in":
            self._take_reserved("in")
            words = self._words()
        if self._scanner.operator() == ";":
            self._scanner.take_operator()
        self.skip_newlines()
        return For(name, words, self._do())

    def _words(self) -> tuple[Word, ...]:
        words = []
        while self._scanner.operator() is None:
            words.append(self._scanner.word())
        if self._scanner.operator() not in (";", "\n"):
            raise self._scanner.unexpected()
        return tuple(words)

    def _do(self) -> Program:
        if self._reserved() != "do":
            raise self._scanner.unexpected()
        self._take_reserved("do")
        body = self._body("done")
        self._end("done")
        return body

    def _case(self) -> Case:
        self._take_reserved("case")
        if self._scanner.operator() is not None:
            raise self._scanner.unexpected()
        word = self._scanner.word()
        self._scanner.open.append("case")
        self.skip_newlines()
        if self._reserved() != "in":
            raise self._scanner.unexpected()
        self._take_reserved("in")
        arms = []
        self.skip_newlines()
        while self._reserved() != "esac":
            arms.append(self._case_arm())
            self.skip_newlines()
        self._end("esac")
        return Case(word, tuple(arms))

    def _case_arm(self) -> CaseArm:
        if self._scanner.operator() == "(":
            self._scanner.take_operator()
        patterns = []
        while True:
            if self._scanner.operator() is not None:
                raise self._scanner.unexpected()
            patterns.append(self._scanner.word())
            operator = self._scanner.operator()
            if operator not in ("|", ")"):
                raise self._scanner.unexpected()
            self._scanner.take_operator()
            if operator == ")":
                break
        body = self.program(("esac",))
        ending = self._scanner.operator()
        if ending in (";;", ";&", ";|"):
            self._scanner.take_operator()
        elif self._reserved() != "esac":
            raise self._scanner.unexpected()
        return CaseArm(tuple(patterns), body, ending or ";;")

    # Reserved words

    def _reserved(self) -> str | None:
        return self._scanner.looks_like(_RESERVED)

    def _take_reserved(self, word: str) -> None:
        self._scanner.position += len(word)

    def _begin(self, word: str) -> None:
        self._take_reserved(word)
        self._scanner.open.append(word)

    def _end(self, word: str) -> None:
        self._take_reserved(word)
        self._scanner.open.pop()

    def _filled(self, body: Program) -> Program:
        if not body:
            raise self._scanner.unexpected()
        return body
