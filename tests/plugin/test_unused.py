"""In a project that does not use it, the plugin is neither seen nor paid for."""

from __future__ import annotations

import pytest

PARTS = ["fixtures"]
HEAVY = ("pydantic", "pydantic_core", "lxml", "adbutils", "yaml", "PIL")


@pytest.fixture(autouse=True)
def as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the plugin loaded through its entry point."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    monkeypatch.delenv("PYTEST_PLUGINS")


def test_a_plain_project_loads_nothing_heavy(pytester: pytest.Pytester) -> None:
    """A plain suite runs strictly, with warnings as errors; its YAML files are left alone."""
    for name in ("app.yaml", "test_data.yaml", "steps.claw.yaml"):
        (pytester.path / name).write_text("steps: [clik", encoding="utf-8")
    pytester.makepyfile(
        f"""
        import signal
        import sys

        def test_light(request):
            handled = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
            assert handled == [signal.SIG_DFL] * 2
            assert request.config.pluginmanager.hasplugin("pytest_clawperator.plugin")
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
            manager = request.config.pluginmanager
            named = [name for name, plugin in manager.list_name_plugin() if plugin]
            parts = [name.rpartition(".")[2] for name in named if ".plugin." in name]
            assert parts == {PARTS!r}
        """
    )

    result = pytester.runpytest_subprocess("-W", "error", "--strict-markers", "--strict-config")

    result.assert_outcomes(passed=1)
    assert "claw" not in result.stdout.str().replace("plugins: ", "").split("collected")[-1]


def test_can_be_switched_off(pytester: pytest.Pytester) -> None:
    """The entry point is named after its module, so ``-p no:`` reaches it."""
    pytester.makepyfile(
        """
        def test_absent(request):
            assert not request.config.pluginmanager.hasplugin("pytest_clawperator.plugin")
        """
    )

    result = pytester.runpytest_inprocess("-p", "no:pytest_clawperator.plugin")

    result.assert_outcomes(passed=1)


def test_a_device_asked_for_late(pytester: pytest.Pytester) -> None:
    """A test that asks for a device while it runs finds everything in place; xdist is optional."""
    pytester.makepyfile(
        """
        import pytest
        from pytest_clawperator import NoDeviceError

        def test_late(request):
            with pytest.raises(NoDeviceError, match="no devices were listed"):
                request.getfixturevalue("clawperator")
            terminal = "pytest_clawperator.plugin.terminal"
            assert request.config.pluginmanager.hasplugin(terminal)

        def test_settings(clawperator_settings):
            assert clawperator_settings.timeout
        """
    )
    pytester.makeconftest(
        """
        from pytest_clawperator import NoDeviceError

        def pytest_clawperator_list_devices(config):
            raise NoDeviceError("no devices were listed")
        """
    )

    result = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=2)
