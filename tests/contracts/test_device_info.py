"""What is known about a device."""

from __future__ import annotations

from pytest_clawperator.contracts.device_info import DeviceInfo


def test_a_device_name_is_one_line_without_control_characters() -> None:
    """Control characters in the name that a device reports are shown, and emoji stay."""
    info = DeviceInfo(serial="PH1", key="k", manufacturer="\x1b[2J", model="P\n9 \U0001f4f1")

    assert str(info) == "PH1 (\\x1b[2J P\\n9 \U0001f4f1)"
