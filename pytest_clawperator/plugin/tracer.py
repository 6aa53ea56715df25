"""What happens in a test, turned into the events of its trace."""

from __future__ import annotations

import linecache
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from pytest_clawperator.assertions.expectation import Verification
from pytest_clawperator.assertions.failure import calling_frame
from pytest_clawperator.contracts import events
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.plugin.clients import ClientActivity, label_of
from pytest_clawperator.plugin.failures import code_of, message_of
from pytest_clawperator.plugin.report_sinks import TraceOutput
from pytest_clawperator.report import trace
from pytest_clawperator.report.device_log import hide_in_log, without_dumps
from pytest_clawperator.report.trace import Excerpt, Failure, Source, TraceEvent, now

_XML = ".xml"
#: Is called with a client, the number of its execution, and the result if there is one.
AfterExecution = Callable[[ClientActivity, int, RunResult | None], None]
# How many characters of a script's output a trace contains; an artefact has all of it.
_MOST_PRINTED = 10_000


@dataclass
class _OpenCheck:
    """An expectation in progress, and the screens that its polls found."""

    id: int
    trees: list[str | None] = field(default_factory=list)


@dataclass
class _Running:
    """An execution in progress; a poll of an expectation is written only if the screen changed."""

    began: trace.ExecutionBegan
    check: _OpenCheck | None = None


@dataclass
class _Followed:
    """A client that is followed, and how far its log is in the trace."""

    client: ClientActivity
    log_position: int
    running: dict[str, _Running] = field(default_factory=dict)


class Tracer:
    """Turns what happens in one attempt at a test into events.

    ``place`` returns the line of the test that is being carried out. ``before_execution`` is
    called when one is about to be sent, ``after_execution`` when one ended.
    """

    def __init__(
        self,
        output: TraceOutput,
        *,
        place: Callable[[], Source | None],
        before_execution: Callable[[ClientActivity], None] = lambda client: None,
        after_execution: AfterExecution = lambda client, execution, result: None,
    ) -> None:
        self._output = output
        self._place = place
        self._before_execution = before_execution
        self._after_execution = after_execution
        self._ids = count(1)
        self._step_ids: dict[str, int] = {}
        self._checks: dict[Verification, _OpenCheck] = {}
        # A screen and the name of its blob.
        self._last_tree = ("", "")
        # Tests may use several devices together, each in its own thread.
        self._open: dict[int, list[int]] = {}

    def follow(self, client: ClientActivity) -> Callable[[events.Event], None]:
        """Return the function to be called with the events of a client."""
        self._output.write(_device_of(client))
        followed = _Followed(client, client.log_end())
        return lambda event: self._handle(followed, event)

    def _handle(self, followed: _Followed, event: events.Event) -> None:
        if isinstance(event, events.ExecutionStarted):
            self._execution_started(followed, event)
        elif isinstance(event, events.ExecutionFinished):
            self._execution_finished(followed, event)
        elif isinstance(event, events.ArtifactMade):
            self._artifact_made(event)
        elif isinstance(event, events.StepStarted):
            self._step_started(event)
        elif isinstance(event, events.StepFinished):
            self._step_finished(event)
        elif isinstance(event, events.SkillFinished):
            self._output.write(trace.Noted(at=event.at, message=_printed(event)))
        elif isinstance(event, events.Notice):
            self._output.write(trace.Noted(at=event.at, message=event.message))

    # Executions

    def _execution_started(self, followed: _Followed, event: events.ExecutionStarted) -> None:
        self._before_execution(followed.client)
        parent = self._parent
        began = trace.ExecutionBegan(
            at=event.at,
            id=next(self._ids),
            parent=parent,
            serial=event.serial,
            title=label_of(event.execution, event.proofs),
            source=self._place(),
            payload=event.execution.to_wire(),
        )
        check = next((one for one in self._checks.values() if one.id == parent), None)
        followed.running[event.execution.command_id] = _Running(began, check)
        if check is None:
            self._write_log(followed, until=event.log_position)
            self._output.write(began)

    def _execution_finished(self, followed: _Followed, event: events.ExecutionFinished) -> None:
        running = followed.running.pop(event.execution.command_id, None)
        if running is None:  # begun before the test
            return
        result = event.result if isinstance(event.result, RunResult) else None
        ended = self._ended(running.began.id, event, result)
        if running.check is not None:
            seen = running.check.trees
            is_same = ended.failure is None and seen[-1:] == [ended.after]
            seen.append(ended.after)
            if is_same:
                return
            self._output.write(running.began)
        self._output.write(ended)
        self._write_log(followed, execution=running.began.id)
        self._after_execution(followed.client, running.began.id, result)

    def _ended(
        self, number: int, event: events.ExecutionFinished, result: RunResult | None
    ) -> trace.ExecutionEnded:
        return trace.ExecutionEnded(
            at=event.at,
            id=number,
            seconds=round(event.elapsed, 6),
            envelope=None if result is None else self._envelope(result),
            failure=_failure_of(event.error, result),
            before=None if result is None else self._tree(result.last_proof),
            after=None if result is None else self._after(result),
        )

    def _envelope(self, result: RunResult) -> dict[str, Any]:
        """Return an envelope in wire form, with the names of screens instead of their content."""
        wire = result.to_wire()
        for step, written in zip(result.steps, wire["stepResults"], strict=True):
            tree = self._tree(step)
            if tree is not None:
                written["data"] = {**written["data"], "text": tree}
        return wire

    def _after(self, result: RunResult) -> str | None:
        """Return the last screen that the execution itself captured."""
        return next(filter(None, map(self._tree, reversed(result.steps))), None)

    def _tree(self, step: RunStep | None) -> str | None:
        text = None if step is None or step.action_type != "snapshot_ui" else step.data.get("text")
        if not text:
            return None
        known, name = self._last_tree
        if text != known:  # one screen occurs several times in an execution
            name = self._output.keep(text.encode("utf-8", "surrogatepass"), _XML)
            self._last_tree = text, name
        return name or None

    def _artifact_made(self, event: events.ArtifactMade) -> None:
        if event.kind == "screenshot" and event.path is not None:
            message = f"screenshot: {event.path}"
            self._output.write(trace.Noted(at=event.at, message=message))

    # Steps and expectations

    @property
    def _parent(self) -> int | None:
        open_here = self._open.get(threading.get_ident())
        return open_here[-1] if open_here else None

    def _enter(self, number: int) -> None:
        self._open.setdefault(threading.get_ident(), []).append(number)

    def _leave(self, number: int) -> None:
        for ids in self._open.values():
            if number in ids:
                del ids[ids.index(number) :]

    def _step_started(self, event: events.StepStarted) -> None:
        number = self._step_ids[event.id] = next(self._ids)
        self._output.write(
            trace.StepBegan(
                at=event.at, id=number, parent=self._parent, title=event.title, source=self._place()
            )
        )
        self._enter(number)

    def _step_finished(self, event: events.StepFinished) -> None:
        number = self._step_ids.pop(event.id, None)
        if number is not None:
            self._leave(number)
            failure = _failure_of(event.error)
            seconds = round(event.elapsed, 6)
            self._output.write(
                trace.StepEnded(at=event.at, id=number, seconds=seconds, failure=failure)
            )

    def verified(self, verification: Verification) -> None:
        """Record an expectation that begins or ends."""
        if not verification.is_over:
            check = self._checks[verification] = _OpenCheck(next(self._ids))
            self._enter(check.id)
            return
        known = self._checks.pop(verification, None)
        if known is None:  # begun before the test used a device
            return
        self._leave(known.id)
        self._output.write(
            trace.ExpectationEnded(
                at=now(),
                id=known.id,
                parent=self._parent,
                serial=verification.serial,
                title=verification.title,
                source=self._place(),
                seconds=round(verification.seconds, 6),
                polls=_polls(verification, known.trees),
                failure=_failure_of(verification.error),
            )
        )

    # The log

    def _write_log(
        self, followed: _Followed, *, until: int | None = None, execution: int | None = None
    ) -> None:
        """Write what was logged since the last time."""
        transport = followed.client.transport
        if transport is None:
            return
        end = followed.client.log_end() if until is None else until
        if end <= followed.log_position:
            return
        lines = transport.log.read(followed.log_position, end)
        followed.log_position = end
        text = hide_in_log(b"\n".join(without_dumps(lines)))
        shown = text.decode("utf-8", "replace").split("\n")
        if text:
            self._output.write(
                trace.LogWritten(
                    at=now(),
                    serial=followed.client.client.serial,
                    lines=shown,
                    execution=execution,
                )
            )


def _polls(verification: Verification, trees: Sequence[str | None]) -> list[trace.Poll]:
    """Return the polls of an expectation, with their screens if each poll captured one."""
    log = verification.log
    shown = trees if len(trees) >= len(log) else [None] * len(log)
    return [
        trace.Poll(at=verification.at + entry.at, found=entry.found, tree=tree)
        for entry, tree in zip(log, shown, strict=False)
    ]


def _printed(event: events.SkillFinished) -> str:
    """Return what a script printed; of long output the beginning and the end."""
    text = f"{event.output}{event.complaints}"
    if len(text) > _MOST_PRINTED:
        half = _MOST_PRINTED // 2
        text = f"{text[:half]}\n... {len(text) - 2 * half} characters ...\n{text[-half:]}"
    return f"{event.skill_id} printed:\n{text}" if text else f"{event.skill_id} printed nothing"


def failure_of(error: BaseException) -> Failure:
    """Return an error in the form that traces have."""
    hint = getattr(error, "hint", None)
    return Failure(
        type=type(error).__name__,
        message=message_of(error),
        code=code_of(error),
        hint=hint if isinstance(hint, str) else None,
    )


def _failure_of(error: BaseException | None, result: RunResult | None = None) -> Failure | None:
    if error is not None:
        return failure_of(error)
    if result is None or result.ok:
        return None
    step = next(iter(result.failed_steps), None)
    text = result.error or (step.data.get("message") if step is not None else None)
    return Failure(
        type="", message=text or str(step or "the execution failed"), code=code_of(result)
    )


def _device_of(client: ClientActivity) -> TraceEvent:
    info = client.client.device.info
    about: Mapping[str, object] = {
        "manufacturer": info.manufacturer,
        "model": info.model,
        "Android": info.release,
        "API level": info.api_level,
        "ABI": info.abi,
        "density": info.density,
        "locale": info.locale,
        "Operator": info.operator_version,
        "Operator package": info.operator_package,
    }
    return trace.DeviceUsed(
        at=now(),
        serial=info.serial,
        size=info.size,
        about={name: str(value) for name, value in about.items() if value is not None},
    )


_PACKAGE = "pytest_clawperator"
# Other modules whose frames are not the user's code.
_RUNNERS = ("_pytest", "pluggy", "xdist", "execnet", "contextlib", "threading")
_BEFORE = 8


class Places:
    """Finds places in the code below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[tuple[CodeType, int], Source] = {}

    def current(self) -> Source | None:
        """Return the current line of the test or of its fixture."""
        frame: FrameType | None = calling_frame()
        return None if frame is None or _is_foreign(frame) else self._source(frame, frame.f_lineno)

    def excerpt(self, error: BaseException) -> Excerpt | None:
        """Return the lines up to the innermost place of an error that is the user's code.

        Later lines were not executed, and secrets in them are not known.
        """
        frames = list(traceback.walk_tb(error.__traceback__))
        own = [(frame, line) for frame, line in frames if not _is_foreign(frame)]
        if not own:
            return None
        frame, line = own[-1]
        lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
        first = max(line - _BEFORE, frame.f_code.co_firstlineno)
        shown = [text.rstrip("\r\n") for text in lines[first - 1 : line]]
        return Excerpt(source=self._source(frame, line), first=first, lines=shown)

    def _source(self, frame: FrameType, line: int) -> Source:
        code = frame.f_code
        if (code, line) not in self._known:
            text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
            file = self._shown(code.co_filename)
            self._known[code, line] = Source(file=file, line=line, function=code.co_name, text=text)
        return self._known[code, line]

    def _shown(self, path: str) -> str:
        try:
            return Path(path).relative_to(self._root).as_posix()
        except ValueError:
            return path


def _is_foreign(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in (_PACKAGE, *_RUNNERS)
