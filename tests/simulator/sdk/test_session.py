"""What keeps a simulated SDK running, and what is left when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.__main__ import main
from pytest_clawperator.simulator.sdk.held_file import holder_of, is_free_before, wait_for_end
from pytest_clawperator.simulator.sdk.simulated_sdk import SimulatedSdk
from tests.doubles.simulator.sdk_bench import DEADLINE, IMAGE, NORMAL, SdkBench, running_sdk


def records(folder: Path) -> list[Path]:
    """Return the files of the emulators that run."""
    return [path for path in (folder / ".running").glob("*") if holder_of(path) is not None]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_emulators_end_with_their_sdk_however_it_ends(
    tmp_path: Path, number: signal.Signals
) -> None:
    """One that is killed cannot end them: they notice it themselves."""
    with running_sdk(tmp_path / "sdk") as bench:
        bench.create("x")
        process = bench.start("x")
        bench.serial_of(process)

        os.kill(bench.sdk.pid, number)

        assert process.wait(DEADLINE) == 0
        wait_for_end(bench.folder / ".session")
        assert records(bench.folder) == []


def test_a_folder_runs_once(bench: SdkBench) -> None:
    """A second one in the same folder is refused."""
    with pytest.raises(ConfigurationError, match="runs already"):
        SimulatedSdk(bench.folder).start()


def test_images_and_devices_are_there_when_it_runs_again(tmp_path: Path) -> None:
    """The files stay, and the behaviour that was written."""
    with SimulatedSdk(tmp_path / "sdk", NORMAL) as sdk:
        sdk.install_image(IMAGE)

    with SimulatedSdk(tmp_path / "sdk") as sdk:
        bench = SdkBench(sdk)
        bench.create("x")

        assert IMAGE in bench.run("sdkmanager", "--list_installed").stdout
        assert json.loads((sdk.folder / "simulation.json").read_text())["licences"] == "accepted"


def test_the_command_prints_what_programs_need(tmp_path: Path) -> None:
    """The first line has the environment, and Ctrl-C ends it all."""
    command = [sys.executable, "-m", "pytest_clawperator.simulator", "--sdk", str(tmp_path / "sdk")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)

        assert process.wait(DEADLINE) == 0
    assert ready["environment"] == {
        "ANDROID_HOME": str(tmp_path / "sdk"),
        "ANDROID_SDK_ROOT": str(tmp_path / "sdk"),
        "ANDROID_AVD_HOME": str(tmp_path / "sdk" / "avd"),
        "ANDROID_ADB_SERVER_PORT": str(ready["adb"]["port"]),
    }
    assert is_free_before(tmp_path / "sdk" / ".session", 0)


def test_options_for_phones_do_not_go_with_an_sdk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They would have no effect."""
    code = main(["--sdk", str(tmp_path / "sdk"), "--time-scale", "0.1"])

    assert code == 2
    assert "--time-scale is for phones" in capsys.readouterr().err
    assert not (tmp_path / "sdk").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """Nothing is written beside the files of others."""
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(ConfigurationError, match="files of something else"):
        SimulatedSdk(tmp_path).start()

    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
