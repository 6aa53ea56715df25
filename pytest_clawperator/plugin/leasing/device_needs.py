"""What each test needs of a device, as it was collected: for whoever hands tests out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clawperator.plugin import markers
from pytest_clawperator.plugin.leasing.matrix import class_of

if TYPE_CHECKING:
    from pytest_clawperator.contracts.device import DeviceInfo
    from pytest_clawperator.devices.requirements import Requirements


# The fixtures that come with a device; those that only come with words do not count.
_WITH_DEVICE = frozenset(
    ["clawperator", "clawperator_devices"]
    + [f"clawperator_{rung}" for rung in ("lease", "transport", "client", "device")]
)


@dataclass(frozen=True)
class Needs:
    """What a test that uses a device needs of it: its markers, and its class in a matrix."""

    requires: tuple[Requirements, ...] = ()
    device_class: str | None = None
    several: bool = False


def uses_device(item: pytest.Item) -> bool:
    """Tell whether the test asks for a device."""
    return not _WITH_DEVICE.isdisjoint(getattr(item, "fixturenames", ()))


def needs_of(item: pytest.Item) -> Needs | None:
    """Give what the test needs; None if it uses no device."""
    if not uses_device(item):
        return None
    try:
        requires = tuple(markers.requirements_of(item))
    except pytest.UsageError:
        requires = ()  # the test says it itself
    device_class = class_of(item)
    return Needs(
        requires=requires,
        device_class=device_class.label if device_class else None,
        several="clawperator_devices" in getattr(item, "fixturenames", ()),
    )


def pack(items: Sequence[pytest.Item]) -> dict[str, Any]:
    """Write the needs of tests in plain values; most tests need the same."""
    distinct: dict[Needs, int] = {}
    tests = {
        item.nodeid: distinct.setdefault(needs, len(distinct))
        for item in items
        if (needs := needs_of(item)) is not None
    }
    return {"distinct": [asdict(needs) for needs in distinct], "tests": tests}


def unpack(packed: Mapping[str, Any]) -> dict[str, Needs]:
    """Read what ``pack`` wrote."""
    from pytest_clawperator.devices.requirements import Requirements

    distinct = [
        Needs(
            requires=tuple(Requirements(**one) for one in needs["requires"]),
            device_class=needs["device_class"],
            several=needs["several"],
        )
        for needs in packed["distinct"]
    ]
    return {test: distinct[number] for test, number in packed["tests"].items()}


def unmet(needs: Needs, info: DeviceInfo, *, is_in: Callable[[str, DeviceInfo], bool]) -> list[str]:
    """Say what a device lacks, one sentence each; ``is_in`` knows the classes of devices."""
    lacking = [text for requires in needs.requires for text in requires.unmet(info)]
    if needs.device_class is not None and not is_in(needs.device_class, info):
        lacking.append(f"the device is not {needs.device_class}")
    return lacking
