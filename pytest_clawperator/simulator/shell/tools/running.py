"""Tools that run other commands, and ``sleep``."""

from __future__ import annotations

import asyncio
import re

from pytest_clawperator.simulator.filesystem import FileSystemError
from pytest_clawperator.simulator.shell.encoding import decode
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.process import as_process
from pytest_clawperator.simulator.shell.runner import evaluate, isolated, spawn
from pytest_clawperator.simulator.shell.session import run_lines
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.tools.inputs import absolute

_SECONDS = re.compile(r"[0-9]*\.?[0-9]+\Z|[0-9]+\.\Z", re.ASCII)
_LONGEST_SLEEP = 1e8


async def sleep(invocation: Invocation) -> int:
    """Wait so many seconds; it is part of the shell and knows no units."""
    arguments = invocation.args[1:]
    if len(arguments) != 1 or not _SECONDS.match(arguments[0]):
        what = f": Invalid argument '{arguments[0]}'" if len(arguments) == 1 else ""
        await invocation.shell.complain(f"sleep: syntax error{what}")
        return 1
    await asyncio.sleep(min(float(arguments[0][:20]), _LONGEST_SLEEP))
    return 0


async def sh(invocation: Invocation) -> int:
    """Run a script in a new shell: from an argument, a file, or standard input."""
    name, *arguments = invocation.args
    shell = invocation.shell.child(name=name)
    if not arguments:
        with shell.deeper():
            return await as_process(shell, run_lines(shell))
    file: str | None = None
    if arguments[0] == "-c":
        _, *arguments = arguments
        if not arguments:
            raise CommandFailure("-c requires an argument")
        script, *arguments = arguments
        shell.name, *shell.positional = arguments or [name]
    elif arguments[0].startswith("-"):
        raise CommandFailure(f"{arguments[0]}: unknown option")
    else:
        file, *shell.positional = arguments
        shell.name = file
        try:
            script = decode(shell.files.read(absolute(invocation, file)))
        except FileSystemError as error:
            raise CommandFailure(f"{file}: {error.reason}", status=127) from None
    with shell.deeper():
        return await as_process(shell, isolated(shell, evaluate(shell, script, file=file)))


async def nohup(invocation: Invocation) -> int:
    """Run a command that continues when its terminal hangs up."""
    if len(invocation.args) < 2:
        raise CommandFailure('Needs 1 argument (see "nohup --help")')
    return await spawn(invocation, invocation.args[1:])
