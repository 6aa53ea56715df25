"""The result of a run, with what only the run knows; and which of the typed texts are secrets."""

from __future__ import annotations

import re
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import Self, override

from pytest_clawperator import errors
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


# Actions after which an app may crash a moment later.
_TOUCHES = (
    "click", "long_click", "scroll_and_click", "scroll_until", "enter_text", "press_key",
    "open_app", "open_uri",
)  # fmt: skip
# The ids of the buttons of the dialog about a crash, which are the same in every language.
_CRASH_DIALOG = "android:id/aerr_"
# What the system logs when an app is asked to come to the front, whoever asks.
_START = re.compile(r"START u\d+ \{.*\bcmp=([\w.]+)/")
# The package of the system's own windows, such as the choice between apps.
_SYSTEM = "android"


def started_app(entry: LogEntry) -> str | None:
    """Return the package of the app that a line of the system's log brings to the front."""
    found = _START.match(entry.message)
    return None if found is None or found[1] == _SYSTEM else found[1]


class AppsSeen:
    """Which apps a test opened, and which were in front in it; ``dialog`` is a crash that it saw.

    ``touched_at`` is when something was last done that may crash an app.
    """

    def __init__(self) -> None:
        self.opened: set[str] = set()
        self.in_front: set[str] = set()
        self.dialog: RunStep | None = None
        self.touched_at: float | None = None

    def clear(self) -> None:
        """Begin anew."""
        self.opened, self.in_front = set(), set()
        self.dialog = self.touched_at = None

    def touched(self) -> None:
        """Take note that something was done to the device that may crash an app."""
        self.touched_at = time.monotonic()

    def received(self, execution: Execution, result: RunResult) -> None:
        """Take note of the apps of an execution that came to an end."""
        for action in execution.actions:
            if action.type == "open_app" and action.params is not None:
                self.opened.add(action.params.application_id or "")
            elif action.type == "open_uri":
                entries = map(parse_log_line, result.log.lines)
                started = (started_app(entry) for entry in entries if entry is not None)
                self.opened.update(filter(None, started))
        proofs = [step.proof for step in result.steps if step.proof is not None]
        for step in (*proofs, *result.steps):
            if step.action_type == "snapshot_ui" and "text" in step.data:
                if package := step.data.get("foreground_package"):
                    self.in_front.add(package)
                if _CRASH_DIALOG in step.data["text"]:
                    self.dialog = step
        if any(action.type in _TOUCHES for action in execution.actions):
            self.touched()


#: What a snapshot with a password field holds.
PROTECTED = 'password="true"'
_FIELD = re.compile(rf"<node\b[^>]*\b{PROTECTED}[^>]*>")
_ID = re.compile(r'\bresource-id="([^"]+)"')
# The event that a field has changed, as Android prints it: what it shows, and its kind.
_CHANGE = re.compile(
    rb"\bTYPE_VIEW_TEXT_CHANGED;.*? Text: \[(.+?)\]; ContentDescription: .*?"
    rb" Password: (true|false);"
)
# The name of a field that is a password field even while the app shows what is in it.
_NAME = re.compile(r"passw(?:or)?d|passcode|passphrase", re.IGNORECASE)
# A single character, such as locators type to empty a field, is not a secret.
_SHORTEST = 2
_KEPT = 50


class Typed(NamedTuple):
    """A text that an action types, and the field that it is typed into."""

    id: str
    matcher: NodeMatcher
    text: str


class TypedTexts:
    """Finds which typed texts are secrets, because they went into a password field.

    The result does not show what kind of field was typed into. A snapshot of that screen does:
    the one that proves the action, or that was taken right before it. Where there is none, the
    Operator's log has an event for each change; and an id names the same field on all screens.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._seen: RunStep | None = None
        # The screen at the end of the last execution, and the one that is being typed on.
        self._last: RunStep | None = None
        self._current: RunStep | None = None
        self._protected: RunStep | None = None
        self._assumed: set[str] = set()
        self._unsure: deque[Typed] = deque(maxlen=_KEPT)

    def sent(self, execution: Execution) -> None:
        """Take note of what is about to be typed."""
        self._assumed = set()
        kinds = [action.type for action in execution.actions if action.type != "sleep"]
        self._current, self._last = self._last if kinds == ["enter_text"] else None, None
        for typed in typed_by(execution):
            SECRETS.add_matches(typed.text)
            is_protected = _is_password_field(typed.matcher, self._current)
            if is_protected or self._is_named(typed.matcher):
                _hide_typed(typed.text)
            elif is_protected is None and self._is_assumed(typed):
                self._assumed.add(typed.text)
                _hide_typed(typed.text)

    def received(self, execution: Execution, result: RunResult) -> None:
        """Search the returned screens and the log for password fields."""
        plain = hide_passwords(execution, result, result.log.lines, seen=self._current)
        for text in self._assumed & plain:
            SECRETS.remove(text)
        self._unsure.extend(one for one in typed_by(execution) if one.text not in plain)
        screens = _screens(result)
        if screens and execution.actions[-1].type == "snapshot_ui":
            self._last = screens[-1]
        for step in screens:
            self._look_at(step)

    def _look_at(self, step: RunStep) -> None:
        text = step.data["text"]
        if self._seen is not None and text == self._seen.data["text"]:
            return  # the same screen again, during a wait
        self._seen = step
        if PROTECTED not in text:
            return
        self._protected = step
        fields = _FIELD.findall(text)
        self._ids.update(name for field in fields for name in _ID.findall(field))
        unsure, self._unsure = self._unsure, deque(maxlen=_KEPT)
        for typed in unsure:
            if self._is_named(typed.matcher):
                _hide_typed(typed.text)
            else:
                self._unsure.append(typed)

    def _is_named(self, matcher: NodeMatcher) -> bool:
        """Whether a matcher names a password field: by a word for it, or by a known id."""
        given = [value for value in vars(matcher).values() if value]
        return matcher.resource_id in self._ids or any(map(_NAME.search, given))

    def _is_assumed(self, typed: Typed) -> bool:
        """Whether a field was one for passwords on an earlier screen; this one may be another."""
        is_known = typed.text in SECRETS.secrets.texts
        return not is_known and bool(_is_password_field(typed.matcher, self._protected))


def typed_by(execution: Execution) -> list[Typed]:
    """Return what an execution types."""
    given = [one for one in execution.actions if one.type == "enter_text" and one.params]
    return [
        Typed(one.id, one.params.matcher, one.params.text)
        for one in given
        if one.params is not None and one.params.matcher is not None and one.params.text
    ]


def hide_passwords(
    execution: Execution,
    result: RunResult | None,
    lines: Iterable[bytes],
    *,
    seen: RunStep | None = None,
) -> set[str]:
    """Hide what an execution typed into password fields; return what it typed into others.

    Each text is judged by the snapshot that proves its action, or by ``seen``, the one that was
    taken right before. Without one, the log tells: a change of a password field is due to a text
    that the log does not show in another field.
    """
    proofs = {} if result is None else _proofs(result)
    known: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for typed in typed_by(execution):
        is_protected = _is_password_field(typed.matcher, proofs.get(typed.id, seen))
        known[is_protected].append(typed.text)
    unknown = Counter(known[None])
    changes = [found for line in lines if (found := _CHANGE.search(line))] if unknown else []
    shown = Counter(found[1].decode("utf-8", "replace") for found in changes if _is_open(found))
    hidden = set(known[True])
    if not all(map(_is_open, changes)):
        hidden |= {text for text, times in unknown.items() if shown[text] < times}
    for text in hidden:
        _hide_typed(text)
    return {*known[False], *(text for text in unknown if shown[text])} - hidden


def _is_open(change: re.Match[bytes]) -> bool:
    return change[2] == b"false"


def _proofs(result: RunResult) -> dict[str, RunStep]:
    steps = (*result.recovered, *result.steps)
    return {step.id: step.proof for step in steps if step.proof is not None}


def _screens(result: RunResult) -> list[RunStep]:
    """Return the snapshots of a run in the order in which they were taken."""
    found = [one for step in result.steps for one in (step.proof, step) if one is not None]
    return [one for one in found if one.action_type == "snapshot_ui" and one.data.get("text")]


def _is_password_field(matcher: NodeMatcher, step: RunStep | None) -> bool | None:
    """Return whether the field of a matcher is one for passwords on a screen; None if unknown."""
    if step is None or not step.data.get("text"):
        return None
    from pytest_clawperator.snapshot.tree import Snapshot  # as late as in a result

    with suppress(errors.SnapshotError, errors.ConfigurationError):  # or an unknown role
        screen = Snapshot.from_step(step.data["text"], step.data, partial=True)
        for node in screen.find_all(matcher):
            return any(one.password for one in (node, *node.ancestors))
    return None


def _hide_typed(text: str) -> None:
    """Hide what was typed into a password field, which shows bullets in its place."""
    if len(text) >= _SHORTEST:
        SECRETS.add(text, on_screen=False)
