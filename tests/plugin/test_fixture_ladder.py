"""The fixtures below ``clawperator``: what each gives, and that a conftest can replace it."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator import Simulator
from tests.plugin.conftest import Run


def test_types(pytester: pytest.Pytester, run: Run) -> None:
    """Each rung gives what its type says, and all speak of one device."""
    pytester.makepyfile(
        """
        from pytest_clawperator.contracts.device import DeviceInfo
        from pytest_clawperator.devices.pool import Lease
        from pytest_clawperator.execution.client import Clawperator
        from pytest_clawperator.plugin.settings import Settings

        def test_it(
            clawperator_settings,
            clawperator_lease,
            clawperator_transport,
            clawperator_client,
            clawperator_device,
            clawperator,
        ):
            assert isinstance(clawperator_settings, Settings)
            assert isinstance(clawperator_lease, Lease)
            assert isinstance(clawperator_client, Clawperator)
            assert isinstance(clawperator_device, DeviceInfo)
            assert clawperator is clawperator_client
            assert clawperator_transport.shell("echo hi").stdout == "hi\\n"
            serials = {
                clawperator_lease.serial,
                clawperator_transport.serial,
                clawperator_client.serial,
                clawperator_device.serial,
            }
            assert len(serials) == 1
            assert clawperator_device.key == clawperator_lease.key
            assert clawperator_device.api_level == 36
            assert clawperator_device.abi == "arm64-v8a"
            assert clawperator_device.size == (1080, 2400)
            assert clawperator_device.density == 420
            assert clawperator_device.locale == "en-US"
            assert not clawperator_device.emulator
        """
    )

    result = run()

    result.assert_outcomes(passed=1)


def test_log_in_once(pytester: pytest.Pytester, run: Run) -> None:
    """A session fixture takes the client, which is connected once."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="session")
        def shop(clawperator_client):
            clawperator_client.open_app("com.example.shop")
            print("opened once")
            return clawperator_client

        @pytest.mark.parametrize("time", [1, 2])
        def test_it(shop, clawperator, time):
            assert shop is clawperator
        """
    )

    result = run("-s")

    result.assert_outcomes(passed=2)
    assert result.stdout.str().count("opened once") == 1


def test_other_settings(pytester: pytest.Pytester, run: Run) -> None:
    """A conftest changes settings for the tests below it."""
    pytester.makeconftest(
        """
        import dataclasses
        import pytest

        @pytest.fixture(scope="session")
        def clawperator_settings(clawperator_settings):
            return dataclasses.replace(clawperator_settings, timeout=12.0)
        """
    )
    pytester.makepyfile("def test_it(clawperator):\n    assert clawperator.timeout == 12\n")

    result = run()

    result.assert_outcomes(passed=1)


def test_another_lease(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A conftest brings its own device; no other is looked for, or named."""
    pytester.makeconftest(
        f"""
        import pytest
        from pytest_clawperator.devices.pool import Lease

        @pytest.fixture(scope="session")
        def clawperator_lease():
            return Lease(serial={simulator.serials[1]!r}, key="mine", adb={adb!r})
        """
    )
    pytester.makepyfile("def test_it(clawperator):\n    print('on', clawperator.serial)\n")

    result = run_plain("-s", "--claw-device", "PH404", "--claw-adb", adb)

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"*on {simulator.serials[1]}*"])
    result.stdout.no_fnmatch_line("clawperator: *PH404*")
    result.stdout.no_fnmatch_line(f"clawperator: {simulator.serials[0]} *")


def test_another_client(
    pytester: pytest.Pytester, run_plain: Run, simulator: Simulator, adb: str
) -> None:
    """A conftest brings its own client, and its device is checked like any other."""
    pytester.makeconftest(
        f"""
        import pytest
        from pytest_clawperator import connect

        @pytest.fixture(scope="session")
        def clawperator_client():
            with connect({simulator.serials[1]!r}, adb={adb!r}, timeout=2) as client:
                yield client
        """
    )
    pytester.makepyfile(
        """
        def test_off(clawperator):
            clawperator.device.key_event("sleep")

        def test_on(clawperator):
            assert "Awake" in clawperator.device.shell("dumpsys power").stdout
            assert clawperator.timeout == 2
        """
    )

    result = run_plain()

    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("fixture", "gives", "wanted"),
    [
        ("clawperator_settings", "None", "Settings"),
        ("clawperator_settings", "{'timeout': 3}", "Settings"),
        ("clawperator_lease", "'PH1'", "Lease"),
        ("clawperator_transport", "('127.0.0.1', 5037)", "Transport"),
        ("clawperator_client", "None", "Clawperator"),
    ],
)
def test_something_else(
    pytester: pytest.Pytester, run: Run, fixture: str, gives: str, wanted: str
) -> None:
    """A rung that gives what it must not is told by its name, to each test, with what it must."""
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def {fixture}():
            return {gives}
        """
    )
    pytester.makepyfile(
        """
        def test_it(clawperator): pass
        def test_device(clawperator_device): pass
        """
    )

    result = run()

    result.assert_outcomes(errors=2)
    told = f"E *: CONFIGURATION_INVALID: the fixture {fixture} gave {gives}, wanted a {wanted}"
    hint = f"*hint: Have the fixture *return or yield a pytest_clawperator.{wanted}; `pytest *"
    result.stdout.fnmatch_lines([told, hint, told, hint])
