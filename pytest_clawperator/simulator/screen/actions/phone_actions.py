"""Everything that apps and Android can do on one phone, put together."""

from __future__ import annotations

from pytest_clawperator.simulator.screen.actions.action_runner import ActionRunner
from pytest_clawperator.simulator.screen.actions.app_processes import AppProcesses
from pytest_clawperator.simulator.screen.actions.crashes import Crashes
from pytest_clawperator.simulator.screen.actions.installed_apps import InstalledApps
from pytest_clawperator.simulator.screen.actions.launching import Launching
from pytest_clawperator.simulator.screen.actions.links import Links
from pytest_clawperator.simulator.screen.actions.navigation import Navigation
from pytest_clawperator.simulator.screen.actions.verbs import Verbs
from pytest_clawperator.simulator.screen.state.phone_state import PhoneState


class PhoneActions:
    """The parts of ``actions`` for one phone."""

    def __init__(self, state: PhoneState) -> None:
        self.runner = ActionRunner()
        self.navigation = Navigation(state, self.runner)
        self.processes = AppProcesses(state)
        self.launching = Launching(state, navigation=self.navigation, processes=self.processes)
        self.links = Links(state, self.navigation)
        self.apps = InstalledApps(state, processes=self.processes, launching=self.launching)
        verbs = Verbs(
            state,
            self.runner,
            navigation=self.navigation,
            launching=self.launching,
            links=self.links,
            crashes=Crashes(state, processes=self.processes, launching=self.launching),
        )
        self.runner.verbs = verbs.table()
