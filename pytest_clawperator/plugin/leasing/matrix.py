"""A matrix: each test that uses a device is collected once for each class of devices.

The class is a parameter of ``clawperator_lease``. In one process pytest therefore brings the
tests of a class together, and makes everything that is built on the device anew for the next.
What pytest cannot multiply runs once, on any device: methods of ``unittest.TestCase``, and
tests that ask for their device only while they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pytest_clawperator.contracts.device import DeviceInfo
from pytest_clawperator.devices.pool import DevicePool
from pytest_clawperator.devices.requirements import DeviceClass
from pytest_clawperator.plugin.markers import ASK_FOR_DEVICE
from pytest_clawperator.plugin.session.report_fields import CLASS_PROPERTY
from pytest_clawperator.plugin.stash import DEVICE_CLASSES
from pytest_clawperator.plugin.worker_input import CLASSES, worker_input

_LEASE = "clawperator_lease"


def classes_of(config: pytest.Config) -> tuple[DeviceClass, ...]:
    """Return the classes that tests are multiplied by; none without a matrix."""
    if DEVICE_CLASSES not in config.stash:
        handed = worker_input(config).get(CLASSES)
        if handed is None:
            return ()
        config.stash[DEVICE_CLASSES] = tuple(DeviceClass.from_dict(one) for one in handed)
    return config.stash[DEVICE_CLASSES]


def pack(classes: Iterable[DeviceClass]) -> list[dict[str, Any]]:
    """Write classes in plain values, for a worker's input."""
    return [one.to_dict() for one in classes]


def class_of(item: pytest.Item) -> DeviceClass | None:
    """Return the class that the test was collected for, if any."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    found = params.get(_LEASE)
    return found if found is not None and found in classes_of(item.config) else None


def why_class_is_empty(device_class: DeviceClass, devices: Sequence[DeviceInfo]) -> str:
    """Return why the tests of a class cannot run: none of the devices belongs to it."""
    return f"--claw-matrix: {device_class.missing(devices)}"


def empty_classes(classes: Iterable[DeviceClass], pool: DevicePool) -> dict[str, str]:
    """Return the classes that no device of the run belongs to, and why."""
    found = [one.info for one in pool.candidates]
    return {
        one.label: f"--claw-matrix: every device that is {one.label} is held by somebody else"
        if any(map(one.holds, found))
        else why_class_is_empty(one, found)
        for one in classes
        if not any(one.holds(held.info) for held in pool.held)
    }


@pytest.hookimpl(tryfirst=True)  # so that ids begin with the class: test_login[api35-phone-alice]
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Collect a test that uses a device once for each class."""
    classes = classes_of(metafunc.config)
    if not classes or not _uses_device(metafunc) or _has_own_device(metafunc):
        return
    if _LEASE not in metafunc.fixturenames:
        metafunc.fixturenames.append(_LEASE)  # markers bring it, once tests are collected
    labels = [one.label for one in classes]
    metafunc.parametrize(_LEASE, classes, ids=labels, indirect=True, scope="session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the class to every report of the test, however early the test ends."""
    device_class = class_of(item)
    if device_class is not None:
        item.user_properties.append((CLASS_PROPERTY, device_class.label))


def _uses_device(metafunc: pytest.Metafunc) -> bool:
    if _LEASE in metafunc.fixturenames:
        return True
    if not any(metafunc.definition.get_closest_marker(name) for name in ASK_FOR_DEVICE):
        return False
    fixtures = metafunc.definition.session._fixturemanager
    info = fixtures.getfixtureinfo(metafunc.definition, _with_client, None)
    return _LEASE in info.names_closure


def _with_client(clawperator: object) -> None:
    """Stand for a test whose markers will bring it a client."""


def _has_own_device(metafunc: pytest.Metafunc) -> bool:
    """Whether the test or a conftest decides on the device, so that no class can."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        if _LEASE in (names.replace(",", " ").split() if isinstance(names, str) else names):
            return True
    fixtures = metafunc.definition.session._fixturemanager
    found = fixtures.getfixturedefs(_LEASE, metafunc.definition) or ()
    # A fixture that builds on the one that it replaces still gets its device by class.
    return any(one.params is not None for one in found) or any(
        _LEASE not in one.argnames for one in found[1:]
    )
