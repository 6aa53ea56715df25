"""``version``: of this package, and whether the Operator on a device fits."""

from __future__ import annotations

from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.hints import for_command_line
from pytest_clawperator.cli.output import Answer, Line
from pytest_clawperator.cli.session import open_device
from pytest_clawperator.client.device.commands import installed_packages
from pytest_clawperator.contracts.device import OPERATOR_PACKAGE
from pytest_clawperator.devices.connection import wanted_package
from pytest_clawperator.devices.operator import (
    SUPPORTED_VERSION,
    judge_version,
    parse_version,
    parse_version_code,
    require_variant,
)
from pytest_clawperator.doctor.facts import package_version
from pytest_clawperator.errors import ClawperatorError, ErrorCode, ShellError
from pytest_clawperator.transport.adb import AdbTransport


@command("version", examples=["version", "version --check-compat --device emulator-5554"])
@click.option("--check-compat", is_flag=True, help="Whether the Operator on the device fits.")
def version(options: GlobalOptions, check_compat: bool) -> Answer:
    """Print the version of this program, and of the Operators that it is made for."""
    document: dict[str, Any] = {
        "cliVersion": package_version(),
        "supportedOperator": SUPPORTED_VERSION,
    }
    if not check_compat:
        text = f"clawperator-py {package_version()}, made for Operator {SUPPORTED_VERSION}"
        return Answer(document, [text])
    package = wanted_package(options.operator_package) or OPERATOR_PACKAGE
    with open_device(options) as transport:
        found = _found(transport, package)
    document |= {"operatorPackage": package, **found}
    if document["compatible"]:
        fits = f"Operator {found['apkVersion']} fits: made for {SUPPORTED_VERSION}."
        return Answer(document, [Line(fits, "green")])
    error = document["error"]
    page = [Line(f"{error['code']}: {error['message']}", "red"), *document["remediation"]]
    return Answer(document, page, exit_code=1)


def _found(transport: AdbTransport, package: str) -> dict[str, Any]:
    """Return what the device says about its Operator, and whether that fits."""
    try:
        base = package.removesuffix(".dev")
        require_variant(installed_packages(transport, base), package, transport.serial)
        dump = transport.shell(f"dumpsys package {package}").stdout
    except ShellError as error:
        error.code = ErrorCode.DEVICE_SHELL_UNAVAILABLE
        return _unfit(error)
    except ClawperatorError as error:
        return _unfit(error)
    judged = judge_version(
        package, parse_version(dump), parse_version_code(dump), serial=transport.serial
    )
    told = {"apkVersion": judged.version, "apkVersionCode": judged.version_code}
    known = {key: value for key, value in told.items() if value is not None}
    if judged.problem is None:
        return {**known, "compatible": True}
    return {**known, **_unfit(judged.problem)}


def _unfit(error: ClawperatorError) -> dict[str, Any]:
    error.wording = for_command_line
    told = {"code": str(error.code), "message": error.message, "hint": error.hint}
    remediation = [error.hint] if error.hint else []
    return {"compatible": False, "error": told, "remediation": remediation}
