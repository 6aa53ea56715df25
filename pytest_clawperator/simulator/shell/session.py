"""One run of a shell: a whole script, or commands that come in line by line."""

from __future__ import annotations

from pytest_clawperator.simulator.shell.encoding import decode, encode
from pytest_clawperator.simulator.shell.language.parser import Parser
from pytest_clawperator.simulator.shell.language.syntax import Program, ShellSyntaxError
from pytest_clawperator.simulator.shell.runner import Runner, evaluate, isolated, reported
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.shell.streams import MAX_TEXT, Input, Output, Source, TextTooLong

# Longer commands are parsed again only once they have grown by a quarter, or at the end.
_PARSED_EACH_LINE = 100


async def run_script(
    shell: Shell, script: str, stdin: Input, stdout: Output, stderr: Output
) -> int:
    """Run a script to its end and return its status; cancelling ends all it started."""
    shell.fds = {0: Source.of(stdin), 1: stdout, 2: stderr}
    return await isolated(shell, evaluate(shell, script))


async def run_input(shell: Shell, stdin: Input, stdout: Output, stderr: Output) -> int:
    """Run the commands that come from standard input, as a shell without arguments does."""
    shell.fds = {0: Source.of(stdin), 1: stdout, 2: stderr}
    return await run_lines(shell)


async def run_lines(shell: Shell) -> int:
    """Run standard input to its end; an error ends a script, but not a person's session."""
    return await isolated(shell, _run_lines(shell))


async def _run_lines(shell: Shell) -> int:
    reader = _CommandReader(shell)
    while True:
        try:
            program = await reader.next()
        except ShellSyntaxError as error:
            if not shell.is_interactive:
                raise
            await shell.complain(error.message)
            shell.status = 1
            continue
        if program is None:
            return shell.status
        work = Runner(shell).program(program)
        shell.status = await (reported(shell, work) if shell.is_interactive else work)


class _CommandReader:
    """Collects lines of standard input until they are a complete command."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._line = 0

    async def next(self) -> Program | None:
        """Read the next complete command; None at the end of the input."""
        shell = self._shell
        text, tried, lines = "", 0, 0
        while True:
            if shell.is_interactive:
                prompt = "> " if text else f"{shell.get('HOSTNAME')}:{shell.cwd} $ "
                await shell.output(2).write(encode(prompt))
            line = await shell.input(0).read_line()
            if not line and not text:
                return None
            text += decode(line.replace(b"\0", b""))
            self._line += bool(line)
            lines += 1
            if len(text) > MAX_TEXT:
                raise TextTooLong
            if line and lines > _PARSED_EACH_LINE and len(text) < tried * 5 // 4:
                continue
            tried = len(text)
            if not shell.is_interactive:
                shell.position = f"<stdin>[{self._line}]: "
            try:
                program = _parse(text)
            except ShellSyntaxError as error:
                if not (error.incomplete and line):
                    raise
                continue
            if program or not line:
                return program or None
            text, tried, lines = "", 0, 0  # a line with nothing on it but a comment


def _parse(text: str) -> Program:
    parser = Parser(text)
    program: Program = ()
    while (more := parser.next()) is not None:
        program += more
    return program
