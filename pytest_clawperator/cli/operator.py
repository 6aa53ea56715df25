"""``operator setup`` and ``grant-device-permissions``: the Operator, ready to work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions, Mistake
from pytest_clawperator.cli.output import Answer, Line, notice
from pytest_clawperator.cli.session import leased, open_device
from pytest_clawperator.client.device_commands import installed_packages
from pytest_clawperator.devices.apk_source import is_url, local_apk
from pytest_clawperator.devices.connection import chosen_package, wanted_package
from pytest_clawperator.devices.health import await_answer
from pytest_clawperator.devices.operator import (
    grant_each,
    not_granted,
    operator_version,
    permissions,
    report_grants,
    require_variant,
    set_up_operator,
    version_problem,
)
from pytest_clawperator.errors import ErrorCode, OperatorNotReadyError
from pytest_clawperator.transport.adb import AdbTransport

_CANONICAL = (
    "clawperator-py operator setup --apk <path or url> [--device <serial>]"
    " [--operator-package <package>]"
)


@command(
    "setup",
    examples=[
        "operator setup --apk operator.apk",
        "operator setup --apk https://host/operator.apk --sha256 0123...",
    ],
)
@click.option("--apk", metavar="FILE|URL", help="The Operator's APK.")
@click.option("--sha256", metavar="SUM", help="The checksum that the APK must have.")
def setup(options: GlobalOptions, apk: str | None, sha256: str | None) -> Answer:
    """Install the Operator, grant its permissions, and wait until it answers."""
    if not apk:
        raise Mistake(
            "operator setup requires --apk, a file or a url",
            exit_code=0,
            hint="See `clawperator-py operator setup --help`.",
            fields={"canonical": _CANONICAL},
        )
    package = wanted_package(options.operator_package)
    changes: list[str] = []
    with (
        local_apk(apk, sha256=sha256, progress=_progress(apk)) as file,
        open_device(options) as transport,
        leased(options, transport) as hold,
    ):
        note = partial(_note, transport, changes)
        done = set_up_operator(transport, file, package, notify=note)
        document: dict[str, Any] = {
            "operatorPackage": done.package,
            "install": {"ok": True},
            "permissions": permissions(done.grants),
            "verification": {"ok": True, "packageInstalled": True},
        }
        _await(transport, done.package, hold.key, note, document)
        document |= _misfit(transport, done.package)
    message = "Operator installed and ready. Run clawperator-py doctor to verify."
    if done.is_unchanged:
        message = "Operator installed. Required permissions were already enabled."
    document |= {"handshake": {"ok": True}, "changes": changes, "message": message}
    return Answer(document, [Line(message, "green")])


@command(
    "grant-device-permissions",
    examples=["grant-device-permissions", "grant-device-permissions --device emulator-5554"],
)
def grant_device_permissions(options: GlobalOptions) -> Answer:
    """Grant an installed Operator its permissions; restart one that crashed."""
    package = chosen_package(options.operator_package)
    changes: list[str] = []
    with open_device(options) as transport, leased(options, transport) as hold:
        note = partial(_note, transport, changes)
        there = installed_packages(transport, package.removesuffix(".dev"))
        require_variant(there, package, transport.serial)
        grants = grant_each(transport, package)
        document: dict[str, Any] = {"operatorPackage": package, **permissions(grants)}
        report_grants(grants, note)
        if grants.error is not None:
            error = not_granted(
                grants.error, package, code=ErrorCode.GRANT_DEVICE_PERMISSIONS_FAILED
            )
            error.details = {**error.details, **document}
            raise error from grants.error
        _await(transport, package, hold.key, note, document)
    message = "Required device permissions enabled. Run clawperator-py doctor to verify."
    if grants.is_unchanged:
        message = "Required device permissions were already enabled."
    document |= {"handshake": {"ok": True}, "changes": changes, "message": message}
    return Answer(document, [Line(message, "green")])


def _await(
    transport: AdbTransport,
    package: str,
    key: str,
    note: Callable[[str], None],
    document: dict[str, Any],
) -> None:
    """Wait until the Operator answers; the error contains what was done before."""
    try:
        await_answer(transport, package, key=key, notify=note)
    except OperatorNotReadyError as error:
        error.details = {**error.details, **document}
        raise


def _misfit(transport: AdbTransport, package: str) -> dict[str, Any]:
    """Report an installed Operator of a version that this package does not support."""
    version = operator_version(transport, package)
    problem = version_problem(package, version, serial=transport.serial)
    if problem is None:
        return {}
    notice(f"[{transport.serial}] {problem.code}: {problem.message}")
    return {"compatibility": {"code": str(problem.code), "message": problem.message}}


def _note(transport: AdbTransport, changes: list[str], change: str) -> None:
    changes.append(change)
    notice(f"[{transport.serial}] {change}")


def _progress(apk: str) -> Callable[[int, int | None], None]:
    """Show the progress of a download on a terminal only."""
    is_watched = is_url(apk) and sys.stderr is not None and sys.stderr.isatty()

    def show(received: int, size: int | None) -> None:
        if is_watched:
            share = f" of {size / 2**20:.1f}" if size else ""
            end = "\n" if received == size else ""
            sys.stderr.write(f"\rdownloading: {received / 2**20:.1f}{share} MiB{end}")
            sys.stderr.flush()

    return show
