"""Fixtures that run suites of users inside these tests, on simulated phones."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

# An inner run forgets what it imports, and some of this can be imported only once.
import httpcore  # noqa: F401
import httpx  # noqa: F401
import pytest
from _pytest.debugging import pytestPDB

import pytest_clawperator.plugin.lifecycle  # noqa: F401
from pytest_clawperator.execution import crashes
from pytest_clawperator.simulator import Simulator
from pytest_clawperator.transport.adb import AdbTransport
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.controller import Controller
from tests.doubles.simulator.sdk_bench import SdkBench
from tests.doubles.simulator.sdk_fixtures import bench, sdk_of_session

__all__ = ["bench", "sdk_of_session"]

Run = Callable[..., pytest.RunResult]
#: Collect no evidence from the device.
QUICK = ("--claw-snapshot=off", "--claw-logcat=off", "--claw-screenshot=off")
SDK_OPTIONS = (
    "--claw-emulator-boots=2",
    *QUICK,
)
EMULATOR = ("--claw-emulator", "api=34,abi=x86_64,image=google_apis")
EMULATOR_OPTIONS = (*EMULATOR, *SDK_OPTIONS)


def kept(pytester: pytest.Pytester, output: str = "claw-results") -> dict[str, Path]:
    """Return the evidence folders of all runs, by the names of the tests."""
    found = sorted(filter(Path.is_dir, (pytester.path / output).glob("*/*")))
    return {re.sub(r"^test_\w+-(.*)-\w{6}$", r"\1", path.name): path for path in found}


def names(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shield inner runs from the environment, and keep lines from being cut."""
    for name in ("ANDROID_SERIAL", "CLAWPERATOR_OPERATOR_PACKAGE", "PYTEST_ADDOPTS", "CI"):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    # Other plugins make every inner run start later; a test that needs one loads it with -p.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_clawperator.plugin")
    # Most tests that end with a touch crash nothing.
    monkeypatch.setattr(crashes, "_GRACE", 0.02)
    # pytest keeps the class of --pdbcls by its name, also for inner runs with another one.
    monkeypatch.setattr(pytestPDB, "_wrapped_pdb_cls", None)


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """Start two phones for all tests of this folder."""
    with Simulator(devices=2, seed=6, time_scale=0.05) as simulator:
        yield simulator


@pytest.fixture
def phone(simulator: Simulator) -> Iterator[AdbTransport]:
    """Connect to the first phone, and reset it afterwards."""
    server = AdbServer(simulator.adb_host, simulator.adb_port)
    transport = AdbTransport(server, simulator.serials[0])
    yield transport
    transport.shell("sim reset")
    transport.close()


@pytest.fixture
def adb(simulator: Simulator) -> str:
    """Return the address of the phones' adb server."""
    return f"{simulator.adb_host}:{simulator.adb_port}"


@pytest.fixture
def run(pytester: pytest.Pytester, phone: AdbTransport, adb: str) -> Run:
    """Return the function that runs the suite on the first phone, with these options too."""

    def run(*options: str, suite: str = "") -> pytest.RunResult:
        if suite:
            pytester.makepyfile(test_it=suite)
        device = ["--claw-device", phone.serial, "--claw-adb", adb]
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs", *device, *options)

    return run


@pytest.fixture
def run_plain(pytester: pytest.Pytester) -> Run:
    """Return the function that runs the suite with nothing but these options."""

    def run_plain(*options: str, suite: str = "") -> pytest.RunResult:
        if suite:
            pytester.makepyfile(test_it=suite)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs", *options)

    return run_plain


@pytest.fixture
def run_workers(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the function that runs the suite with xdist; the controller is this process."""
    # Workers are short-lived, so they start from compiled modules.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    plugins = ["-p", "xdist", "-p", "no:cacheprovider"]

    def run_workers(*options: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*plugins, "-rs", *options)

    return run_workers


@pytest.fixture
def run_on_sdk(run_workers: Run, bench: SdkBench, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the function that runs the suite with a simulated SDK."""
    for name in ("ADB_PATH", "EMULATOR_PATH", "AVDMANAGER_PATH", "SDKMANAGER_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in bench.sdk.variables.items():
        monkeypatch.setenv(name, value)

    def run_on_sdk(*options: str) -> pytest.RunResult:
        return run_workers(*SDK_OPTIONS, *options)

    return run_on_sdk


@pytest.fixture
def run_emulators(run_on_sdk: Run) -> Run:
    """Return the function that runs the suite on emulators of a simulated SDK."""

    def run_emulators(*options: str) -> pytest.RunResult:
        return run_on_sdk(*EMULATOR, *options)

    return run_emulators


@pytest.fixture
def control(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Controller]:
    """Return the function that configures a run with workers, and starts none.

    Its devices have the same names in every test, so its leases are in a folder of this test.
    """
    monkeypatch.setenv("CLAWPERATOR_LEASE_DIR", str(pytester.path / "leases"))
    return partial(Controller, pytester)
