"""What each collected test needs of a device, for the controller that deals out tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pytest

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.requirements import Requirements
from pytest_clawperator.plugin.input.marker_values import requirements_of
from pytest_clawperator.plugin.leasing.matrix import class_of

# The fixtures that come with a device; settings, payloads and artifacts need none.
_WITH_DEVICE = frozenset(
    ["clawperator", "clawperator_devices"]
    + [f"clawperator_{rung}" for rung in ("lease", "transport", "client", "device")]
)


@dataclass(frozen=True)
class DeviceNeeds:
    """What a test that uses a device needs of it: its markers, and its class in a matrix."""

    requires: tuple[Requirements, ...] = ()
    device_class: str | None = None
    several: bool = False

    @property
    def is_choosy(self) -> bool:
        """Whether some devices would not do."""
        return bool(self.requires) or self.device_class is not None


def uses_device(item: pytest.Item) -> bool:
    """Whether the test asks for a device."""
    return not _WITH_DEVICE.isdisjoint(getattr(item, "fixturenames", ()))


def needs_of(item: pytest.Item) -> DeviceNeeds | None:
    """Return what the test needs; None if it uses no device."""
    if not uses_device(item):
        return None
    try:
        requires = tuple(requirements_of(item))
    except pytest.UsageError:
        requires = ()  # the test fails with that itself
    device_class = class_of(item)
    return DeviceNeeds(
        requires=requires,
        device_class=device_class.label if device_class else None,
        several="clawperator_devices" in getattr(item, "fixturenames", ()),
    )


def pack(items: Sequence[pytest.Item]) -> dict[str, Any]:
    """Write the needs of tests in plain values; most tests need the same."""
    distinct: dict[DeviceNeeds, int] = {}
    tests = {
        item.nodeid: distinct.setdefault(needs, len(distinct))
        for item in items
        if (needs := needs_of(item)) is not None
    }
    return {"distinct": [asdict(needs) for needs in distinct], "tests": tests}


def unpack(packed: Mapping[str, Any]) -> dict[str, DeviceNeeds]:
    """Read what ``pack`` wrote."""
    distinct = [
        DeviceNeeds(
            requires=tuple(Requirements(**one) for one in needs["requires"]),
            device_class=needs["device_class"],
            several=needs["several"],
        )
        for needs in packed["distinct"]
    ]
    return {test: distinct[number] for test, number in packed["tests"].items()}


def unmet(
    needs: DeviceNeeds, info: DeviceInfo, *, is_in: Callable[[str, DeviceInfo], bool]
) -> list[str]:
    """Return what a device lacks, one sentence each; ``is_in`` knows the classes of devices."""
    lacking = [text for requires in needs.requires for text in requires.unmet(info)]
    if needs.device_class is not None and not is_in(needs.device_class, info):
        lacking.append(f"the device is not {needs.device_class}")
    return lacking
