"""The tiny language of app files: conditions, sums, and texts with values in braces.

    cart_count > 0 and not loading        an expression
    Item {number} of {count}              a template: text with expressions in braces

An expression knows numbers, 'texts', true, false, names, names of a record's parts
(``item.price``) and of a list's length (``cart.count``), ``+ - * %``, comparisons, ``in``
(text in text, whatever the case; value in list), ``and``, ``or``, ``not`` and parentheses.
Nothing else: no calls, no attributes of Python objects, no way out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Value = bool | int | float | str | Sequence[Any] | Mapping[str, Any]
Lookup = Callable[[str], Value]
_Compiled = Callable[[Lookup], Value]

MAX_LENGTH = 500
MAX_DEPTH = 40
MAX_TEXT = 20_000
_MAX_NUMBER = 2**63 - 1

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
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Expression:
    """A parsed expression; called with a way to look names up, it gives its value."""

    __slots__ = ("_run", "names", "source")

    def __init__(self, source: str) -> None:
        if len(source) > MAX_LENGTH:
            raise ValueError(f"an expression of {len(source)} characters; {MAX_LENGTH} are allowed")
        parser = _Parser(source)
        self.source = source
        self._run = parser.whole()
        self.names = frozenset(parser.names)

    def __call__(self, lookup: Lookup) -> Value:
        """Evaluate; a name or part that is not there counts as empty text."""
        return self._run(lookup)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"

    @property
    def is_name(self) -> bool:
        """Tell whether this is nothing but the name of a variable."""
        return self.names == {self.source.strip()}

    @classmethod
    def parse(cls, value: object) -> Expression:
        """Make an expression of what a YAML file holds."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool):
            return cls("true" if value else "false")
        if isinstance(value, (int, float)):
            return cls(str(value)) if value >= 0 else cls(f"0 - {-value}")
        if isinstance(value, str):
            return cls(value)
        raise ValueError(f"an expression is a text such as `count > 0`, not {_shown(value)}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic parse fields of this type."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(cls.parse)


class Template:
    """A text with expressions in braces; ``{{`` and ``}}`` stand for braces themselves."""

    __slots__ = ("constant", "names", "parts", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.parts = tuple(_template_parts(source))
        self.names = frozenset(
            name for part in self.parts if isinstance(part, Expression) for name in part.names
        )
        varies = any(isinstance(part, Expression) for part in self.parts)
        self.constant = None if varies else "".join(str(part) for part in self.parts)

    def __repr__(self) -> str:
        return f"Template({self.source!r})"

    def render(self, lookup: Lookup) -> str:
        """Give the text with every value filled in."""
        if self.constant is not None:
            return self.constant
        return "".join(
            part if isinstance(part, str) else as_text(part(lookup)) for part in self.parts
        )[:MAX_TEXT]

    def value(self, lookup: Lookup) -> Value:
        """Give the value itself where the template is one expression and nothing else."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Expression):
            return self.parts[0](lookup)
        return self.render(lookup)

    @classmethod
    def parse(cls, value: object) -> Template:
        """Make a template of what a YAML file holds."""
        if isinstance(value, Template):
            return value
        if isinstance(value, (bool, int, float)):
            return cls(as_text(value))
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping):
            raise ValueError("a text, not a mapping; a text that begins with a brace needs quotes")
        raise ValueError(f"a text, not {_shown(value)}")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic parse fields of this type."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(cls.parse)


def _template_parts(source: str) -> list[str | Expression]:
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
            parts.append(Expression(brace[1]))
    if position < len(source) or not parts:
        parts.append(source[position:])
    return parts


def as_text(value: Value) -> str:
    """Show a value as an app would."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_NUMBER:
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(as_text(entry) for entry in value)
    if isinstance(value, Mapping):
        return ", ".join(as_text(entry) for entry in value.values())
    return str(value)


def _shown(value: object) -> str:
    names = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return names.get(type(value), repr(value))


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.names: set[str] = set()
        self._tokens = self._tokenised(source)
        self._position = 0
        self._depth = 0

    def whole(self) -> _Compiled:
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

    def _disjunction(self) -> _Compiled:
        left = self._conjunction()
        while self._take("or"):
            left = _either(left, self._conjunction())
        return left

    def _conjunction(self) -> _Compiled:
        left = self._negation()
        while self._take("and"):
            left = _both(left, self._negation())
        return left

    def _negation(self) -> _Compiled:
        if self._take("not"):
            self._descend()
            inner = self._negation()
            self._depth -= 1
            return lambda lookup: not inner(lookup)
        return self._comparison()

    def _comparison(self) -> _Compiled:
        left = self._sum()
        sign = self._take("==", "!=", "<", "<=", ">", ">=", "in")
        if sign is None:
            return left
        return _combined(_COMPARISONS[sign], left, self._sum())

    def _sum(self) -> _Compiled:
        left = self._product()
        while sign := self._take("+", "-"):
            left = _combined(_ARITHMETIC[sign], left, self._product())
        return left

    def _product(self) -> _Compiled:
        left = self._atom()
        while sign := self._take("*", "%"):
            left = _combined(_ARITHMETIC[sign], left, self._atom())
        return left

    def _atom(self) -> _Compiled:
        if self._take("-"):
            self._descend()
            inner = self._atom()
            self._depth -= 1
            return _combined(_ARITHMETIC["-"], lambda lookup: 0, inner)
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

    def _leaf(self, kind: str, word: str) -> _Compiled:
        if kind == "number":
            number: float = float(word) if "." in word else min(int(word), _MAX_NUMBER)
            return lambda lookup: number
        if kind == "text":
            text = word[1:-1]
            return lambda lookup: text
        if word in ("true", "false"):
            truth = word == "true"
            return lambda lookup: truth
        if kind != "name" or word in KEYWORDS:
            raise ValueError(f"{word!r} is not expected there, in {self.source!r}")
        name, *parts = word.split(".")
        self.names.add(name)
        if not parts:
            return lambda lookup: lookup(name)
        return lambda lookup: _part(lookup(name), parts)


def _either(left: _Compiled, right: _Compiled) -> _Compiled:
    return lambda lookup: left(lookup) or right(lookup)


def _both(left: _Compiled, right: _Compiled) -> _Compiled:
    return lambda lookup: left(lookup) and right(lookup)


def _combined(
    operation: Callable[[Value, Value], Value], left: _Compiled, right: _Compiled
) -> _Compiled:
    return lambda lookup: operation(left(lookup), right(lookup))


def _part(value: Value, parts: list[str]) -> Value:
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part, "")
        elif isinstance(value, (list, tuple)) and part == "count":
            value = len(value)
        else:
            return ""
    return value


def _number(value: Value) -> float:
    return value if isinstance(value, (int, float)) else 0


def _bounded(value: float) -> float:
    # Keeps `n * n` on a timer from eating the machine.
    return max(-_MAX_NUMBER, min(_MAX_NUMBER, value))


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _bounded(left + right)
    return (as_text(left) + as_text(right))[:MAX_TEXT]


def _remainder(left: Value, right: Value) -> Value:
    divisor = _number(right)
    return _number(left) % divisor if divisor else 0


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Value, Value], Value]:
    def compare(left: Value, right: Value) -> Value:
        alike = isinstance(left, str) == isinstance(right, str)
        plain = isinstance(left, (str, int, float)) and isinstance(right, (str, int, float))
        return alike and plain and test(left, right)

    return compare


def _is_in(left: Value, right: Value) -> Value:
    if isinstance(right, str):
        return as_text(left).casefold() in right.casefold()
    return isinstance(right, (list, tuple)) and left in right


_ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": _add,
    "-": lambda left, right: _bounded(_number(left) - _number(right)),
    "*": lambda left, right: _bounded(_number(left) * _number(right)),
    "%": _remainder,
}
_COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": _ordered(lambda left, right: bool(left < right)),
    "<=": _ordered(lambda left, right: bool(left <= right)),
    ">": _ordered(lambda left, right: bool(left > right)),
    ">=": _ordered(lambda left, right: bool(left >= right)),
    "in": _is_in,
}
