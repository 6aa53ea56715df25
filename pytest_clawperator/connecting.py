"""THE FRONT DOOR: a ready client on a chosen device."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_clawperator.devices import connection

if TYPE_CHECKING:
    from pytest_clawperator.client.client import Clawperator, Skills
    from pytest_clawperator.client.perform import Matchers
    from pytest_clawperator.contracts.events import Observer


def connect(
    serial: str | None = None,
    *,
    adb: str | None = None,
    url: str | None = None,
    operator_package: str | None = None,
    operator_apk: str | Path | None = None,
    grant: bool = False,
    display: int | None = None,
    timeout: float = 5.0,
    matchers: Matchers = "strict",
    observe: Observer | Iterable[Observer] = (),
) -> Clawperator:
    """Connect to a device and return the client that acts on it; close it, or use ``with``.

    ``serial`` names the device; without it ``ANDROID_SERIAL`` does, or it is the only one.
    ``adb`` is the adb server, as in ``"127.0.0.1:5037"``. ``url`` is a host that runs
    ``clawperator serve``, to be used instead of adb. ``operator_package`` is the Operator's
    package (``CLAWPERATOR_OPERATOR_PACKAGE``, else the release's), ``operator_apk`` a file to
    install it from, and ``grant`` allows granting it the permissions it needs. ``display`` is the
    number of the display for pictures and touches over adb, on a device with several; by default
    it is the one that is on and has the focus. ``timeout`` is how many seconds actions look for a
    node. ``matchers`` decides what happens when several nodes match: ``"strict"`` raises an error,
    ``"first"`` takes the first. ``observe`` is a function, or several, called with each event.

        with connect() as claw:
            claw.open_app("com.android.settings")
    """
    observers = connection.all_observers(observe)
    setup: dict[str, Any] = {"operator_apk": operator_apk, "grant": grant, "observers": observers}
    if url is not None:
        connection.refuse_with_url(adb=adb, display=display)
        from pytest_clawperator.remote.runner import open_remote  # few need it

        server = None
        runner, device = open_remote(url, serial=serial, operator_package=operator_package, **setup)
    else:
        package = connection.wanted_package(operator_package)  # before anything is opened
        transport = connection.open_transport(serial, adb=adb, display=display, observers=observers)
        server = transport.server
        runner, device = connection.open_runner(
            transport, server=server, operator_package=package, **setup
        )
    package = device.info.operator_package
    skills = partial(_skills, adb=None if server is None else str(server), operator_package=package)
    return connection.open_client(runner, device, timeout=timeout, matchers=matchers, skills=skills)


def _skills(**about: str | None) -> Skills:
    """Return the skills for a device; few scripts use any."""
    found: Skills = import_module("pytest_clawperator.skills.run").DeviceSkills(**about)
    return found
