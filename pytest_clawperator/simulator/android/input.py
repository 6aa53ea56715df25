"""``input``: taps, swipes, text and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.android.service_call import (
    JavaException,
    ServiceCall,
    ServiceHandler,
    java_float,
    java_int,
)
from pytest_clawperator.simulator.android.system import AndroidSystem

_FIRST = (
    "UNKNOWN", "SOFT_LEFT", "SOFT_RIGHT", "HOME", "BACK", "CALL", "ENDCALL", "0", "1", "2",
    "3", "4", "5", "6", "7", "8", "9", "STAR", "POUND", "DPAD_UP", "DPAD_DOWN", "DPAD_LEFT",
    "DPAD_RIGHT", "DPAD_CENTER", "VOLUME_UP", "VOLUME_DOWN", "POWER", "CAMERA", "CLEAR",
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q",
    "R", "S", "T", "U", "V", "W", "X", "Y", "Z", "COMMA", "PERIOD", "ALT_LEFT", "ALT_RIGHT",
    "SHIFT_LEFT", "SHIFT_RIGHT", "TAB", "SPACE", "SYM", "EXPLORER", "ENVELOPE", "ENTER",
    "DEL", "GRAVE", "MINUS", "EQUALS", "LEFT_BRACKET", "RIGHT_BRACKET", "BACKSLASH",
    "SEMICOLON", "APOSTROPHE", "SLASH", "AT", "NUM", "HEADSETHOOK", "FOCUS", "PLUS", "MENU",
    "NOTIFICATION", "SEARCH", "MEDIA_PLAY_PAUSE", "MEDIA_STOP", "MEDIA_NEXT",
    "MEDIA_PREVIOUS", "MEDIA_REWIND", "MEDIA_FAST_FORWARD", "MUTE", "PAGE_UP", "PAGE_DOWN",
    "PICTSYMBOLS", "SWITCH_CHARSET", "BUTTON_A", "BUTTON_B", "BUTTON_C", "BUTTON_X",
    "BUTTON_Y", "BUTTON_Z", "BUTTON_L1", "BUTTON_R1", "BUTTON_L2", "BUTTON_R2",
    "BUTTON_THUMBL", "BUTTON_THUMBR", "BUTTON_START", "BUTTON_SELECT", "BUTTON_MODE",
    "ESCAPE", "FORWARD_DEL", "CTRL_LEFT", "CTRL_RIGHT", "CAPS_LOCK", "SCROLL_LOCK",
    "META_LEFT", "META_RIGHT", "FUNCTION", "SYSRQ", "BREAK", "MOVE_HOME", "MOVE_END",
    "INSERT", "FORWARD", "MEDIA_PLAY", "MEDIA_PAUSE", "MEDIA_CLOSE", "MEDIA_EJECT",
    "MEDIA_RECORD", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11",
    "F12", "NUM_LOCK", "NUMPAD_0", "NUMPAD_1", "NUMPAD_2", "NUMPAD_3", "NUMPAD_4",
    "NUMPAD_5", "NUMPAD_6", "NUMPAD_7", "NUMPAD_8", "NUMPAD_9", "NUMPAD_DIVIDE",
    "NUMPAD_MULTIPLY", "NUMPAD_SUBTRACT", "NUMPAD_ADD", "NUMPAD_DOT", "NUMPAD_COMMA",
    "NUMPAD_ENTER", "NUMPAD_EQUALS", "NUMPAD_LEFT_PAREN", "NUMPAD_RIGHT_PAREN",
    "VOLUME_MUTE", "INFO", "CHANNEL_UP", "CHANNEL_DOWN", "ZOOM_IN", "ZOOM_OUT", "TV",
    "WINDOW", "GUIDE", "DVR", "BOOKMARK", "CAPTIONS", "SETTINGS", "TV_POWER", "TV_INPUT",
    "STB_POWER", "STB_INPUT", "AVR_POWER", "AVR_INPUT", "PROG_RED", "PROG_GREEN",
    "PROG_YELLOW", "PROG_BLUE", "APP_SWITCH",
)  # fmt: skip

KEY_CODES: dict[str, int] = {name: code for code, name in enumerate(_FIRST)} | {
    "LANGUAGE_SWITCH": 204, "CONTACTS": 207, "CALENDAR": 208, "MUSIC": 209, "CALCULATOR": 210,
    "ASSIST": 219, "BRIGHTNESS_DOWN": 220, "BRIGHTNESS_UP": 221, "SLEEP": 223, "WAKEUP": 224,
    "PAIRING": 225, "VOICE_ASSIST": 231, "HELP": 259, "NAVIGATE_PREVIOUS": 260,
    "NAVIGATE_NEXT": 261, "SOFT_SLEEP": 276, "CUT": 277, "COPY": 278, "PASTE": 279,
    "ALL_APPS": 284, "REFRESH": 285,
}  # fmt: skip
"""Every key that has a meaning here or is likely to be named, without ``KEYCODE_``."""

_LAST_KEY_CODE = 336
_CHARACTERS = {
    "SPACE": " ", "COMMA": ",", "PERIOD": ".", "MINUS": "-", "EQUALS": "=", "LEFT_BRACKET": "[",
    "RIGHT_BRACKET": "]", "BACKSLASH": "\\", "SEMICOLON": ";", "APOSTROPHE": "'", "SLASH": "/",
    "AT": "@", "PLUS": "+", "STAR": "*", "POUND": "#", "GRAVE": "`",
}  # fmt: skip

TYPED: dict[int, str] = (
    {KEY_CODES[name]: text for name, text in _CHARACTERS.items()}
    | {KEY_CODES[letter]: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    | {KEY_CODES[digit]: digit for digit in "0123456789"}
    | {KEY_CODES[f"NUMPAD_{digit}"]: digit for digit in "0123456789"}
)
"""What a key types into a field."""

_SOURCES = (
    "dpad", "keyboard", "mouse", "touchpad", "gamepad", "touchnavigation", "joystick",
    "touchscreen", "stylus", "trackball",
)  # fmt: skip

_LONG_PRESS_MS = 500
_SWIPE_MS = 300
_STILL = 10
# The first API level with an option for the display.
_DISPLAYS_SINCE = 29


async def input_service(call: ServiceCall) -> None:
    """Answer ``cmd input``, which ``input`` also is."""
    word = call.next()
    if word in _SOURCES:
        word = call.required()
    if word == "-d" and call.system.build.api >= _DISPLAYS_SINCE:
        call.required()
        word = call.required()
    if word is None or word in ("help", "-h"):
        await call.out(f"Commands: {', '.join(_COMMANDS)}")
    elif word not in _COMMANDS:
        await call.out(f"Unknown command: {word}")
    else:
        try:
            await _COMMANDS[word](call)
        except JavaException as error:
            if error.kind == "java.lang.NumberFormatException":
                raise JavaException(f"Error: Invalid arguments for command: {word}") from error
            raise


# -- Touches -------------------------------------------------------------------------------------


def _point(call: ServiceCall) -> tuple[int, int]:
    x, y = java_float(call.required()), java_float(call.required())
    return round(x), round(y)


def _duration(call: ServiceCall) -> int:
    word = call.next()
    duration = _SWIPE_MS if word is None else java_int(word)
    return _SWIPE_MS if duration < 0 else duration


def _touchable(system: AndroidSystem) -> bool:
    """Whether touches reach the screen now: it is on, and no fault refuses them."""
    return system.display.awake and system.faults.active("gesture_refused") is None


async def _tap(call: ServiceCall) -> None:
    x, y = _point(call)
    if _touchable(call.system):
        call.system.ui.touch.tap(x, y)


async def _swipe(call: ServiceCall) -> None:
    start, end, duration = _point(call), _point(call), _duration(call)
    touch = call.system.ui.touch
    if not _touchable(call.system):
        return
    if abs(start[0] - end[0]) >= _STILL or abs(start[1] - end[1]) >= _STILL:
        touch.swipe(start, end, duration_ms=duration)
    elif duration >= _LONG_PRESS_MS:
        touch.long_press(*start)
    else:
        touch.tap(*start)


async def _drag_and_drop(call: ServiceCall) -> None:
    start, end, duration = _point(call), _point(call), _duration(call)
    if _touchable(call.system):
        call.system.ui.touch.drag(start, end, duration_ms=duration)


# -- Text and keys -------------------------------------------------------------------------------


async def _text(call: ServiceCall) -> None:
    text = call.required().replace("%s", " ")
    if call.system.display.awake:
        call.system.ui.typing.type_text(text)


async def _key_event(call: ServiceCall) -> None:
    for word in [call.required(), *call.rest()]:
        _press_key(call.system, key_code(word))


def key_code(text: str) -> int:
    """Parse a key by number or name, with or without ``KEYCODE_``; 0 is an unknown key."""
    if text.isascii() and text.isdigit() and len(text) < 6:
        # A single digit is a code too: 3 is HOME, not the key with a 3 on it.
        code = int(text)
        return code if code <= _LAST_KEY_CODE else 0
    name = text.upper()
    return KEY_CODES.get(name.removeprefix("KEYCODE_"), 0)


def _press_key(system: AndroidSystem, code: int) -> None:
    """Press and release a key; keys without a meaning here do nothing."""
    if code in _POWER_KEYS:
        system.display.awake = _POWER_KEYS[code](system.display.awake)
        return
    if not system.display.awake:
        return
    key = _KEYS.get(code)
    if key is not None:
        key(system)
    elif code in TYPED:
        system.ui.typing.type_text(TYPED[code])


def _back(system: AndroidSystem) -> None:
    # A service that filters keys gets them before the app does.
    system.operators.on_back_key()
    system.ui.keys.back()


# Whether the screen is on after the key, given that it was on or not before.
_POWER_KEYS: Mapping[int, Callable[[bool], bool]] = {
    KEY_CODES["POWER"]: lambda awake: not awake,
    KEY_CODES["SLEEP"]: lambda awake: False,
    KEY_CODES["SOFT_SLEEP"]: lambda awake: False,
    KEY_CODES["WAKEUP"]: lambda awake: True,
}

_KEYS: Mapping[int, Callable[[AndroidSystem], object]] = {
    KEY_CODES["APP_SWITCH"]: lambda system: system.ui.keys.recents(),
    KEY_CODES["BACK"]: _back,
    KEY_CODES["DEL"]: lambda system: system.ui.typing.backspace(),
    KEY_CODES["ENTER"]: lambda system: system.ui.typing.enter(),
    KEY_CODES["ESCAPE"]: _back,
    KEY_CODES["HOME"]: lambda system: system.ui.keys.home(),
    KEY_CODES["NUMPAD_ENTER"]: lambda system: system.ui.typing.enter(),
    KEY_CODES["SETTINGS"]: lambda system: system.ui.launching.start_app("com.android.settings"),
}


_COMMANDS: Mapping[str, ServiceHandler] = {
    "draganddrop": _drag_and_drop,
    "keyevent": _key_event,
    "swipe": _swipe,
    "tap": _tap,
    "text": _text,
}
