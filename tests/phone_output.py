"""What phones print, by command: the maker, the version of Android, and what it means.

The form of each line is that of a real phone, as people showed it in public; names and numbers
are made up. A parser that reads something new gets its rows here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pytest_clawperator.devices.health import ScreenState
from pytest_clawperator.doctor.facts import Automation
from pytest_clawperator.execution.processes import Processes
from pytest_clawperator.execution.screenshots import Display

OPERATOR = "com.clawperator.operator"
SHOP = "com.example.shop"
# The output has nothing that can be used, and is not misunderstood.
UNKNOWN = None


class Row(NamedTuple):
    """What a phone, with its version of Android, prints, and what is read from it."""

    phone: str
    printed: str
    meaning: Any


ON, OFF = ScreenState(on=True), ScreenState(on=False)

ROWS: Mapping[str, list[Row]] = {
    # https://github.com/flutter/flutter/issues/187092, https://github.com/Genymobile/scrcpy/issues/3537
    "host:devices": [
        Row("Google 16", "3A191FDJH000AB\tdevice", ("3A191FDJH000AB", "device")),
        Row(
            "Motorola 15",
            "adb-PH22-aBcDeF (2)._adb-tls-connect._tcp\tdevice",
            ("adb-PH22-aBcDeF (2)._adb-tls-connect._tcp", "device"),
        ),
        Row("any 14, offline", "emulator-5554\toffline", ("emulator-5554", "offline")),
        Row("any 14, IPv6", "[fe80::1%en0]:5555\tconnecting", ("[fe80::1%en0]:5555", "connecting")),
        Row("any 14, a name", "My device Phone\toffline", ("My device Phone", "offline")),
        Row("any 14, no state", "PH1\t", ("PH1", "")),
        Row("Glorystar 5.1", " GS100200300400\tdevice", (" GS100200300400", "device")),
        Row(
            "any 14",
            "(no serial number)\tno permissions (user in plugdev group; are your udev rules"
            " wrong?); see [http://developer.android.com/tools/device.html]",
            (
                "(no serial number)",
                "no permissions (user in plugdev group; are your udev rules wrong?); see"
                " [http://developer.android.com/tools/device.html]",
            ),
        ),
    ],
    "getprop": [
        Row(
            "Google 16",
            "[ro.build.version.sdk]: [36]\n[ro.product.model]: [Pixel 9]\n",
            {"ro.build.version.sdk": "36", "ro.product.model": "Pixel 9"},
        ),
        # Through the terminal of an old adbd.
        Row(
            "LG 6.0",
            "[ro.product.model]: [LG-H1]\r\n[a.b]: []\r\n",
            {"ro.product.model": "LG-H1", "a.b": ""},
        ),
        # A list of languages, and a value of two lines.
        Row(
            "Samsung 13",
            "[persist.sys.boot.reason.history]: [reboot,1700000000\nreboot,1700000100]\n"
            "[c]: [[x]]\n",
            {"persist.sys.boot.reason.history": "reboot,1700000000\nreboot,1700000100", "c": "[x]"},
        ),
    ],
    "getprop log.tag": [
        Row("Google 16", "\n\n", UNKNOWN),
        Row("Huawei 10", "\nS\n", "S"),
        Row("LG 6", "SUPPRESS\r\n\r\n", "S"),
        Row("Asus 5", "WARNING: linker: libx.so has text relocations.\n\n", UNKNOWN),
    ],
    "wm size": [
        Row("Google 16", "Physical size: 1080x2424\n", (1080, 2424)),
        Row("Samsung 14", "Physical size: 1440x3088\nOverride size: 1080x2316\n", (1080, 2316)),
        Row("Google Fold 15", "Physical size: 2076x2152\n", (2076, 2152)),
        Row(
            "old Sony 5.1",
            "WARNING: linker: libx.so has text relocations.\nPhysical size: 720x1280\n",
            (720, 1280),
        ),
        Row("while it starts 14", "cmd: Can't find service: window\n", UNKNOWN),
    ],
    "wm density": [
        Row("Google 16", "Physical density: 420\n", 420),
        Row("Samsung 14", "Physical density: 640\nOverride density: 450\n", 450),
        Row("while it starts 14", "cmd: Can't find service: window\n", UNKNOWN),
    ],
    # https://github.com/flutter/flutter/issues/98146
    "dumpsys power": [
        Row("Google 9 to 16", "  mWakefulness=Awake\n  mWakefulnessChanging=false\n", ON),
        Row("Samsung 11", "  getWakefulnessLocked()=Asleep\n", OFF),
        Row("Google 13, always-on", "  mWakefulness=Dozing\n", OFF),
        Row("Samsung 5 to 8", "Display Power: state=ON\n", ON),
        Row("HTC 4.4", "  mScreenOn=false\n", OFF),
        Row(
            "MediaTek 6",
            "Display Power: com.android.server.power.PowerManagerService$1@8b3e2f1\n",
            ScreenState(),
        ),
    ],
    "dumpsys window policy": [
        Row("Google 12", "      showing=true\n", ScreenState(locked=True)),
        Row("Sony 8", "   isStatusBarKeyguard=false\n", ScreenState(locked=False)),
        Row("Google 9", "        mIsShowing=true\n", ScreenState(locked=True)),
        Row(
            "Samsung 6",
            "    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=true\n",
            ScreenState(locked=True),
        ),
    ],
    "dumpsys display": [
        Row(
            "Google Fold 15",
            "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0,"
            " uniqueId='local:4619827259835644672', physicalPort=0}]\n"
            '    mBaseDisplayInfo=DisplayInfo{"Built-in Screen", displayId 0, displayGroupId 0,'
            ' real 2076 x 2152, uniqueId "local:4619827259835644672", state ON}\n'
            '    mBaseDisplayInfo=DisplayInfo{"Built-in Screen", displayId 3, displayGroupId 0,'
            ' real 1080 x 2424, uniqueId "local:4619827677550801152", state OFF}\n',
            [Display(0, "4619827259835644672", True), Display(3, "4619827677550801152", False)],
        ),
        Row(
            "Samsung 11",
            '    mBaseDisplayInfo=DisplayInfo{"Built-in Screen, displayId 0", uniqueId "local:0",'
            " app 1080 x 2340, real 1080 x 2340, state ON}\n",
            [Display(0, "0", True)],
        ),
        # No isActive.
        Row(
            "OnePlus 10",
            "  mViewports=[DisplayViewport{type=INTERNAL, valid=true, displayId=0,"
            " uniqueId='local:19260743943036801', physicalPort=-127, orientation=0}]\n",
            [Display(0, "19260743943036801")],
        ),
        # A virtual display has no panel.
        Row(
            "any 14, mirrored",
            '    mBaseDisplayInfo=DisplayInfo{"scrcpy", displayId 3, state ON, type VIRTUAL,'
            ' uniqueId "virtual:com.android.shell,2000,scrcpy,0"}\n',
            [],
        ),
        Row("while it starts 14", "cmd: Can't find service: display\n", []),
    ],
    # https://github.com/openstf/stf/pull/806
    "ps": [
        Row(
            "Google 8 to 16",
            "USER           PID\nroot             1\nsystem         700\nu0_a145       4242\n",
            Processes(10145, frozenset({4242}), frozenset({1, 700})),
        ),
        Row(
            "Qualcomm 6",
            "USER     PID   PPID  VSIZE  RSS     WCHAN    PC         NAME\n"
            "root      1     0     680    540   ffffffff 00000000 S /init\n"
            "system    700   190   1043376 81284 ffffffff b6f5c2f8 S system_server\n"
            f"u0_a145   4242  190   894312 40872 ffffffff b6f5c51c S {OPERATOR}\n",
            Processes(10145, frozenset({4242}), frozenset({1, 700})),
        ),
        Row(
            "Google 6, toolbox",
            "USER      PID   PPID  VSIZE  RSS   WCHAN              PC  NAME\n"
            "root      1     0     8780   732   SyS_epoll_ 0000000000 S /init\n"
            "system    700   313   2415316 144452 SyS_epoll_ 0000000000 S system_server\n"
            f"u0_a145   4242  313   1613012 61068 SyS_epoll_ 0000000000 S {OPERATOR}\n",
            Processes(10145, frozenset({4242}), frozenset({1, 700})),
        ),
        # https://github.com/wix/Detox/issues/831
        Row("Google 7.1 to the words of 8", "bad pid '-A'\n", UNKNOWN),
        # https://github.com/importre/chromeadb/pull/1: another ps, with numbers for users
        Row(
            "LG Nexus 5 4.4",
            "PID USER       VSZ STAT COMMAND\n144 0            0 SW<  [x]\n",
            UNKNOWN,
        ),
    ],
    "dumpsys package": [
        Row(
            "Google 13 to 16",
            f"  Package [{OPERATOR}] (1a2b):\n    appId=10145\n    versionCode=503 minSdk=21"
            " targetSdk=35\n    versionName=0.5.3\n    User 0: ceDataInode=9 deDataInode=8"
            " installed=true hidden=false suspended=false distractionFlags=0 stopped=false"
            " notLaunched=false enabled=0\n",
            ("0.5.3", 503, True, False),
        ),
        Row(
            "Samsung 9, with a Secure Folder",
            f"  Package [{OPERATOR}] (1a2b):\n    userId=10145\n    versionCode=503 minSdk=21"
            " targetSdk=28\n    versionName=0.5.3\n    User 0: ceDataInode=9 installed=true"
            " hidden=false suspended=false stopped=true notLaunched=false enabled=0\n"
            "    User 150: ceDataInode=0 installed=false hidden=false stopped=true\n",
            ("0.5.3", 503, True, True),
        ),
        Row(
            "LG 6",
            f"  Package [{OPERATOR}] (1a2b):\n    userId=10145 gids=[3003]\n    versionCode=503"
            " targetSdk=23\n    versionName=0.5.3\n    User 0:  installed=true hidden=false"
            " stopped=false notLaunched=false enabled=0\n",
            ("0.5.3", 503, True, False),
        ),
        Row("any 14", f"Unable to find package: {OPERATOR}\n", (None, None, None, None)),
    ],
    "pm list packages": [
        Row("Google 16", f"package:{SHOP}\npackage:android\n", {SHOP, "android"}),
        Row("Sony 6", f"package:{SHOP}\r\npackage:android\r\n", {SHOP, "android"}),
        Row(
            "Asus 5",
            f"WARNING: linker: libhoudini.so has text relocations.\npackage:{SHOP}\n",
            {SHOP},
        ),
    ],
    # The path of an app of Android 8 and later has letters and signs of base64 in it.
    "pm list packages -f": [
        Row(
            "Google 11 to 16",
            f"package:/data/app/~~aB1-_w==/{SHOP}-Cd2==/base.apk={SHOP} versionCode:240\n",
            {SHOP},
        ),
        Row("Samsung 7", f"package:/data/app/{SHOP}-1/base.apk={SHOP}\n", {SHOP}),
    ],
    "am get-current-user": [
        Row("Google 16", "0\n", 0),
        Row("a car 12", "10\n", 10),
        Row("Asus 5", "WARNING: linker: libx.so has text relocations.\n0\n", 0),
        Row("old 4.4", "Error: unknown command 'get-current-user'\n", UNKNOWN),
    ],
    "settings get": [
        Row(
            "Google 16",
            f"{OPERATOR}/.A:com.b/com.b.C\n",
            [f"{OPERATOR}/{OPERATOR}.A", "com.b/com.b.C"],
        ),
        Row("any 6 to 16", "null\n", []),
        Row("Xiaomi 12", "\n", []),
        Row("Samsung 13", ":com.b/.C\n", ["com.b/com.b.C"]),
    ],
    # https://github.com/mzlogin/awesome-adb/pull/64, https://github.com/liudongmiao/Brevent/issues/54
    "dumpsys activity activities": [
        Row(
            "Google 12 to 16",
            f"  topResumedActivity=ActivityRecord{{1a2b u0 {SHOP}/.Main t12}}\n",
            SHOP,
        ),
        Row(
            "Google 8 to 10",
            f"    mResumedActivity: ActivityRecord{{1a2b u0 {SHOP}/.Main t12}}\n",
            SHOP,
        ),
        Row(
            "Samsung 7",
            f"  mFocusedActivity: ActivityRecord{{9f7aeb7 u0 {SHOP}/.Main t130}}\n",
            SHOP,
        ),
        Row("Google 11", f"  ResumedActivity: ActivityRecord{{1a2b u10 {SHOP}/.Main t12}}\n", SHOP),
    ],
    "dumpsys window": [
        Row("Google 16", f"  mCurrentFocus=Window{{1a2b u0 {SHOP}/{SHOP}.Main}}\n", SHOP),
        Row("Samsung 4.2", f"  mCurrentFocus=Window{{41ad {SHOP}/.Main paused=false}}\n", SHOP),
        Row(
            "Xiaomi 10",
            "  mCurrentFocus=null\n  mFocusedApp=AppWindowToken{3c token=Token{1"
            f" ActivityRecord{{2b u0 {SHOP}/.Main t7}}}}}}\n",
            SHOP,
        ),
        Row(
            "any 14, the shade is down", "  mCurrentFocus=Window{1 u0 NotificationShade}\n", UNKNOWN
        ),
    ],
    "dumpsys window displays": [
        Row(
            "Google 12",
            "      InsetsSource type=ITYPE_STATUS_BAR frame=[0,0][1080,136] visible=true\n",
            136,
        ),
        Row(
            "Google 14 to 16",
            "      InsetsSource id=27 type=statusBars frame=[0,0][1080,118] visible=true\n",
            118,
        ),
    ],
    "dumpsys notification": [
        Row(
            "Google 11 to 16",
            "  Toast Queue:\n    TextToastRecord{1a2b 1:com.x/u0a1 isSystemToast=false"
            " token=android.os.BinderProxy@1 text=Saved duration=0}\n",
            ["Saved"],
        ),
        Row(
            "Android 10",
            "  Toast Queue:\n    ToastRecord{1a2b pkg=com.x callback=android.app.ITransient"
            "Notification$Stub$Proxy@1 duration=0}\n",
            [],
        ),
    ],
    "cmd connectivity airplane-mode": [
        Row("Google 11 to 16", "disabled\n", False),
        Row("Samsung 13", "enabled\n", True),
        Row("Google 9", "No shell command implementation.\n", UNKNOWN),
    ],
    "cmd locale get-app-locales": [
        Row("Google 13 to 16", f"Locales for {SHOP} for user 0 are [de-DE, en]\n", "de-DE,en"),
        Row("Samsung 14", f"Locales for {SHOP} for user 0 are []\n", ""),
        Row("any 12", "cmd: Can't find service: locale\n", UNKNOWN),
    ],
    "settings list": [
        Row(
            "Google 16",
            "adb_enabled=1\nanimator_duration_scale=null\n",
            {"adb_enabled": "1", "animator_duration_scale": "null"},
        ),
        Row("Xiaomi 13", "a=b=c\n", {"a": "b=c"}),
    ],
    "dumpsys accessibility": [
        Row(
            "Google 12",
            "ACCESSIBILITY MANAGER (dumpsys accessibility)\nUser state[\n     Bound services:"
            "{Service[label=Clawperator, feedbackType[FEEDBACK_GENERIC]]}\n",
            Automation(is_held=False, services_bound=True),
        ),
        Row(
            "Samsung 13, with Appium",
            "ACCESSIBILITY MANAGER (dumpsys accessibility)\nUi Automation["
            "eventTypes=TYPES_ALL_MASK, notificationTimeout=0]\n     Bound services:{}\n",
            Automation(is_held=True, services_bound=False),
        ),
    ],
    # https://github.com/sole/aafm/issues/30
    "df -k": [
        Row(
            "Google 7 to 16",
            "Filesystem       1K-blocks     Used Available Use% Mounted on\n"
            "/dev/block/dm-51 115249236 20971520  94277716  19% /data\n",
            94277716,
        ),
        Row(
            "Samsung 4",
            "Filesystem             Size   Used   Free   Blksize\n"
            "/data                   27G    19G     8G   4096\n",
            UNKNOWN,
        ),
    ],
    "logcat -g": [
        Row(
            "Google 11 to 16",
            "main: ring buffer is 256 KiB (250 KiB consumed, 200 KiB readable),"
            " max entry is 5120 B, max payload is 4068 B\n",
            256 * 1024,
        ),
        Row(
            "Samsung 9",
            "main: ring buffer is 5Mb (4Mb consumed), max entry is 5120b, max payload is 4068b\n",
            5 * 1024 * 1024,
        ),
        Row(
            "Sony 5",
            "/dev/log/main: ring buffer is 64Kb (63Kb consumed), max entry is 5120b,"
            " max payload is 4076b\n",
            64 * 1024,
        ),
    ],
    "cmd appops get": [
        Row("Google 9 to 16", "RUN_ANY_IN_BACKGROUND: allow; time=+1h2m ago\n", "allow"),
        Row("Samsung 11", "Uid mode: RUN_ANY_IN_BACKGROUND: ignore\n", "ignore"),
        Row("any 10", "No operations.\nDefault mode: allow\n", UNKNOWN),
    ],
    "logcat": [
        Row(
            "Google 6 to 16",
            "03-28 10:00:00.123  4242  4250 D Operator: hello: you",
            (4242, "D", "Operator", "hello: you"),
        ),
        Row(
            "Samsung 12, a pid of five digits",
            "03-28 10:00:00.123 14242 14250 I SurfaceFlinger: x",
            (14242, "I", "SurfaceFlinger", "x"),
        ),
        Row(
            "Huawei 10, a padded tag",
            "03-28 10:00:00.123   500   500 E a       : ",
            (500, "E", "a", ""),
        ),
        Row("any 5 to 16", "--------- beginning of main", UNKNOWN),
    ],
    # https://github.com/mobile-next/mobile-mcp/issues/158, https://github.com/termux/termux-app/issues/1004
    "screencap": [
        Row("Google 16", "PNG", "PNG"),
        Row(
            "Google Fold 15",
            "[Warning] Multiple displays were found, but no display id was specified!\nPNG",
            "PNG",
        ),
        Row("Asus 5", "WARNING: linker: libx.so has text relocations.\nPNG", "PNG"),
        Row(
            "Google 15, of a display without a panel",
            "Failed to take screenshot. Status: -2\nCapturing failed.\n",
            "none",
        ),
    ],
    "cmd package resolve-activity": [
        Row("Google 9 to 16", "No activity found\n", "unhandled"),
        Row(
            "Google 9 to 16", f"priority=0 preferredOrder=0 match=0x8000\n{SHOP}/.Main\n", "handled"
        ),
        Row("any 6", "sh: cmd: not found\n", "handled"),
    ],
}
"""What is printed, by the command; the longest key that a command begins with counts."""
