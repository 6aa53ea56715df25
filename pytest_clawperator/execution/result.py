"""The result of a run: the envelope, and what only the run knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from typing_extensions import Self, override

from pytest_clawperator.contracts.envelope import ResultEnvelope, StepResult, failure
from pytest_clawperator.contracts.log import LogEntry, parse_log_line
from pytest_clawperator.contracts.payload import Action
from pytest_clawperator.errors import (
    ClawperatorError,
    ErrorCode,
    ExecutionsOnlyError,
    ShellError,
    SnapshotError,
)

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Snapshot


@dataclass(frozen=True)
class LogSlice:
    """A part of the device's log, kept as it came and parsed when asked.

    ``lacking`` says why there is none, where that is not because nothing was logged.
    """

    lines: Sequence[bytes] = ()
    lacking: str = ""

    def __iter__(self) -> Iterator[LogEntry]:
        if self.lacking:  # no entries would look like a device that logged nothing
            raise ExecutionsOnlyError(f"the log of an execution is not here: {self.lacking}")
        return filter(None, map(parse_log_line, self.lines))

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        why = f": {self.lacking}" if self.lacking else ""
        return f"<{type(self).__name__} of {len(self.lines)} lines{why}>"

    def __str__(self) -> str:
        return b"\n".join(self.lines).decode("utf-8", "replace")


class RunStep(StepResult):
    """The result of one action of a run, with its device."""

    serial: str | None = None
    is_recovered: bool = False
    """Whether it was recovered from the device's log, because the envelope has no results."""

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, recovered>" if self.is_recovered else super().__repr__()

    @cached_property
    def snapshot(self) -> Snapshot:
        """The screen that a snapshot step captured."""
        # XML is parsed when somebody looks at it; who only passes it on starts sooner.
        from pytest_clawperator.snapshot.tree import Snapshot

        text = self.data.get("text")
        if text is None:
            raise SnapshotError(
                f"{self} and holds no snapshot",
                code=ErrorCode.SNAPSHOT_EXTRACTION_FAILED,
                serial=self.serial,
                hint="Only a snapshot_ui step that succeeded has one.",
            )
        try:
            return Snapshot.from_step(text, self.data)
        except SnapshotError as error:
            error.serial = self.serial
            raise


class RunResult(ResultEnvelope):
    """The envelope of a run on one device.

    ``elapsed`` is seconds from the broadcast to the processed envelope, ``log`` what the
    device logged meanwhile, ``screenshot`` the picture that was taken, if one was, and
    ``screenshot_error`` why none could be.
    The Operator drops the results of the steps before a hard failure: ``recovered`` are
    those steps, told by the log, and ``stopped_at`` is the action that failed.
    ``last_look`` is the newest of the looks at the screen that were sent along with actions to
    prove them; their steps are in no envelope.
    """

    steps: tuple[RunStep, ...]
    serial: str
    elapsed: float
    terminal_source: str = "clawperator_result"
    log: LogSlice = LogSlice()
    screenshot: bytes | None = None
    screenshot_error: str | None = None
    recovered: tuple[RunStep, ...] = ()
    stopped_at: Action | None = None
    last_look: RunStep | None = None

    @classmethod
    def of(cls, envelope: ResultEnvelope, **about: Any) -> RunResult:
        """Return a processed envelope with what the run knows."""
        steps = tuple(_run_step(step, about["serial"]) for step in envelope.steps)
        looks = [step.look for step in steps if step.look is not None]
        fields = {**envelope.__dict__, "steps": steps, **about}
        if looks:
            fields["last_look"] = looks[-1]
        return cls.model_construct(envelope.model_fields_set | about.keys(), **fields)

    @override
    def __str__(self) -> str:
        return repr(self)

    @override
    def step(self, id: str) -> RunStep:
        """Return the result of the action with this id, the first of several."""
        found = super().step(id)
        assert isinstance(found, RunStep)
        return found

    @override
    def raise_for_status(self) -> Self:
        """Raise a typed error if anything failed, else return the result itself."""
        __tracebackhide__ = True
        if self.code is None:
            return self
        raise error_of(self)


def _run_step(step: StepResult, serial: str) -> RunStep:
    look = None if step.look is None else _run_step(step.look, serial)
    return RunStep.model_construct(None, **{**vars(step), "serial": serial, "look": look})


_NO_FILE = "Give take_screenshot a path of this machine that can be written, or none."
_NO_PICTURE = (
    "Try `adb exec-out screencap -p > screen.png`: a device that is full, or that protects its "
    "screen, gives no picture."
)


def error_of(result: RunResult) -> ClawperatorError:
    """Return the error of a failed run."""
    code = result.code or ErrorCode.EXECUTION_FAILED
    error = failure(code, envelope=result, step=next(iter(result.failed_steps), None))
    error.serial = result.serial
    if code is ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT and result.screenshot_error:
        hint = _NO_FILE if "cannot be written" in result.screenshot_error else _NO_PICTURE
        return ShellError(
            f"the screenshot could not be taken: {result.screenshot_error}",
            code=code,
            serial=result.serial,
            hint=hint,
            details=error.details,
        )
    return error
