"""Where the tools of the SDK are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clawperator.emulators.sdk import Sdk, Tool, ToolResult
from pytest_clawperator.errors import EmulatorError, ErrorCode


def test_missing_tools_are_listed_with_their_places(tmp_path: Path) -> None:
    """Each has its places, and tools that are installed together share one hint."""
    sdk = Sdk({"ANDROID_HOME": str(tmp_path), "EMULATOR_PATH": "/x", "PATH": "", "HOME": "/"})

    with pytest.raises(EmulatorError) as raised:
        sdk.check()

    assert raised.value.code == ErrorCode.ANDROID_SDK_TOOL_MISSING
    assert raised.value.message == (
        "required Android SDK tools are missing: emulator, sdkmanager, avdmanager\n"
        "  emulator is not at EMULATOR_PATH=/x, which is not a file\n"
        f"  sdkmanager was looked for at {tmp_path}/cmdline-tools/latest/bin/sdkmanager, on the"
        " PATH\n"
        f"  avdmanager was looked for at {tmp_path}/cmdline-tools/latest/bin/avdmanager, on the"
        " PATH"
    )
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("Set EMULATOR_PATH to the tool itself, or unset it. Set")
    assert (
        "run `sdkmanager emulator` for emulator; unpack Google's command line tools into"
        " $ANDROID_HOME/cmdline-tools/latest for sdkmanager and avdmanager"
    ) in str(raised.value)


def test_an_environment_without_an_sdk_is_reported_once() -> None:
    """That no variable is set, and no usual folder is there, concerns all tools."""
    sdk = Sdk({"PATH": "", "HOME": "/nowhere"})

    message = sdk.missing([Tool.EMULATOR, Tool.AVDMANAGER]).message

    assert message.count("ANDROID_HOME and ANDROID_SDK_ROOT are not set") == 1
    assert message.count(", and there is no SDK at /nowhere/Android/Sdk, ") == 1


def test_a_wrong_path_of_a_tool_needs_no_sdk_elsewhere() -> None:
    """The variable counts more than any folder: setting another one would not help."""
    sdk = Sdk({"PATH": "", "HOME": "/nowhere", "EMULATOR_PATH": "/x"})

    error = sdk.missing([Tool.EMULATOR])

    assert "ANDROID_HOME" not in f"{error.message} {error.hint}"


def test_the_newest_of_several_versions_is_found(tmp_path: Path) -> None:
    """Versions are compared as numbers, and one that is older is not taken for its first digit."""
    for version in ("9.0", "12.0", "8.0-beta"):
        tool = tmp_path / "cmdline-tools" / version / "bin" / "avdmanager"
        tool.parent.mkdir(parents=True)
        tool.touch()

    found = Sdk({"ANDROID_HOME": str(tmp_path), "PATH": ""}).find(Tool.AVDMANAGER)

    assert found.parts[-3] == "12.0"


# Lines that the real tools print whatever happens.
JAVA = """Picked up JAVA_TOOL_OPTIONS: -Dfile.encoding=UTF-8
Picked up _JAVA_OPTIONS: -Xmx2g
OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes
WARNING: A restricted method in java.lang.System has been called
WARNING: Use --enable-native-access=ALL-UNNAMED to avoid a warning for callers in this module
"""

SDK = """Warning: This version only understands SDK XML versions up to 3 but a file of version 4
Warning: Mapping new ns http://schemas.android.com/repository/android/common/02 to old ns
Warning: Observed package id 'emulator' in inconsistent location '/opt/sdk/emulator-2'
Warning: File /home/ci/.android/repositories.cfg could not be loaded.
Warning: Errors during XML parse:
Warning: Additionally, the fallback loader failed to parse the XML.
Loading local repository...
Info: Parsing /opt/sdk/emulator/package.xml
Parsing /opt/sdk/platform-tools/package.xml
[=======================================] 100% Fetch remote repository...\r
"""

REASON = "Error: Package path is not valid. Valid system image paths are:\nnull"


@pytest.mark.parametrize(
    ("stdout", "stderr"),
    [
        ("", REASON),
        ("", JAVA + SDK + REASON),
        (SDK + REASON, JAVA),
        ((SDK + REASON).replace("\n", "\r\n"), JAVA.replace("\n", "\r\n")),
        ("", f"[====    ] 10% Loading...\r[=====   ] 25% Loading...\r{REASON}"),
    ],
)
def test_the_reason_is_found_among_the_notices(stdout: str, stderr: str) -> None:
    """What Java and the tools always print is not a reason, on whichever stream."""
    assert ToolResult(1, stdout, stderr).said("it failed") == REASON


def test_a_list_is_read_without_the_notices_around_it() -> None:
    """What ``avdmanager list device -c`` prints are the devices, and more."""
    printed = ToolResult(0, f"{SDK}pixel_7\r\nNexus 5\r\n7in WSVGA (Tablet)\r\n").printed

    assert printed.split("\n") == ["pixel_7", "Nexus 5", "7in WSVGA (Tablet)"]


def test_a_tool_that_gives_no_reason_has_the_other_words() -> None:
    """Notices alone do not explain the failure."""
    assert ToolResult(1, SDK, JAVA).said("it failed") == "it failed"
