"""The grammar of ``[[ … ]]``."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_clawperator.simulator.shell.lexer import MAX_NESTING, WORD_END, Scanner
from pytest_clawperator.simulator.shell.syntax import Condition, ShellSyntaxError, Word

UNARY_TESTS = frozenset(f"-{letter}" for letter in "abcdefGghkLnOprSstuwxz")
BINARY_TESTS = frozenset(
    ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
)
_CLOSING = re.compile(rf"\]\]{WORD_END}")
_NOT = re.compile(rf"!{WORD_END}")


def parse_condition(scanner: Scanner) -> Condition:
    """Read a condition that begins at the scanner's position."""
    return _ConditionGrammar(scanner).condition()


class _ConditionGrammar:
    """Recursive descent over a scanner, inside the brackets."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner

    def condition(self) -> Condition:
        """Read from the opening brackets to the closing ones."""
        self._scanner.position += len("[[")
        condition = self._alternatives(0)
        if not self._closing():
            raise self._bad_operand()
        self._scanner.word()
        return condition

    def _alternatives(self, depth: int) -> Condition:
        if depth >= MAX_NESTING:
            raise ShellSyntaxError(f"syntax error: nested deeper than {MAX_NESTING} levels")
        return self._joined("||", lambda: self._joined("&&", lambda: self._test(depth)))

    def _joined(self, operator: str, operand: Callable[[], Condition]) -> Condition:
        operands = [operand()]
        self._scanner.skip_newlines()
        while self._scanner.operator() == operator:
            self._scanner.take_operator()
            self._scanner.skip_newlines()
            operands.append(operand())
            self._scanner.skip_newlines()
        return operands[0] if len(operands) == 1 else Condition(operator, tuple(operands))

    def _test(self, depth: int) -> Condition:
        self._scanner.skip_newlines()
        negated = False
        while self._scanner.take_match(_NOT):
            negated = not negated
        condition = self._primary(depth)
        return Condition("!", (condition,)) if negated else condition

    def _primary(self, depth: int) -> Condition:
        scanner = self._scanner
        if scanner.operator() == "(":
            scanner.take_operator()
            inner = self._alternatives(depth + 1)
            if scanner.operator() != ")":
                raise self._bad_operand()
            scanner.take_operator()
            return inner
        if scanner.operator() is not None or self._closing():
            raise self._bad_operand()
        first = scanner.word()
        if first.static in UNARY_TESTS and scanner.operator() is None and not self._closing():
            return Condition(first.static, (scanner.word(),))
        operator = scanner.operator()
        if operator in ("<", ">"):
            scanner.take_operator()
            return Condition(operator, (first, self._operand()))
        if operator is None and not self._closing():
            start = scanner.position
            name = scanner.word().static
            if name not in BINARY_TESTS:
                scanner.position = start
                raise self._bad_operand()
            return Condition(name, (first, self._operand()))
        return Condition("-n", (first,))

    def _operand(self) -> Word:
        if self._scanner.operator() is not None or self._closing():
            raise self._bad_operand()
        return self._scanner.word()

    def _closing(self) -> bool:
        return self._scanner.looks_like(_CLOSING) is not None

    def _bad_operand(self) -> ShellSyntaxError:
        operator = self._scanner.operator()
        if operator == "" or self._closing():
            return ShellSyntaxError("syntax error: unexpected EOF", incomplete=operator == "")
        if operator is None:
            start = self._scanner.position
            self._scanner.word()
            operator = self._scanner.text[start : self._scanner.position]
        return ShellSyntaxError(f"syntax error: unexpected operator/operand '{operator}'")
