"""Several shell commands in one round trip to a device."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping

from pytest_clawperator.errors import TransportError
from pytest_clawperator.transport.interface import Shell, ShellResult

_LINE = re.compile(r"`\{ .*`", re.DOTALL)
_UNANSWERED = ShellResult("", "", -1)


def ask_all(
    device: Shell, questions: Mapping[str, str], *, timeout: float = 30.0
) -> dict[str, ShellResult]:
    """Run each command and return its output, errors included, under its name.

    The outputs are separated by a random mark, which no output can contain by accident. A
    command that was not reached has an exit code of -1.
    """
    mark = secrets.token_hex(8)
    line = "; ".join(f"{{ {command}; }} 2>&1; echo {mark}:$?" for command in questions.values())
    try:
        output = device.shell(line, timeout=timeout).stdout
    except TransportError as error:  # nobody but us can read the line
        first = next(iter(questions.values()))
        error.message = _LINE.sub(lambda _: f"`{first}; ...`", error.message)
        raise
    answers = _answers(output, f"{mark}:")
    answers += [_UNANSWERED] * (len(questions) - len(answers))
    return dict(zip(questions, answers, strict=True))


def last_line(answer: ShellResult) -> str:
    """Return the last line of an answer: some devices print warnings before it."""
    lines = answer.stdout.strip().splitlines()
    return lines[-1].strip() if lines else ""


def number(answer: ShellResult) -> int | None:
    """Return the number that a device answered; None if it is none."""
    text = last_line(answer)
    return int(text) if answer.ok and re.fullmatch(r"[0-9]{1,12}", text) else None


def _answers(output: str, mark: str) -> list[ShellResult]:
    """Split the output: each answer is followed by a mark and its exit code."""
    answers = []
    text, *pieces = output.split(mark)
    for piece in pieces:
        code, _, rest = piece.partition("\n")
        if not code.strip().isdecimal():
            break  # the output was cut
        answers.append(ShellResult(text, "", int(code)))
        text = rest
    return answers
