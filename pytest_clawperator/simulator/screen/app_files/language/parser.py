"""Parsing expressions: how their signs and words bind."""

from __future__ import annotations

import re

from pytest_clawperator.simulator.screen.app_files.language import tree
from pytest_clawperator.simulator.screen.app_files.language.signs import SIGNS
from pytest_clawperator.simulator.screen.app_files.language.tree import Part
from pytest_clawperator.simulator.screen.app_files.language.values import MAX_NUMBER

MAX_DEPTH = 40
KEYWORDS = frozenset({"and", "or", "not", "in", "true", "false"})

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?)
      | (?P<text>'[^']*'|"[^"]*")
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
      | (?P<sign>==|!=|<=|>=|[-+*%<>()])
    )""",
    re.VERBOSE,
)


class ExpressionParser:
    """Turns the text of one expression into its parts; ``names`` are the variables in it.

    ``place`` is where it stands, such as ``shop.yaml:7``, for complaints while it is evaluated.
    """

    def __init__(self, source: str, *, place: str = "") -> None:
        self.source = source
        self._place = place
        self.names: set[str] = set()
        self._tokens = self._tokenised(source)
        self._position = 0
        self._depth = 0

    def parse(self) -> Part:
        """Parse the whole text; a mistake is a ValueError."""
        run = self._disjunction()
        if self._position < len(self._tokens):
            raise ValueError(f"{self._next()!r} is not expected there, in {self.source!r}")
        return run

    @staticmethod
    def _tokenised(source: str) -> list[tuple[str, str]]:
        tokens: list[tuple[str, str]] = []
        position, end = 0, len(source.rstrip())
        while position < end:
            found = _TOKEN.match(source, position)
            if found is None:
                raise ValueError(
                    f"{source[position:].strip()[:20]!r} is not understood, in {source!r}; allowed:"
                    " names, numbers, 'texts', + - * %, == != < <= > >=, in, and, or, not, ( )"
                )
            kind = str(found.lastgroup)
            tokens.append((kind, found[kind]))
            position = found.end()
        return tokens

    def _next(self) -> str:
        return self._tokens[self._position][1] if self._position < len(self._tokens) else ""

    def _take(self, *words: str) -> str | None:
        if self._position < len(self._tokens):
            kind, word = self._tokens[self._position]
            if kind != "text" and word in words:
                self._position += 1
                return word
        return None

    def _disjunction(self) -> Part:
        left = self._conjunction()
        while self._take("or"):
            left = tree.either(left, self._conjunction())
        return left

    def _conjunction(self) -> Part:
        left = self._negation()
        while self._take("and"):
            left = tree.both(left, self._negation())
        return left

    def _negation(self) -> Part:
        if self._take("not"):
            self._descend()
            inner = self._negation()
            self._depth -= 1
            return tree.negation(inner)
        return self._comparison()

    def _comparison(self) -> Part:
        left = self._sum()
        sign = self._take("==", "!=", "<", "<=", ">", ">=", "in")
        if sign is None:
            return left
        return self._combined(sign, left, self._sum())

    def _sum(self) -> Part:
        left = self._product()
        while sign := self._take("+", "-"):
            left = self._combined(sign, left, self._product())
        return left

    def _product(self) -> Part:
        left = self._atom()
        while sign := self._take("*", "%"):
            left = self._combined(sign, left, self._atom())
        return left

    def _atom(self) -> Part:
        if self._take("-"):
            self._descend()
            inner = self._atom()
            self._depth -= 1
            return self._combined("-", tree.constant(0), inner)
        if self._take("("):
            self._descend()
            inside = self._disjunction()
            self._depth -= 1
            if not self._take(")"):
                raise ValueError(f"a parenthesis is not closed, in {self.source!r}")
            return inside
        if self._position >= len(self._tokens):
            raise ValueError(f"something is missing at the end of {self.source!r}")
        kind, word = self._tokens[self._position]
        self._position += 1
        return self._leaf(kind, word)

    def _descend(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} deep: {self.source[:40]!r}")

    def _leaf(self, kind: str, word: str) -> Part:
        if kind == "number":
            number: float = float(word) if "." in word else min(int(word), MAX_NUMBER)
            return tree.constant(number)
        if kind == "text":
            return tree.constant(word[1:-1])
        if word in ("true", "false"):
            return tree.constant(word == "true")
        if kind != "name" or word in KEYWORDS:
            raise ValueError(f"{word!r} is not expected there, in {self.source!r}")
        name, *parts = word.split(".")
        self.names.add(name)
        return tree.variable(name, parts)

    def _combined(self, sign: str, left: Part, right: Part) -> Part:
        return tree.combined(SIGNS[sign], left, right, told=self._told)

    def _told(self, problem: str) -> str:
        where = f"{self._place}: " if self._place else ""
        return f"{where}`{self.source.strip()}`: {problem}"
