"""What was changed on a device is put back, whatever fails on the way."""

from __future__ import annotations

import re

import pytest

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.errors import (
    DeviceNotFoundError,
    ErrorCode,
    ShellError,
    TransportTimeoutError,
)
from tests.doubles.device import GONE, REFUSED, scripted, settings
from tests.doubles.transport import ScriptedTransport


def test_a_refused_change_leaves_nothing_to_put_back() -> None:
    """What a guarded device refuses is told with a way out, and `restore` has nothing to do."""
    device = scripted(
        {re.compile("settings get .*"): "0\n", re.compile("settings put .*"): REFUSED}
    )

    with pytest.raises(ShellError, match="Permission denial") as caught:
        device.orientation = "landscape"

    assert "Security settings" in str(caught.value)
    device.restore()


def test_putting_back_goes_on_past_failures() -> None:
    """What cannot be put back is told at the end, and is tried again the next time."""
    answers = settings(user_rotation="0", accelerometer_rotation="0", airplane_mode_on="0")
    answers[re.compile("cmd connectivity airplane-mode")] = "disabled\n"
    answers[re.compile("cmd connectivity airplane-mode (en|dis)able")] = ""
    transport = ScriptedTransport(answers)
    device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
    device.orientation = "landscape"
    device.airplane_mode = True
    transport.answers["cmd connectivity airplane-mode disable"] = GONE

    told = r"could not put back: airplane mode \(it is gone\)"
    with pytest.raises(DeviceNotFoundError, match=told) as e:
        device.restore()
    rotation = device.orientation
    transport.answers["cmd connectivity airplane-mode disable"] = ""
    transport.calls.clear()
    device.restore()

    assert e.value.code is ErrorCode.DEVICE_NOT_FOUND
    assert rotation == "portrait"
    assert transport.calls == ["true", "cmd connectivity airplane-mode disable"]


def test_a_device_that_hangs_is_not_kept_waiting_for() -> None:
    """The first silence ends putting back; what was not tried is named, and tried later."""
    answers = settings(user_rotation="0", accelerometer_rotation="0", default_input_method="a/.A")
    answers[re.compile("ime .*")] = ""
    transport = ScriptedTransport(answers)
    device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
    device.orientation = "landscape"
    device.keyboard = "b/.B"
    transport.answers["true"] = TransportTimeoutError("the device did not answer", serial="PH1")
    transport.calls.clear()

    with pytest.raises(TransportTimeoutError) as caught:
        device.restore()
    asked = list(transport.calls)
    transport.answers["true"] = ""
    device.restore()

    assert asked == ["true"]
    told = "could not put back: keyboard (the device did not answer); orientation"
    assert caught.value.message == told
    assert device.orientation == "portrait"


class TestBlocks:
    """Changes that are put back at the end of a block."""

    def test_nested_blocks_restore_their_own_changes(self) -> None:
        """Each block ends with what there was when it began; `restore` puts back the rest."""
        device = scripted(settings(user_rotation="0", accelerometer_rotation="0"))
        found = []

        device.orientation = "landscape"
        with device.restoring():
            device.orientation = "reverse_portrait"
            with device.restoring():
                device.orientation = "reverse_landscape"
                device.orientation = "auto"
            found.append(device.orientation)
            device.orientation = "portrait"
        found.append(device.orientation)
        device.restore()

        assert [*found, device.orientation] == ["reverse_portrait", "landscape", "portrait"]

    def test_restore_within_one(self) -> None:
        """`restore` in a block goes back to where the block began."""
        device = scripted(settings(user_rotation="0", accelerometer_rotation="0"))
        device.orientation = "landscape"

        with device.restoring():
            device.orientation = "auto"
            device.restore()
            found = device.orientation

        assert (found, device.orientation) == ("landscape", "landscape")

    def test_after_an_error(self) -> None:
        """A block that fails is put back too, and its error stays."""
        device = scripted(settings(user_rotation="0", accelerometer_rotation="0"))

        def fail() -> None:
            with device.restoring():
                device.orientation = "landscape"
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

        assert device.orientation == "portrait"

    def test_what_is_left(self) -> None:
        """What a block could not put back is told, and is left to whoever restores next."""
        answers = settings(user_rotation="0", accelerometer_rotation="0")
        transport = ScriptedTransport(answers)
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
        back = "settings put system user_rotation '0'"

        def fail() -> None:
            with device.restoring(), device.restoring():
                device.orientation = "landscape"
                transport.answers[back] = REFUSED

        with pytest.raises(ShellError, match="could not put back: orientation"):
            fail()
        del transport.answers[back]
        device.restore()

        assert device.orientation == "portrait"

    def test_away_at_its_end(self) -> None:
        """What a block could not put back as the device was away, the next one begins with."""
        transport = ScriptedTransport(settings(user_rotation="0", accelerometer_rotation="0"))
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))
        device.orientation = "landscape"

        def fail() -> None:
            with device.restoring():
                device.orientation = "reverse_portrait"
                transport.answers["true"] = GONE

        with pytest.raises(DeviceNotFoundError, match="could not put back: orientation"):
            fail()
        transport.answers["true"] = ""
        with device.restoring():
            found = device.orientation
        device.restore()

        assert (found, device.orientation) == ("landscape", "portrait")

    def test_owed_only_once(self) -> None:
        """What was put back later, or set anew, is not put back by the next block."""
        transport = ScriptedTransport(settings(user_rotation="0", accelerometer_rotation="0"))
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))

        def fail() -> None:
            with device.restoring():
                device.orientation = "reverse_portrait"
                transport.answers["true"] = GONE

        with pytest.raises(DeviceNotFoundError):
            fail()
        transport.answers["true"] = ""
        device.orientation = "landscape"
        with device.restoring():
            found = device.orientation

        assert found == "landscape"

    def test_a_refusal_is_not_tried_again(self) -> None:
        """What the device refused to put back keeps no later block from beginning."""
        transport = ScriptedTransport(settings(user_rotation="0", accelerometer_rotation="0"))
        device = Device(transport, DeviceInfo(serial="PH1", key="PH1"))

        def fail() -> None:
            with device.restoring():
                device.orientation = "landscape"
                transport.answers["settings put system user_rotation '0'"] = REFUSED

        with pytest.raises(ShellError):
            fail()
        transport.calls.clear()
        with device.restoring():
            asked = list(transport.calls)

        assert asked == []
