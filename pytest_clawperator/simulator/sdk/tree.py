"""The folder of a simulated SDK: its programs where the real ones are, and what runs in it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.sdk.held_file import holder_of
from pytest_clawperator.simulator.sdk.scenario import FILE, Scenario
from pytest_clawperator.transport.adb_program import find_adb

_HOME = "pytest_clawperator.simulator.sdk.tools"
_PROGRAMS = {
    "emulator/emulator": "emulator",
    "cmdline-tools/latest/bin/avdmanager": "avdmanager",
    "cmdline-tools/latest/bin/sdkmanager": "sdkmanager",
}
_BODY = """#!/bin/sh
# A simulated tool of Android's SDK; simulation.json says how it behaves.
exec {python} -I -c {code} "$@"
"""
_CODE = (
    "import sys; sys.path.insert(0, {package!r}); from {module} import main;"
    " sys.exit(main({sdk!r}, sys.argv[1:]))"
)


def session_file(sdk: Path) -> Path:
    """Return the file that the process holds that keeps an SDK running."""
    return sdk / ".session"


def running_folder(sdk: Path) -> Path:
    """Return the folder where each running emulator holds a file."""
    return sdk / ".running"


def write_tree(sdk: Path, scenario: Scenario | None = None) -> None:
    """Write an SDK into a folder that is empty, or use the one that is there.

    Raise ``ConfigurationError`` for a folder with anything else.
    """
    is_one = (sdk / FILE).is_file()
    if sdk.exists() and not sdk.is_dir():
        raise _refused(sdk, "it is not a folder")
    if not is_one and sdk.is_dir() and any(sdk.iterdir()):
        raise _refused(sdk, "it has files of something else")
    sdk.mkdir(parents=True, exist_ok=True)
    for place, tool in _PROGRAMS.items():
        _write_program(sdk, sdk / place, tool)
    _link_adb(sdk)
    (sdk / "avd").mkdir(exist_ok=True)
    if scenario is not None or not is_one:
        (scenario or Scenario()).write(sdk)


def environment_of(sdk: Path, *, adb_port: int) -> dict[str, str]:
    """Return the variables with which programs use this SDK and nothing else."""
    return {
        "ANDROID_HOME": str(sdk),
        "ANDROID_SDK_ROOT": str(sdk),
        "ANDROID_AVD_HOME": str(sdk / "avd"),
        "ANDROID_ADB_SERVER_PORT": str(adb_port),
    }


def adb_address(sdk: Path) -> tuple[str, int]:
    """Return where the adb server is: as the environment says, else that of this SDK."""
    socket = os.environ.get("ADB_SERVER_SOCKET", "")
    host, _, port = socket.removeprefix("tcp:").rpartition(":")
    if not socket.startswith("tcp:"):
        host, port = "", os.environ.get("ANDROID_ADB_SERVER_PORT", "")
    if port.isdecimal():
        return host or "127.0.0.1", int(port)
    return "127.0.0.1", int((holder_of(session_file(sdk)) or {}).get("adb_port", 5037))


def _write_program(sdk: Path, path: Path, tool: str) -> None:
    package = str(Path(__file__).parents[3])
    code = _CODE.format(package=package, module=f"{_HOME}.{tool}", sdk=str(sdk))
    body = _BODY.format(python=shlex.quote(sys.executable), code=shlex.quote(code))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_text(body, "utf-8")
    unfinished.chmod(0o755)
    unfinished.replace(path)


def _link_adb(sdk: Path) -> None:
    link = sdk / "platform-tools" / "adb"
    link.parent.mkdir(exist_ok=True)
    if not link.is_file():
        link.unlink(missing_ok=True)
        link.symlink_to(find_adb().absolute())


def _refused(sdk: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"no simulated SDK can be written to {sdk}: {why}",
        hint="Name a folder that is empty or does not exist, or one that has such an SDK.",
    )
