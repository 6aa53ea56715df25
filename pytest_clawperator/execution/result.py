"""The result of a run, with what only the run knows; and which of the typed texts are secrets."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from typing_extensions import Self, override

from pytest_clawperator import errors
from pytest_clawperator.contracts.ecmascript import utf16_length
from pytest_clawperator.contracts.envelope import ResultEnvelope, StepResult, failure
from pytest_clawperator.contracts.log import LogEntry, parse_log_line
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import Action, Execution
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.redaction import SECRETS

if TYPE_CHECKING:
    from pytest_clawperator.snapshot.tree import Snapshot


@dataclass(frozen=True)
class LogSlice:
    """A part of the device's log, kept as it came and parsed when asked.

    ``lacking`` is the reason why it is missing, if it is.
    """

    lines: Sequence[bytes] = ()
    lacking: str = ""

    def __iter__(self) -> Iterator[LogEntry]:
        if self.lacking:  # an empty log would mean that nothing was logged
            raise errors.ExecutionsOnlyError(f"the log of an execution is not here: {self.lacking}")
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
        # Imported late, with lxml: a program that only passes the XML on starts sooner.
        from pytest_clawperator.snapshot.tree import Snapshot

        if self.action_type != "snapshot_ui":
            raise errors.ConfigurationError(
                f"{self} and holds no snapshot",
                serial=self.serial,
                hint="Only a snapshot_ui step has one.",
            )
        text = self.data.get("text")
        if text is None:
            raise errors.SnapshotError(
                f"{self} and holds no snapshot",
                code=ErrorCode.SNAPSHOT_EXTRACTION_FAILED,
                serial=self.serial,
                hint="Only a snapshot_ui step that succeeded has one.",
            )
        try:
            return Snapshot.from_step(text, self.data)
        except errors.SnapshotError as error:
            error.serial = self.serial
            raise


class RunResult(ResultEnvelope):
    """The envelope of a run on one device.

    ``elapsed`` is seconds from the broadcast to the processed envelope, ``log`` what the
    device logged in that time, ``screenshot`` the picture, if one was taken, and
    ``screenshot_error`` why it could not be.
    The Operator drops the results of the steps before a hard failure: ``recovered`` are
    those steps, taken from the log, and ``stopped_at`` is the action that failed.
    ``last_proof`` is the newest of the snapshots that were sent along with actions to prove them;
    their steps are in no envelope.
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
    last_proof: RunStep | None = None

    @classmethod
    def of(cls, envelope: ResultEnvelope, **about: Any) -> RunResult:
        """Return a processed envelope with what the run knows."""
        steps = tuple(_run_step(step, about["serial"]) for step in envelope.steps)
        proofs = [step.proof for step in steps if step.proof is not None]
        fields = {**envelope.__dict__, "steps": steps, **about}
        if proofs:
            fields["last_proof"] = proofs[-1]
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
    proof = None if step.proof is None else _run_step(step.proof, serial)
    return RunStep.model_construct(None, **{**vars(step), "serial": serial, "proof": proof})


_NO_FILE = "Give take_screenshot a writable path on this machine, or no path."
_NO_PICTURE = (
    "Try `adb exec-out screencap -p > screen.png`: a device that is full, or that protects its "
    "screen, gives no picture."
)


def error_of(result: RunResult) -> errors.ClawperatorError:
    """Return the error of a failed run."""
    code = result.code or ErrorCode.EXECUTION_FAILED
    error = failure(code, envelope=result, step=next(iter(result.failed_steps), None))
    error.serial = result.serial
    if code is ErrorCode.UNSUPPORTED_RUNTIME_SCREENSHOT and result.screenshot_error:
        hint = _NO_FILE if "cannot be written" in result.screenshot_error else _NO_PICTURE
        return errors.ShellError(
            f"the screenshot could not be taken: {result.screenshot_error}",
            code=code,
            serial=result.serial,
            hint=hint,
            details=error.details,
        )
    return error


#: What a snapshot with a password field holds.
PROTECTED = 'password="true"'
_FIELD = re.compile(rf"<node\b[^>]*\b{PROTECTED}[^>]*>")
_ID = re.compile(r'\bresource-id="([^"]+)"')
# What a password field shows: a bullet for each character, and for a moment the last one.
_BULLETS = re.compile(r'\btext="([•●*]+.?)"')
# The same in the event that a password field has changed, as Android prints it.
_CHANGE = re.compile(
    r"\bTYPE_VIEW_TEXT_CHANGED;.*? Text: \[([•●*]+.?)\];.*? Password: true;".encode()
)
# The name of a field that is a password field even while the app shows what is in it.
_NAME = re.compile(r"passw(?:or)?d|passcode|passphrase", re.IGNORECASE)
# A single character, such as locators type to empty a field, is not a secret.
_SHORTEST = 2
_KEPT = 50


class TypedTexts:
    """Finds which typed texts are secrets, because they went into a password field.

    The result does not show what kind of field was typed into. The Operator's log does, with an
    event for each change; and so does a snapshot from before, from the same execution or later.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._lengths: set[int] = set()
        self._step: RunStep | None = None
        self._screen: Snapshot | None = None
        self._unsure: deque[tuple[NodeMatcher, str]] = deque(maxlen=_KEPT)

    def sent(self, execution: Execution) -> None:
        """Take note of what is about to be typed."""
        for matcher, text in _typed_by(execution):
            SECRETS.add_matches(text)
            if self._is_password_field(matcher):
                _hide_typed(text)
            else:  # the log or the next screen may show it
                self._unsure.append((matcher, text))

    def received(self, execution: Execution, result: RunResult) -> None:
        """Search the log and the returned screens for password fields."""
        hide_passwords(texts_typed_by(execution), result.log.lines)
        proofs = [step.proof for step in result.steps if step.proof is not None]
        for step in (*proofs, *result.steps):
            if step.action_type == "snapshot_ui" and PROTECTED in step.data.get("text", ""):
                self._look_at(step)

    def _look_at(self, step: RunStep) -> None:
        text = step.data["text"]
        if self._step is not None and text == self._step.data["text"]:
            return  # the same screen again, during a wait
        self._step, self._screen = step, None
        fields = _FIELD.findall(text)
        self._ids.update(name for field in fields for name in _ID.findall(field))
        self._lengths = {len(shown) for field in fields for shown in _BULLETS.findall(field)}
        unsure, self._unsure = self._unsure, deque(maxlen=_KEPT)
        for matcher, typed in unsure:
            is_protected = self._is_password_field(matcher)
            # If a field was found by what it showed, it does not show that any longer.
            if is_protected or (is_protected is None and len(typed) in self._lengths):
                _hide_typed(typed)
            elif is_protected is None:
                self._unsure.append((matcher, typed))

    def _is_password_field(self, matcher: NodeMatcher) -> bool | None:
        """Return whether it is a password field, by its name or a screen; None if unknown."""
        given = [value for value in vars(matcher).values() if value]
        if matcher.resource_id in self._ids or any(map(_NAME.search, given)):
            return True
        if self._step is None:
            return None
        if self._screen is None:
            from pytest_clawperator.snapshot.tree import Snapshot  # as late as in a result

            with suppress(errors.SnapshotError):
                self._screen = Snapshot.from_step(
                    self._step.data["text"], self._step.data, partial=True
                )
        nodes = [] if self._screen is None else self._screen.find_all(matcher)
        if not nodes:
            return None
        return any(one.password for one in (nodes[0], *nodes[0].ancestors))


def texts_typed_by(execution: Execution) -> list[str]:
    """Return what an execution types."""
    return [text for _, text in _typed_by(execution)]


def hide_passwords(typed: Iterable[str], lines: Iterable[bytes]) -> None:
    """Hide those of the typed texts that are as long as a password field of the log."""
    wanted = [text for text in typed if not SECRETS.is_in(text)]
    changes = (_CHANGE.search(line) for line in (lines if wanted else ()))
    lengths = {len(found[1].decode("utf-8", "replace")) for found in changes if found}
    for text in wanted:
        if lengths & {len(text), utf16_length(text)}:
            _hide_typed(text)


def _hide_typed(text: str) -> None:
    """Hide what was typed into a password field, which shows bullets in its place."""
    if len(text) >= _SHORTEST:
        SECRETS.add(text, on_screen=False)


def _typed_by(execution: Execution) -> list[tuple[NodeMatcher, str]]:
    given = [one.params for one in execution.actions if one.type == "enter_text" and one.params]
    return [(one.matcher, one.text) for one in given if one.matcher is not None and one.text]
