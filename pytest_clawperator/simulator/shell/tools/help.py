"""``--help`` of the tools: clients ask for it to learn whether a tool is there."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.shell.shell import Command, Invocation

# They print what they are given, or have no options at all.
_WITHOUT = frozenset({"echo", "printf", "sh"})
# What clients look for in it; Appium searches for a line that begins with -f, or with -A.
_USAGES: Mapping[str, str] = {
    "pgrep": "usage: pgrep [-fl] [PATTERN]\n\n-f\tsearch the whole command line\n-l\tnames, too\n",
    "ps": "usage: ps [-A] [-o FIELD,...] [-p PID,...]\n\n-A\tall\n-o\tfields\n-p\tby number\n",
}


def with_help(commands: Mapping[str, Command]) -> dict[str, Command]:
    """Return tools that answer ``--help`` with their usage, and with success."""
    return {name: _helpful(name, command) for name, command in commands.items()}


def _helpful(name: str, command: Command) -> Command:
    if name in _WITHOUT:
        return command

    async def run(invocation: Invocation) -> int:
        if invocation.args[1:] != ["--help"]:
            return await command(invocation)
        await invocation.out(_USAGES.get(name, f"usage: {name} [OPTION...] [ARGUMENT...]\n"))
        return 0

    return run
