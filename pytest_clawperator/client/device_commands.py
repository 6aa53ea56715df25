"""Commands for the device's shell: names, keys and gestures are checked, failures explained."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence

from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import ConfigurationError, ErrorCode, ShellError
from pytest_clawperator.transport.interface import ShellResult, Transport
from pytest_clawperator.transport.shell import quote

_PACKAGE = re.compile(r"(?=.{1,223}\Z)(?:[A-Za-z]\w*(?:\.[A-Za-z]\w*)+|android)", re.ASCII)
_PERMISSION = re.compile(r"\w+(?:\.\w+)+", re.ASCII)
_SHOWN = 300
# Printed by `cmd` about a service, by a service about a command, and by Binder.
_LACKING = re.compile("Can't find service|Unknown command|No shell command implementation")

GUARDED_HINT = (
    "Some makers guard this: on Xiaomi, Redmi and POCO phones switch on 'USB debugging (Security"
    " settings)' among the developer options, on OPPO, OnePlus and realme phones 'Disable"
    " permission monitoring', and restart the phone."
)

# The permissions that adb has elsewhere.
_GUARDED = re.compile("INJECT_EVENTS|GRANT_RUNTIME_PERMISSIONS|WRITE_SECURE_SETTINGS")
_REASON = re.compile(r"Exception: |^(?:Error|Failure|Failed|Security exception)\b", re.MULTILINE)


def is_package(name: str) -> bool:
    """Whether an app can have this name."""
    return _fits(name, _PACKAGE)


def package_name(name: str) -> str:
    """Return the name of an app, checked."""
    if is_package(name):
        return name
    raise ConfigurationError(
        f"{shown(name)} is not the name of an Android package",
        hint="It is letters, digits and underscores in parts joined by dots: com.example.shop.",
    )


def _fits(name: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(name, str) and pattern.fullmatch(name) is not None


def permission_name(name: str) -> str:
    """Return the name of a permission, checked."""
    if _fits(name, _PERMISSION):
        return name
    raise ConfigurationError(
        f"{shown(name)} is not the name of a permission",
        hint="It is written in full: android.permission.CAMERA.",
    )


def lacks(result: ShellResult) -> bool:
    """Whether the device has no such command, or its service does not know it."""
    printed = f"{result.stdout}\n{result.stderr}"
    # A service without commands prints that and exits with 0.
    return result.missing or (len(printed) < _SHOWN and bool(_LACKING.search(printed)))


def is_guarded(result: ShellResult) -> bool:
    """Whether the maker forbids adb what a command does."""
    return _GUARDED.search(f"{result.stdout}\n{result.stderr}") is not None


def shell_error(
    transport: Transport, command: str, result: ShellResult, *, hint: str
) -> ShellError:
    """Return the error for a command that failed, or that the device lacks."""
    output = "\n".join(filter(None, (result.stdout.strip(), result.stderr.strip())))
    if lacks(result):
        name = " ".join(command.split()[: 2 if command.startswith("cmd ") else 1])
        message = f"this device has no `{name}`"
    else:
        message = f"`{command}` failed with exit code {result.exit_code}"
    return ShellError(
        f"{message}: {_reason(output)}",
        code=ErrorCode.DEVICE_COMMAND_FAILED,
        serial=transport.serial,
        hint=GUARDED_HINT if is_guarded(result) and GUARDED_HINT not in hint else hint,
        details={"command": command, "exitCode": result.exit_code, "output": output},
    )


def run(transport: Transport, command: str, *, hint: str, timeout: float = 30.0) -> ShellResult:
    """Run a command that must succeed, and that prints no errors when it does."""
    result = transport.shell(command, timeout=timeout)
    printed = f"{result.stdout}\n{result.stderr}"
    # Before Android 7 many commands fail with an exit code of 0.
    if not result.ok or lacks(result) or _REASON.search(printed):
        raise shell_error(transport, command, result, hint=hint)
    return result


def run_for_app(
    transport: Transport, package: str, command: str, *, hint: str, success: str = ""
) -> None:
    """Run a command about an app; if it fails, the error states whether the app is missing.

    ``success`` is what the command prints when it succeeded.
    """
    try:
        result = run(transport, command, hint=hint, timeout=60.0)
        if success in result.stdout:
            return
        failure = shell_error(transport, command, result, hint=hint)
    except ShellError as exc:
        failure = exc
    raise missing_app(transport, package, failure) or failure


def missing_app(transport: Transport, package: str, failure: ShellError) -> ShellError | None:
    """Return the error for an app that is not installed, if that is why a command failed."""
    installed = parse_packages(transport.shell("pm list packages").stdout)
    if not installed or package in installed:
        return None
    near = difflib.get_close_matches(package, sorted(installed), n=1)
    meant = f"Did you mean {near[0]!r}? Else install" if near else "Install"
    return ShellError(
        f"the app {package} is not installed",
        code=ErrorCode.APP_NOT_FOUND,
        serial=transport.serial,
        hint=f"{meant} it with device.install(apk).",
        details=failure.details,
    )


def check_installed(transport: Transport, package: str) -> None:
    """Raise if an app is not installed; a device that does not say is believed to have it."""
    command = f"pm path {package}"
    result = transport.shell(command)
    if "package:" in result.stdout:
        return
    failure = missing_app(transport, package, shell_error(transport, command, result, hint=""))
    if failure is not None:
        raise failure


def installed_packages(transport: Transport, containing: str) -> frozenset[str]:
    """List the installed packages whose name contains a text."""
    command = f"pm list packages {quote(containing)}"
    result = transport.shell(command)
    if not result.ok:
        raise shell_error(
            transport,
            command,
            result,
            hint="A device that is still starting has no package manager yet: wait until "
            "`adb shell getprop sys.boot_completed` prints 1.",
        )
    return parse_packages(result.stdout)


def parse_packages(output: str) -> frozenset[str]:
    """Return the names that ``pm list packages`` printed."""
    lines = (line.strip() for line in output.splitlines())
    return frozenset(line.removeprefix("package:") for line in lines if line.startswith("package:"))


def _reason(output: str) -> str:
    """Return the line of a stack trace that names the problem."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    reasons = [line for line in lines if _REASON.search(line)]
    return (reasons or lines or ["it printed nothing"])[0][:_SHOWN]


_PREFIX = "KEYCODE_"
_HIGHEST_CODE = 1023


_NAMES_TEXT = """
    0 1 2 3 4 5 6 7 8 9 11 12 A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
    3D_MODE ALL_APPS ALT_LEFT ALT_RIGHT APOSTROPHE APP_SWITCH ASSIST AT AVR_INPUT AVR_POWER
    BACK BACKSLASH BOOKMARK BREAK BRIGHTNESS_DOWN BRIGHTNESS_UP
    BUTTON_1 BUTTON_2 BUTTON_3 BUTTON_4 BUTTON_5 BUTTON_6 BUTTON_7 BUTTON_8 BUTTON_9 BUTTON_10
    BUTTON_11 BUTTON_12 BUTTON_13 BUTTON_14 BUTTON_15 BUTTON_16 BUTTON_A BUTTON_B BUTTON_C
    BUTTON_L1 BUTTON_L2 BUTTON_MODE BUTTON_R1 BUTTON_R2 BUTTON_SELECT BUTTON_START BUTTON_THUMBL
    BUTTON_THUMBR BUTTON_X BUTTON_Y BUTTON_Z
    CALCULATOR CALENDAR CALL CAMERA CAPS_LOCK CAPTIONS CHANNEL_DOWN CHANNEL_UP CLEAR CLOSE COMMA
    CONTACTS COPY CTRL_LEFT CTRL_RIGHT CUT
    DEL DEMO_APP_1 DEMO_APP_2 DEMO_APP_3 DEMO_APP_4 DICTATE DO_NOT_DISTURB DPAD_CENTER DPAD_DOWN
    DPAD_DOWN_LEFT DPAD_DOWN_RIGHT DPAD_LEFT DPAD_RIGHT DPAD_UP DPAD_UP_LEFT DPAD_UP_RIGHT DVR
    EISU EMOJI_PICKER ENDCALL ENTER ENVELOPE EQUALS ESCAPE EXPLORER
    F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24
    FEATURED_APP_1 FEATURED_APP_2 FEATURED_APP_3 FEATURED_APP_4 FOCUS FORWARD FORWARD_DEL
    FULLSCREEN FUNCTION GRAVE GUIDE HEADSETHOOK HELP HENKAN HOME INFO INSERT
    KANA KATAKANA_HIRAGANA KEYBOARD_BACKLIGHT_DOWN KEYBOARD_BACKLIGHT_TOGGLE KEYBOARD_BACKLIGHT_UP
    LANGUAGE_SWITCH LAST_CHANNEL LEFT_BRACKET LOCK
    MACRO_1 MACRO_2 MACRO_3 MACRO_4 MANNER_MODE MEDIA_AUDIO_TRACK MEDIA_CLOSE MEDIA_EJECT
    MEDIA_FAST_FORWARD MEDIA_NEXT MEDIA_PAUSE MEDIA_PLAY MEDIA_PLAY_PAUSE MEDIA_PREVIOUS
    MEDIA_RECORD MEDIA_REWIND MEDIA_SKIP_BACKWARD MEDIA_SKIP_FORWARD MEDIA_STEP_BACKWARD
    MEDIA_STEP_FORWARD MEDIA_STOP MEDIA_TOP_MENU MENU META_LEFT META_RIGHT MINUS MOVE_END
    MOVE_HOME MUHENKAN MUSIC MUTE
    NAVIGATE_IN NAVIGATE_NEXT NAVIGATE_OUT NAVIGATE_PREVIOUS NOTIFICATION NUM
    NUMPAD_0 NUMPAD_1 NUMPAD_2 NUMPAD_3 NUMPAD_4 NUMPAD_5 NUMPAD_6 NUMPAD_7 NUMPAD_8 NUMPAD_9
    NUMPAD_ADD NUMPAD_COMMA NUMPAD_DIVIDE NUMPAD_DOT NUMPAD_ENTER NUMPAD_EQUALS NUMPAD_LEFT_PAREN
    NUMPAD_MULTIPLY NUMPAD_RIGHT_PAREN NUMPAD_SUBTRACT NUM_LOCK
    PAGE_DOWN PAGE_UP PAIRING PASTE PERIOD PICTSYMBOLS PLUS POUND POWER PRINT PROFILE_SWITCH
    PROG_BLUE PROG_GREEN PROG_RED PROG_YELLOW
    RECENT_APPS REFRESH RIGHT_BRACKET RO SCREENSHOT SCROLL_LOCK SEARCH SEMICOLON SETTINGS
    SHIFT_LEFT SHIFT_RIGHT SLASH SLEEP SOFT_LEFT SOFT_RIGHT SOFT_SLEEP SPACE STAR STB_INPUT
    STB_POWER STEM_1 STEM_2 STEM_3 STEM_PRIMARY STYLUS_BUTTON_PRIMARY STYLUS_BUTTON_SECONDARY
    STYLUS_BUTTON_TAIL STYLUS_BUTTON_TERTIARY SWITCH_CHARSET SYM SYSRQ SYSTEM_NAVIGATION_DOWN
    SYSTEM_NAVIGATION_LEFT SYSTEM_NAVIGATION_RIGHT SYSTEM_NAVIGATION_UP
    TAB THUMBS_DOWN THUMBS_UP TV TV_ANTENNA_CABLE TV_AUDIO_DESCRIPTION
    TV_AUDIO_DESCRIPTION_MIX_DOWN TV_AUDIO_DESCRIPTION_MIX_UP TV_CONTENTS_MENU TV_DATA_SERVICE
    TV_INPUT TV_INPUT_COMPONENT_1 TV_INPUT_COMPONENT_2 TV_INPUT_COMPOSITE_1 TV_INPUT_COMPOSITE_2
    TV_INPUT_HDMI_1 TV_INPUT_HDMI_2 TV_INPUT_HDMI_3 TV_INPUT_HDMI_4 TV_INPUT_VGA_1
    TV_MEDIA_CONTEXT_MENU TV_NETWORK TV_NUMBER_ENTRY TV_POWER TV_RADIO_SERVICE TV_SATELLITE
    TV_SATELLITE_BS TV_SATELLITE_CS TV_SATELLITE_SERVICE TV_TELETEXT TV_TERRESTRIAL_ANALOG
    TV_TERRESTRIAL_DIGITAL TV_TIMER_PROGRAMMING TV_ZOOM_MODE
    UNKNOWN VIDEO_APP_1 VIDEO_APP_2 VIDEO_APP_3 VIDEO_APP_4 VIDEO_APP_5 VIDEO_APP_6 VIDEO_APP_7
    VIDEO_APP_8 VOICE_ASSIST VOLUME_DOWN VOLUME_MUTE VOLUME_UP WAKEUP WINDOW YEN ZENKAKU_HANKAKU
    ZOOM_IN ZOOM_OUT
    """

_NAMES = frozenset(_NAMES_TEXT.split())


def key_code(key: str | int) -> str:
    """Return ``"enter"``, ``"KEYCODE_ENTER"`` or 66 in the form that ``input keyevent`` takes."""
    if isinstance(key, int) and not isinstance(key, bool):
        if 0 <= key <= _HIGHEST_CODE:
            return str(key)
        raise ConfigurationError(
            f"there is no key with the code {key}", hint="Codes begin at 0; KEYCODE_ENTER is 66."
        )
    name = re.sub(r"[ -]", "_", str(key).strip()).upper().removeprefix(_PREFIX)
    if name in _NAMES:
        return _PREFIX + name
    near = difflib.get_close_matches(name, sorted(_NAMES), n=1)
    meant = f"Did you mean {near[0].lower()!r}? " if near else ""
    raise ConfigurationError(
        f"there is no key named {shown(key)}",
        hint=f"{meant}A key is a name such as 'enter' or 'KEYCODE_ENTER', or its number.",
    )


Point = tuple[float, float]
# Android takes two taps for a double tap if 40 to 300 ms are between them. Both commands start
# at nearly the same time, so it does not matter how long the device takes to start one.
_BETWEEN_TAPS = 0.1


def stroke(command: str, verb: str, start: Point, end: Point, duration: float) -> str:
    """Return the line of a ``command`` that leads from a point to another one."""
    if not (is_point(start) and is_point(end) and is_number(duration) and duration >= 0):
        raise ConfigurationError(
            f"cannot {verb} from {start} to {end} in {duration} s",
            hint="Points are pairs of pixels, (0, 0) at the top left; the duration is seconds.",
        )
    points = " ".join(str(round(n)) for n in (*start, *end))
    return f"input {command} {points} {round(duration * 1000)}"


def double_tap(point: Point) -> str:
    """Return the line that taps a point twice."""
    if not is_point(point):
        raise ConfigurationError(
            f"cannot tap twice at {point}",
            hint="A point is a pair of pixels, (0, 0) at the top left.",
        )
    tap = f"input tap {round(point[0])} {round(point[1])}"
    # A pipe runs both together: `input` itself takes longer to start than a double tap may last.
    return f"{tap} | {{ sleep {_BETWEEN_TAPS}; {tap}; }}"


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def is_point(value: object) -> bool:
    """Whether a value is a pair of pixels."""
    if not isinstance(value, Sequence) or len(value) != 2:
        return False
    return all(is_number(each) and each >= 0 for each in value)


# The text comes last but one, and may have line breaks.
_TOAST = re.compile(
    r"TextToastRecord\{[^\n]*? text=(.*?) duration=-?\d+\}$", re.DOTALL | re.MULTILINE
)


#: Since this API level the system itself shows toasts of text, and so knows the text.
TOASTS_SINCE_API = 30


def toast_texts(dump: str) -> list[str]:
    """Return the texts of the toasts in what ``dumpsys notification`` printed, in their order."""
    return _TOAST.findall(dump)
