"""Android UI tests in pytest, through the Clawperator Operator app.

The names below are the public ones. They are resolved when first used, so that importing
the package, as pytest does in every project it is installed in, costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_clawperator.contracts.actions import (
        Click,
        CloseApp,
        EnterText,
        OpenApp,
        OpenUri,
        PressKey,
        ReadKeyValuePair,
        ReadText,
        Retry,
        Scroll,
        ScrollAndClick,
        ScrollUntil,
        Sleep,
        SnapshotUi,
        StartRecording,
        StopRecording,
        TakeScreenshot,
        TypedAction,
        WaitForNavigation,
        WaitForNode,
    )
    from pytest_clawperator.contracts.completion import complete_execution
    from pytest_clawperator.contracts.envelope import (
        ResultEnvelope,
        StepResult,
        parse_result_line,
        parse_result_message,
    )
    from pytest_clawperator.contracts.params import ActionParams, Coordinate
    from pytest_clawperator.contracts.payload import (
        Action,
        Execution,
        validate_execution,
    )
    from pytest_clawperator.contracts.selectors import NodeMatcher
    from pytest_clawperator.errors import (
        AdbUnavailableError,
        AmbiguousDeviceError,
        BroadcastError,
        ClawperatorError,
        ClawperatorWarning,
        ConfigurationError,
        ContainerNotFoundError,
        DeviceError,
        DeviceNotFoundError,
        DeviceUnavailableError,
        DispatchError,
        EmulatorError,
        EnvelopeMalformedError,
        EnvelopeTimeoutError,
        ErrorCode,
        ExecutionConflictError,
        ExecutionValidationError,
        ExpectationError,
        LeaseError,
        LogcatError,
        NavigationTimeoutError,
        NodeNotFoundError,
        NoDeviceError,
        OperatorNotReadyError,
        PayloadError,
        PayloadRefusedError,
        PayloadTooLargeError,
        Problem,
        ShellError,
        SnapshotError,
        StepFailedError,
        TransportError,
        TransportTimeoutError,
        ValidatorMismatchError,
    )

_ACTIONS = "pytest_clawperator.contracts.actions"
_COMPLETION = "pytest_clawperator.contracts.completion"
_ENVELOPE = "pytest_clawperator.contracts.envelope"
_ERRORS = "pytest_clawperator.errors"
_PARAMS = "pytest_clawperator.contracts.params"
_PAYLOAD = "pytest_clawperator.contracts.payload"
_SELECTORS = "pytest_clawperator.contracts.selectors"

_HOMES = {
    "Action": _PAYLOAD,
    "ActionParams": _PARAMS,
    "AdbUnavailableError": _ERRORS,
    "AmbiguousDeviceError": _ERRORS,
    "BroadcastError": _ERRORS,
    "ClawperatorError": _ERRORS,
    "ClawperatorWarning": _ERRORS,
    "Click": _ACTIONS,
    "CloseApp": _ACTIONS,
    "ConfigurationError": _ERRORS,
    "ContainerNotFoundError": _ERRORS,
    "Coordinate": _PARAMS,
    "DeviceError": _ERRORS,
    "DeviceNotFoundError": _ERRORS,
    "DeviceUnavailableError": _ERRORS,
    "DispatchError": _ERRORS,
    "EmulatorError": _ERRORS,
    "EnterText": _ACTIONS,
    "EnvelopeMalformedError": _ERRORS,
    "EnvelopeTimeoutError": _ERRORS,
    "ErrorCode": _ERRORS,
    "Execution": _PAYLOAD,
    "ExecutionConflictError": _ERRORS,
    "ExecutionValidationError": _ERRORS,
    "ExpectationError": _ERRORS,
    "LeaseError": _ERRORS,
    "LogcatError": _ERRORS,
    "NavigationTimeoutError": _ERRORS,
    "NoDeviceError": _ERRORS,
    "NodeMatcher": _SELECTORS,
    "NodeNotFoundError": _ERRORS,
    "OpenApp": _ACTIONS,
    "OpenUri": _ACTIONS,
    "OperatorNotReadyError": _ERRORS,
    "PayloadError": _ERRORS,
    "PayloadRefusedError": _ERRORS,
    "PayloadTooLargeError": _ERRORS,
    "PressKey": _ACTIONS,
    "Problem": _ERRORS,
    "ReadKeyValuePair": _ACTIONS,
    "ReadText": _ACTIONS,
    "ResultEnvelope": _ENVELOPE,
    "Retry": _ACTIONS,
    "Scroll": _ACTIONS,
    "ScrollAndClick": _ACTIONS,
    "ScrollUntil": _ACTIONS,
    "ShellError": _ERRORS,
    "Sleep": _ACTIONS,
    "SnapshotError": _ERRORS,
    "SnapshotUi": _ACTIONS,
    "StartRecording": _ACTIONS,
    "StepFailedError": _ERRORS,
    "StepResult": _ENVELOPE,
    "StopRecording": _ACTIONS,
    "TakeScreenshot": _ACTIONS,
    "TransportError": _ERRORS,
    "TransportTimeoutError": _ERRORS,
    "TypedAction": _ACTIONS,
    "ValidatorMismatchError": _ERRORS,
    "WaitForNavigation": _ACTIONS,
    "WaitForNode": _ACTIONS,
    "complete_execution": _COMPLETION,
    "parse_result_line": _ENVELOPE,
    "parse_result_message": _ENVELOPE,
    "validate_execution": _PAYLOAD,
}

__all__ = [
    "Action",
    "ActionParams",
    "AdbUnavailableError",
    "AmbiguousDeviceError",
    "BroadcastError",
    "ClawperatorError",
    "ClawperatorWarning",
    "Click",
    "CloseApp",
    "ConfigurationError",
    "ContainerNotFoundError",
    "Coordinate",
    "DeviceError",
    "DeviceNotFoundError",
    "DeviceUnavailableError",
    "DispatchError",
    "EmulatorError",
    "EnterText",
    "EnvelopeMalformedError",
    "EnvelopeTimeoutError",
    "ErrorCode",
    "Execution",
    "ExecutionConflictError",
    "ExecutionValidationError",
    "ExpectationError",
    "LeaseError",
    "LogcatError",
    "NavigationTimeoutError",
    "NoDeviceError",
    "NodeMatcher",
    "NodeNotFoundError",
    "OpenApp",
    "OpenUri",
    "OperatorNotReadyError",
    "PayloadError",
    "PayloadRefusedError",
    "PayloadTooLargeError",
    "PressKey",
    "Problem",
    "ReadKeyValuePair",
    "ReadText",
    "ResultEnvelope",
    "Retry",
    "Scroll",
    "ScrollAndClick",
    "ScrollUntil",
    "ShellError",
    "Sleep",
    "SnapshotError",
    "SnapshotUi",
    "StartRecording",
    "StepFailedError",
    "StepResult",
    "StopRecording",
    "TakeScreenshot",
    "TransportError",
    "TransportTimeoutError",
    "TypedAction",
    "ValidatorMismatchError",
    "WaitForNavigation",
    "WaitForNode",
    "complete_execution",
    "parse_result_line",
    "parse_result_message",
    "validate_execution",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
