"""Every exception, warning and error code of the package; the class shows the stage.

    ClawperatorError(Exception)
    ├── ConfigurationError
    │   └── ExecutionsOnlyError
    ├── PayloadError
    │   ├── ExecutionValidationError
    │   └── PayloadTooLargeError
    ├── DeviceError
    │   ├── NoDeviceError
    │   ├── AmbiguousDeviceError
    │   ├── DeviceNotFoundError
    │   ├── DeviceUnavailableError
    │   ├── LeaseError
    │   ├── OperatorNotReadyError
    │   └── EmulatorError
    ├── TransportError
    │   ├── AdbUnavailableError
    │   ├── ShellError
    │   ├── LogcatError
    │   └── TransportTimeoutError
    ├── DispatchError
    │   ├── BroadcastError
    │   ├── ExecutionConflictError
    │   ├── PayloadRefusedError
    │   ├── EnvelopeTimeoutError
    │   └── EnvelopeMalformedError
    ├── SnapshotError
    ├── SkillError
    │   └── SkillFailedError(AssertionError)
    └── StepFailedError(AssertionError)
        ├── NodeNotFoundError
        ├── ContainerNotFoundError
        ├── NavigationTimeoutError
        └── ValidatorMismatchError
    ExpectationError(AssertionError)
    ClawperatorWarning(UserWarning)

Classes that derive from ``AssertionError`` mean that the app or the test is wrong, so pytest
and Allure count them as *failed*. All others mean that the lab is wrong: *broken*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

from pytest_clawperator import remedies
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible


class ErrorCode(str, Enum):
    """Every code this package knows. A code it does not know stays a plain string."""

    # The payload
    EXECUTION_VALIDATION_FAILED = "EXECUTION_VALIDATION_FAILED"
    EXECUTION_ACTION_UNSUPPORTED = "EXECUTION_ACTION_UNSUPPORTED"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    MISSING_ARGUMENT = "MISSING_ARGUMENT"
    MISSING_SELECTOR = "MISSING_SELECTOR"
    CONFIGURATION_INVALID = "CONFIGURATION_INVALID"
    TEST_FILE_INVALID = "TEST_FILE_INVALID"
    USAGE = "USAGE"
    UNKNOWN_COMMAND = "UNKNOWN_COMMAND"

    # Host and adb
    HOST_DEPENDENCY_MISSING = "HOST_DEPENDENCY_MISSING"
    NODE_TOO_OLD = "NODE_TOO_OLD"
    ADB_NOT_FOUND = "ADB_NOT_FOUND"
    ADB_SERVER_FAILED = "ADB_SERVER_FAILED"
    ADB_NO_USB_PERMISSIONS = "ADB_NO_USB_PERMISSIONS"
    ADB_VERSION_MISMATCH = "ADB_VERSION_MISMATCH"
    ADB_SEVERAL_SERVERS = "ADB_SEVERAL_SERVERS"
    LOGCAT_UNAVAILABLE = "LOGCAT_UNAVAILABLE"
    TRANSPORT_TIMEOUT = "TRANSPORT_TIMEOUT"
    FILE_UNAVAILABLE = "FILE_UNAVAILABLE"
    REMOTE_HOST_UNREACHABLE = "REMOTE_HOST_UNREACHABLE"
    REMOTE_ANSWER_UNREADABLE = "REMOTE_ANSWER_UNREADABLE"
    SCRCPY_NOT_FOUND = "SCRCPY_NOT_FOUND"

    # Choosing a device
    NO_DEVICES = "NO_DEVICES"
    MULTIPLE_DEVICES_DEVICE_ID_REQUIRED = "MULTIPLE_DEVICES_DEVICE_ID_REQUIRED"
    DEVICE_NOT_FOUND = "DEVICE_NOT_FOUND"
    DEVICE_UNAUTHORIZED = "DEVICE_UNAUTHORIZED"
    DEVICE_OFFLINE = "DEVICE_OFFLINE"
    DEVICE_LEASED = "DEVICE_LEASED"
    DEVICE_SHELL_UNAVAILABLE = "DEVICE_SHELL_UNAVAILABLE"
    DEVICE_COMMAND_FAILED = "DEVICE_COMMAND_FAILED"
    DEVICE_DEV_OPTIONS_DISABLED = "DEVICE_DEV_OPTIONS_DISABLED"
    DEVICE_USB_DEBUGGING_DISABLED = "DEVICE_USB_DEBUGGING_DISABLED"
    DEVICE_ACCESSIBILITY_NOT_RUNNING = "DEVICE_ACCESSIBILITY_NOT_RUNNING"

    # What a check of a device finds
    DEVICE_UI_AUTOMATION_BUSY = "DEVICE_UI_AUTOMATION_BUSY"
    DEVICE_LOG_LEVEL = "DEVICE_LOG_LEVEL"
    DEVICE_LOG_SUPPRESSED = "DEVICE_LOG_SUPPRESSED"
    DEVICE_LOG_BUFFER_SMALL = "DEVICE_LOG_BUFFER_SMALL"
    DEVICE_ANIMATIONS_ON = "DEVICE_ANIMATIONS_ON"
    DEVICE_INPUT_GUARDED = "DEVICE_INPUT_GUARDED"
    DEVICE_SCREEN_OFF = "DEVICE_SCREEN_OFF"
    DEVICE_SCREEN_LOCKED = "DEVICE_SCREEN_LOCKED"
    DEVICE_BATTERY_SAVER_ON = "DEVICE_BATTERY_SAVER_ON"
    DEVICE_STORAGE_LOW = "DEVICE_STORAGE_LOW"
    DEVICE_CLOCK_WRONG = "DEVICE_CLOCK_WRONG"
    OPERATOR_RESTRICTED = "OPERATOR_RESTRICTED"

    # The Operator app
    OPERATOR_NOT_INSTALLED = "OPERATOR_NOT_INSTALLED"
    OPERATOR_VARIANT_MISMATCH = "OPERATOR_VARIANT_MISMATCH"
    OPERATOR_CRASHED = "OPERATOR_CRASHED"
    OPERATOR_APK_NOT_FOUND = "OPERATOR_APK_NOT_FOUND"
    OPERATOR_DOWNLOAD_FAILED = "OPERATOR_DOWNLOAD_FAILED"
    OPERATOR_CHECKSUM_MISMATCH = "OPERATOR_CHECKSUM_MISMATCH"
    OPERATOR_INSTALL_FAILED = "OPERATOR_INSTALL_FAILED"
    OPERATOR_GRANT_FAILED = "OPERATOR_GRANT_FAILED"
    GRANT_DEVICE_PERMISSIONS_FAILED = "GRANT_DEVICE_PERMISSIONS_FAILED"
    OPERATOR_VERIFY_FAILED = "OPERATOR_VERIFY_FAILED"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"
    APK_VERSION_UNREADABLE = "APK_VERSION_UNREADABLE"
    APK_VERSION_INVALID = "APK_VERSION_INVALID"
    CLI_VERSION_INVALID = "CLI_VERSION_INVALID"
    VERSION_INCOMPATIBLE = "VERSION_INCOMPATIBLE"
    DOCTOR_FAILED = "DOCTOR_FAILED"
    SMOKE_OPEN_SETTINGS_FAILED = "SMOKE_OPEN_SETTINGS_FAILED"
    ANDROID_BUILD_FAILED = "ANDROID_BUILD_FAILED"
    ANDROID_INSTALL_FAILED = "ANDROID_INSTALL_FAILED"
    ANDROID_APP_LAUNCH_FAILED = "ANDROID_APP_LAUNCH_FAILED"

    # Sending, and the answer
    BROADCAST_FAILED = "BROADCAST_FAILED"
    PAYLOAD_REJECTED = "PAYLOAD_REJECTED"
    EXECUTION_CONFLICT_IN_FLIGHT = "EXECUTION_CONFLICT_IN_FLIGHT"
    RESULT_ENVELOPE_TIMEOUT = "RESULT_ENVELOPE_TIMEOUT"
    RESULT_ENVELOPE_MALFORMED = "RESULT_ENVELOPE_MALFORMED"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    EXECUTION_TIMED_OUT = "EXECUTION_TIMED_OUT"

    # A step
    NODE_NOT_FOUND = "NODE_NOT_FOUND"
    NODE_NOT_CLICKABLE = "NODE_NOT_CLICKABLE"
    NODE_HAS_NO_TEXT = "NODE_HAS_NO_TEXT"
    NODE_AMBIGUOUS = "NODE_AMBIGUOUS"
    SECURITY_BLOCK_DETECTED = "SECURITY_BLOCK_DETECTED"
    CONTAINER_NOT_FOUND = "CONTAINER_NOT_FOUND"
    CONTAINER_NOT_SCROLLABLE = "CONTAINER_NOT_SCROLLABLE"
    CONTAINER_LOST = "CONTAINER_LOST"
    TARGET_NOT_FOUND = "TARGET_NOT_FOUND"
    GESTURE_FAILED = "GESTURE_FAILED"
    GLOBAL_ACTION_FAILED = "GLOBAL_ACTION_FAILED"
    NAVIGATION_TIMEOUT = "NAVIGATION_TIMEOUT"
    VALIDATOR_MISMATCH = "VALIDATOR_MISMATCH"
    INVALID_REGEX_PATTERN = "INVALID_REGEX_PATTERN"
    VALUE_NODE_NOT_FOUND = "VALUE_NODE_NOT_FOUND"
    URI_NOT_HANDLED = "URI_NOT_HANDLED"
    APP_NOT_FOUND = "APP_NOT_FOUND"
    UNSUPPORTED_RUNTIME_CLOSE = "UNSUPPORTED_RUNTIME_CLOSE"
    UNSUPPORTED_RUNTIME_SCREENSHOT = "UNSUPPORTED_RUNTIME_SCREENSHOT"
    EXPECTATION_FAILED = "EXPECTATION_FAILED"
    APP_CRASHED = "APP_CRASHED"

    # What is on the screen
    SNAPSHOT_EXTRACTION_FAILED = "SNAPSHOT_EXTRACTION_FAILED"
    SNAPSHOT_UNREADABLE = "SNAPSHOT_UNREADABLE"
    XPATH_INVALID = "XPATH_INVALID"
    UI_TREE_UNAVAILABLE = "UI_TREE_UNAVAILABLE"
    GOLDEN_UNREADABLE = "GOLDEN_UNREADABLE"

    # Recording
    RECORDING_ALREADY_IN_PROGRESS = "RECORDING_ALREADY_IN_PROGRESS"
    RECORDING_NOT_IN_PROGRESS = "RECORDING_NOT_IN_PROGRESS"
    RECORDING_STORAGE_UNAVAILABLE = "RECORDING_STORAGE_UNAVAILABLE"
    RECORDING_START_FAILED = "RECORDING_START_FAILED"
    RECORDING_STOP_FAILED = "RECORDING_STOP_FAILED"
    RECORDING_SESSION_NOT_FOUND = "RECORDING_SESSION_NOT_FOUND"
    RECORDING_PULL_FAILED = "RECORDING_PULL_FAILED"
    RECORDING_PARSE_FAILED = "RECORDING_PARSE_FAILED"
    RECORDING_SCHEMA_VERSION_UNSUPPORTED = "RECORDING_SCHEMA_VERSION_UNSUPPORTED"

    # Skills
    REGISTRY_READ_FAILED = "REGISTRY_READ_FAILED"
    SKILL_NOT_FOUND = "SKILL_NOT_FOUND"
    SKILL_VALIDATION_FAILED = "SKILL_VALIDATION_FAILED"
    SKILL_SCRIPT_NOT_FOUND = "SKILL_SCRIPT_NOT_FOUND"
    SKILL_EXECUTION_FAILED = "SKILL_EXECUTION_FAILED"
    SKILL_EXECUTION_TIMEOUT = "SKILL_EXECUTION_TIMEOUT"
    SKILL_OUTPUT_ASSERTION_FAILED = "SKILL_OUTPUT_ASSERTION_FAILED"
    SKILL_ID_INVALID = "SKILL_ID_INVALID"
    SKILL_ALREADY_EXISTS = "SKILL_ALREADY_EXISTS"
    ARTIFACT_NOT_FOUND = "ARTIFACT_NOT_FOUND"
    COMPILE_VARS_PARSE_FAILED = "COMPILE_VARS_PARSE_FAILED"
    COMPILE_VAR_MISSING = "COMPILE_VAR_MISSING"
    COMPILE_VAR_UNKNOWN = "COMPILE_VAR_UNKNOWN"
    COMPILE_VALIDATION_FAILED = "COMPILE_VALIDATION_FAILED"
    SKILLS_GIT_NOT_FOUND = "SKILLS_GIT_NOT_FOUND"
    SKILLS_SYNC_FAILED = "SKILLS_SYNC_FAILED"
    SKILLS_SCAFFOLD_FAILED = "SKILLS_SCAFFOLD_FAILED"

    # Emulators
    ANDROID_SDK_TOOL_MISSING = "ANDROID_SDK_TOOL_MISSING"
    ANDROID_SYSTEM_IMAGE_INSTALL_FAILED = "ANDROID_SYSTEM_IMAGE_INSTALL_FAILED"
    ANDROID_AVD_CREATE_FAILED = "ANDROID_AVD_CREATE_FAILED"
    EMULATOR_NOT_FOUND = "EMULATOR_NOT_FOUND"
    EMULATOR_ALREADY_RUNNING = "EMULATOR_ALREADY_RUNNING"
    EMULATOR_NOT_RUNNING = "EMULATOR_NOT_RUNNING"
    EMULATOR_UNSUPPORTED = "EMULATOR_UNSUPPORTED"
    EMULATOR_CREATE_FAILED = "EMULATOR_CREATE_FAILED"
    EMULATOR_START_FAILED = "EMULATOR_START_FAILED"
    EMULATOR_STOP_FAILED = "EMULATOR_STOP_FAILED"
    EMULATOR_DELETE_FAILED = "EMULATOR_DELETE_FAILED"
    EMULATOR_BOOT_TIMEOUT = "EMULATOR_BOOT_TIMEOUT"
    #: A tool of the SDK or a console failed in a way without a specific code.
    UNKNOWN = "UNKNOWN"

    # Names from before the Receiver was called the Operator
    RECEIVER_NOT_INSTALLED = "OPERATOR_NOT_INSTALLED"  # noqa: PIE796 - an alias on purpose

    def __str__(self) -> str:
        return self.value

    @classmethod
    def _missing_(cls, value: object) -> ErrorCode | None:
        return cls.OPERATOR_NOT_INSTALLED if value == "RECEIVER_NOT_INSTALLED" else None


def known_code(code: str) -> ErrorCode | str:
    """Return the enum member for ``code``, or ``code`` itself if only a newer Operator knows it."""
    try:
        return ErrorCode(code)
    except ValueError:
        return code


#: What Python raises for a file that cannot be used: the system's refusal, or a path that no
#: file can have, with a NUL or a lone surrogate in it.
UNUSABLE_FILE = (OSError, ValueError)


def is_file(path: Path) -> bool:
    """Whether there is a file; False also for a path that no file can have."""
    try:
        return path.is_file()
    except UNUSABLE_FILE:
        return False


def file_problem(error: OSError | ValueError) -> str:
    """Return in a few words why a file cannot be used."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "the path holds a character that no file name can have"


def _safe(text: str) -> str:
    """Return a text that may be shown: without secrets, and with control characters visible."""
    return visible(hide(text))


def _rebuild(cls: type[_Explained], args: tuple[Any, ...], state: dict[str, Any]) -> _Explained:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


# Problems with a file, which an examination of the device would not find.
_ABOUT_A_FILE = (
    ErrorCode.OPERATOR_APK_NOT_FOUND,
    ErrorCode.OPERATOR_CHECKSUM_MISMATCH,
    ErrorCode.OPERATOR_DOWNLOAD_FAILED,
)


class _Explained(BaseException):
    """What every error of ours carries, so that a reader knows the cause and the next step.

    ``advice`` is what to do next, as data; ``hint`` is the same in words, which ``wording``
    chooses for the reader: those of scripts, unless a front puts its own there. Every hint of
    a class ends in its ``last_resort``.
    """

    default_code: ClassVar[ErrorCode | str] = ErrorCode.EXECUTION_FAILED
    last_resort: ClassVar[remedies.Remedy | None] = None

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | str | None = None,
        serial: str | None = None,
        hint: remedies.Hint | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code: ErrorCode | str = known_code(code) if code is not None else self.default_code
        self.serial = serial
        last = None if self.code in _ABOUT_A_FILE else self.last_resort
        self.advice = remedies.with_remedy(remedies.parts_of(hint), last)
        self.wording: remedies.Wording = remedies.for_scripts
        self.details: dict[str, Any] = dict(details or {})

    @property
    def hint(self) -> str | None:
        """What to do next, in the words of the reader."""
        return remedies.in_words(self.advice, self.wording)

    @hint.setter
    def hint(self, text: str | None) -> None:
        self.advice = remedies.parts_of(text)

    def add_hint(self, sentence: str) -> None:
        """Append a sentence to the hint."""
        if not self.advice:
            self.advice = (sentence,)
            return
        stop = "" if isinstance(self.advice[-1], str) else "."
        self.advice = (*self.advice, f"{stop} {sentence}")

    def __str__(self) -> str:
        device = f"[{self.serial}] " if self.serial else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return _safe(f"{device}{self.code}: {self.message}{self._evidence()}{hint}")

    def __repr__(self) -> str:
        return hide(super().__repr__())

    def _evidence(self) -> str:
        """Return what stands between the message and the hint, each line after a line break."""
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default rebuilds from `args` alone and would lose code, serial, advice and details
        # on the way from an xdist worker.
        return _rebuild, (type(self), self.args, self.__dict__)


class ClawperatorError(_Explained, Exception):
    """The root of everything this package raises about payloads, devices, runs and steps."""


class ConfigurationError(ClawperatorError):
    """An option, ini value or marker makes no sense."""

    default_code = ErrorCode.CONFIGURATION_INVALID


class ExecutionsOnlyError(ConfigurationError):
    """The device is behind a host that runs executions, and what is asked for needs more."""

    default_code = ErrorCode.DEVICE_SHELL_UNAVAILABLE
    last_resort = remedies.Remedy(remedies.RemedyKind.CONNECT_BY_ADB)


class PayloadError(ClawperatorError):
    """The payload was refused before anything was sent."""

    default_code = ErrorCode.EXECUTION_VALIDATION_FAILED


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a payload.

    ``path`` is dotted text from the root (``""`` is the root itself), ``message`` a whole
    sentence. ``found``, ``allowed`` and ``suggestion`` are for a person, where they help;
    ``unknown_keys`` are the keys that the object at ``path`` may not have.
    """

    path: str
    message: str
    found: str | None = None
    allowed: str | None = None
    suggestion: str | None = None
    unknown_keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"at {self.path}" if self.path else "at the top of the payload"
        lines = [f"{self.message} ({where})"]
        if self.found is not None:
            lines.append(f"  found: {self.found}")
        if self.allowed is not None:
            lines.append(f"  allowed: {self.allowed}")
        if self.suggestion is not None:
            lines.append(f"  did you mean `{self.suggestion}`?")
        return "\n".join(lines)


class ExecutionValidationError(PayloadError):
    """The payload breaks the contract; ``problems`` lists every break, ``path`` is the first's."""

    shown_problems: ClassVar[int] = 10

    def __init__(
        self,
        problems: Sequence[Problem],
        *,
        hint: remedies.Hint | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        first = problems[0]
        super().__init__(first.message, hint=hint, details={"path": first.path, **(details or {})})
        self.path = first.path
        self.problems = tuple(problems)

    def __str__(self) -> str:
        shown = [str(problem) for problem in self.problems[: self.shown_problems]]
        rest = len(self.problems) - len(shown)
        if len(self.problems) == 1:
            text = f"{self.code}: {shown[0]}"
        else:
            blocks = [f"{n}. {text}" for n, text in enumerate(shown, 1)]
            if rest:
                blocks.append(f"... and {rest} more")
            text = "\n".join([f"{self.code}: {len(self.problems)} problems", *blocks])
        return _safe(f"{text}\n  hint: {self.hint}" if self.hint else text)


class PayloadTooLargeError(PayloadError):
    """The payload is longer than the device takes."""

    default_code = ErrorCode.PAYLOAD_TOO_LARGE


class DeviceError(ClawperatorError):
    """There is no usable device."""

    default_code = ErrorCode.DEVICE_NOT_FOUND


class NoDeviceError(DeviceError):
    """No device is connected."""

    default_code = ErrorCode.NO_DEVICES


class AmbiguousDeviceError(DeviceError):
    """Several devices are connected and none was chosen."""

    default_code = ErrorCode.MULTIPLE_DEVICES_DEVICE_ID_REQUIRED


class DeviceNotFoundError(DeviceError):
    """The chosen device is not there."""


class DeviceUnavailableError(DeviceError):
    """The chosen device is there, but offline or unauthorized."""

    default_code = ErrorCode.DEVICE_OFFLINE


class LeaseError(DeviceError):
    """Another holder has the device, or waiting for it took too long."""

    default_code = ErrorCode.DEVICE_LEASED


class OperatorNotReadyError(DeviceError):
    """The Operator app is absent, of the other variant, switched off or crashed."""

    default_code = ErrorCode.SERVICE_UNAVAILABLE
    last_resort = remedies.Remedy(remedies.RemedyKind.RUN_DOCTOR)


class EmulatorError(DeviceError):
    """An emulator could not be found, made, started or stopped."""

    default_code = ErrorCode.EMULATOR_START_FAILED


class TransportError(ClawperatorError):
    """The device or its adb server could not be reached, or refused."""

    default_code = ErrorCode.DEVICE_SHELL_UNAVAILABLE


class AdbUnavailableError(TransportError):
    """No adb server answers, and none could be started."""

    default_code = ErrorCode.ADB_NOT_FOUND


class ShellError(TransportError):
    """A device command failed."""


class LogcatError(TransportError):
    """The device's log cannot be read."""

    default_code = ErrorCode.LOGCAT_UNAVAILABLE
    last_resort = remedies.Remedy(remedies.RemedyKind.RUN_DOCTOR)


class TransportTimeoutError(TransportError):
    """The device did not answer in time."""

    default_code = ErrorCode.TRANSPORT_TIMEOUT


class DispatchError(ClawperatorError):
    """The payload was sent, but no usable envelope came back."""

    default_code = ErrorCode.RESULT_ENVELOPE_TIMEOUT


class BroadcastError(DispatchError):
    """The device did not take the broadcast."""

    default_code = ErrorCode.BROADCAST_FAILED


class ExecutionConflictError(DispatchError):
    """Another execution is in flight on the device."""

    default_code = ErrorCode.EXECUTION_CONFLICT_IN_FLIGHT


class PayloadRefusedError(DispatchError):
    """The Operator did not accept the payload."""

    default_code = ErrorCode.PAYLOAD_REJECTED


class EnvelopeTimeoutError(DispatchError):
    """No envelope came in time."""

    last_resort = remedies.Remedy(remedies.RemedyKind.RUN_DOCTOR)


class EnvelopeMalformedError(DispatchError):
    """The log line with the result prefix does not hold a result envelope."""

    default_code = ErrorCode.RESULT_ENVELOPE_MALFORMED


class SnapshotError(ClawperatorError):
    """The UI hierarchy is missing or unreadable."""

    default_code = ErrorCode.SNAPSHOT_UNREADABLE


class SkillError(ClawperatorError):
    """A skill, its registry or one of its recipes cannot be used."""

    default_code = ErrorCode.SKILL_NOT_FOUND


class SkillFailedError(SkillError, AssertionError):
    """The script of a skill ran, and failed: by its exit code, its time or what it printed."""

    default_code = ErrorCode.SKILL_EXECUTION_FAILED


class StepFailedError(ClawperatorError, AssertionError):
    """A step failed, according to the envelope.

    ``envelope`` is the whole result, ``step`` the failed step, or None if the Operator
    gave up without step results. If a node was searched, ``matcher`` describes it,
    ``nearest`` are the nodes that come closest and why they do not fit, ``outline`` shows
    the screen in a few lines, and ``snapshot`` is the screen itself.
    """

    shown_lines: ClassVar[int] = 14

    def __init__(
        self,
        message: str,
        *,
        envelope: Any = None,
        step: Any = None,
        matcher: Any = None,
        nearest: Sequence[Any] = (),
        outline: str = "",
        snapshot: Any = None,
        **explained: Any,
    ) -> None:
        super().__init__(message, **explained)
        self.envelope = envelope
        self.step = step
        self.matcher = matcher
        self.nearest = tuple(nearest)
        self.outline = outline
        self.snapshot = snapshot

    def _evidence(self) -> str:
        lines = [f"nearest: {miss}" for miss in self.nearest[:3]]
        if self.outline:
            outline = self.outline.split("\n")
            rest = len(outline) - self.shown_lines
            lines.append("on the screen:")
            lines += [f"  {line}" for line in outline[: self.shown_lines]]
            unit = "line" if rest == 1 else "lines"
            lines += [f"  ... {rest} more {unit} in .outline"] if rest > 0 else []
        return "".join(f"\n  {line}" for line in lines)


class NodeNotFoundError(StepFailedError):
    """No node on the screen fits the matcher."""

    default_code = ErrorCode.NODE_NOT_FOUND


class ContainerNotFoundError(StepFailedError):
    """The container to look in or to scroll is not on the screen."""

    default_code = ErrorCode.CONTAINER_NOT_FOUND


class NavigationTimeoutError(StepFailedError):
    """The expected app or node did not come up in time."""

    default_code = ErrorCode.NAVIGATION_TIMEOUT


class ValidatorMismatchError(StepFailedError):
    """The text that was read is not of the wanted form."""

    default_code = ErrorCode.VALIDATOR_MISMATCH


class ExpectationError(_Explained, AssertionError):
    """An expectation did not come true."""

    default_code = ErrorCode.EXPECTATION_FAILED


class ClawperatorWarning(UserWarning):
    """Something worth knowing that does not stop the run."""

    def __str__(self) -> str:
        return _safe(super().__str__())


def _shown_as_public() -> None:
    """Name the classes in tracebacks and summaries as users import them."""
    for value in tuple(globals().values()):
        if isinstance(value, type) and issubclass(value, (_Explained, ClawperatorWarning)):
            value.__module__ = "pytest_clawperator"


_shown_as_public()
