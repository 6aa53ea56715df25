"""``pytest_clawperator_device_ready``: a device is prepared before the first test."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Run


def test_once_before_the_tests(pytester: pytest.Pytester, run: Run) -> None:
    """The hook gets the device and its client, once."""
    pytester.makeconftest(
        """
        def pytest_clawperator_device_ready(device, client):
            assert device == client.device.info
            client.device.grant("com.example.shop", "android.permission.POST_NOTIFICATIONS")
            print("prepared", device.serial)
        """
    )
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("time", [1, 2])
        def test_it(clawperator, time):
            told = clawperator.device.shell("dumpsys package com.example.shop").stdout
            assert "POST_NOTIFICATIONS: granted=true" in told
        """
    )

    result = run("-s")

    result.assert_outcomes(passed=2)
    assert result.stdout.str().count("prepared 127.0.0.1:") == 1


def test_an_error_in_the_hook_is_one_of_every_test(pytester: pytest.Pytester, run: Run) -> None:
    """What a hook raises is an error of every test, and the device is released."""
    pytester.makeconftest(
        """
        def pytest_clawperator_device_ready():
            raise RuntimeError("no room for the app")

        def pytest_clawperator_device_released(device):
            print("released", device.serial)
        """
    )
    pytester.makepyfile("def test_it(clawperator): pass")

    result = run("-s")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*released 127.0.0.1:*", "*RuntimeError: no room for the app"])
