"""Addresses with percent signs are checked before they are sent."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.device.no_device import NoDevice
from pytest_clawperator.client.device.uri_check import check_uri
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import ErrorCode, StepFailedError
from tests.doubles.transport import ScriptedTransport

ADDRESS = "shop://search?q=a%20b"
ASKED = f"cmd package resolve-activity --brief -a android.intent.action.VIEW -d '{ADDRESS}'"


def device_that_says(answer: str) -> Device:
    """Make a device that answers the question who handles the address."""
    return Device(ScriptedTransport({ASKED: answer}), DeviceInfo(serial="PH1", key="PH1"))


def test_nobody_handles_it() -> None:
    """It is refused with the code that the Operator would have used."""
    with pytest.raises(StepFailedError) as failed:
        check_uri(device_that_says("No activity found\n"), ADDRESS)

    assert failed.value.code == ErrorCode.URI_NOT_HANDLED
    assert failed.value.serial == "PH1"


@pytest.mark.parametrize("answer", ["com.example.shop/.Main", ""])
def test_sent_as_it_is(answer: str) -> None:
    """What an app handles may be sent, and so may what the device does not tell."""
    check_uri(device_that_says(answer), ADDRESS)


def test_harmless_addresses_are_not_checked() -> None:
    """Without a percent sign, or without a shell, nothing is asked."""
    transport = ScriptedTransport()

    check_uri(Device(transport, DeviceInfo(serial="PH1", key="PH1")), "shop://cart")
    check_uri(NoDevice("PH1", "it is far away"), ADDRESS)

    assert transport.calls == []
