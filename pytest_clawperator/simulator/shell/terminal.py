"""The terminal between a person and a shell: echo, line editing, and interrupts."""

from __future__ import annotations

import asyncio
import re

from pytest_clawperator.simulator.shell.escapes import encode
from pytest_clawperator.simulator.shell.io import Output, Pipe
from pytest_clawperator.simulator.shell.shell import Shell

_INTERRUPT, _END, _KILL_LINE = 0x03, 0x04, 0x15
_ERASE = (0x08, 0x7F)
_MAX_LINE = 4096
_CHARACTER = re.compile(rb"(?:[\x00-\x7f\xc0-\xff]|\A)[\x80-\xbf]*\Z")


class Terminal:
    """Passes typed lines to a shell when they are complete, and shows what is typed."""

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

    def runs(self, task: asyncio.Task[int] | None) -> None:
        """Take note of what an interrupt would end."""
        self._foreground = task

    async def type(self, data: bytes) -> None:
        """Take keys from the host."""
        for key in data:
            if key in (0x0A, 0x0D):
                await self.write(b"\n")
                await self._enter(b"\n")
            elif key == _INTERRUPT:
                await self._interrupt()
            elif key == _END:
                if self._line:
                    await self._enter(b"")
                else:
                    self._keyboard.close_writing()
            elif key in _ERASE:
                await self._erase()
            elif key == _KILL_LINE:
                while self._line:
                    await self._erase()
            elif len(self._line) < _MAX_LINE:
                self._line.append(key)
                visible = key >= 0x20 or key == 0x09
                await self._screen.write(bytes([key]) if visible else b"^%c" % (key + 64))

    async def _enter(self, end: bytes) -> None:
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

    async def _erase(self) -> None:
        match = _CHARACTER.search(self._line)
        if match and self._line:
            del self._line[match.start() :]
            await self._screen.write(b"\b \b")
