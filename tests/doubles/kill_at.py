"""A plugin for pytest whose run kills itself, at the moment that ``KILL_AT`` names."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pytest_clawperator.emulators import avd, boot, fleet, sdk
from pytest_clawperator.emulators import emulators as operations
from pytest_clawperator.emulators.boot import Boot
from pytest_clawperator.emulators.claims import AvdClaim, AvdClaims
from pytest_clawperator.emulators.emulators import Emulators
from pytest_clawperator.emulators.fleet import Ending
from pytest_clawperator.emulators.sdk import SdkTools, Tool

Call = Callable[..., bool]
VARIABLE = "KILL_AT"


def always(*_: Any, **__: Any) -> bool:
    """Whether to die at this call: at the first."""
    return True


class Nth:
    """Whether to die at this call: at the n-th."""

    def __init__(self, number: int) -> None:
        self._left = number

    def __call__(self, *_: Any, **__: Any) -> bool:
        """Count the calls."""
        self._left -= 1
        return self._left == 0


def die() -> None:
    """End this process as ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str, when: Call = always) -> None:
    """Die before something is called."""
    real = getattr(owner, name)

    def dying(*arguments: Any, **options: Any) -> Any:
        if when(*arguments, **options):
            die()
        return real(*arguments, **options)

    setattr(owner, name, dying)


def after(owner: Any, name: str, when: Call = always) -> None:
    """Die after something was called."""
    real = getattr(owner, name)

    def dying(*arguments: Any, **options: Any) -> Any:
        result = real(*arguments, **options)
        if when(*arguments, **options):
            die()
        return result

    setattr(owner, name, dying)


def of_tool(tool: Tool, word: str = "") -> Call:
    """Whether to die at this call: at one of a tool, with this word among its arguments."""

    def is_it(_: SdkTools, called: Tool, arguments: tuple[str, ...], *__: Any, **___: Any) -> bool:
        return called is tool and (not word or word in arguments)

    return is_it


def says(text: str) -> Call:
    """Whether to die at this call: where this is said."""
    return lambda _, line: text in line


def before_the_id_is_written() -> None:
    """Die while the process of the emulator is a shell that has written nothing yet."""
    *shell, script = sdk._WRITE_PID
    sdk._WRITE_PID = (*shell, f"sleep 0.4; {script}")  # type: ignore[assignment]
    after(SdkTools, "_start", of_tool(Tool.EMULATOR, "-port"))


#: How each moment is brought about; one that is not here is a matter of the suite.
MOMENTS: Mapping[str, Callable[[], None]] = {
    "before it claims": partial(before, AvdClaims, "take"),
    "claimed, nothing written": partial(after, AvdClaims, "take"),
    "about to create, written": partial(after, AvdClaim, "write"),
    "image being downloaded": partial(before, avd._Progress, "read", says("Downloading")),
    "image installed, nothing created": partial(after, operations, "ensure_image"),
    "avdmanager creates": partial(after, SdkTools, "_start", of_tool(Tool.AVDMANAGER, "create")),
    "created, not started": partial(after, Emulators, "create"),
    "port reserved, not written": partial(before, AvdClaim, "write", Nth(2)),
    "started, id not written": before_the_id_is_written,
    "started, offline": partial(after, Boot, "start"),
    "known to adb, boots": partial(before, Boot, "await_boot"),
    "booted, not ready": partial(before, boot, "make_settings"),
    "second of several boots": partial(after, Boot, "start", Nth(2)),
    "all ready": partial(after, fleet.EmulatorFleet, "provision"),
    "tests run": lambda: None,
    "workers run tests": lambda: None,
    "about to end": partial(before, Ending, "end"),
    "avdmanager deletes": partial(after, SdkTools, "_start", of_tool(Tool.AVDMANAGER, "delete")),
    "ended, claim not released": partial(after, Ending, "end"),
}

# Other tests import this module for its table alone.
if VARIABLE in os.environ:
    MOMENTS[os.environ[VARIABLE]]()
