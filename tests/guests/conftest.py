"""What the tests with guests share: their packages, a phone and an emulator, an environment."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_clawperator.simulator import Simulator
from pytest_clawperator.simulator.android.package_manager import APP_ENTRY
from pytest_clawperator.transport.adb_program import find_adb
from tests.guests.packages import NotInstalled, environment

HERE = Path(__file__).parent
APP = HERE / "api_demos.yaml"

Install = Callable[..., Path]


@pytest.fixture
def install() -> Install:
    """Return a function that installs a package, and skips the test where that is impossible."""
    if not os.environ.get("CLAWPERATOR_SOAK"):
        pytest.skip("by design: make soak installs the clients of others")

    def run(how: Callable[[str], Path], requirement: str) -> Path:
        try:
            return how(requirement)
        except NotInstalled as reason:
            pytest.skip(f"not installed: {reason}")

    return run


@pytest.fixture
def phones() -> Iterator[Simulator]:
    """Run a phone and an emulator; their log goes on, as some clients wait for its next line."""
    with Simulator(devices=1, emulators=1, time_scale=0.1, chatter=20, apps=[APP]) as simulator:
        yield simulator


@pytest.fixture
def guest_environment(phones: Simulator, tmp_path: Path) -> dict[str, str]:
    """Return the environment in which a guest finds the phone."""
    home = tmp_path / "home"
    home.mkdir()
    return environment(
        adb_port=phones.adb_port, serial=phones.serials[0], adb=find_adb(), home=home
    )


@pytest.fixture
def apk(tmp_path: Path) -> Path:
    """Return an APK with an app that is not on the phone."""
    text = APP.read_text("utf-8").replace("io.appium.android.apis", "com.example.guest")
    path = tmp_path / "guest.apk"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("AndroidManifest.xml", "")
        archive.writestr(APP_ENTRY, text)
    return path
