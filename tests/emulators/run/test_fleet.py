"""The emulators of a run, with the processes of a simulated SDK and the real adb."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from pytest_clawperator.emulators.boot import BootLimits
from pytest_clawperator.emulators.emulators import ProvisionedEmulator
from pytest_clawperator.emulators.run import fleet as fleet_module
from pytest_clawperator.emulators.run.fleet import EmulatorFleet, FleetOptions
from pytest_clawperator.emulators.running import AdbHost
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.errors import EmulatorError, ErrorCode
from pytest_clawperator.simulator.sdk.session import running_emulators
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulator.sdk_bench import DEADLINE, PROFILE, SdkBench, await_true

OTHER = replace(PROFILE, device="pixel_tablet")
LIMITS = BootLimits(registration=DEADLINE, boot=DEADLINE, poll=0.02)

# A run that is killed: it provisions one emulator, and says what is going on.
RUN = """
import sys
from pytest_clawperator.emulators.boot import BootLimits
from pytest_clawperator.emulators.profile import parse_profile
from pytest_clawperator.emulators.run.fleet import EmulatorFleet, FleetOptions
from pytest_clawperator.emulators.running import AdbHost
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.transport.wire import AdbServer

def say(text):
    print(text, flush=True)

host = AdbHost(AdbServer("127.0.0.1", int(sys.argv[1])))
fleet = EmulatorFleet(
    host, sdk=Sdk(), options=FleetOptions(limits=BootLimits(poll=0.02)), say=say
)
(found,) = fleet.provision([parse_profile(sys.argv[2])])
say(f"provisioned {found.serial}")
sys.stdin.read()
fleet.close()
"""
WANTED = "api=34,abi=x86_64,image=google_apis,device=pixel_7"


@contextmanager
def fleet_of(bench: SdkBench, **options: object) -> Iterator[EmulatorFleet]:
    """Give a fleet, and close it."""
    said = options.pop("say", lambda _: None)
    assert callable(said)
    values: dict[str, object] = {"boots": 4, "limits": LIMITS, **options}
    fleet = EmulatorFleet(
        AdbHost(AdbServer("127.0.0.1", bench.sdk.adb_port)),
        sdk=Sdk(bench.sdk.environment),
        options=FleetOptions(**values),  # type: ignore[arg-type]  # named by the caller
        say=said,
    )
    try:
        yield fleet
    finally:
        fleet.close()


def ready(found: ProvisionedEmulator | EmulatorError) -> ProvisionedEmulator:
    """Return an emulator that there is."""
    assert isinstance(found, ProvisionedEmulator), str(found)
    return found


def is_gone(bench: SdkBench) -> bool:
    """Whether no emulator runs, and no virtual device is left."""
    return not running_emulators(bench.folder) and not list(bench.home.glob("*.ini"))
