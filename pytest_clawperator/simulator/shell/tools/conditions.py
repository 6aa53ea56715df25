"""``test``, ``[`` and ``[[``: questions about texts, numbers and files."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Sequence

from pytest_clawperator.simulator.file_nodes import Stat
from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.exits import ShellFailure
from pytest_clawperator.simulator.shell.language.wildcards import matches_pattern
from pytest_clawperator.simulator.shell.shell import Invocation, Shell

_CLOSING = {"[": "]", "[[": "]]"}
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*\Z", re.ASCII)


class _BadTestError(Exception):
    """The arguments are not a question."""


async def answer_test(invocation: Invocation) -> int:
    """Answer a question by the exit status: 0 for yes, 1 for no, 2 for a bad question."""
    name, *arguments = invocation.args
    try:
        if name in _CLOSING and (not arguments or arguments.pop() != _CLOSING[name]):
            raise _BadTestError(f"missing {_CLOSING[name]}")
        return int(not _answer(arguments, invocation.shell, patterns=name == "[["))
    except _BadTestError as problem:
        await invocation.shell.complain(f"{name}: {problem}")
        return 2


def _answer(words: Sequence[str], shell: Shell, *, patterns: bool) -> bool:
    """Answer a question of up to three words, with any number of ``!`` in front.

    With ``patterns``, the right side of a comparison of texts can have wildcards.
    """
    count = next((at for at, word in enumerate(words) if word != "!"), max(0, len(words) - 1))
    if count and len(words) - count == 2 and words[count] in _BINARY:
        count -= 1  # the last one is compared with something
    words, negated = words[count:], count % 2 == 1
    if len(words) < 2:
        return (words[:1] not in ([], [""])) != negated
    if len(words) == 2 and words[0] in _UNARY:
        return _unary(words[0], words[1], shell) != negated
    if len(words) == 3 and words[1] in ("=", "==", "!=") and patterns:
        return matches_pattern(words[0], words[2]) == ((words[1] == "!=") == negated)
    if len(words) == 3 and words[1] in _BINARY:
        return _BINARY[words[1]](words[0], words[2]) != negated
    for word in words:
        if word in _UNSUPPORTED:
            raise ShellFailure(f"{word} in a test is not supported by the simulated shell")
    if len(words) == 2 and words[1] in _BINARY:
        raise _BadTestError(f"{words[1]}: missing second argument")
    raise _BadTestError(f"{words[1]}: unexpected operator/operand")


def _unary(operator: str, operand: str, shell: Shell) -> bool:
    if operator in ("-n", "-z"):
        return (operand == "") == (operator == "-z")
    if operator == "-t":
        return operand.isdecimal() and shell.has_terminal
    found = _stat(operand, shell, follow=operator not in ("-h", "-L"))
    return found is not None and _FILE_TESTS[operator](found)


def _stat(path: str, shell: Shell, *, follow: bool) -> Stat | None:
    joined = path if path.startswith("/") else f"{shell.cwd}/{path}"
    try:
        if not path:
            return None
        return shell.files.stat(joined) if follow else shell.files.lstat(joined)
    except FileSystemError:
        return None


def _numbers(compare: Callable[[int, int], bool]) -> Callable[[str, str], bool]:
    def compare_texts(left: str, right: str) -> bool:
        for text in (left, right):
            if not _NUMBER.match(text):
                raise _BadTestError(f"{text}: bad number")
        return compare(int(left), int(right))

    return compare_texts


_FILE_TESTS: dict[str, Callable[[Stat], bool]] = {
    "-d": lambda found: stat.S_ISDIR(found.mode),
    "-e": lambda found: True,
    "-f": lambda found: stat.S_ISREG(found.mode),
    "-h": lambda found: stat.S_ISLNK(found.mode),
    "-L": lambda found: stat.S_ISLNK(found.mode),
    "-r": lambda found: bool(found.mode & 0o400),
    "-s": lambda found: found.size > 0,
    "-w": lambda found: bool(found.mode & 0o200),
    "-x": lambda found: bool(found.mode & 0o111),
}
_UNSUPPORTED = frozenset(
    (
        *("-a", "-b", "-c", "-ef", "-g", "-G", "-k", "-nt", "-o", "-O", "-ot", "-p", "-S", "-u"),
        *("(", ")", "<", ">", "=~"),
    )
)
_UNARY = frozenset(("-n", "-t", "-z", *_FILE_TESTS))
_BINARY: dict[str, Callable[[str, str], bool]] = {
    "=": lambda left, right: left == right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "-eq": _numbers(lambda left, right: left == right),
    "-ne": _numbers(lambda left, right: left != right),
    "-lt": _numbers(lambda left, right: left < right),
    "-le": _numbers(lambda left, right: left <= right),
    "-gt": _numbers(lambda left, right: left > right),
    "-ge": _numbers(lambda left, right: left >= right),
}
