"""Several questions to a device in one round trip."""

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
    """Run each command and give its answer under its name, what it complained about included.

    The answers are told apart by a mark that no output can know beforehand. A question that
    was not reached has an exit code of -1.
    """
    mark = secrets.token_hex(8)
    line = "; ".join(f"{{ {command}; }} 2>&1; echo {mark}:$?" for command in questions.values())
    try:
        output = device.shell(line, timeout=timeout).stdout
    except TransportError as error:  # nobody but us can read the line
        first = next(iter(questions.values()))
        error.message = _LINE.sub(lambda _: f"`{first}; ...`", error.message)
        raise
    # Output, exit code, output, exit code, ..., and what follows the last mark.
    pieces = re.split(rf"{mark}:(\d+)\r?\n?", output)
    answers = [
        ShellResult(text, "", int(code))
        for text, code in zip(pieces[:-1:2], pieces[1::2], strict=True)
    ]
    answers += [_UNANSWERED] * (len(questions) - len(answers))
    return dict(zip(questions, answers, strict=True))
