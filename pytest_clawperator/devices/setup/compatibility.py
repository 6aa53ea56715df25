"""Whether the installed Operator is of a version that this package is made for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_clawperator.devices.operator import SUPPORTED_VERSION, is_supported
from pytest_clawperator.errors import ErrorCode, OperatorNotReadyError
from pytest_clawperator.remedies import Remedy, RemedyKind

# A debug build ends in `-d`.
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-d)?")


@dataclass(frozen=True, kw_only=True)
class Compatibility:
    """The version of an installed Operator; ``problem`` is why it does not fit, if it does not."""

    package: str
    version: str | None
    version_code: int | None = None
    problem: OperatorNotReadyError | None = None
    supported: str = SUPPORTED_VERSION

    @property
    def is_compatible(self) -> bool:
        """Whether the version fits."""
        return self.problem is None


def judge_version(
    package: str, version: str | None, version_code: int | None = None, *, serial: str
) -> Compatibility:
    """Judge the version of an Operator: it fits if major and minor number are ours."""
    problem = _problem(package, version)
    if problem is not None:
        problem.serial = serial
    return Compatibility(
        package=package, version=version, version_code=version_code, problem=problem
    )


def _problem(package: str, version: str | None) -> OperatorNotReadyError | None:
    install = Remedy(RemedyKind.INSTALL_OPERATOR, package)
    if version is None:
        return OperatorNotReadyError(
            f"the device does not tell the version of {package}",
            code=ErrorCode.APK_VERSION_UNREADABLE,
            hint=(f"See `adb shell dumpsys package {package}`, or ", install),
        )
    if not _VERSION.fullmatch(version.strip()):
        return OperatorNotReadyError(
            f"the Operator {package} calls its version {version!r}, which is none such as 0.5.3",
            code=ErrorCode.APK_VERSION_INVALID,
            hint=install,
        )
    if not is_supported(version.strip()):
        return OperatorNotReadyError(
            f"the Operator {package} is of version {version}, and this package is made for"
            f" {SUPPORTED_VERSION}",
            code=ErrorCode.VERSION_INCOMPATIBLE,
            hint=install,
        )
    return None
