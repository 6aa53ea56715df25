"""What a golden picture depends on besides its pixels: density and status bar of the display."""

from __future__ import annotations

import re

from pytest_clawperator.client.actions import DirectActions
from pytest_clawperator.errors import ClawperatorError

_STATUS_BAR_DP, _USUAL_WIDTH_DP, _USUAL_SIZE = 24, 411, (1080, 2400)
# An override is printed after the physical density.
_DENSITY = re.compile(r"(?:Physical|Override) density: (\d+)")
_STATUS_BAR = re.compile(
    r"\btype=(?:ITYPE_STATUS_BAR|statusBars)\b[^\n]*?\bframe=\[0,0\]\[\d+,(\d+)\]"
)


def density(client: DirectActions) -> int | None:
    """Ask the device for its density, which may have changed since it was listed."""
    found = _DENSITY.findall(_printed(client, "wm density"))
    return int(found[-1]) if found else client.device.info.density


def status_bar_height(client: DirectActions) -> int:
    """Ask the device for the height of its status bar, else return that of most phones."""
    found = _STATUS_BAR.search(_printed(client, "dumpsys window displays"))
    if found is not None:
        return int(found[1])
    info = client.device.info
    if info.density:
        return round(_STATUS_BAR_DP * info.density / 160)
    return round(_STATUS_BAR_DP * min(info.size or _USUAL_SIZE) / _USUAL_WIDTH_DP)


def _printed(client: DirectActions, command: str) -> str:
    try:
        return client.device.shell(command).stdout
    except ClawperatorError:  # a device on another host has no shell
        return ""
