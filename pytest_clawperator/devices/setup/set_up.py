"""Setting the Operator up: installed, found, given what it needs, and waited for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_clawperator.client.device.commands import installed_packages, package_name
from pytest_clawperator.contracts.device import OPERATOR_DEV_PACKAGE, OPERATOR_PACKAGE
from pytest_clawperator.devices.operator import (
    Grant,
    Grants,
    grant_each,
    install_operator,
    not_granted,
    other_variant,
    tell_grants,
)
from pytest_clawperator.errors import ErrorCode, OperatorNotReadyError
from pytest_clawperator.remedies import Remedy, RemedyKind
from pytest_clawperator.transport.interface import Transport

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class SetUp:
    """An Operator that was set up: its package, and what it was given."""

    package: str
    grants: Grants

    @property
    def is_unchanged(self) -> bool:
        """Whether it had what it needs before."""
        return self.grants.is_unchanged and not self.grants.notification.needless


def set_up_operator(
    transport: Transport,
    apk: str | Path,
    package: str | None = None,
    *,
    tell: Tell = lambda text: None,
) -> SetUp:
    """Install the Operator and grant what it needs; its package is found if not named.

    An error has in its details what was done before, in the form of the published program.
    """
    done: dict[str, Any] = {"operatorPackage": package or "<unknown>", "install": {"ok": False}}
    try:
        install_operator(transport, apk)
        tell(f"installed {Path(apk).name}")
        done["install"] = {"ok": True}
        found = package_name(package) if package is not None else _detect(transport)
        done["operatorPackage"] = found
        if package is not None:
            _require_package(transport, found, Path(apk).name)
        grants = grant_each(transport, found)
        done["permissions"] = permissions(grants)
        tell_grants(grants, tell)
        if grants.error is not None:
            raise not_granted(grants.error, found) from grants.error
        _require_package(transport, found, Path(apk).name)
    except OperatorNotReadyError as error:
        if error.code == ErrorCode.OPERATOR_VERIFY_FAILED:
            done["verification"] = {"ok": False, "packageInstalled": False, "error": error.message}
        elif not done["install"]["ok"]:
            done["install"] = {"ok": False, "error": error.message}
        error.details = {**error.details, **done}
        raise
    return SetUp(package=found, grants=grants)


def permissions(grants: Grants) -> dict[str, Any]:
    """Return what the Operator was given, in the form of the published program."""
    return {
        "accessibility": _service(grants.accessibility),
        "notification": {
            **_outcome(grants.notification),
            "skipped": bool(grants.notification.needless),
        },
        "notificationListener": _service(grants.listener),
    }


def _outcome(grant: Grant) -> dict[str, Any]:
    if grant.error is not None:
        return {"ok": False, "error": grant.error.message}
    return {"ok": True, **({"error": grant.needless} if grant.needless else {})}


def _service(grant: Grant) -> dict[str, Any]:
    return {**_outcome(grant), "alreadyEnabled": grant.had}


def _detect(transport: Transport) -> str:
    variants = {OPERATOR_PACKAGE, OPERATOR_DEV_PACKAGE}
    found = sorted(variants & installed_packages(transport, OPERATOR_PACKAGE))
    if len(found) == 1:
        return found[0]
    if found:
        raise _not_verified(transport, f"several variants are installed: {', '.join(found)}")
    raise _not_verified(transport, "no Operator is there after the installation")


def _require_package(transport: Transport, package: str, apk: str) -> None:
    """Raise if the device has not the package that was installed, with the variant that it has."""
    other = other_variant(package)
    installed = installed_packages(transport, min(package, other))  # which has both in it
    if package in installed:
        return
    error = _not_verified(transport, f"{package} is not there after {apk} was installed")
    if other in installed:
        error.message += f", but {other} is"
        error.advice = (Remedy(RemedyKind.USE_PACKAGE, other),)
    raise error


def _not_verified(transport: Transport, message: str) -> OperatorNotReadyError:
    return OperatorNotReadyError(
        message,
        code=ErrorCode.OPERATOR_VERIFY_FAILED,
        serial=transport.serial,
        hint=(
            Remedy(RemedyKind.NAME_PACKAGE),
            "; and see that the file is the Operator's APK.",
        ),
    )
