"""``am get-config``: language, screen and theme, as the names of resource folders have them."""

from __future__ import annotations

from pytest_clawperator.simulator.android.services.service_call import ServiceCall
from pytest_clawperator.simulator.android.system import AndroidSystem

_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "iw", "ps", "ur", "yi"})
# From so many dp on the shorter and the longer side, the largest first.
_SIZES = (("xlarge", 720, 960), ("large", 480, 640), ("normal", 320, 470), ("small", 0, 0))


async def get_config(call: ServiceCall) -> int:
    """Print the configuration and what the processor runs."""
    await call.out(f"config: {configuration(call.system)}")
    await call.out(f"abi: {call.system.build.abi}")
    return 0


def configuration(system: AndroidSystem) -> str:
    """Return the configuration, such as ``en-rUS-ldltr-sw411dp-w411dp-h914dp-normal-long``."""
    display = system.ui.display
    width, height = (side * 160 // display.density for side in display.size)
    parts = [
        *_language(system.properties.get("persist.sys.locale")),
        f"sw{min(width, height)}dp-w{width}dp-h{height}dp",
        _size_name(min(width, height), max(width, height)),
        "long" if max(width, height) * 3 >= min(width, height) * 5 else "notlong",
        "notround-lowdr-nowidecg",
        "port" if height >= width else "land",
        "night" if display.dark else "notnight",
        f"{display.density}dpi-finger-keysexposed-nokeys-navhidden-nonav",
        f"v{system.build.api}",
    ]
    return "-".join(parts)


def is_right_to_left(locale: str) -> bool:
    """Whether a language is written from right to left."""
    return locale.split("-")[0] in _RIGHT_TO_LEFT


def _language(locale: str) -> list[str]:
    language, *rest = locale.split("-")
    direction = "ldrtl" if is_right_to_left(locale) else "ldltr"
    if len(rest) == 2:  # a script can only be written in the longer form
        return [f"b+{language}+{rest[0]}+{rest[1]}", direction]
    return [language, *(f"r{country}" for country in rest), direction]


def _size_name(short: int, long: int) -> str:
    return next(name for name, least, most in _SIZES if short >= least and long >= most)
