"""The terminal between a person and a shell: echo, prompts and interrupts."""

from __future__ import annotations

import asyncio

from pytest_clawperator.simulator.shell.encoding import encode
from pytest_clawperator.simulator.shell.shell import Shell
from pytest_clawperator.simulator.shell.streams import Output, Pipe

_INTERRUPT, _END = 0x03, 0x04
_ENTER = (0x0A, 0x0D)
_MAX_LINE = 4096


class Terminal:
    """Shows what is typed, and passes it on line by line; a line cannot be edited."""

    def __init__(self, screen: Output, keyboard: Pipe, shell: Shell) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._shell = shell
        self._line = bytearray()
        self._foreground: asyncio.Task[int] | None = None

    async def write(self, data: bytes) -> None:
        """Show output; each newline also returns to the left edge."""
        await self._screen.write(data.replace(b"\n", b"\r\n"))

    async def prompt(self, *, unfinished: bool) -> None:
        """Ask for the next line; a status that is not 0 stands in front."""
        shell = self._shell
        status = f"{shell.status}|" if shell.status else ""
        text = "> " if unfinished else f"{status}{shell.get('HOSTNAME')}:{shell.cwd} $ "
        await self._screen.write(encode(text))

    def set_foreground(self, task: asyncio.Task[int] | None) -> None:
        """Record what an interrupt would end."""
        self._foreground = task

    async def type(self, data: bytes) -> None:
        """Take keys from the host."""
        for key in data:
            if key in _ENTER:
                await self.write(b"\n")
                await self._pass_on(b"\n")
            elif key == _INTERRUPT:
                await self._interrupt()
            elif key == _END and not self._line:
                self._keyboard.close_writing()
            elif key == _END:
                await self._pass_on(b"")
            elif len(self._line) < _MAX_LINE:
                self._line.append(key)
                visible = key >= 0x20 or key == 0x09
                await self._screen.write(bytes([key]) if visible else b"^%c" % (key + 64))

    async def _pass_on(self, end: bytes) -> None:
        line = bytes(self._line) + end
        self._line.clear()
        await self._keyboard.write(line)

    async def _interrupt(self) -> None:
        self._line.clear()
        await self.write(b"^C\n" if self._foreground is None else b"^C")
        if self._foreground is not None:
            self._foreground.cancel()
        else:
            await self._keyboard.write(b"\n")
