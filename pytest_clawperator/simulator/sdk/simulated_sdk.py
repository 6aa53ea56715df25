"""A simulated SDK for as long as a block lasts, as a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_clawperator.simulator.child_process import ChildSimulator
from pytest_clawperator.simulator.sdk.calls import ToolCall, read_calls
from pytest_clawperator.simulator.sdk.packages import SdkPackage, install
from pytest_clawperator.simulator.sdk.scenario import Scenario
from pytest_clawperator.simulator.sdk.tree import write_tree


class SimulatedSdk(ChildSimulator):
    """Android's SDK with simulated emulators: ``with SimulatedSdk(folder) as sdk:``.

    ``sdk.environment`` is the environment of this process with the variables of the SDK in it;
    ``sdk.variables`` are those alone. Emulators that were started end with the block.
    """

    def __init__(self, folder: Path, scenario: Scenario | None = None) -> None:
        super().__init__(["--sdk", str(folder.absolute())])
        self.folder = folder.absolute()
        self.variables: dict[str, str] = {}
        self.adb_port = 0
        self.pid = 0
        self._scenario = scenario

    @property
    def environment(self) -> dict[str, str]:
        """The environment for programs that use the SDK."""
        foreign = ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_USER_HOME")
        tools = ("ADB_PATH", "EMULATOR_PATH", "AVDMANAGER_PATH", "SDKMANAGER_PATH")
        own = {key: value for key, value in os.environ.items() if key not in (*foreign, *tools)}
        return {**own, **self.variables}

    @property
    def adb(self) -> Path:
        """The adb program of the SDK."""
        return self.folder / "platform-tools" / "adb"

    def start(self) -> SimulatedSdk:
        """Write the SDK and start what keeps it running."""
        write_tree(self.folder, self._scenario)
        ready = self._launch()
        self.variables, self.pid = ready["environment"], ready["pid"]
        self.adb_port = ready["adb"]["port"]
        return self

    def behave(self, scenario: Scenario) -> None:
        """Let what is started from now on behave as in another scenario."""
        scenario.write(self.folder)

    def install_image(self, name: str) -> None:
        """Install a system image without a download."""
        install(self.folder, SdkPackage(name, "9", name))

    def calls(self, tool: str | None = None) -> list[ToolCall]:
        """Return how the tools were called so far; downloads are calls of ``download``."""
        return [call for call in read_calls(self.folder) if tool in (None, call.tool)]

    def __enter__(self) -> SimulatedSdk:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
