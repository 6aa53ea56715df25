"""Android UI tests in pytest, through the Clawperator Operator app.

The names below are the public ones. They are resolved when first used, so that importing
the package, as pytest does in every project it is installed in, costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_clawperator.connect import connect

if TYPE_CHECKING:
    from pytest_clawperator.assertions.envelope import EnvelopeAssertions
    from pytest_clawperator.assertions.expect import expect
    from pytest_clawperator.assertions.golden.store import GoldenStore
    from pytest_clawperator.assertions.locator import LocatorAssertions
    from pytest_clawperator.assertions.screen import ScreenAssertions, SnapshotAssertions
    from pytest_clawperator.client.batch.batch import Batch
    from pytest_clawperator.client.batch.sending import BatchStep
    from pytest_clawperator.client.client import Clawperator
    from pytest_clawperator.client.device.device import Device
    from pytest_clawperator.client.locator import Locator
    from pytest_clawperator.client.scroll_outcome import ScrollOutcome
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
    from pytest_clawperator.contracts.completion import complete_execution, override_timeout
    from pytest_clawperator.contracts.device import DeviceInfo
    from pytest_clawperator.contracts.envelope import (
        ResultEnvelope,
        StepResult,
        parse_result_line,
        parse_result_message,
    )
    from pytest_clawperator.contracts.events import (
        ArtifactMade,
        Event,
        ExecutionFinished,
        ExecutionStarted,
        Notice,
        Observer,
    )
    from pytest_clawperator.contracts.params import ActionParams, Coordinate
    from pytest_clawperator.contracts.payload import (
        Action,
        Execution,
        validate_execution,
    )
    from pytest_clawperator.contracts.selectors import NodeMatcher
    from pytest_clawperator.devices.pool import Candidate, Lease
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
    from pytest_clawperator.execution.result import LogSlice, RunResult, RunStep
    from pytest_clawperator.plugin.evidence.artifacts import Artifacts
    from pytest_clawperator.plugin.input.settings import Settings
    from pytest_clawperator.plugin.leasing.simulated_phones import SimulatorScenario
    from pytest_clawperator.plugin.leasing.spare_devices import SeveralDevices
    from pytest_clawperator.snapshot.bounds import Bounds
    from pytest_clawperator.snapshot.query import NoMatch
    from pytest_clawperator.snapshot.tree import Node, Snapshot
    from pytest_clawperator.transport.interface import ShellResult, Transport

_ACTIONS = "pytest_clawperator.contracts.actions"
_COMPLETION = "pytest_clawperator.contracts.completion"
_ENVELOPE = "pytest_clawperator.contracts.envelope"
_ERRORS = "pytest_clawperator.errors"
_PARAMS = "pytest_clawperator.contracts.params"
_EVENTS = "pytest_clawperator.contracts.events"
_PAYLOAD = "pytest_clawperator.contracts.payload"
_RESULT = "pytest_clawperator.execution.result"
_TREE = "pytest_clawperator.snapshot.tree"
_SELECTORS = "pytest_clawperator.contracts.selectors"

_HOMES = {
    "Action": _PAYLOAD,
    "ActionParams": _PARAMS,
    "AdbUnavailableError": _ERRORS,
    "AmbiguousDeviceError": _ERRORS,
    "ArtifactMade": _EVENTS,
    "Artifacts": "pytest_clawperator.plugin.evidence.artifacts",
    "Batch": "pytest_clawperator.client.batch.batch",
    "BatchStep": "pytest_clawperator.client.batch.sending",
    "Bounds": "pytest_clawperator.snapshot.bounds",
    "BroadcastError": _ERRORS,
    "Candidate": "pytest_clawperator.devices.pool",
    "Clawperator": "pytest_clawperator.client.client",
    "ClawperatorError": _ERRORS,
    "ClawperatorWarning": _ERRORS,
    "Click": _ACTIONS,
    "CloseApp": _ACTIONS,
    "ConfigurationError": _ERRORS,
    "ContainerNotFoundError": _ERRORS,
    "Coordinate": _PARAMS,
    "Device": "pytest_clawperator.client.device.device",
    "DeviceError": _ERRORS,
    "DeviceInfo": "pytest_clawperator.contracts.device",
    "DeviceNotFoundError": _ERRORS,
    "DeviceUnavailableError": _ERRORS,
    "DispatchError": _ERRORS,
    "EmulatorError": _ERRORS,
    "EnterText": _ACTIONS,
    "EnvelopeAssertions": "pytest_clawperator.assertions.envelope",
    "EnvelopeMalformedError": _ERRORS,
    "EnvelopeTimeoutError": _ERRORS,
    "ErrorCode": _ERRORS,
    "Event": _EVENTS,
    "Execution": _PAYLOAD,
    "ExecutionConflictError": _ERRORS,
    "ExecutionFinished": _EVENTS,
    "ExecutionStarted": _EVENTS,
    "ExecutionValidationError": _ERRORS,
    "ExpectationError": _ERRORS,
    "GoldenStore": "pytest_clawperator.assertions.golden.store",
    "Lease": "pytest_clawperator.devices.pool",
    "LeaseError": _ERRORS,
    "Locator": "pytest_clawperator.client.locator",
    "LocatorAssertions": "pytest_clawperator.assertions.locator",
    "LogSlice": _RESULT,
    "LogcatError": _ERRORS,
    "NavigationTimeoutError": _ERRORS,
    "NoDeviceError": _ERRORS,
    "NoMatch": "pytest_clawperator.snapshot.query",
    "Node": _TREE,
    "NodeMatcher": _SELECTORS,
    "NodeNotFoundError": _ERRORS,
    "Notice": _EVENTS,
    "Observer": _EVENTS,
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
    "RunResult": _RESULT,
    "RunStep": _RESULT,
    "ScreenAssertions": "pytest_clawperator.assertions.screen",
    "Scroll": _ACTIONS,
    "ScrollAndClick": _ACTIONS,
    "ScrollOutcome": "pytest_clawperator.client.scroll_outcome",
    "ScrollUntil": _ACTIONS,
    "Settings": "pytest_clawperator.plugin.input.settings",
    "SeveralDevices": "pytest_clawperator.plugin.leasing.spare_devices",
    "ShellError": _ERRORS,
    "ShellResult": "pytest_clawperator.transport.interface",
    "SimulatorScenario": "pytest_clawperator.plugin.leasing.simulated_phones",
    "Sleep": _ACTIONS,
    "Snapshot": _TREE,
    "SnapshotAssertions": "pytest_clawperator.assertions.screen",
    "SnapshotError": _ERRORS,
    "SnapshotUi": _ACTIONS,
    "StartRecording": _ACTIONS,
    "StepFailedError": _ERRORS,
    "StepResult": _ENVELOPE,
    "StopRecording": _ACTIONS,
    "TakeScreenshot": _ACTIONS,
    "Transport": "pytest_clawperator.transport.interface",
    "TransportError": _ERRORS,
    "TransportTimeoutError": _ERRORS,
    "TypedAction": _ACTIONS,
    "ValidatorMismatchError": _ERRORS,
    "WaitForNavigation": _ACTIONS,
    "WaitForNode": _ACTIONS,
    "complete_execution": _COMPLETION,
    "expect": "pytest_clawperator.assertions.expect",
    "override_timeout": _COMPLETION,
    "parse_result_line": _ENVELOPE,
    "parse_result_message": _ENVELOPE,
    "validate_execution": _PAYLOAD,
}

__all__ = [
    "Action",
    "ActionParams",
    "AdbUnavailableError",
    "AmbiguousDeviceError",
    "ArtifactMade",
    "Artifacts",
    "Batch",
    "BatchStep",
    "Bounds",
    "BroadcastError",
    "Candidate",
    "Clawperator",
    "ClawperatorError",
    "ClawperatorWarning",
    "Click",
    "CloseApp",
    "ConfigurationError",
    "ContainerNotFoundError",
    "Coordinate",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceNotFoundError",
    "DeviceUnavailableError",
    "DispatchError",
    "EmulatorError",
    "EnterText",
    "EnvelopeAssertions",
    "EnvelopeMalformedError",
    "EnvelopeTimeoutError",
    "ErrorCode",
    "Event",
    "Execution",
    "ExecutionConflictError",
    "ExecutionFinished",
    "ExecutionStarted",
    "ExecutionValidationError",
    "ExpectationError",
    "GoldenStore",
    "Lease",
    "LeaseError",
    "Locator",
    "LocatorAssertions",
    "LogSlice",
    "LogcatError",
    "NavigationTimeoutError",
    "NoDeviceError",
    "NoMatch",
    "Node",
    "NodeMatcher",
    "NodeNotFoundError",
    "Notice",
    "Observer",
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
    "RunResult",
    "RunStep",
    "ScreenAssertions",
    "Scroll",
    "ScrollAndClick",
    "ScrollOutcome",
    "ScrollUntil",
    "Settings",
    "SeveralDevices",
    "ShellError",
    "ShellResult",
    "SimulatorScenario",
    "Sleep",
    "Snapshot",
    "SnapshotAssertions",
    "SnapshotError",
    "SnapshotUi",
    "StartRecording",
    "StepFailedError",
    "StepResult",
    "StopRecording",
    "TakeScreenshot",
    "Transport",
    "TransportError",
    "TransportTimeoutError",
    "TypedAction",
    "ValidatorMismatchError",
    "WaitForNavigation",
    "WaitForNode",
    "complete_execution",
    "connect",
    "expect",
    "override_timeout",
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
