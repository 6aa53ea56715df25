"""A shell command to a system service: its words, its options, its failures."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.shell.shell import Invocation

NO_SERVICE = 20
"""Exit status of ``cmd`` for a service that does not exist."""

FAILED = 255
"""What a service's -1 becomes as an exit status."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,12}")
_FRAME = "com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)"


class Refused(Exception):
    """A command that fails with this message, on standard error unless ``on_stdout``."""

    def __init__(self, message: str = "", *, status: int = FAILED, on_stdout: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.on_stdout = on_stdout


class JavaException(Exception):
    """An exception inside a service; the shell shows it with its stack."""

    def __init__(self, message: str, *, kind: str = "java.lang.IllegalArgumentException") -> None:
        super().__init__(message)
        self.kind = kind


def not_a_number(text: str) -> JavaException:
    """Return Java's exception for a text that is not a number."""
    return JavaException(f'For input string: "{text}"', kind="java.lang.NumberFormatException")


def java_int(text: str) -> int:
    """Parse a whole number as Java does."""
    if not _INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise not_a_number(text)
    return int(text)


def java_float(text: str) -> float:
    """Parse a decimal number as Java does."""
    try:
        value = float(text)
    except ValueError:
        raise not_a_number(text) from None
    if value != value or abs(value) == float("inf"):
        raise not_a_number(text)
    return value


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
        """Take the next word, which must be there."""
        word = self.next()
        if word is None:
            before = self._words[self._position - 1] if self._position else ""
            raise JavaException(f'Argument expected after "{before}"')
        return word

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

    def options(self, *allowed: str, status: int = FAILED) -> set[str]:
        """Take all options and return those given; refuse others. ``--user ID`` is skipped."""
        given: set[str] = set()
        while (option := self.option()) is not None:
            if option == "--user":
                self.required()
            elif option not in allowed:
                raise Refused(f"Error: Unknown option: {option}", status=status, on_stdout=True)
            given.add(option)
        return given

    def rest(self, *, without: Collection[str] = ()) -> list[str]:
        """Take every word that is left, ``without`` options and the word after each of them."""
        words = []
        while (word := self.next()) is not None:
            if word in without:
                self.next()
            else:
                words.append(word)
        return words

    async def out(self, text: str) -> None:
        """Print a line."""
        await self.invocation.out(text + "\n")

    async def err(self, text: str) -> None:
        """Print a line to standard error."""
        await self.invocation.err(text + "\n")


ServiceHandler = Callable[[ServiceCall], Awaitable[None]]
"""Runs one command; raises ``Refused`` or ``JavaException`` if it fails."""


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
        await handler(ServiceCall(system, invocation, words))
    except Refused as refusal:
        if str(refusal):
            await (invocation.out if refusal.on_stdout else invocation.err)(f"{refusal}\n")
        return refusal.status
    except JavaException as error:
        command = words[0] if words else ""
        await invocation.err(
            f"\nException occurred while executing '{command}':\n"
            f"{error.kind}: {error}\n\tat {_FRAME}\n"
        )
        return FAILED
    return 0


async def dispatch(call: ServiceCall, commands: Mapping[str, ServiceHandler]) -> None:
    """Run the command that the first word names; a service without one lists its commands."""
    name = call.next()
    if name is None or name in ("help", "-h"):
        raise Refused(f"Commands: {', '.join(sorted(commands))}", on_stdout=True)
    if name not in commands:
        raise Refused(f"Unknown command: {name}", on_stdout=True)
    await commands[name](call)
