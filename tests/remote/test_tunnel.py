"""``connect(url=...)`` to a service of ours: all that adb can do, and a lease."""

from __future__ import annotations

import pytest

from pytest_clawperator import connect
from pytest_clawperator.errors import AmbiguousDeviceError, LeaseError
from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import nothing_left
from tests.doubles.service import RunningService


def test_a_client_does_what_it_does_over_adb(service: RunningService, phones: Simulator) -> None:
    """Actions, the shell, files, settings, pictures, and the log of a result."""
    with nothing_left(), connect(phones.serials[0], url=service.url) as claw:
        claw.open_app("com.android.settings")
        claw.device.push(b"here", "/sdcard/here.txt")
        with claw.device.restoring():
            claw.device.orientation = "landscape"
            assert claw.device.orientation == "landscape"
        result = claw.execute([{"type": "snapshot_ui"}])

        assert claw.device.info.model
        assert claw.device.pull("/sdcard/here.txt") == b"here"
        assert claw.device.shell("exit 7").exit_code == 7
        assert claw.device.is_installed("com.android.settings")
        assert claw.screenshot().startswith(b"\x89PNG")
        assert len(result.log) > 0


def test_the_device_is_leased_while_the_client_is_open(
    service: RunningService, phones: Simulator
) -> None:
    """The next one learns who has it, and has it afterwards."""
    serial = phones.serials[0]
    with connect(serial, url=service.url):
        with pytest.raises(LeaseError, match=r"held by .* through this service"):
            connect(serial, url=service.url)
        assert [lease.serial for lease in service.service.rack.leasing.all()] == [serial]
    assert service.service.rack.leasing.all() == []
    connect(serial, url=service.url).close()


def test_one_of_several_devices_must_be_chosen(service: RunningService) -> None:
    """By the same rules as over adb; nothing stays leased."""
    with pytest.raises(AmbiguousDeviceError):
        connect(url=service.url)

    assert service.service.rack.leasing.all() == []


def test_a_connection_that_fails_leaves_no_lease(
    service: RunningService, phones: Simulator
) -> None:
    """Here the Operator is another one."""
    with pytest.raises(Exception, match=r"com\.other"):
        connect(phones.serials[0], url=service.url, operator_package="com.other")

    assert service.service.rack.leasing.all() == []
