"""``wm``: the size, density and rotation of the screen."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.service_call import (
    JavaException,
    Refused,
    ServiceCall,
    ServiceHandler,
    dispatch,
    java_int,
)

_USAGE = """Window manager (window) commands:
  help
      Print this help text.
  size [reset|WxH|WdpxHdp] [-d DISPLAY_ID]
    Return or override display size.
  density [reset|DENSITY] [-d DISPLAY_ID]
    Return or override display density.
  dismiss-keyguard
    Dismiss the keyguard.
  user-rotation [-d DISPLAY_ID] [free|lock] [rotation]
    Print or set user rotation mode and user rotation.
"""
_LEAST_DENSITY, _MOST_DENSITY = 72, 2000
_LEAST_SIDE = 200
_ON_DISPLAY = ("-d",)


async def window_service(call: ServiceCall) -> None:
    """Answer ``cmd window``, which ``wm`` also is."""
    await dispatch(call, _COMMANDS, usage=_USAGE)


async def _size(call: ServiceCall) -> None:
    display = call.system.display
    words = call.rest(without=_ON_DISPLAY)
    if not words:
        await call.out("Physical size: {}x{}".format(*display.size))
        if display.forced_size is not None:
            await call.out("Override size: {}x{}".format(*display.forced_size))
        return
    size = display.size if words[0] == "reset" else _wanted_size(call, words[0])
    display.forced_size = size if size != display.size else None
    call.system.ui.display.resize(size)


def _wanted_size(call: ServiceCall, word: str) -> tuple[int, int]:
    display = call.system.display
    width, times, height = word.partition("x")
    if not (width and times and height):
        raise Refused(f"Error: bad size {word}")
    # Android holds an override between 200 pixels and twice the panel's own size.
    return (
        min(max(_pixels(width, display.density), _LEAST_SIDE), 2 * display.size[0]),
        min(max(_pixels(height, display.density), _LEAST_SIDE), 2 * display.size[1]),
    )


def _pixels(text: str, density: int) -> int:
    if text.endswith("dp"):
        return _number(text[:-2]) * density // 160
    return _number(text.removesuffix("px"))


def _number(text: str) -> int:
    try:
        return java_int(text)
    except JavaException as error:
        raise Refused(f"Error: bad number {error.kind}: {error}") from error


async def _density(call: ServiceCall) -> None:
    display = call.system.display
    words = call.rest(without=_ON_DISPLAY)
    if not words:
        await call.out(f"Physical density: {display.density}")
        if display.forced_density is not None:
            await call.out(f"Override density: {display.forced_density}")
        return
    density = display.density if words[0] == "reset" else _number(words[0])
    if density < _LEAST_DENSITY:
        raise Refused(f"Error: density must be >= {_LEAST_DENSITY}")
    density = min(density, _MOST_DENSITY)
    display.forced_density = density if density != display.density else None
    call.system.ui.display.density = density


async def _user_rotation(call: ServiceCall) -> None:
    settings = call.system.settings
    words = call.rest(without=_ON_DISPLAY)
    if not words:
        free = settings.get("system", "accelerometer_rotation") == "1"
        rotation = settings.get("system", "user_rotation") or "0"
        await call.out("free" if free else f"lock {rotation}")
        return
    if words[0] not in ("free", "lock"):
        raise Refused("Error: argument needs to be either -d, free or lock.")
    if len(words) > 1 and words[1] not in ("0", "1", "2", "3"):
        raise Refused("Error: rotation value should be between 0 and 3.")
    settings.put("system", "accelerometer_rotation", "1" if words[0] == "free" else "0")
    if words[0] == "lock" and len(words) > 1:
        settings.put("system", "user_rotation", words[1])


async def _dismiss_keyguard(call: ServiceCall) -> None:
    locked = call.system.faults.active("locked")
    if locked is not None and locked.options["code"] == "0":
        call.system.faults.clear("locked")


_COMMANDS: Mapping[str, ServiceHandler] = {
    "density": _density,
    "dismiss-keyguard": _dismiss_keyguard,
    "size": _size,
    "user-rotation": _user_rotation,
}
