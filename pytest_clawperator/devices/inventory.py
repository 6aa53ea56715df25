"""Which devices are connected, which one is meant, and what is known about it."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import Any

from pytest_clawperator.contracts.device_info import DeviceInfo
from pytest_clawperator.contracts.wording import closest
from pytest_clawperator.errors import (
    AmbiguousDeviceError,
    DeviceNotFoundError,
    DeviceUnavailableError,
    ErrorCode,
    NoDeviceError,
    TransportError,
)
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.interface import Shell, ShellResult, Transport
from pytest_clawperator.transport.shell import parse_properties
from pytest_clawperator.transport.wire import AdbServer

_LINE = re.compile(r"`\{ .*`", re.DOTALL)

_UNANSWERED = ShellResult("", "", -1)


def ask_all(
    device: Shell, questions: Mapping[str, str], *, timeout: float = 30.0
) -> dict[str, ShellResult]:
    """Run each command and return its output, errors included, under its name.

    The outputs are separated by a random mark, which no output can contain by accident. A
    command that was not reached has an exit code of -1.
    """
    mark = secrets.token_hex(8)
    line = "; ".join(f"{{ {command}; }} 2>&1; echo {mark}:$?" for command in questions.values())
    try:
        output = device.shell(line, timeout=timeout).stdout
    except TransportError as error:  # the whole command line helps no reader
        first = next(iter(questions.values()))
        error.message = _LINE.sub(lambda _: f"`{first}; ...`", error.message)
        raise
    answers = _answers(output, f"{mark}:")
    answers += [_UNANSWERED] * (len(questions) - len(answers))
    return dict(zip(questions, answers, strict=True))


def last_line(answer: ShellResult) -> str:
    """Return the last line of an answer: some devices print warnings before it."""
    lines = answer.stdout.strip().splitlines()
    return lines[-1].strip() if lines else ""


def number(answer: ShellResult) -> int | None:
    """Return the number that a device answered; None if the answer is not a number."""
    text = last_line(answer)
    return int(text) if answer.ok and re.fullmatch(r"[0-9]{1,12}", text) else None


def _answers(output: str, mark: str) -> list[ShellResult]:
    """Split the output: each answer is followed by a mark and its exit code."""
    answers = []
    text, *pieces = output.split(mark)
    for piece in pieces:
        code, _, rest = piece.partition("\n")
        if not code.strip().isdecimal():
            break  # the output was cut
        answers.append(ShellResult(text, "", int(code)))
        text = rest
    return answers


USABLE = "device"

SERIAL_VARIABLE = "ANDROID_SERIAL"

#: What this machine is called in keys.
HERE = "127.0.0.1"


_NO_DEVICE_HINT = (
    "Plug one in with USB debugging on (`adb devices` must call it `device`), or ",
    Remedy(RemedyKind.USE_SIMULATOR),
)

_OFFLINE_HINT = "Reconnect it, or run `adb reconnect offline`, and unlock its screen."

_UNAUTHORIZED_HINT = (
    "Unlock the device and accept the dialog 'Allow USB debugging?'; should it not appear,"
    " revoke USB debugging authorisations among the developer options and reconnect."
)

_PERMISSIONS_HINT = (
    "Let this user use the USB device: install Android's udev rules, join the group plugdev,"
    " and reconnect."
)

_OTHER_SYSTEM_HINT = "It has not started Android: run `adb reboot` and wait until it is up."

_NAMELESS_HINT = (
    "adb cannot address it: connect it over the network (`adb tcpip 5555`, then `adb connect"
    " ADDRESS:5555`), with no other device plugged in."
)

# How adb lists a phone whose maker gave it no serial number, and what we call its state.
_NO_SERIAL, _NAMELESS = ("(no serial number)", USABLE), "without a serial number"

_TROUBLES = (
    (_NAMELESS, ErrorCode.DEVICE_OFFLINE, _NAMELESS_HINT),
    ("unauthorized", ErrorCode.DEVICE_UNAUTHORIZED, _UNAUTHORIZED_HINT),
    ("authorizing", ErrorCode.DEVICE_UNAUTHORIZED, _UNAUTHORIZED_HINT),
    ("no permissions", ErrorCode.ADB_NO_USB_PERMISSIONS, _PERMISSIONS_HINT),
    ("recovery", ErrorCode.DEVICE_OFFLINE, _OTHER_SYSTEM_HINT),
    ("rescue", ErrorCode.DEVICE_OFFLINE, _OTHER_SYSTEM_HINT),
    ("sideload", ErrorCode.DEVICE_OFFLINE, _OTHER_SYSTEM_HINT),
    ("bootloader", ErrorCode.DEVICE_OFFLINE, _OTHER_SYSTEM_HINT),
    ("", ErrorCode.DEVICE_OFFLINE, _OFFLINE_HINT),
)


_LOOPBACK = re.compile(r"127\.[\d.]+|localhost|\[?::1\]?")

# Default serial numbers that makers did not change: many phones share each.
_SHARED_NUMBERS = frozenset({"", "unknown", "0123456789ABCDEF", "1234567890ABCDEF"})

_PAIR = re.compile(r"(\d+)x(\d+)")


@dataclass(frozen=True)
class ConnectedDevice:
    """A device as the adb server lists it; ``state`` is ``"device"`` when it is usable."""

    serial: str
    state: str
    server: AdbServer

    def __str__(self) -> str:
        return self.serial if self.state == USABLE else f"{self.serial} ({self.state})"


def list_devices(server: AdbServer) -> list[ConnectedDevice]:
    """Return the connected devices, the unusable ones included."""
    return [
        ConnectedDevice(serial, _NAMELESS if (serial, state) == _NO_SERIAL else state, server)
        for serial, state in server.devices()
    ]


def choose_device(devices: Sequence[ConnectedDevice], serial: str | None = None) -> ConnectedDevice:
    """Return the device of this serial, or of ``ANDROID_SERIAL``, else the only usable one."""
    source = "" if serial else f" (from {SERIAL_VARIABLE})"
    wanted = serial or os.environ.get(SERIAL_VARIABLE)
    if wanted:
        return _named(devices, wanted, source)
    usable = [device for device in devices if device.state == USABLE]
    if len(usable) == 1:
        return usable[0]
    if not usable:
        raise none_usable(devices)
    serials = [device.serial for device in usable]
    raise AmbiguousDeviceError(
        f"{len(usable)} devices are connected and none was chosen: {', '.join(serials)}",
        hint=Remedy(RemedyKind.CHOOSE_DEVICE, serials[0], count=len(serials)),
        details={"devices": serials},
    )


def read_device(transport: Transport, *, server: AdbServer, timeout: float = 30.0) -> DeviceInfo:
    """Read the properties of a device in one round trip; unknown ones are None."""
    where = "" if transport.display is None else f" -d {transport.display}"
    answers = ask_all(
        transport,
        {"properties": "getprop", "size": f"wm size{where}", "density": f"wm density{where}"},
        timeout=timeout,
    )
    reported = parse_properties(answers["properties"].stdout)
    emulator = transport.serial.startswith("emulator-") or "1" in (
        reported.get("ro.kernel.qemu"),
        reported.get("ro.boot.qemu"),
    )
    size = _PAIR.fullmatch(_newest(answers["size"]))
    density = _newest(answers["density"])
    return DeviceInfo(
        serial=transport.serial,
        key=_key(transport.serial, reported.get("ro.serialno", ""), server, emulator=emulator),
        model=reported.get("ro.product.model") or None,
        manufacturer=reported.get("ro.product.manufacturer") or None,
        api_level=_number(reported.get("ro.build.version.sdk")),
        release=reported.get("ro.build.version.release") or None,
        abi=reported.get("ro.product.cpu.abi") or None,
        density=_number(density),
        size=(int(size[1]), int(size[2])) if size else None,
        locale=reported.get("persist.sys.locale") or reported.get("ro.product.locale") or None,
        emulator=emulator,
    )


def emulator_key(serial: str, server: AdbServer) -> str:
    """Return the key of an emulator that has this serial, or is about to have it."""
    return _key(serial, "", server, emulator=True)


def _named(devices: Sequence[ConnectedDevice], wanted: str, source: str) -> ConnectedDevice:
    device = next((device for device in devices if device.serial == wanted), None)
    if device is None:
        there = ", ".join(map(str, devices)) or "nothing"
        near = closest(wanted, [device.serial for device in devices])
        raise DeviceNotFoundError(
            f"no such device is connected{source}; connected: {there}",
            serial=wanted,
            hint=(
                f"Correct {SERIAL_VARIABLE}" if source else Remedy(RemedyKind.CORRECT_SERIAL),
                ", or connect the device: `adb devices` must list it.",
                f" Did you mean {near}?" if near else "",
            ),
            details={"connected": [device.serial for device in devices]},
        )
    if device.state == USABLE:
        return device
    code, hint = trouble_of(device.state)
    raise DeviceUnavailableError(
        f"the device is connected but {device.state or 'in no known state'}{source}",
        code=code,
        serial=wanted,
        hint=hint,
        details={"state": device.state},
    )


def none_usable(devices: Sequence[ConnectedDevice]) -> NoDeviceError:
    """Return the error that says why none of the devices is usable."""
    if not devices:
        return NoDeviceError("no device is connected", hint=_NO_DEVICE_HINT)
    reported = ", ".join(map(str, devices))
    hints = dict.fromkeys(trouble_of(device.state)[1] for device in devices)
    return NoDeviceError(
        f"no connected device is usable: {reported}",
        hint=(f"{' '.join(hints)} Or ", Remedy(RemedyKind.USE_SIMULATOR)),
        details={"devices": {device.serial: device.state for device in devices}},
    )


def left_out(device: ConnectedDevice) -> str:
    """Return why a device is not used, and what makes it usable."""
    return f"{device} is left out. {trouble_of(device.state)[1]}"


def trouble_of(state: str) -> tuple[ErrorCode, str]:
    """Return the code of a state that is not usable, and what makes the device usable."""
    return next((code, hint) for words, code, hint in _TROUBLES if state.startswith(words))


def _key(serial: str, number: str, server: AdbServer, *, emulator: bool) -> str:
    """Return the key of a phone: its serial number, else the place where it is reached.

    One device has one key, by whichever serial and whichever adb server it is reached.
    """
    if (key := server.device_key(serial)) is not None:
        return key
    endpoint, _, port = serial.rpartition(":")
    host = HERE if server.path is not None else machine_of(server.host)
    local = _LOOPBACK.fullmatch(endpoint) is not None
    if emulator and endpoint and not local:  # its number is that of its version
        host, local = machine_of(endpoint), True
    if not local and not serial.startswith("emulator-") and number not in _SHARED_NUMBERS:
        return number
    if local:
        # An emulator listens next to the port that it is named after.
        is_named = emulator and port.isdecimal()
        serial = f"emulator-{int(port) - 1}" if is_named else f"127.0.0.1:{port}"
    return f"{host}/{serial}"


@cache
def machine_of(host: str) -> str:
    """Return the canonical name of a host; that of this machine is ``HERE``.

    A name that cannot be looked up stays what it is. Only names are looked up, which was done
    to reach the machine; reverse lookups of addresses can take long, and fail often.
    """
    if _LOOPBACK.fullmatch(host):
        return HERE
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), None, type=socket.SOCK_DGRAM, flags=socket.AI_CANONNAME
        )
    except (OSError, UnicodeError):
        return host.lower()
    if any(_is_here(family, address) for family, *_, address in found):
        return HERE
    return (found[0][3] or host).lower()


def _is_here(family: int, address: tuple[Any, ...]) -> bool:
    """Whether an address is one of this machine: a socket can be bound to those only."""
    known = ip_address(str(address[0]).partition("%")[0])
    if known.is_loopback or known.is_unspecified:
        return True
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.bind(address)
        return True
    return False


def _newest(answer: ShellResult) -> str:
    """Return the value on the last line of ``wm``: an override follows the physical value."""
    lines = [line for line in answer.stdout.splitlines() if re.match(r"(Physical|Override) ", line)]
    return lines[-1].partition(":")[2].strip() if lines else ""


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text) else None
