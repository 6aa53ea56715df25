"""Android's key codes by name."""

from __future__ import annotations

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
    "LANGUAGE_SWITCH": 204,
    "CONTACTS": 207,
    "CALENDAR": 208,
    "MUSIC": 209,
    "CALCULATOR": 210,
    "ASSIST": 219,
    "BRIGHTNESS_DOWN": 220,
    "BRIGHTNESS_UP": 221,
    "SLEEP": 223,
    "WAKEUP": 224,
    "PAIRING": 225,
    "VOICE_ASSIST": 231,
    "HELP": 259,
    "NAVIGATE_PREVIOUS": 260,
    "NAVIGATE_NEXT": 261,
    "SOFT_SLEEP": 276,
    "CUT": 277,
    "COPY": 278,
    "PASTE": 279,
    "ALL_APPS": 284,
    "REFRESH": 285,
}
"""Every key that has a meaning here or is likely to be named, without ``KEYCODE_``."""

LAST_KEY_CODE = 336

_CHARACTERS = {
    "SPACE": " ",
    "COMMA": ",",
    "PERIOD": ".",
    "MINUS": "-",
    "EQUALS": "=",
    "LEFT_BRACKET": "[",
    "RIGHT_BRACKET": "]",
    "BACKSLASH": "\\",
    "SEMICOLON": ";",
    "APOSTROPHE": "'",
    "SLASH": "/",
    "AT": "@",
    "PLUS": "+",
    "STAR": "*",
    "POUND": "#",
    "GRAVE": "`",
}

TYPED: dict[int, str] = (
    {KEY_CODES[name]: text for name, text in _CHARACTERS.items()}
    | {KEY_CODES[letter]: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    | {KEY_CODES[digit]: digit for digit in "0123456789"}
    | {KEY_CODES[f"NUMPAD_{digit}"]: digit for digit in "0123456789"}
)
"""What a key types into a field."""


def key_code(text: str) -> int:
    """Parse a key by number or name, with or without ``KEYCODE_``; 0 is an unknown key."""
    if text.isascii() and text.isdigit() and len(text) < 6:
        # A single digit is a code too: 3 is HOME, not the key with a 3 on it.
        code = int(text)
        return code if code <= LAST_KEY_CODE else 0
    name = text.upper()
    return KEY_CODES.get(name.removeprefix("KEYCODE_"), 0)
