"""The quirks of a simulated phone: how phones of some makers and versions differ from a Pixel.

A fault is something that goes wrong; a quirk is a peculiarity of a phone that works. Each names
where people reported it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pytest_clawperator.errors import ConfigurationError


class Quirk(NamedTuple):
    """What is different on such a phone, and where it was reported."""

    meaning: str
    source: str


QUIRKS: Mapping[str, Quirk] = {
    "two-displays": Quirk(
        "a foldable: screencap warns before the picture, and takes the display that is dark",
        "https://github.com/mobile-next/mobile-mcp/issues/158",
    ),
    "wifi-serial": Quirk(
        "adb lists it by a name that ends in adb-NUMBER (2)._adb-tls-connect._tcp, with a space",
        "https://github.com/flutter/flutter/issues/187092",
    ),
    "samsung-power": Quirk(
        "the power manager prints getWakefulnessLocked(), and nothing else about the screen",
        "https://github.com/flutter/flutter/issues/98146",
    ),
    "several-roots": Quirk(
        "dumps have all windows side by side: status bar, keyboard, app and gesture bar",
        "https://github.com/appium/appium-uiautomator2-server/pull/303",
    ),
    "multi-user": Quirk(
        "user 10 is in front, and apps are installed for that one and not for user 0",
        "https://source.android.com/docs/devices/admin/multi-user-testing",
    ),
    "linker-warning": Quirk(
        "the linker warns on standard error before each program, as old versions do",
        "https://github.com/termux/termux-app/issues/1004",
    ),
    "old-toybox": Quirk(
        "Android 6: no exit codes, both outputs in one, no cmd, and ps lists in another form",
        "https://github.com/openstf/stf/pull/806",
    ),
    "guarded-adb": Quirk(
        "adb may not touch, type, grant or write settings until developer options allow it",
        "https://github.com/DeviceFarmer/STFService.apk/issues/144",
    ),
    "install-prompt": Quirk(
        "the phone asks before an app is installed by adb, and refuses without an answer",
        "https://github.com/Genymobile/gnirehtet/issues/294",
    ),
    "log-suppressed": Quirk(
        "the maker keeps lines below E out of the log, those of the Operator, too",
        "https://github.com/rovo89/XposedInstaller/issues/415",
    ),
    "log-small-buffer": Quirk(
        "each buffer of the log holds 64 KiB, the least that logd allows",
        "https://android.googlesource.com/platform/system/core/+/4b915ae/logd/README.property",
    ),
    "slow-dump": Quirk(
        "dumpsys takes seconds, as on a loaded phone",
        "https://github.com/callstack/agent-device/issues/1270",
    ),
    "slow-am": Quirk(
        "am, pm and the other programs that start a Java machine take a second",
        "https://github.com/appium/appium/issues/17257",
    ),
    "secure-screen": Quirk(
        "apps forbid pictures of their windows, as banks do: screenshots are black",
        "https://github.com/AlexGladkov/claude-in-mobile/issues/51",
    ),
    "rtl": Quirk(
        "the language is written from right to left: what is left elsewhere is right here",
        "https://github.com/keymanapp/keyman/pull/12227",
    ),
    "cutout": Quirk(
        "a camera in the screen: windows of apps begin below it, or beside it when turned",
        "https://github.com/appium/appium/issues/13685",
    ),
}


def check_quirks(names: Iterable[str]) -> frozenset[str]:
    """Return the quirks with these names; raise a ConfigurationError for an unknown one."""
    wanted = frozenset(names)
    for name in sorted(wanted - set(QUIRKS)):
        close = difflib.get_close_matches(name, QUIRKS, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        raise ConfigurationError(
            f"there is no quirk {name!r}{guess}", hint=f"Known quirks: {', '.join(QUIRKS)}."
        )
    return wanted
