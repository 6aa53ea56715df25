"""Installing: what an APK is taken for, and the sessions that ``adb install`` drives."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.android.managers.package_manager import (
    install_app,
    install_operator,
)
from pytest_clawperator.simulator.android.services.service_call import (
    JavaError,
    ServiceCall,
    ServiceHandler,
    java_int,
)
from pytest_clawperator.simulator.android.state.packages import OPERATOR, OPERATOR_DEV
from pytest_clawperator.simulator.filesystem import FileSystemError

if TYPE_CHECKING:
    from pytest_clawperator.simulator.android.system import AndroidSystem

APP_ENTRY = "assets/simulator/app.yaml"
"""The file inside an APK that describes a simulated app."""

_MOST_BYTES = 512 * 1024 * 1024
_WITH_VALUE = frozenset(
    {
        "-S", "-i", "-p", "--user", "--install-location", "--originating-uri", "--referrer",
        "--abi", "--package", "--install-reason", "--update-ownership",
        "--dexopt-compiler-filter", "--staged-ready-timeout",
    }
)  # fmt: skip


class InstallFailed(Exception):
    """An installation that Android refuses; the text is what stands in the brackets."""


def install_apk(system: AndroidSystem, apk: bytes, *, file_name: str) -> None:
    """Install what the bytes, or failing that their file's name, say they are."""
    if system.faults.active("storage_full"):
        raise InstallFailed(
            "INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location"
        )
    described = _described_app(apk)
    if described is not None:
        _install_described(system, described, apk)
        return
    name = _operator_name(apk, file_name)
    if name is None:
        raise InstallFailed(
            f"INSTALL_PARSE_FAILED_NOT_APK: Failed to parse {file_name}: neither an Operator"
            f" APK nor a zip with {APP_ENTRY}"
        )
    install_operator(system, name, apk=apk)


def _install_described(system: AndroidSystem, text: bytes, apk: bytes) -> None:
    from pytest_clawperator.simulator.screen.app_model import parse_app

    try:
        app = parse_app(text.decode("utf-8"), path=Path(APP_ENTRY))
    except UnicodeDecodeError:
        raise InstallFailed(
            f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {APP_ENTRY} is not UTF-8"
        ) from None
    except ConfigurationError as error:
        problem = " ".join(str(error).split())
        raise InstallFailed(f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {problem}") from error
    install_app(system, app, apk=apk)


def _described_app(apk: bytes) -> bytes | None:
    import zipfile  # here, because most phones never need it

    try:
        with zipfile.ZipFile(io.BytesIO(apk)) as archive:
            if APP_ENTRY not in archive.namelist():
                return None
            if archive.getinfo(APP_ENTRY).file_size > 1024 * 1024:
                raise InstallFailed(
                    f"INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {APP_ENTRY} is over 1 MiB"
                )
            return archive.read(APP_ENTRY)
    except InstallFailed:
        raise
    except Exception:  # zipfile meets broken archives with a dozen different ones
        return None


def _operator_name(apk: bytes, file_name: str) -> str | None:
    for text in (apk, file_name.encode("utf-8", "surrogateescape")):
        for name in (OPERATOR_DEV, OPERATOR):
            # A compiled manifest holds its strings as UTF-8 or as UTF-16.
            if name.encode() in text or name.encode("utf-16-le") in text:
                return name
    return None


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
        raise JavaError(f"Error: Can't open file: {paths[0]}") from None
    return await _commit(call, apk, file_name=paths[0])


async def _commit(call: ServiceCall, apk: bytes, *, file_name: str) -> int:
    try:
        install_apk(call.system, apk, file_name=file_name)
    except InstallFailed as failure:
        await call.out(f"Failure [{failure}]")
        return 1
    await call.out("Success")
    return 0


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > _MOST_BYTES:
        raise JavaError(f'For input string: "{text}"', kind="java.lang.NumberFormatException")
    return int(text)


async def _read_exactly(call: ServiceCall, size: int) -> bytes:
    """Read so many bytes and no more: the host keeps its end open until it has the answer."""
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
            raise JavaError(f"Unknown option: {option}")
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
            raise JavaError(f"Error: Can't open file: {path}") from None
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


def _no_session(number: int) -> JavaError:
    return JavaError(
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
