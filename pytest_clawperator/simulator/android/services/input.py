"""``input``: taps, swipes, text and keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_clawperator.simulator.android.java import JavaException, java_float, java_int
from pytest_clawperator.simulator.android.services.key_codes import KEY_CODES, TYPED, key_code
from pytest_clawperator.simulator.android.services.service_call import ServiceCall, ServiceHandler
from pytest_clawperator.simulator.android.system import AndroidSystem

_SOURCES = (
    "dpad", "keyboard", "mouse", "touchpad", "gamepad", "touchnavigation", "joystick",
    "touchscreen", "stylus", "trackball",
)  # fmt: skip
_LONG_PRESS_MS = 500
_SWIPE_MS = 300
_STILL = 10
# Before, it could not be said which display is touched.
_DISPLAYS_SINCE = 29
_USAGE = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The sources are:
{sources}

The commands and default sources are:
      text <string> (Default: keyboard)
      keyevent [--longpress|--doubletap|--async] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
""".format(sources="\n".join(f"      {name}" for name in _SOURCES))


def _point(call: ServiceCall) -> tuple[int, int]:
    x, y = java_float(call.required()), java_float(call.required())
    return round(x), round(y)


def _touchable(system: AndroidSystem) -> bool:
    """Whether touches reach the screen now: it is on, and no fault refuses them."""
    return system.display.awake and system.faults.active("gesture_refused") is None


async def _tap(call: ServiceCall) -> int:
    x, y = _point(call)
    if _touchable(call.system):
        call.system.ui.touch.tap(x, y)
    return 0


async def _swipe(call: ServiceCall) -> int:
    start, end = _point(call), _point(call)
    word = call.next()
    duration = java_int(word) if word is not None else _SWIPE_MS
    if duration < 0:
        duration = _SWIPE_MS
    if not _touchable(call.system):
        return 0
    still = abs(start[0] - end[0]) < _STILL and abs(start[1] - end[1]) < _STILL
    if not still:
        call.system.ui.touch.swipe(start, end, duration_ms=duration)
    elif duration >= _LONG_PRESS_MS:
        call.system.ui.touch.long_press(*start)
    else:
        call.system.ui.touch.tap(*start)
    return 0


async def _drag_and_drop(call: ServiceCall) -> int:
    start, end = _point(call), _point(call)
    word = call.next()
    duration = java_int(word) if word is not None else _SWIPE_MS
    if _touchable(call.system):
        call.system.ui.touch.drag(start, end, duration_ms=max(duration, 0))
    return 0


async def _text(call: ServiceCall) -> int:
    text = call.required().replace("%s", " ")
    if call.system.display.awake:
        call.system.ui.typing.type_text(text)
    return 0


async def _key_event(call: ServiceCall) -> int:
    word: str | None = call.required()
    double = False
    while word is not None and word.startswith("--"):
        double = double or word == "--doubletap"
        if word == "--delay":
            call.required()
        word = call.next()
    if word is None:
        raise JavaException('Argument expected after "keyevent"')
    while word is not None:
        for _ in range(2 if double else 1):
            press_key(call.system, key_code(word))
        word = call.next()
    return 0


def press_key(system: AndroidSystem, code: int) -> None:
    """Press and release a key; keys without a meaning here do nothing."""
    power = _POWER_KEYS.get(code)
    if power is not None:
        power(system)
        return
    if not system.display.awake:
        return
    key = _KEYS.get(code)
    if key is not None:
        key(system)
    elif code in TYPED:
        system.ui.typing.type_text(TYPED[code])


def _wake(system: AndroidSystem) -> None:
    system.display.awake = True


def _sleep(system: AndroidSystem) -> None:
    system.display.awake = False


def _power(system: AndroidSystem) -> None:
    system.display.awake = not system.display.awake


def _volume(step: int) -> Callable[[AndroidSystem], None]:
    def change(system: AndroidSystem) -> None:
        try:
            now = java_int(system.settings.get("system", "volume_music") or "0")
        except JavaException:
            now = 0
        system.settings.put("system", "volume_music", str(min(25, max(0, now + step))))

    return change


def _mute(system: AndroidSystem) -> None:
    system.settings.put("system", "volume_music", "0")


def _back(system: AndroidSystem) -> None:
    # A service that filters keys gets them before the app does.
    system.operators.on_back_key()
    system.ui.keys.back()


_POWER_KEYS: Mapping[int, Callable[[AndroidSystem], None]] = {
    KEY_CODES["POWER"]: _power,
    KEY_CODES["SLEEP"]: _sleep,
    KEY_CODES["SOFT_SLEEP"]: _sleep,
    KEY_CODES["WAKEUP"]: _wake,
}

_KEYS: Mapping[int, Callable[[AndroidSystem], None]] = {
    KEY_CODES["APP_SWITCH"]: lambda system: _ignore(system.ui.keys.recents()),
    KEY_CODES["BACK"]: _back,
    KEY_CODES["DEL"]: lambda system: system.ui.typing.backspace(),
    KEY_CODES["ENTER"]: lambda system: system.ui.typing.enter(),
    KEY_CODES["ESCAPE"]: _back,
    KEY_CODES["HOME"]: lambda system: _ignore(system.ui.keys.home()),
    KEY_CODES["NUMPAD_ENTER"]: lambda system: system.ui.typing.enter(),
    KEY_CODES["SETTINGS"]: lambda system: _ignore(
        system.ui.launching.start_app("com.android.settings")
    ),
    KEY_CODES["VOLUME_DOWN"]: _volume(-1),
    KEY_CODES["VOLUME_MUTE"]: _mute,
    KEY_CODES["VOLUME_UP"]: _volume(1),
}


def _ignore(done: bool) -> None:
    """Ignore that a key did nothing."""


_COMMANDS: Mapping[str, ServiceHandler] = {
    "draganddrop": _drag_and_drop,
    "keyevent": _key_event,
    "swipe": _swipe,
    "tap": _tap,
    "text": _text,
}


async def input_service(call: ServiceCall) -> int:
    """Answer ``cmd input``, which is what ``input`` is."""
    word = call.next()
    if word in _SOURCES:
        word = call.required()
    if word == "-d" and call.system.build.api >= _DISPLAYS_SINCE:
        call.required()
        word = call.required()
    if word is None or word in ("help", "-h"):
        await call.invocation.out(_USAGE)
        return 0
    handler = _COMMANDS.get(word)
    if handler is None:
        await call.out(f"Unknown command: {word}")
        return 0
    try:
        return await handler(call)
    except JavaException as error:
        if error.kind == "java.lang.NumberFormatException":
            raise JavaException(f"Error: Invalid arguments for command: {word}") from error
        raise
