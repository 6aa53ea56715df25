"""Checking addresses that would break the published Operator before they are sent."""

from __future__ import annotations

from shlex import quote

from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.device.no_device import NoDevice
from pytest_clawperator.errors import ErrorCode, ShellError, StepFailedError

_NOBODY = "No activity found"


def check_uri(device: Device, uri: str) -> None:
    """Raise for an address with a percent sign that no app of the device handles.

    The published Operator formats its failures, so that a percent sign in an address which
    nothing handles garbles its answer, and two of them end its process.
    """
    __tracebackhide__ = True
    if "%" not in str(uri) or isinstance(device, NoDevice):
        return
    view = "-a android.intent.action.VIEW"
    command = f"cmd package resolve-activity --brief {view} -d {quote(uri)}"
    try:
        said = device.shell(command).stdout
    except ShellError:
        return  # whoever cannot tell may be asked to open it
    if said.strip() == _NOBODY:
        raise StepFailedError(
            f"open_uri {uri!r}: no app of the device handles it",
            code=ErrorCode.URI_NOT_HANDLED,
            serial=device.serial,
            hint="Install an app that handles this kind of address, or check its spelling.",
        )
