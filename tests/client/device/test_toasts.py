"""The texts of toasts, from what the notification manager prints."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.device.toasts import toast_texts
from pytest_clawperator.errors import ErrorCode, ShellError
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.device import scripted

DUMP = """Current Notification Manager state:
  Toast Queue:
    TextToastRecord{e96677e 8123:com.example.shop/u0a214 isSystemToast=false token=android.os.BinderProxy@e96677e text=Saved duration=0}
    CustomToastRecord{1f 8123:com.example.shop/u0a214 isSystemToast=false token=x callback=y duration=1}
    TextToastRecord{1b2 8123:com.example.shop/u0a214 isSystemToast=false token=x text=Two
lines duration=3 days duration=1}
  
  Notification List:
Error: this is the title of somebody's notification
"""  # noqa: E501, W293


def test_texts_are_read_in_their_order() -> None:
    """Toasts of text are told, with line breaks and odd words; custom ones have no text."""
    device = scripted({"dumpsys notification": DUMP}, api_level=34)

    assert device.toasts() == ["Saved", "Two\nlines duration=3 days"]


def test_no_toast_is_an_empty_list() -> None:
    """Where nothing is up there is nothing to tell."""
    assert toast_texts("Current Notification Manager state:\n") == []


def test_an_older_android_is_told_apart() -> None:
    """Where the system does not know the texts, an empty list would be a lie."""
    with pytest.raises(ShellError, match="API level 29 does not tell") as caught:
        scripted(api_level=29).toasts()

    assert caught.value.code is ErrorCode.DEVICE_COMMAND_FAILED


def test_a_refused_dump_is_an_error() -> None:
    """A device that does not answer has no toasts to tell."""
    refused = ShellResult("", "Permission Denial\n", 255)

    with pytest.raises(ShellError, match="dumpsys notification"):
        scripted({"dumpsys notification": refused}).toasts()
