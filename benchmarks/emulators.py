"""What emulators cost a run beside their boots, on the simulated SDK.

Eight emulators that boot at once, each in a time of its own, to the slowest of them alone: from
nothing, with virtual devices to create, until all are ready. Then a run of pytest that finds
them all: the time from the end of its collection to its first test.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.measuring import show
from benchmarks.startup import CONFTEST, environment
from pytest_clawperator.emulators.avd import EmulatorProfile
from pytest_clawperator.emulators.boot import AdbHost
from pytest_clawperator.emulators.emulators import ProvisionedEmulator
from pytest_clawperator.emulators.fleet import EmulatorFleet, EmulatorFleetOptions, boots_at_once
from pytest_clawperator.emulators.sdk import Sdk
from pytest_clawperator.transport.wire import AdbServer
from tests.doubles.simulated_sdk.scenario import EmulatorScenario, Scenario
from tests.doubles.simulated_sdk.sdk import SimulatedSdk

EMULATORS, LIMIT = 8, 1.3
# The shortest and the longest boot, in seconds; the real ones take longer.
QUICKEST, SLOWEST = 6.0, 20.0
# The best of several rounds: other load only ever adds time.
ROUNDS = 2
RUNS, FIRST_TEST_WITHIN = 5, 1.0
LIKE = "api=34,abi=x86_64,image=google_apis,ram=512"
BASE = EmulatorProfile(api=34, abi="x86_64", image="google_apis", ram=512)
PROFILES = [replace(BASE, name=f"bench-{number}") for number in range(EMULATORS)]


def scenario() -> Scenario:
    """Return how the emulators boot: each a little longer than the one before."""
    step = (SLOWEST - QUICKEST) / (EMULATORS - 1)
    boots = {one.avd_name: QUICKEST + step * place for place, one in enumerate(PROFILES)}
    return Scenario(
        emulator=EmulatorScenario(operator="release"),
        emulators={name: {"boot_seconds": seconds} for name, seconds in boots.items()},
        host_abi="x86_64",
    )


def seconds_to_provision(sdk: SimulatedSdk, profiles: list[EmulatorProfile], keep: bool) -> float:
    """Return how long it takes until all of these are ready."""
    fleet = EmulatorFleet(
        AdbHost(AdbServer("127.0.0.1", sdk.adb_port)),
        sdk=Sdk(sdk.environment),
        options=EmulatorFleetOptions(boots=EMULATORS, keep=keep),
    )
    begin = time.perf_counter()
    try:
        found = fleet.provision(profiles)
        took = time.perf_counter() - begin
    finally:
        fleet.close()
    assert all(isinstance(one, ProvisionedEmulator) for one in found), found
    return took


def seconds_to_first_test(sdk: SimulatedSdk, folder: Path) -> float:
    """Return the seconds from the end of the collection to the first test, on kept emulators."""
    (folder / "test_it.py").write_text("def test_it(clawperator): pass\n")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, "--claw-device", f"emulator:{EMULATORS}", "--claw-emulator", LIKE],
        cwd=folder,
        env={**environment(folder), **sdk.variables},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return float((folder / "first").read_text())


def resident(sdk: SimulatedSdk) -> float:
    """Return the megabytes of memory that a simulated emulator takes, where that is known."""
    pids = [path.name for path in (sdk.folder / ".running").glob("[0-9]*")]
    sizes = []
    for pid in pids:
        status = Path(f"/proc/{pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        sizes += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")]
    return statistics.median(sizes) if sizes else 0.0


def main() -> None:
    """Print one line for each figure."""
    show("emulators that boot at once by default", str(boots_at_once()))
    with (
        tempfile.TemporaryDirectory() as name,
        SimulatedSdk(Path(name) / "sdk", scenario()) as sdk,
    ):
        sdk.install_image(BASE.system_image)
        alone = min(seconds_to_provision(sdk, PROFILES[-1:], False) for _ in range(ROUNDS))
        together = min(seconds_to_provision(sdk, PROFILES, False) for _ in range(ROUNDS))
        show("the slowest emulator alone", f"{alone:.1f} s")
        ratio = f"{together:.1f} s, {together / alone:.2f} x"
        show(f"{EMULATORS} emulators at once", ratio, f"<= {LIMIT} x")
        seconds_to_provision(sdk, PROFILES, True)
        folder = Path(name) / "suite"
        folder.mkdir()
        took = [seconds_to_first_test(sdk, folder) for _ in range(RUNS + 1)][1:]  # one compiles
        first = f"{statistics.median(took):.2f} s"
        show(f"first test on {EMULATORS} kept emulators", first, f"<= {FIRST_TEST_WITHIN} s")
        show("memory of a simulated emulator", f"{resident(sdk):.0f} MB")


if __name__ == "__main__":
    main()
