"""``[[ … ]]``, ``test`` and ``[``: questions about texts, numbers and files."""

from __future__ import annotations

import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_clawperator.simulator.filesystem import FileSystemError, Stat
from pytest_clawperator.simulator.shell.arithmetic import CalculationError, evaluate
from pytest_clawperator.simulator.shell.condition_parser import BINARY_TESTS, UNARY_TESTS
from pytest_clawperator.simulator.shell.expansion import ShellFailure
from pytest_clawperator.simulator.shell.lexer import MAX_NESTING
from pytest_clawperator.simulator.shell.syntax import Condition, Word

if TYPE_CHECKING:
    from pytest_clawperator.simulator.shell.shell import Invocation, Shell


class _BadTest(Exception):
    """The arguments of ``test`` are no question."""


async def holds(condition: Condition, shell: Shell) -> bool:
    """Answer ``[[ … ]]``."""
    operator, operands = condition.operator, condition.operands
    if operator in ("!", "&&", "||"):
        for operand in operands:
            assert isinstance(operand, Condition)
            answer = await holds(operand, shell)
            if operator == "!" or answer == (operator == "||"):
                return answer != (operator == "!")
        return operator == "&&"
    first, *others = operands
    assert isinstance(first, Word)
    left = await shell.expander.text(first)
    try:
        if not others:
            return _unary(operator, left, shell)
        assert isinstance(others[0], Word)
        if operator in ("=", "==", "!="):
            pattern = await shell.expander.pattern(others[0])
            return pattern.matches(left) != (operator == "!=")
        return _binary(left, operator, await shell.expander.text(others[0]), shell)
    except CalculationError as problem:
        raise ShellFailure(str(problem)) from None


async def answer_test(invocation: Invocation) -> int:
    """Answer a question with the exit status: 0 is yes, 1 is no, 2 is a bad question."""
    name, *arguments = invocation.args
    shell = invocation.shell
    try:
        if name == "[" and (not arguments or arguments.pop() != "]"):
            raise _BadTest("missing ]")
        return int(not _Question(arguments, shell).answer())
    except (_BadTest, CalculationError) as problem:
        await shell.complain(f"{name}: {problem}")
        return 2


class _Question:
    """The arguments of ``test``; short ones are read by their number, as POSIX says."""

    def __init__(self, arguments: Sequence[str], shell: Shell) -> None:
        self._arguments = arguments
        self._shell = shell
        self._position = 0
        self._depth = 0

    def answer(self) -> bool:
        short = self._short(self._arguments)
        if short is not None:
            return short
        answer = self._either()
        if self._position < len(self._arguments):
            raise _BadTest(f"{self._arguments[self._position]}: unexpected operator/operand")
        return answer

    def _short(self, arguments: Sequence[str]) -> bool | None:
        count = len(arguments)
        if count == 0:
            return False
        if count == 1:
            return arguments[0] != ""
        if count == 3 and arguments[1] in BINARY_TESTS:
            return _binary(arguments[0], arguments[1], arguments[2], self._shell)
        if arguments[0] == "!" and count <= 4:
            inner = self._short(arguments[1:])
            return None if inner is None else not inner
        if count == 2 and arguments[0] in UNARY_TESTS:
            return _unary(arguments[0], arguments[1], self._shell)
        return None

    def _either(self) -> bool:
        answer = self._both()
        while self._take("-o"):
            answer = self._both() or answer
        return answer

    def _both(self) -> bool:
        answer = self._not()
        while self._take("-a"):
            answer = self._not() and answer
        return answer

    def _not(self) -> bool:
        negated = False
        while self._take("!"):
            negated = not negated
        return self._primary() != negated

    def _take(self, word: str) -> bool:
        found = self._arguments[self._position : self._position + 1] == [word]
        self._position += found
        return found

    def _primary(self) -> bool:
        here = self._arguments[self._position : self._position + 3]
        if not here:
            last = self._arguments[self._position - 1]
            raise _BadTest(f"{last}: missing second argument")
        if len(here) > 1 and here[1] in BINARY_TESTS:
            if len(here) == 2:
                raise _BadTest(f"{here[1]}: missing second argument")
            self._position += 3
            return _binary(here[0], here[1], here[2], self._shell)
        if here[0] == "(" and self._take("("):
            return self._parenthesised()
        if here[0] in UNARY_TESTS and len(here) > 1:
            self._position += 2
            return _unary(here[0], here[1], self._shell)
        self._position += 1
        return here[0] != ""

    def _parenthesised(self) -> bool:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise _BadTest("nested too deeply")
        answer = self._either()
        if not self._take(")"):
            raise _BadTest("missing )")
        self._depth -= 1
        return answer


def _unary(operator: str, operand: str, shell: Shell) -> bool:
    if operator in ("-n", "-z"):
        return (operand == "") == (operator == "-z")
    if operator == "-t":
        return operand.isdecimal() and "terminal" in shell.options
    found = _stat(operand, shell, follow=operator not in ("-h", "-L"))
    return found is not None and _FILE_TESTS[operator](found)


def _stat(path: str, shell: Shell, *, follow: bool = True) -> Stat | None:
    joined = path if path.startswith("/") else f"{shell.cwd}/{path}"
    try:
        if not path:
            return None
        return shell.files.stat(joined) if follow else shell.files.lstat(joined)
    except FileSystemError:
        return None


_FILE_TESTS: dict[str, Callable[[Stat], bool]] = {
    "-a": lambda found: True,
    "-b": lambda found: stat.S_ISBLK(found.mode),
    "-c": lambda found: stat.S_ISCHR(found.mode),
    "-d": lambda found: stat.S_ISDIR(found.mode),
    "-e": lambda found: True,
    "-f": lambda found: stat.S_ISREG(found.mode),
    "-G": lambda found: True,
    "-g": lambda found: bool(found.mode & stat.S_ISGID),
    "-h": lambda found: stat.S_ISLNK(found.mode),
    "-k": lambda found: bool(found.mode & stat.S_ISVTX),
    "-L": lambda found: stat.S_ISLNK(found.mode),
    "-O": lambda found: True,
    "-p": lambda found: stat.S_ISFIFO(found.mode),
    "-r": lambda found: bool(found.mode & 0o444),
    "-S": lambda found: stat.S_ISSOCK(found.mode),
    "-s": lambda found: found.size > 0,
    "-u": lambda found: bool(found.mode & stat.S_ISUID),
    "-w": lambda found: bool(found.mode & 0o222),
    "-x": lambda found: bool(found.mode & 0o111),
}


def _binary(left: str, operator: str, right: str, shell: Shell) -> bool:
    if operator in _TEXT_TESTS:
        return _TEXT_TESTS[operator](left, right)
    if operator in _NUMBER_TESTS:
        numbers = [evaluate(text, get=shell.get, put=shell.put) for text in (left, right)]
        return _NUMBER_TESTS[operator](*numbers)
    if operator == "-ef":
        same = shell.files.resolve(left, shell.cwd) == shell.files.resolve(right, shell.cwd)
        return same and _stat(left, shell) is not None
    times = [found.mtime if found else -1 for found in (_stat(left, shell), _stat(right, shell))]
    return times[0] > times[1] if operator == "-nt" else times[0] < times[1]


_TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda left, right: left == right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
}
_NUMBER_TESTS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
}
