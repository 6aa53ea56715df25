"""``wm``: the size, density and rotation of the screen."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.service_call import (
    FAILED,
    JavaException,
    ServiceCall,
    ServiceHandler,
    dispatch,
    java_int,
)

_WM_USAGE = """Window manager (window) commands:
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


async def _size(call: ServiceCall) -> int:
    display = call.system.display
    words = _without_display(call.rest())
    if not words:
        await call.out("Physical size: {}x{}".format(*display.size))
        if display.forced_size is not None:
            await call.out("Override size: {}x{}".format(*display.forced_size))
        return 0
    if words[0] == "reset":
        display.forced_size = None
        call.system.ui.display.resize(display.size)
        return 0
    width, times, height = words[0].partition("x")
    if not (width and times and height):
        await call.err(f"Error: bad size {words[0]}")
        return FAILED
    try:
        wanted = (_pixels(width, display.density), _pixels(height, display.density))
    except JavaException as error:
        await call.err(f"Error: bad number {error.kind}: {error}")
        return FAILED
    # Android holds an override between 200 pixels and twice the panel's own size.
    forced = tuple(
        min(max(side, _LEAST_SIDE), 2 * own) for side, own in zip(wanted, display.size, strict=True)
    )
    size = forced[0], forced[1]
    display.forced_size = size if size != display.size else None
    call.system.ui.display.resize(size)
    return 0


def _pixels(text: str, density: int) -> int:
    if text.endswith("dp"):
        return java_int(text[:-2]) * density // 160
    return java_int(text.removesuffix("px"))


async def _density(call: ServiceCall) -> int:
    display = call.system.display
    words = _without_display(call.rest())
    if not words:
        await call.out(f"Physical density: {display.density}")
        if display.forced_density is not None:
            await call.out(f"Override density: {display.forced_density}")
        return 0
    if words[0] == "reset":
        display.forced_density = None
        call.system.ui.display.density = display.density
        return 0
    try:
        density = java_int(words[0])
    except JavaException as error:
        await call.err(f"Error: bad number {error.kind}: {error}")
        return FAILED
    if density < _LEAST_DENSITY:
        await call.err(f"Error: density must be >= {_LEAST_DENSITY}")
        return FAILED
    density = min(density, _MOST_DENSITY)
    display.forced_density = density if density != display.density else None
    call.system.ui.display.density = density
    return 0


def _without_display(words: list[str]) -> list[str]:
    if "-d" in words:
        at = words.index("-d")
        return words[:at] + words[at + 2 :]
    return words


async def _user_rotation(call: ServiceCall) -> int:
    settings = call.system.settings
    words = _without_display(call.rest())
    if not words:
        free = settings.get("system", "accelerometer_rotation") == "1"
        rotation = settings.get("system", "user_rotation") or "0"
        await call.out("free" if free else f"lock {rotation}")
        return 0
    if words[0] not in ("free", "lock"):
        await call.err("Error: argument needs to be either -d, free or lock.")
        return FAILED
    if len(words) > 1 and words[1] not in ("0", "1", "2", "3"):
        await call.err("Error: rotation value should be between 0 and 3.")
        return FAILED
    settings.put("system", "accelerometer_rotation", "1" if words[0] == "free" else "0")
    if words[0] == "lock" and len(words) > 1:
        settings.put("system", "user_rotation", words[1])
    return 0


async def _dismiss_keyguard(call: ServiceCall) -> int:
    locked = call.system.faults.active("locked")
    if locked is not None and locked.options["code"] == "0":
        call.system.faults.clear("locked")
    return 0


_WM_COMMANDS: Mapping[str, ServiceHandler] = {
    "density": _density,
    "dismiss-keyguard": _dismiss_keyguard,
    "size": _size,
    "user-rotation": _user_rotation,
}


async def window_service(call: ServiceCall) -> int:
    """Answer ``cmd window``, which is what ``wm`` is."""
    return await dispatch(call, _WM_COMMANDS, usage=_WM_USAGE)
