"""Emulators that are started for a run, and ended with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import pytest

from pytest_clawperator.devices.matrix import DeviceClass
from pytest_clawperator.devices.requirements import Requirements, meets_api
from pytest_clawperator.devices.spec import DeviceSpec
from pytest_clawperator.emulators.emulators import ProvisionedEmulator
from pytest_clawperator.emulators.profile import (
    DOCUMENTED_ABI,
    EmulatorProfile,
    default_profile,
    device_of_form,
)
from pytest_clawperator.emulators.run.fleet import EmulatorFleet, EmulatorFleetOptions
from pytest_clawperator.emulators.run.machine import most_emulators
from pytest_clawperator.emulators.running import AdbHost
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.errors import ClawperatorError, EmulatorError, ErrorCode
from pytest_clawperator.plugin.input.option_values import settings_of
from pytest_clawperator.plugin.leasing.reserved_leases import reserve_emulator
from pytest_clawperator.plugin.session.events import events_of
from pytest_clawperator.plugin.stash import WORKER_COUNT
from pytest_clawperator.transport.server import locate_server
from pytest_clawperator.transport.wire import AdbServer

_LEVELS = range(21, 100)
_FAILED: pytest.StashKey[dict[DeviceSpec, ClawperatorError]] = pytest.StashKey()


@dataclass(frozen=True)
class _Wanted:
    """An emulator that is wanted, and the class of a matrix that it is for."""

    profile: EmulatorProfile
    device_class: DeviceClass | None = None


def start_emulators(config: pytest.Config, spec: DeviceSpec) -> tuple[AdbServer, list[str]]:
    """Start the emulators of a run, once; return their adb server and serials.

    A class of a matrix for which there is no emulator is told; without a matrix, one that is
    missing is an error.
    """
    failed = config.stash.setdefault(_FAILED, {})
    if spec in failed:
        raise failed[spec]  # another try would take as long, and end the same
    try:
        return _start(config, spec)
    except ClawperatorError as error:
        failed[spec] = error
        raise


def _start(config: pytest.Config, spec: DeviceSpec) -> tuple[AdbServer, list[str]]:
    server = locate_server(next(iter(settings_of(config).adb), None))
    wanted = _wanted(config, spec)
    fleet = _fleet(config, server)
    config.add_cleanup(fleet.close)
    results = fleet.provision([one.profile for one in wanted])
    errors = [
        (one.device_class, result)
        for one, result in zip(wanted, results, strict=True)
        if isinstance(result, EmulatorError)
    ]
    if errors and (len(errors) == len(wanted) or errors[0][0] is None):
        raise errors[0][1]
    for device_class, error in errors:
        _tell_missing(config, device_class, str(error))
    return server, [one.serial for one in results if isinstance(one, ProvisionedEmulator)]


def _fleet(config: pytest.Config, server: AdbServer) -> EmulatorFleet:
    settings, show, turn = settings_of(config), events_of(config).show, threading.Lock()

    def say(text: str) -> None:
        with turn:
            show(text)

    # An emulator looks for its adb server by itself.
    environment = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(server.port)}
    options = EmulatorFleetOptions(
        boot=settings.emulator_boot, keep=settings.emulator_keep, boots=settings.emulator_boots
    )
    return EmulatorFleet(
        AdbHost(server, say=say),
        sdk=Sdk(environment),
        options=options,
        take=partial(reserve_emulator, config, server),
        say=say,
    )


def _wanted(config: pytest.Config, spec: DeviceSpec) -> list[_Wanted]:
    """Return the emulators that a run wants."""
    settings = settings_of(config)
    base = settings.emulator or _default(config)
    if spec.avd is not None:
        return [_Wanted(replace(base, name=spec.avd))]
    workers = config.stash.get(WORKER_COUNT, 1 + settings.spare_devices)
    if settings.matrix is None or settings.matrix.wanted is None:
        count = spec.count or workers or most_emulators(base)
        return [_Wanted(base)] * count
    if spec.count is not None:
        raise pytest.UsageError(
            f"--claw-device {spec} says how many emulators, and so does --claw-matrix: write"
            " --claw-device emulator, and per=2 in the matrix for two of each class"
        )
    of_classes = _of_classes(config, settings.matrix.wanted, base)
    least = len(of_classes) * settings.matrix.per + settings.spare_devices
    return [of_classes[place % len(of_classes)] for place in range(max(least, workers))]


def _default(config: pytest.Config) -> EmulatorProfile:
    profile = default_profile()
    if profile.abi != DOCUMENTED_ABI:
        events_of(config).show(
            f"emulators have the processor of this machine, {profile.abi}, as it cannot run the"
            f" documented {DOCUMENTED_ABI}; --claw-emulator abi=… chooses another"
        )
    return profile


def _of_classes(
    config: pytest.Config, classes: Sequence[DeviceClass], base: EmulatorProfile
) -> list[_Wanted]:
    """Return an emulator for each class; tell of those that no emulator can belong to."""
    wanted, reasons = [], []
    for one in classes:
        profile = _profile_for(one.requires, base)
        if isinstance(profile, EmulatorProfile):
            wanted.append(_Wanted(profile, one))
            continue
        reasons.append(f"{one.label}: {profile}")
        _tell_missing(config, one, profile)
    if not wanted:
        raise EmulatorError(
            f"no emulator can be made for --claw-matrix: {'; '.join(reasons)}",
            code=ErrorCode.EMULATOR_UNSUPPORTED,
            hint="Emulators can be told apart by api, abi and form.",
        )
    return wanted


def _profile_for(requires: Requirements, base: EmulatorProfile) -> EmulatorProfile | str:
    """Return the emulator that meets requirements, or why there is none."""
    if requires.emulator is False:
        return "it wants real devices"
    for name in ("model", "manufacturer"):
        if getattr(requires, name) is not None:
            return f"the {name} of an emulator cannot be chosen"
    profile = base
    if requires.api is not None:
        fitting = [level for level in _LEVELS if meets_api(requires.api, level)]
        if not fitting:
            return f"there is no Android with api={requires.api}"
        profile = replace(profile, api=min(fitting, key=lambda level: abs(level - base.api)))
    if requires.abi is not None:
        profile = replace(profile, abi=requires.abi)
    if requires.form is not None:
        profile = replace(profile, device=device_of_form(requires.form))
    return profile


def _tell_missing(config: pytest.Config, device_class: DeviceClass | None, why: str) -> None:
    label = device_class.label if device_class else "emulator"
    events_of(config).notice("", f"there is no emulator for {label}: {why}")
