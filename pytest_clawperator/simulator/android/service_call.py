"""A shell command to a system service: its words, its options, its Java exceptions."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation

_INTEGER = re.compile(r"[+-]?[0-9]{1,12}")


class JavaException(Exception):
    """An exception inside a service; the shell shows it with its stack."""

    def __init__(self, message: str, *, kind: str = "java.lang.IllegalArgumentException") -> None:
        super().__init__(message)
        self.kind = kind


def java_int(text: str) -> int:
    """Parse a whole number as Java does."""
    if not _INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise JavaException(f'For input string: "{text}"', kind="java.lang.NumberFormatException")
    return int(text)


def java_float(text: str) -> float:
    """Parse a decimal number as Java does."""
    try:
        value = float(text)
    except ValueError:
        raise JavaException(
            f'For input string: "{text}"', kind="java.lang.NumberFormatException"
        ) from None
    if value != value or abs(value) == float("inf"):
        raise JavaException(f'For input string: "{text}"', kind="java.lang.NumberFormatException")
    return value


NO_SERVICE = 20
"""Exit status of ``cmd`` for a service that is not there."""

FAILED = 255
"""What a service's -1 becomes as an exit status."""

_FRAMES = (
    "com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)",
    "android.os.ShellCommand.exec(ShellCommand.java:38)",
    "android.os.Binder.shellCommand(Binder.java:1241)",
    "android.os.Binder.execTransact(Binder.java:1457)",
)


class ServiceCall:
    """One command to a service, read word by word as the services do."""

    def __init__(self, system: AndroidSystem, invocation: Invocation, words: Sequence[str]) -> None:
        self.system = system
        self.invocation = invocation
        self._words = list(words)
        self._position = 0
        self._attached: str | None = None

    def next(self) -> str | None:
        """Take the next word, or the value attached to a one-letter option."""
        if self._attached is not None:
            word, self._attached = self._attached, None
            return word
        if self._position >= len(self._words):
            return None
        self._position += 1
        return self._words[self._position - 1]

    def required(self) -> str:
        """Take the next word; it must be there."""
        word = self.next()
        if word is None:
            before = self._words[self._position - 1] if self._position else ""
            raise JavaException(f'Argument expected after "{before}"')
        return word

    def number(self) -> int:
        """Take the next word as a whole number."""
        return java_int(self.required())

    def option(self) -> str | None:
        """Take the next word if it is an option; ``--`` ends the options."""
        if self._attached is not None:
            raise JavaException(f'No argument expected after "{self._words[self._position - 1]}"')
        if self._position >= len(self._words):
            return None
        word = self._words[self._position]
        if not word.startswith("-"):
            return None
        self._position += 1
        if word == "--":
            return None
        if len(word) > 2 and word[1] != "-":
            self._attached = word[2:]
            return word[:2]
        return word

    def peek(self) -> str | None:
        """Look at the next word."""
        if self._attached is not None:
            return self._attached
        return self._words[self._position] if self._position < len(self._words) else None

    def rest(self) -> list[str]:
        """Take every word that is left."""
        words = []
        while (word := self.next()) is not None:
            words.append(word)
        return words

    async def out(self, text: str) -> None:
        """Print a line."""
        await self.invocation.out(text + "\n")

    async def err(self, text: str) -> None:
        """Print a line to standard error."""
        await self.invocation.err(text + "\n")

    async def user_only(self) -> bool:
        """Skip ``--user ID``; complain about any other option."""
        while (option := self.option()) is not None:
            if option != "--user":
                await self.out(f"Error: Unknown option: {option}")
                return False
            self.required()
        return True


ServiceHandler = Callable[[ServiceCall], Awaitable[int]]


async def run_service(
    service: str,
    handler: ServiceHandler,
    *,
    system: AndroidSystem,
    invocation: Invocation,
    words: Sequence[str],
) -> int:
    """Run a command of a service, as ``cmd`` does."""
    if system.booting:
        await invocation.err(f"cmd: Can't find service: {service}\n")
        return NO_SERVICE
    try:
        return (await handler(ServiceCall(system, invocation, words))) & 0xFF
    except JavaException as error:
        command = words[0] if words else ""
        stack = "".join(f"\tat {frame}\n" for frame in _FRAMES)
        await invocation.err(
            f"\nException occurred while executing '{command}':\n{error.kind}: {error}\n{stack}"
        )
        return FAILED


async def dispatch(call: ServiceCall, commands: Mapping[str, ServiceHandler], *, usage: str) -> int:
    """Run the command that the first word names; a service without one prints its usage."""
    name = call.next()
    if name is None or name in ("help", "-h"):
        await call.invocation.out(usage)
        return FAILED
    handler = commands.get(name)
    if handler is None:
        await call.out(f"Unknown command: {name}")
        return FAILED
    return await handler(call)
