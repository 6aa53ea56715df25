"""A controller of xdist and its workers, all in this process: nothing is started."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from xdist import plugin as xdist_plugin  # type: ignore[import-untyped]  # no types

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.devices.pool import Candidate
from pytest_clawperator.plugin.stash import CHANNEL, DEVICE_POOL
from pytest_clawperator.plugin.worker_input import LEASE


def candidate(name: str, **about: Any) -> Candidate:
    """Return a phone that is not there; nothing can be sent to it."""
    info = DeviceInfo(**{"serial": name, "key": f"farm/{name}", "api_level": 36, **about})
    return Candidate(info=info, adb="127.0.0.1:1")


class Farm:
    """A plugin that lists these phones."""

    def __init__(self, *phones: Candidate) -> None:
        self.phones = list(phones)
        self.is_asked = False

    def pytest_clawperator_list_devices(self) -> list[Candidate]:
        """List them."""
        self.is_asked = True
        return self.phones


@dataclass
class Channel:
    """Both ends of the channel between a controller and a worker."""

    answers: deque[Any] = field(default_factory=deque)
    receive_from_worker: Callable[[Any], None] = lambda message: None

    def setcallback(self, callback: Callable[[Any], None]) -> None:
        """Receive what the worker sends."""
        self.receive_from_worker = callback

    def isclosed(self) -> bool:
        """Stay open."""
        return False

    def send(self, message: Any) -> None:
        """Send to the worker."""
        self.answers.append(message)

    @property
    def worker_end(self) -> Any:
        """The other end."""
        return SimpleNamespace(
            send=lambda message: self.receive_from_worker(message),
            receive=lambda timeout: self.answers.popleft(),
            TimeoutError=TimeoutError,
        )


class Node:
    """A worker as the controller sees it."""

    shutting_down = False

    def __init__(self, config: pytest.Config, worker_id: str, handed: dict[str, Any]) -> None:
        self.config = config
        self.gateway = SimpleNamespace(id=worker_id, newchannel=Channel)
        self.workerinput = handed
        self.sent: list[int] = []
        self.send_runtest_some = self.sent.extend

    def shutdown(self) -> None:
        """End the worker."""


class Controller:
    """Configures a run with workers as pytest and xdist do, up to the start of the workers."""

    def __init__(self, pytester: pytest.Pytester, *options: str, farm: Farm | None = None) -> None:
        self._pytester = pytester
        plugins = ("xdist", "no:cacheprovider", "no:unraisableexception")
        loaded = [word for name in plugins for word in ("-p", name)]
        self.config = pytester.parseconfig(*loaded, *options)
        if farm is not None:
            self.config.pluginmanager.register(farm)
        xdist_plugin.pytest_cmdline_main(self.config)
        self.config._do_configure()
        self.nodes: list[Node] = []

    @property
    def count(self) -> int:
        """How many workers the run has."""
        return len(self.config.option.tx)

    def start(self) -> Controller:
        """Do as xdist before its workers start."""
        specs = [SimpleNamespace(id=f"gw{number}") for number in range(self.count)]
        self.config.hook.pytest_xdist_setupnodes(config=self.config, specs=specs)
        for spec in specs:
            self.add_node(spec.id)
        return self

    def add_node(self, worker_id: str) -> Node:
        """Do as xdist before a worker starts."""
        handed = {"workerid": worker_id, "workercount": self.count, "mainargv": []}
        node = Node(self.config, worker_id, handed)
        self.config.hook.pytest_configure_node(node=node)
        self.nodes.append(node)
        return node

    def schedule(self, *tests: str) -> Any:
        """Do as xdist once the workers have collected these tests; return the scheduler."""
        hook = self.config.hook
        scheduler = hook.pytest_xdist_make_scheduler(config=self.config, log=None)
        for node in self.nodes:
            scheduler.add_node(node)
            scheduler.add_node_collection(node, tests)
        scheduler.schedule()
        return scheduler

    @property
    def serials(self) -> list[str | None]:
        """The device of each worker."""
        return [node.workerinput.get(LEASE, {}).get("serial") for node in self.nodes]

    @property
    def held(self) -> set[str]:
        """The devices that the run holds."""
        return {one.serial for one in self.config.stash[DEVICE_POOL].held}

    def run_worker(self, number: int, *options: str) -> pytest.RunResult:
        """Run the suite as this worker would."""
        handed = dict(self.nodes[number].workerinput)
        if CHANNEL in handed:
            handed[CHANNEL] = handed[CHANNEL].worker_end
        return run_as_worker(self._pytester, handed, *options)


def run_as_worker(
    pytester: pytest.Pytester, handed: dict[str, Any], *options: str
) -> pytest.RunResult:
    """Run the suite in this process as a worker with this input would."""

    class AsWorker:
        def pytest_load_initial_conftests(self, early_config: Any) -> None:
            early_config.workerinput = handed

    return pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-rs", *options, plugins=[AsWorker()]
    )
