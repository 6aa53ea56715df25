"""What the tools of the SDK say, and what of it matters."""

from __future__ import annotations

import pytest

from pytest_clawperator.emulators.sdk import ToolResult

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
Warning: File /root/.android/repositories.cfg could not be loaded.
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
    """What Java and the tools always say is no reason, on whichever stream."""
    assert ToolResult(1, stdout, stderr).said("it failed") == REASON


def test_a_list_is_read_without_the_notices_around_it() -> None:
    """What ``avdmanager list device -c`` prints are the devices, and more."""
    printed = ToolResult(0, f"{SDK}pixel_7\r\nNexus 5\r\n7in WSVGA (Tablet)\r\n").printed

    assert printed.split("\n") == ["pixel_7", "Nexus 5", "7in WSVGA (Tablet)"]


def test_a_tool_that_gives_no_reason_has_the_other_words() -> None:
    """Notices alone say nothing of the failure."""
    assert ToolResult(1, SDK, JAVA).said("it failed") == "it failed"
