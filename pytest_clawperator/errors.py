"""Every exception and warning of the package; the class tells the stage.

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

What derives from ``AssertionError`` says that the app or the test is wrong, so pytest
and Allure count it as *failed*. Everything else says that the lab is wrong: *broken*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pytest_clawperator import remedies
from pytest_clawperator.error_codes import ErrorCode as ErrorCode
from pytest_clawperator.error_codes import known_code as known_code
from pytest_clawperator.redaction.redaction import hide
from pytest_clawperator.visible_text import visible

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


# What is wrong with a file is nothing that an examination of the device would find.
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
    """The device is held by somebody else, or waiting for it took too long."""

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
    """The envelope says that a step failed.

    ``envelope`` is the whole result, ``step`` the failed step, or None where the Operator
    gave up without step results. Where a node was looked for, ``matcher`` says which,
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
