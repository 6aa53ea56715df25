"""PYTEST: the entry point, and the only folder that knows pytest.

pytest imports this in every project the package is installed in, used or not. So some modules
are the front, always loaded, and import nothing heavy: ``options``, ``markers``, ``fixtures``,
``hookspecs``, ``usage`` and ``stash``. All others are behind the gate in ``usage``, which imports
them when a run uses them. Where to begin reading: ``lifecycle`` has the steps of a run,
``phases`` those of a test, ``reports`` those of its report, ``workers`` those of a worker.
"""

from __future__ import annotations

import pytest

from pytest_clawperator.plugin import fixtures, hookspecs, markers, options, stash, usage

# pytest looks at each name in a plugin. So the front is one plugin, with the hooks of its
# modules, and the fixtures are another one.
from pytest_clawperator.plugin.options import pytest_addoption
from pytest_clawperator.plugin.usage import (
    pytest_collect_file,
    pytest_collection_modifyitems,
    pytest_fixture_setup,
    pytest_make_collect_report,
    pytest_runtest_setup,
    pytest_xdist_auto_num_workers,
)

__all__ = [
    "pytest_addhooks",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collect_file",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_fixture_setup",
    "pytest_make_collect_report",
    "pytest_runtest_setup",
    "pytest_xdist_auto_num_workers",
]


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of the plugin, and register the fixtures."""
    pluginmanager.add_hookspecs(hookspecs)
    pluginmanager.register(fixtures, fixtures.__name__)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Change options of other plugins, before they use them."""
    if stash.STARTS_LATE in getattr(config, "workerinput", ()):
        config.option.clean_alluredir = False  # before pytest_configure, where Allure does it
    if options.is_switched_on(config, "doctor"):
        # Nothing is run, so no workers are started.
        config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known, and see whether the options ask for devices."""
    markers.add_markers(config)
    usage.notice_options(config)
