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


Lock = Callable[[str], AbstractContextManager[ImageLock]]


def ensure_image(tools: Tools, image: str, *, lock: Lock, say: Say) -> None:
    """Install a system image unless it is there; ``lock`` keeps other runs waiting meanwhile."""
    if _is_installed(tools, image):
        return
    with lock(image) as held:
        if held.waited and _is_installed(tools, image):
            return  # another run installed it meanwhile
        say(f"installing {image}")
        _accept_licences(tools)
        _install(tools, image, held, say)


def _is_installed(tools: Tools, image: str) -> bool:
    listed = tools.run(Tool.SDKMANAGER, "--list_installed", timeout=_LIST_TIMEOUT)
    if not listed.ok:
        raise _failed(listed, "failed to query installed Android system images", image=image)
    return image in listed.stdout


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
    if not installed.ok:
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
        # What it warns of on one stream is not always what it fails of on the other.
        hint=_hint(f"{result.stderr}\n{result.stdout}", image),
        details={"systemImage": image} if image else {},
    )


def _hint(said: str, image: str | None) -> str:
    """Return what to do about a complaint of ``sdkmanager``."""
    if re.search(r"licen[cs]e", said, re.IGNORECASE):
        return "Accept the licences: `yes | sdkmanager --licenses`."
    if re.search(r"no space|disk full|not enough", said, re.IGNORECASE):
        return "Make room on the disk of the SDK: a system image takes 2 to 8 GB."
    if re.search(r"java|jvm|jre", said, re.IGNORECASE):
        return "Install Java 17, which sdkmanager needs, and set JAVA_HOME to it."
    if image and re.search(r"failed to find package|not found|unavailable", said, re.IGNORECASE):
        return (
            f"There is no image {image}: `sdkmanager --list` shows those that there are; choose"
            " another api, image or abi."
        )
    return f"Run `sdkmanager '{image or '--licenses'}'` by hand to see what is wrong."
