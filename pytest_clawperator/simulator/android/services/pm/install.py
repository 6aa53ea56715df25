"""``pm install``: files of the phone, and what ``adb install`` streams."""

from __future__ import annotations

from pytest_clawperator.simulator.android.java import JavaException
from pytest_clawperator.simulator.android.managers.apk import InstallFailed, install_apk
from pytest_clawperator.simulator.android.services.service_call import ServiceCall
from pytest_clawperator.simulator.filesystem import FileSystemError

_MOST_BYTES = 512 * 1024 * 1024

# What becomes of a prompt on the phone that nobody answers.
_CANCELLED = "INSTALL_FAILED_USER_RESTRICTED: Install canceled by user"

_WITH_VALUE = frozenset(
    {
        "-S", "-i", "-p", "--user", "--install-location", "--originating-uri", "--referrer",
        "--abi", "--package", "--install-reason", "--update-ownership",
        "--dexopt-compiler-filter", "--staged-ready-timeout",
    }
)  # fmt: skip


async def install_command(call: ServiceCall) -> int:
    """Install an APK: a file on the phone, or what the host streams."""
    size = -1
    while (option := call.option()) is not None:
        if option == "-S":
            size = _size(call.required())
        elif option in _WITH_VALUE:
            call.required()
    paths = call.rest()
    if not paths or paths[0] == "-":
        if size < 0:
            await call.out("Error: must either specify a package size or an APK file")
            return 1
        return await _commit(call, await _read_exactly(call, size), file_name="base.apk")
    try:
        apk = call.system.files.read(call.invocation.shell.files.resolve(paths[0]))
    except FileSystemError:
        await call.err(f"Error: Unable to open file: {paths[0]}")
        raise JavaException(f"Error: Can't open file: {paths[0]}") from None
    return await _commit(call, apk, file_name=paths[0])


async def _commit(call: ServiceCall, apk: bytes, *, file_name: str) -> int:
    if "install-prompt" in call.system.quirks and not call.system.allows_installs:
        await call.out(f"Failure [{_CANCELLED}]")
        return 1
    try:
        install_apk(call.system, apk, file_name=file_name)
    except InstallFailed as failure:
        await call.out(f"Failure [{failure}]")
        return 1
    await call.out("Success")
    return 0


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > _MOST_BYTES:
        raise JavaException(f'For input string: "{text}"', kind="java.lang.NumberFormatException")
    return int(text)


async def _read_exactly(call: ServiceCall, size: int) -> bytes:
    """Read exactly so many bytes: the host keeps the stream open until it has the answer."""
    data = bytearray()
    while len(data) < size:
        piece = await call.invocation.stdin.read()
        if not piece:
            break
        data += piece
    return bytes(data[:size])
