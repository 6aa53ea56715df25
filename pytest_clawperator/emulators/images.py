"""The system images of emulators: which are installed, and installing one.

An image is downloaded once, however many runs want it at the same time: they wait for the one
that began, and then find it installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from pytest_clawperator.emulators.sdk import Tool
from pytest_clawperator.emulators.tool_hints import NOT_ACCEPTED, installing_hint
from pytest_clawperator.emulators.tool_runs import ToolResult, Tools
from pytest_clawperator.errors import EmulatorError, ErrorCode

_LIST_TIMEOUT = 30.0
_LICENCES_TIMEOUT = 120.0
_INSTALL_TIMEOUT = 300.0
_YES = "y\n" * 100
# Before that it counts to 100 % for other things, such as reading the list of packages.
_PERCENT = re.compile(r"(\d{1,3})%\s*((?:download|unzip|install|prepar).*)", re.IGNORECASE)
# A line for each quarter is enough for a log that people read afterwards.
_TOLD_EVERY = 25

Say = Callable[[str], None]


@dataclass(frozen=True)
class ImageLock:
    """What keeps other runs from an image.

    ``waited`` says that another run had it before. ``descriptor`` is handed to the installer,
    which goes on if this process is killed, and so does the lock.
    """

    waited: bool = False
    descriptor: int | None = None


#: Keeps other runs from the same image; calls the function once if it has to wait for one that
#: has it.
Lock = Callable[[str, Callable[[], None]], AbstractContextManager[ImageLock]]


def ensure_image(tools: Tools, image: str, *, lock: Lock, say: Say) -> None:
    """Install a system image unless it is there; ``lock`` keeps other runs waiting meanwhile."""
    if _is_installed(tools, image):
        return
    with lock(image, lambda: say(f"waiting for {image}, which is being installed")) as held:
        if held.waited and _is_installed(tools, image):
            return  # another run installed it meanwhile
        say(f"installing {image}")
        _accept_licences(tools)
        _install(tools, image, held, say)


def _is_installed(tools: Tools, image: str) -> bool:
    listed = tools.run(Tool.SDKMANAGER, "--list_installed", timeout=_LIST_TIMEOUT)
    if not listed.ok:
        raise _failed(listed, "failed to query installed Android system images", image=image)
    # Not any text that contains it: that of x86_64 contains that of x86.
    return bool(re.search(rf"(?<![\w;.-]){re.escape(image)}(?![\w;.-])", listed.stdout))


def _accept_licences(tools: Tools) -> None:
    answered = tools.run(Tool.SDKMANAGER, "--licenses", timeout=_LICENCES_TIMEOUT, stdin=_YES)
    if not answered.ok:
        raise _failed(answered, "failed to accept Android SDK licenses")


def _install(tools: Tools, image: str, held: ImageLock, say: Say) -> None:
    installed = tools.run(
        Tool.SDKMANAGER,
        image,
        timeout=_INSTALL_TIMEOUT,
        on_line=_Progress(image, say).read,
        lock=held.descriptor,
    )
    # Some versions leave a package out, and succeed.
    is_left_out = re.search(NOT_ACCEPTED, installed.complaints, re.IGNORECASE)
    if not installed.ok or is_left_out:
        raise _failed(installed, "failed to install Android system image", image=image)


class _Progress:
    """Shows how far a download is, not more often than people want to read it."""

    def __init__(self, image: str, say: Say) -> None:
        self._image = image
        self._say = say
        self._next = 0

    def read(self, line: str) -> None:
        """Read a line of the tool, such as ``[===   ] 42% Downloading x86_64-35.zip``."""
        found = _PERCENT.search(line)
        if found is None or int(found[1]) < self._next:
            return
        self._say(f"{self._image}: {found[1]} % {found[2].lower()}".rstrip())
        self._next = int(found[1]) // _TOLD_EVERY * _TOLD_EVERY + _TOLD_EVERY


def _failed(result: ToolResult, otherwise: str, *, image: str | None = None) -> EmulatorError:
    return EmulatorError(
        result.said(otherwise),
        code=ErrorCode.ANDROID_SYSTEM_IMAGE_INSTALL_FAILED,
        hint=installing_hint(result.complaints, image),
        details={"systemImage": image} if image else {},
    )
