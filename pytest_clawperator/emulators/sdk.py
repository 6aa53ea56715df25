"""The command line tools of the Android SDK: where they are, and how they are run."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path

from pytest_clawperator.errors import AdbUnavailableError, EmulatorError, ErrorCode
from pytest_clawperator.transport.adb_program import find_adb

_WINDOWS = sys.platform == "win32"
_ROOT_VARIABLES = ("ANDROID_HOME", "ANDROID_SDK_ROOT")
# Where Android Studio, Debian, Homebrew and the images of CI services put the SDK.
_USUAL_ROOTS = (
    "~/Android/Sdk",
    "~/Library/Android/sdk",
    "~/AppData/Local/Android/Sdk",
    "/usr/local/lib/android/sdk",
    "/usr/lib/android-sdk",
    "/opt/android-sdk",
    "/opt/android-sdk-linux",
    "/opt/homebrew/share/android-commandlinetools",
    "/usr/local/share/android-commandlinetools",
)
_HOW_TO_GET = {
    "adb": "run `sdkmanager platform-tools`",
    "emulator": "run `sdkmanager emulator`",
    "sdkmanager": "unpack Google's command line tools into $ANDROID_HOME/cmdline-tools/latest",
    "avdmanager": "unpack Google's command line tools into $ANDROID_HOME/cmdline-tools/latest",
}


class Tool(str, Enum):
    """A command line tool of the SDK; the value is its name."""

    ADB = "adb"
    EMULATOR = "emulator"
    SDKMANAGER = "sdkmanager"
    AVDMANAGER = "avdmanager"

    def __str__(self) -> str:
        return self.value

    @property
    def variable(self) -> str:
        """The environment variable that names its path."""
        return f"{self.name}_PATH"


class Sdk:
    """The SDK that an environment describes."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = os.environ if environment is None else environment

    def find(self, tool: Tool) -> Path:
        """Return the path of a tool; raise ``ANDROID_SDK_TOOL_MISSING`` where there is none."""
        found = self._find(tool)
        if found is None:
            raise self.missing([tool])
        return found

    def check(self, tools: Iterable[Tool] = tuple(Tool)) -> None:
        """Raise one error for all of these tools that are missing."""
        missing = [tool for tool in tools if self._find(tool) is None]
        if missing:
            raise self.missing(missing)

    def missing(self, tools: list[Tool]) -> EmulatorError:
        """Return the error for missing tools, with where each was looked for."""
        names = ", ".join(map(str, tools))
        looked = "\n".join(f"  {tool} {self._looked(tool)}" for tool in tools)
        unset = self._no_sdk() if any(not self._chosen(tool) for tool in tools) else ""
        ways: dict[str, list[str]] = {}
        for tool in tools:
            ways.setdefault(_HOW_TO_GET[tool.value], []).append(tool.value)
        how = [f"{way} for {' and '.join(got)}" for way, got in ways.items()]
        return EmulatorError(
            f"required Android SDK tools are missing: {names}\n{unset}{looked}",
            code=ErrorCode.ANDROID_SDK_TOOL_MISSING,
            hint=f"{self._where_to_set(tools)} To install: {'; '.join(how)}.",
            details={"missingTools": [tool.value for tool in tools]},
        )

    def _no_sdk(self) -> str:
        """Return that nothing names an SDK, and where none is; nothing if something does."""
        if self._named_roots:
            return ""
        none = ", ".join(str(root) for root in self._roots() if not root.is_dir())
        return f"  {' and '.join(_ROOT_VARIABLES)} are not set, and there is no SDK at {none}\n"

    def _where_to_set(self, tools: list[Tool]) -> str:
        """Return which variables help: one that names a tool counts more than those of the SDK."""
        chosen = [tool for tool in tools if self._chosen(tool)]
        others = [tool for tool in tools if tool not in chosen]
        hints = [f"Set {tool.variable} to the tool itself, or unset it." for tool in chosen]
        if others:
            hints.append(
                "Set ANDROID_HOME to the folder of the Android SDK, or set"
                f" {others[0].variable} to the tool itself."
            )
        return " ".join(hints)

    @property
    def root(self) -> Path | None:
        """The folder of the SDK, if one of the usual ones exists."""
        return next((root for root in self._roots() if root.is_dir()), None)

    @property
    def avd_home(self) -> Path:
        """The folder of the virtual devices."""
        avds, user = (self.environment.get(f"ANDROID_{name}_HOME") for name in ("AVD", "USER"))
        if avds:
            return Path(avds)
        return (Path(user) if user else self._home / ".android") / "avd"

    @property
    def _home(self) -> Path:
        return Path(self.environment.get("HOME") or Path.home())

    def _chosen(self, tool: Tool) -> str | None:
        return self.environment.get(tool.variable)

    def _find(self, tool: Tool) -> Path | None:
        if chosen := self._chosen(tool):
            return Path(chosen) if Path(chosen).is_file() else None
        in_sdk = (path for path in self._places(tool) if path.is_file())
        found = next(in_sdk, None) or self._on_path(tool)
        if found is None and tool is Tool.ADB:
            return _shipped_adb()
        return found

    def _on_path(self, tool: Tool) -> Path | None:
        found = shutil.which(tool.value, path=self.environment.get("PATH"))
        return Path(found) if found else None

    def _places(self, tool: Tool) -> Iterator[Path]:
        for root in self._roots():
            yield from _places_in(root, tool)

    def _roots(self) -> Iterator[Path]:
        """Yield the folders that may be the SDK: what the environment names, else the usual."""
        for root in self._named_roots or _USUAL_ROOTS:
            yield self._home / root[2:] if root.startswith("~/") else Path(root)

    def _looked(self, tool: Tool) -> str:
        if chosen := self._chosen(tool):
            return f"is not at {tool.variable}={chosen}, which is no file"
        roots = [root for root in self._roots() if self._named_roots or root.is_dir()]
        places = dict.fromkeys(f"at {next(_places_in(root, tool))}" for root in roots)
        return f"was looked for {', '.join([*places, 'on the PATH'])}"

    @property
    def _named_roots(self) -> list[str]:
        return [root for name in _ROOT_VARIABLES if (root := self.environment.get(name))]


def _places_in(root: Path, tool: Tool) -> Iterator[Path]:
    """Yield where a tool may be in an SDK, the newest of several versions first."""
    if tool is Tool.ADB:
        yield root / "platform-tools" / _program("adb", ".exe")
    elif tool is Tool.EMULATOR:
        yield root / "emulator" / _program("emulator", ".exe")
    else:
        name = _program(tool.value, ".bat")
        yield root / "cmdline-tools" / "latest" / "bin" / name
        yield from sorted(root.glob(f"cmdline-tools/*/bin/{name}"), key=_version, reverse=True)
        yield root / "tools" / "bin" / name


def _version(tool: Path) -> list[int]:
    """Return the version in the path of a tool, such as ``cmdline-tools/12.0/bin/sdkmanager``."""
    return [int(number) for number in re.findall(r"\d+", tool.parts[-3])]


def _program(name: str, suffix: str) -> str:
    return name + suffix if _WINDOWS else name


def _shipped_adb() -> Path | None:
    try:
        return find_adb()
    except AdbUnavailableError:
        return None
