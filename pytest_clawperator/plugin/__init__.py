"""PYTEST: the entry point, and the only folder that knows pytest.

pytest imports this in every project the package is installed in, used or not. It lists
the plugin's parts; a part brings its hooks with it, and imports what is heavy when it is
needed. A part can be switched off by its name, as in
``-p no:pytest_clawperator.plugin.reporting.terminal``.
"""

from __future__ import annotations

from importlib import import_module

import pytest

#: What has to be there from the start: whatever can be asked for, and whoever notices it.
PARTS = (
    "pytest_clawperator.plugin.options",
    "pytest_clawperator.plugin.markers",
    "pytest_clawperator.plugin.fixtures",
    "pytest_clawperator.plugin.evidence.used_clients",
    "pytest_clawperator.plugin.features.goldens",
    "pytest_clawperator.plugin.features.soft",
    "pytest_clawperator.plugin.reporting.hints",
)
#: What only a suite with devices needs. These parts have no fixtures and add no options.
PARTS_IN_USE = (
    "pytest_clawperator.plugin.leasing.candidates",
    "pytest_clawperator.plugin.leasing.worker_device",
    "pytest_clawperator.plugin.xdist.distribution",
    "pytest_clawperator.plugin.leasing.matrix",
    "pytest_clawperator.plugin.reporting.matrix_table",
    "pytest_clawperator.plugin.features.validating",
    "pytest_clawperator.plugin.reporting.infrastructure",
    "pytest_clawperator.plugin.evidence.on_failure",
    "pytest_clawperator.plugin.features.pausing",
    "pytest_clawperator.plugin.reporting.summary",
    "pytest_clawperator.plugin.reporting.terminal",
)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of the plugin, and register the parts that are always there."""
    from pytest_clawperator.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)
    _register(pluginmanager, PARTS)


def bring_in(config: pytest.Config) -> None:
    """Register the other parts, once something was asked of the plugin."""
    _register(config.pluginmanager, PARTS_IN_USE)


def _register(pluginmanager: pytest.PytestPluginManager, parts: tuple[str, ...]) -> None:
    # As `pytest_plugins` they would cost ten times as much: for each name in it, pytest looks
    # through the entry points of everything that is installed.
    for part in parts:
        if not pluginmanager.is_blocked(part) and not pluginmanager.has_plugin(part):
            pluginmanager.register(import_module(part), part)
