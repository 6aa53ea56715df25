"""The devices that ``avdmanager`` knows: screens as in the SDK's own list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceProfile:
    """A kind of device; the size is in pixels, the density in dots per inch."""

    name: str
    width: int
    height: int
    density: int
    maker: str = "Google"


DEVICE_PROFILES: Mapping[str, DeviceProfile] = {
    "medium_phone": DeviceProfile("Medium Phone", 1080, 2400, 420, "Generic"),
    "medium_tablet": DeviceProfile("Medium Tablet", 2560, 1600, 320, "Generic"),
    "Nexus 5": DeviceProfile("Nexus 5", 1080, 1920, 480),
    "Nexus 9": DeviceProfile("Nexus 9", 2048, 1536, 320),
    "pixel": DeviceProfile("Pixel", 1080, 1920, 420),
    "pixel_4": DeviceProfile("Pixel 4", 1080, 2280, 440),
    "pixel_5": DeviceProfile("Pixel 5", 1080, 2340, 440),
    "pixel_6": DeviceProfile("Pixel 6", 1080, 2400, 420),
    "pixel_6_pro": DeviceProfile("Pixel 6 Pro", 1440, 3120, 560),
    "pixel_7": DeviceProfile("Pixel 7", 1080, 2400, 420),
    "pixel_7_pro": DeviceProfile("Pixel 7 Pro", 1440, 3120, 560),
    "pixel_7a": DeviceProfile("Pixel 7a", 1080, 2400, 420),
    "pixel_8": DeviceProfile("Pixel 8", 1080, 2400, 420),
    "pixel_8_pro": DeviceProfile("Pixel 8 Pro", 1344, 2992, 480),
    "pixel_9": DeviceProfile("Pixel 9", 1080, 2424, 420),
    "pixel_c": DeviceProfile("Pixel C", 2560, 1800, 320),
    "pixel_fold": DeviceProfile("Pixel Fold", 2208, 1840, 420),
    "pixel_tablet": DeviceProfile("Pixel Tablet", 2560, 1600, 320),
    "small_phone": DeviceProfile("Small Phone", 720, 1280, 320, "Generic"),
}
