"""The ``log`` command of a simulated phone: toybox's, which writes one entry."""

from __future__ import annotations

from pytest_clawperator.simulator.log.buffer import PRIORITIES, LogBuffer
from pytest_clawperator.simulator.shell.shell import Command, Invocation

_USAGE = "usage: log [-p PRI] [-t TAG] MESSAGE...\n"


def make_log(log: LogBuffer) -> Command:
    """Make the command that writes to this log."""

    async def command(invocation: Invocation) -> int:
        priority, tag = "I", "log"
        words = invocation.args[1:]
        while words and words[0] in ("-p", "-t"):
            option, *words = words
            if not words:
                await invocation.err(f"log: Missing argument to {option}\n")
                return 1
            if option == "-p":
                priority = words.pop(0)[:1].upper()
            else:
                tag = words.pop(0)
        if words[:1] == ["--"]:
            words = words[1:]
        if not words:
            await invocation.err(f"log: Needs 1 argument\n{_USAGE}")
            return 1
        if priority not in PRIORITIES:
            await invocation.err(f"log: bad -p '{priority}'\n")
            return 1
        log.write(priority, tag, " ".join(words), pid=invocation.shell.pid)
        return 0

    return command
