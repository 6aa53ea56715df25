"""The tiny language of app files: conditions, sums, and texts with values in braces.

    cart_count > 0 and not loading        an expression
    Item {number} of {count}              a template: text with expressions in braces

An expression has numbers, 'texts', true, false, names, names of a record's parts
(``item.price``) and of a list's length (``cart.count``), ``+ - * %``, comparisons, ``in``
(text in text, ignoring case; value in list), ``and``, ``or``, ``not`` and parentheses.
Nothing else: no calls, no attributes of Python objects, no way out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import core_schema

from pytest_clawperator.simulator.apps.kinds import (
    ANYTHING,
    MAX_NUMBER,
    MAX_TEXT,
    SIGNS,
    TEXT,
    TRUTH,
    Kind,
    Kinds,
    Lookup,
    Misfit,
    Sign,
    Value,
    as_text,
    complain,
    kind_of,
    merged,
    part_of,
)
from pytest_clawperator.yaml_source import place_of

MAX_LENGTH = 500
MAX_DEPTH = 40
KEYWORDS = frozenset({"and", "or", "not", "in", "true", "false"})
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?)
      | (?P<text>'[^']*'|"[^"]*")
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
      | (?P<sign>==|!=|<=|>=|[-+*%<>()])
    )""",
    re.VERBOSE,
)


class Expression:
    """A parsed expression; calling it with a function that looks names up evaluates it."""

    __slots__ = ("_tree", "names", "source")

    def __init__(self, source: str, *, place: str = "") -> None:
        if len(source) > MAX_LENGTH:
            raise ValueError(f"an expression of {len(source)} characters; {MAX_LENGTH} are allowed")
        parser = ExpressionParser(source, place=place)
        self.source = source
        self._tree = parser.parse()
        self.names = frozenset(parser.names)

    def __call__(self, lookup: Lookup) -> Value:
        """Evaluate; a name or part that is not there counts as empty text.

        What cannot be done with the values counts as 0 or false, with a complaint to the lookup.
        """
        return self._tree.value(lookup)

    def kind(self, kinds: Kinds) -> Kind:
        """Return the kind of its value; Misfit where that can never be computed."""
        return self._tree.kind(kinds)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"

    @property
    def is_name(self) -> bool:
        """Whether this is nothing but the name of a variable."""
        return self.names == {self.source.strip()}

    @classmethod
    def parse(cls, value: object) -> Expression:
        """Parse a value of a YAML file."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool):
            return cls("true" if value else "false")
        if isinstance(value, (int, float)):
            return cls(str(value)) if value >= 0 else cls(f"0 - {-value}")
        if isinstance(value, str):
            return cls(value, place=place_of(value))
        raise ValueError(f"an expression is a text such as `count > 0`, not {_shown(value)}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic parse fields of this type."""
        return core_schema.no_info_plain_validator_function(cls.parse)


class Template:
    """A text with expressions in braces; ``{{`` and ``}}`` stand for braces themselves."""

    __slots__ = ("constant", "names", "parts", "source")

    def __init__(self, source: str, *, place: str = "") -> None:
        self.source = source
        self.parts = tuple(_template_parts(source, place))
        self.names = frozenset(
            name for part in self.parts if isinstance(part, Expression) for name in part.names
        )
        varies = any(isinstance(part, Expression) for part in self.parts)
        self.constant = None if varies else "".join(str(part) for part in self.parts)

    def __repr__(self) -> str:
        return f"Template({self.source!r})"

    def render(self, lookup: Lookup) -> str:
        """Return the text with every value filled in."""
        if self.constant is not None:
            return self.constant
        return "".join(
            part if isinstance(part, str) else as_text(part(lookup)) for part in self.parts
        )[:MAX_TEXT]

    def value(self, lookup: Lookup) -> Value:
        """Return the value itself where the template is one expression and nothing else."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Expression):
            return self.parts[0](lookup)
        return self.render(lookup)

    def kind(self, kinds: Kinds) -> Kind:
        """Return the kind of its value; Misfit where that can never be computed."""
        found = [part.kind(kinds) for part in self.parts if isinstance(part, Expression)]
        return found[0] if found and len(self.parts) == 1 else TEXT

    @classmethod
    def parse(cls, value: object) -> Template:
        """Parse a value of a YAML file."""
        if isinstance(value, Template):
            return value
        if isinstance(value, (bool, int, float)):
            return cls(as_text(value))
        if isinstance(value, str):
            return cls(value, place=place_of(value))
        if isinstance(value, Mapping):
            raise ValueError("a text, not a mapping; a text that begins with a brace needs quotes")
        raise ValueError(f"a text, not {_shown(value)}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic parse fields of this type."""
        return core_schema.no_info_plain_validator_function(cls.parse)


def _template_parts(source: str, place: str) -> list[str | Expression]:
    parts: list[str | Expression] = []
    position = 0
    for brace in _BRACES.finditer(source):
        if brace.start() > position:
            parts.append(source[position : brace.start()])
        position = brace.end()
        if brace[0] in ("{{", "}}"):
            parts.append(brace[0][0])
        elif brace[1] is None:
            raise ValueError(f"a lone {brace[0]!r} in {source!r}; write it twice to mean itself")
        else:
            parts.append(Expression(brace[1], place=place))
    if position < len(source) or not parts:
        parts.append(source[position:])
    return parts


def _shown(value: object) -> str:
    names = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return names.get(type(value), repr(value))


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
            left = either(left, self._conjunction())
        return left

    def _conjunction(self) -> Part:
        left = self._negation()
        while self._take("and"):
            left = both(left, self._negation())
        return left

    def _negation(self) -> Part:
        if self._take("not"):
            self._descend()
            inner = self._negation()
            self._depth -= 1
            return negation(inner)
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
            return self._combined("-", constant(0), inner)
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
            return constant(number)
        if kind == "text":
            return constant(word[1:-1])
        if word in ("true", "false"):
            return constant(word == "true")
        if kind != "name" or word in KEYWORDS:
            raise ValueError(f"{word!r} is not expected there, in {self.source!r}")
        name, *parts = word.split(".")
        self.names.add(name)
        return variable(name, parts)

    def _combined(self, sign: str, left: Part, right: Part) -> Part:
        return combined(SIGNS[sign], left, right, worded=self._worded)

    def _worded(self, problem: str) -> str:
        where = f"{self._place}: " if self._place else ""
        return f"{where}`{self.source.strip()}`: {problem}"


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an expression; ``kind`` raises a Misfit for what can never work."""

    value: Callable[[Lookup], Value]
    kind: Callable[[Kinds], Kind]


def constant(value: Value) -> Part:
    """Return a number, text or boolean that is written out."""
    kind = kind_of(value)
    return Part(lambda lookup: value, lambda kinds: kind)


def variable(name: str, parts: Sequence[str]) -> Part:
    """Return a name, or a part of what has that name."""
    if not parts:
        return Part(lambda lookup: lookup(name), lambda kinds: kinds.get(name, ANYTHING))

    def kind(kinds: Kinds) -> Kind:
        found = kinds.get(name, ANYTHING)
        for part in parts:
            found = part_of(found, part)
        return found

    return Part(lambda lookup: _part(lookup(name), parts), kind)


def _part(value: Value, parts: Sequence[str]) -> Value:
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part, "")
        elif isinstance(value, (list, tuple)) and part == "count":
            value = len(value)
        else:
            return ""
    return value


def negation(inner: Part) -> Part:
    """Return ``not …``."""

    def kind(kinds: Kinds) -> Kind:
        inner.kind(kinds)
        return TRUTH

    return Part(lambda lookup: not inner.value(lookup), kind)


def either(left: Part, right: Part) -> Part:
    """Return ``… or …``."""
    return Part(
        lambda lookup: left.value(lookup) or right.value(lookup),
        lambda kinds: merged([left.kind(kinds), right.kind(kinds)]),
    )


def both(left: Part, right: Part) -> Part:
    """Return ``… and …``."""
    return Part(
        lambda lookup: left.value(lookup) and right.value(lookup),
        lambda kinds: merged([left.kind(kinds), right.kind(kinds)]),
    )


def combined(sign: Sign, left: Part, right: Part, *, worded: Callable[[str], str]) -> Part:
    """Return two parts with a sign between; ``worded`` words a complaint about their values."""

    def value(lookup: Lookup) -> Value:
        first, second = left.value(lookup), right.value(lookup)
        try:
            return sign.run(first, second)
        except Misfit as misfit:
            complain(lookup, worded(f"{misfit} ({first!r} {sign.symbol} {second!r})"))
            return sign.instead

    return Part(value, lambda kinds: sign.result(left.kind(kinds), right.kind(kinds)))
