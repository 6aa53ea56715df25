"""``screencap``: a picture of the screen."""

from __future__ import annotations

from pytest_clawperator.simulator.android.dumpsys.hardware import (
    has_two_displays,
    is_dark,
    panels,
    screencap_warning,
)
from pytest_clawperator.simulator.android.programs.saving import save_file
from pytest_clawperator.simulator.android.system import AndroidSystem
from pytest_clawperator.simulator.files import FULL
from pytest_clawperator.simulator.shell.shell import Invocation

_COMPLAINT = "Error opening file: {} ({})\n"
_SCREENCAP_USAGE = """usage: screencap [-ahp] [-d display-id] [FILENAME]
   -h: this message
   -a: capture all displays, to FILENAME_0.png, FILENAME_1.png and so on.
   -p: save the file as a png.
   -d: specify the display ID to capture.
If FILENAME ends with .png it will be saved as a png.
If FILENAME is not given, the results will be printed to stdout.
"""


async def screencap(system: AndroidSystem, invocation: Invocation) -> int:
    """Take a picture of the screen, to a file or to the standard output."""
    words = invocation.args[1:]
    display = None
    if "-d" in words:
        at = words.index("-d")
        display = words[at + 1] if at + 1 < len(words) else ""
        words = words[:at] + words[at + 2 :]
    paths = [word for word in words if not word.startswith("-")]
    flags = set(words) - set(paths)
    if flags - {"-a", "-p"} or ("-a" in flags and not paths):
        await invocation.err(_SCREENCAP_USAGE)
        return 1
    png = "-p" in flags or (bool(paths) and paths[0].endswith(".png"))
    if not png:
        await invocation.err(
            "screencap: raw pixels are not offered here; give -p for a PNG\n" + _SCREENCAP_USAGE
        )
        return 1
    if system.faults.take("storage_full") is not None:
        target = paths[0] if paths else "stdout"
        await invocation.err(f"Error opening file: {target} ({FULL})\n")
        return 1
    if "-a" in flags:
        return await _capture_all(system, invocation, paths[0])
    if display is not None and display not in panels(system):
        await invocation.err("Failed to take screenshot. Status: -2\nCapturing failed.\n")
        return 1
    await invocation.err(screencap_warning(system, display))
    drawing = system.camera.png(dark=is_dark(system, display))
    system.stats.screenshot()
    if not paths:
        # What a phone captured it prints while it compresses it.
        head = system.camera.png_beginning()
        await invocation.stdout.write(head)
        await invocation.stdout.write((await drawing)[len(head) :])
        return 0
    return await save_file(invocation, paths[0], await drawing, complaint=_COMPLAINT)


async def _capture_all(system: AndroidSystem, invocation: Invocation, path: str) -> int:
    stem = path.removesuffix(".png")
    for place, is_off in enumerate((True, False) if has_two_displays(system) else (False,)):
        picture = await system.camera.png(dark=is_off)
        system.stats.screenshot()
        if await save_file(invocation, f"{stem}_{place}.png", picture, complaint=_COMPLAINT):
            return 1
    return 0
