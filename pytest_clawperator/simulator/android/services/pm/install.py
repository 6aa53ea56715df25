"""The part of ``pm`` that installs: files, and the sessions that ``adb install`` drives."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_clawperator.simulator.android.java import JavaException, java_int
from pytest_clawperator.simulator.android.managers.apk import InstallFailed, install_apk
from pytest_clawperator.simulator.android.services.service_call import ServiceCall, ServiceHandler
from pytest_clawperator.simulator.files import FileSystemError

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


async def _install(call: ServiceCall) -> int:
    size, replace = -1, False
    while (option := call.option()) is not None:
        replace = replace or option == "-r"
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


async def _create(call: ServiceCall) -> int:
    while (option := call.option()) is not None:
        if option in _WITH_VALUE:
            call.required()
    session = call.system.rng.randrange(1, 2**31 - 1)
    call.system.install_sessions[session] = bytearray()
    await call.out(f"Success: created install session [{session}]")
    return 0


async def _write(call: ServiceCall) -> int:
    size = -1
    while (option := call.option()) is not None:
        if option != "-S":
            raise JavaException(f"Unknown option: {option}")
        size = _size(call.required())
    number = call.number()
    session = call.system.install_sessions.get(number)
    call.next()
    path = call.next() or "-"
    if session is None:
        raise _no_session(number)
    if path != "-":
        try:
            data = call.system.files.read(path)
        except FileSystemError:
            raise JavaException(f"Error: Can't open file: {path}") from None
    elif size >= 0:
        data = await _read_exactly(call, size)
    else:
        await call.err("Error: must specify an APK size")
        return 1
    session += data
    await call.out(f"Success: streamed {len(data)} bytes")
    return 0


async def _commit_session(call: ServiceCall) -> int:
    while (option := call.option()) is not None:
        if option in _WITH_VALUE:
            call.required()
    number = java_int(call.required())
    session = call.system.install_sessions.pop(number, None)
    if session is None:
        raise _no_session(number)
    return await _commit(call, bytes(session), file_name="base.apk")


async def _abandon(call: ServiceCall) -> int:
    number = call.number()
    if call.system.install_sessions.pop(number, None) is None:
        raise _no_session(number)
    await call.out("Success")
    return 0


def _no_session(number: int) -> JavaException:
    return JavaException(
        f"Caller has no access to session {number}", kind="java.lang.SecurityException"
    )


async def _existing(call: ServiceCall) -> int:
    while (option := call.option()) is not None:
        if option == "--user":
            call.required()
    name = call.required()
    if call.system.packages.get(name) is None:
        await call.out(
            f"android.content.pm.PackageManager$NameNotFoundException: Package {name} doesn't exist"
        )
        return 1
    await call.out(f"Package {name} installed for user: 0")
    return 0


INSTALL_COMMANDS: Mapping[str, ServiceHandler] = {
    "install": _install,
    "install-abandon": _abandon,
    "install-commit": _commit_session,
    "install-create": _create,
    "install-existing": _existing,
    "install-write": _write,
}
"""The part of ``pm`` that installs."""
