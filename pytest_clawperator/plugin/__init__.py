"""PYTEST: the entry point, and the only folder that knows pytest.

pytest imports this in every project the package is installed in, used or not. The modules
beside this one are the front: always loaded, and importing nothing heavy. What needs devices
is in the rooms, the folders below, which ``gate.py`` imports when a run uses them. Each part
of front and rooms can be switched off by its name, as in
``-p no:pytest_clawperator.plugin.reporting.terminal``.
"""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin import fixtures, hookspecs, markers, options, usage
from pytest_clawperator.plugin.worker_input import STARTS_LATE, worker_input

#: The parts that are always there: what can be asked for, and who notices it.
FRONT_PARTS = (options, markers, fixtures, usage)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of the plugin, and register the parts of the front."""
    pluginmanager.add_hookspecs(hookspecs)
    # As `pytest_plugins` they would cost ten times as much: for each name in it, pytest looks
    # through the entry points of everything that is installed.
    for part in FRONT_PARTS:
        if not pluginmanager.is_blocked(part.__name__):
            pluginmanager.register(part, part.__name__)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Keep a worker that starts late from emptying the folder that others write to for Allure."""
    if STARTS_LATE in worker_input(config):
        config.option.clean_alluredir = False  # before pytest_configure, where Allure does it
