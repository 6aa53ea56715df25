"""Whole-number arithmetic as the device's shell does it: 32 bits, wrapping around."""

from __future__ import annotations

import re
from collections.abc import Callable

_MAX_NESTING = 16
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+#[0-9a-zA-Z]+|\d+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator><<=|>>=|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^=!<>]=|[-+*/%&|^!~<>=?:,()])"
    r"|(?P<other>\S))"
)
_LEVELS = {
    **dict.fromkeys(("||",), 0),
    **dict.fromkeys(("&&",), 1),
    **dict.fromkeys(("|",), 2),
    **dict.fromkeys(("^",), 3),
    **dict.fromkeys(("&",), 4),
    **dict.fromkeys(("==", "!="), 5),
    **dict.fromkeys(("<", "<=", ">", ">="), 6),
    **dict.fromkeys(("<<", ">>"), 7),
    **dict.fromkeys(("+", "-"), 8),
    **dict.fromkeys(("*", "/", "%"), 9),
}
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")


class CalculationError(Exception):
    """The expression makes no sense; the text says why."""


def evaluate(
    expression: str,
    *,
    get: Callable[[str], str | None],
    put: Callable[[str, str], None],
    depth: int = 0,
) -> int:
    """Calculate an expression over the shell's variables."""
    if depth > _MAX_NESTING:
        raise CalculationError(f"{expression}: expression recurses on parameter")
    return _Calculation(expression, get, put, depth).result()


def _wrapped(value: int) -> int:
    return (value + 0x80000000) % 0x100000000 - 0x80000000


class _Calculation:
    """One pass over an expression; where ``live`` is false, nothing is looked up or assigned."""

    def __init__(
        self,
        expression: str,
        get: Callable[[str], str | None],
        put: Callable[[str, str], None],
        depth: int,
    ) -> None:
        self._expression = expression
        self._get = get
        self._put = put
        self._depth = depth
        self._tokens = [
            (match.lastgroup or "", match[match.lastgroup or 0])
            for match in _TOKEN.finditer(expression)
        ]
        self._position = 0

    def result(self) -> int:
        if not self._tokens:
            return 0
        value = self._comma(live=True)
        if self._position < len(self._tokens):
            raise self._unexpected()
        return value

    def _operator(self) -> str:
        if self._position < len(self._tokens):
            kind, text = self._tokens[self._position]
            return text if kind == "operator" else ""
        return ""

    def _take(self, *operators: str) -> str:
        operator = self._operator()
        if operator not in operators:
            return ""
        self._position += 1
        return operator

    def _unexpected(self) -> CalculationError:
        found = "end of expression"
        if self._position < len(self._tokens):
            found = self._tokens[self._position][1]
        return CalculationError(f"{self._expression.strip()}: unexpected '{found}'")

    def _comma(self, *, live: bool) -> int:
        value = self._assignment(live=live)
        while self._take(","):
            value = self._assignment(live=live)
        return value

    def _assignment(self, *, live: bool) -> int:
        self._depth += 1
        if self._depth > _MAX_NESTING:
            raise CalculationError(f"{self._expression[:60]}: nested too deeply")
        value = self._assigned(live=live)
        self._depth -= 1
        return value

    def _assigned(self, *, live: bool) -> int:
        following = self._tokens[self._position : self._position + 2]
        if [kind for kind, _ in following] == ["name", "operator"]:
            name, operator = following[0][1], following[1][1]
            if operator in _ASSIGNMENTS:
                self._position += 2
                value = self._assignment(live=live)
                if operator != "=" and live:
                    value = self._apply(operator[:-1], self._variable(name), value)
                return self._store(name, value, live=live)
        value = self._binary(0, live=live)
        if not self._take("?"):
            return value
        chosen = self._assignment(live=live and value != 0)
        if not self._take(":"):
            raise self._unexpected()
        other = self._assignment(live=live and value == 0)
        return chosen if value else other

    def _binary(self, lowest: int, *, live: bool) -> int:
        value = self._unary(live=live)
        while (level := _LEVELS.get(self._operator(), -1)) >= lowest:
            operator = self._take(self._operator())
            if operator in ("&&", "||"):
                needed = (value != 0) == (operator == "&&")
                right = self._binary(level + 1, live=live and needed)
                value = int(right != 0) if needed else int(value != 0)
            else:
                right = self._binary(level + 1, live=live)
                value = self._apply(operator, value, right) if live else 0
        return value

    def _apply(self, operator: str, left: int, right: int) -> int:
        if operator in ("/", "%"):
            if right == 0:
                raise CalculationError(f"{self._expression.strip()}: zero divisor")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return _wrapped(quotient if operator == "/" else left - quotient * right)
        return _wrapped(_OPERATIONS[operator](left, right))

    def _unary(self, *, live: bool) -> int:
        signs = []
        while operator := self._take("-", "+", "!", "~", "++", "--"):
            signs.append(operator)
        if signs and signs[-1] in ("++", "--"):
            value = self._stepped(signs.pop(), live=live)
        else:
            value = self._postfix(live=live)
        for sign in reversed(signs):
            if sign in ("++", "--"):
                raise self._unexpected()
            value = _SIGNS[sign](value)
        return value

    def _stepped(self, operator: str, *, live: bool) -> int:
        name = self._name()
        value = self._variable(name) if live else 0
        return self._store(name, value + (1 if operator == "++" else -1), live=live)

    def _postfix(self, *, live: bool) -> int:
        if self._take("("):
            value = self._comma(live=live)
            if not self._take(")"):
                raise self._unexpected()
            return value
        if self._position < len(self._tokens) and self._tokens[self._position][0] == "number":
            self._position += 1
            return self._number(self._tokens[self._position - 1][1])
        name = self._name()
        value = self._variable(name) if live else 0
        step = self._take("++", "--")
        if step:
            self._store(name, value + (1 if step == "++" else -1), live=live)
        return value

    def _name(self) -> str:
        if self._position >= len(self._tokens) or self._tokens[self._position][0] != "name":
            raise self._unexpected()
        self._position += 1
        return self._tokens[self._position - 1][1]

    def _number(self, text: str) -> int:
        base, mark, digits = text.partition("#")
        if mark:
            try:
                return _wrapped(int(digits, int(base)))
            except ValueError:
                raise CalculationError(f"{text}: bad number") from None
        if text[:2] in ("0x", "0X"):
            return _wrapped(int(text, 16))
        if len(text) > 4000:  # Python would rather not read it, and only the last bits count
            raise CalculationError(f"{text[:60]}: bad number")
        return _wrapped(int(text))

    def _variable(self, name: str) -> int:
        text = self._get(name)
        if not text:
            return 0
        return evaluate(text, get=self._get, put=self._put, depth=self._depth + 1)

    def _store(self, name: str, value: int, *, live: bool) -> int:
        value = _wrapped(value)
        if live:
            self._put(name, str(value))
        return value


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "&": lambda left, right: left & right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
    "<<": lambda left, right: left << (right & 31),
    ">>": lambda left, right: left >> (right & 31),
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
}
_SIGNS: dict[str, Callable[[int], int]] = {
    "-": lambda value: _wrapped(-value),
    "+": lambda value: value,
    "!": lambda value: int(value == 0),
    "~": lambda value: ~value,
}
