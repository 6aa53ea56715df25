"""The run: flight, force-stops, dispatch, collection, post-processing, result.

Each stage is a method that calls the next; all that is read from the device is read before
post-processing begins.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pytest_clawperator import errors
from pytest_clawperator.contracts import events
from pytest_clawperator.contracts.actions import ACTION_TYPES, canonical_type
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.events import Event, Observer
from pytest_clawperator.contracts.log import (
    FORMAT_OPTION,
    LogEntry,
    parse_log_line,
    snapshots_from_lines,
    time_of,
)
from pytest_clawperator.contracts.params import ActionParams
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.execution import postprocess
from pytest_clawperator.execution.answer import AnswerReader
from pytest_clawperator.execution.crashes import AppWatch
from pytest_clawperator.execution.dispatch import Command, Reply, dispatch
from pytest_clawperator.execution.flight import (
    Claim,
    Clearance,
    Flight,
    Unfinished,
    always_clear,
    sweep,
)
from pytest_clawperator.execution.postprocess import NO_PROOFS, Collected, Processor, Recovery
from pytest_clawperator.execution.processes import KnownProcesses, Processes, ask_processes
from pytest_clawperator.execution.result import AppsSeen, LogSlice, RunResult, TypedTexts
from pytest_clawperator.execution.screenshots import ScreenshotFolder, take_screenshot
from pytest_clawperator.text import visible
from pytest_clawperator.transport.interface import Log, ShellResult, Transport
from pytest_clawperator.transport.shell import quote

# How much later than expected a device may be done with a command.
LATE_GRACE = 5.0
# How long a former holder of the device may still have it locked, in seconds.
_FORMER_HOLDER = 1.0
# After these errors the command is known to have ended, although without an envelope.
_ENDS = (
    errors.BroadcastError,
    errors.EnvelopeMalformedError,
    errors.OperatorNotReadyError,
    errors.PayloadRefusedError,
)
_STILL_ACTING = "The device may still be acting; the next execution waits for it."
# One of so many lines has a time; others are dividers between the log's buffers.
_SEARCHED_LINES = 8

_NO_PARAMS = ActionParams()
_log = logging.getLogger("pytest_clawperator")

_T = TypeVar("_T")


class Runner(Protocol):
    """Runs executions on one device: over adb, or through another host."""

    @property
    def serial(self) -> str:
        """The device's serial."""
        ...

    @property
    def observers(self) -> Observers:
        """The observers of executions."""
        ...

    def run(
        self,
        execution: Execution,
        *,
        processors: Sequence[Processor] = (),
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Run the execution; a failed envelope is returned, not raised.

        ``processors`` are applied after the runner's own, before observers see the result.
        ``proofs`` are actions that prove others: the id of each, and that of the action it is for.
        Their steps are left out of the result; their snapshots are kept with the actions.
        """
        ...

    def close(self) -> None:
        """Release the device."""
        ...


class Pipeline:
    """Runs executions on one device.

    ``preflight`` raises if the device is unfit, and returns the processes that run, or None if
    they are unknown; it is called once per connection, and again when the Operator stays silent.
    ``clearance`` raises if the device is no longer ours; it is called before everything that is
    sent, with the command and how many seconds the device may be busy with it.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        operator_package: str,
        flight: Flight,
        preflight: Callable[[], Processes | None],
        clearance: Clearance = always_clear,
        observers: Iterable[Observer] = (),
        processors: Sequence[Processor] = postprocess.PROCESSORS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._serial = transport.serial
        self._operator_package = operator_package
        self._flight = flight
        self._preflight = preflight
        self._clearance = clearance
        self._processors = tuple(processors)
        self._clock = clock
        self._processes = KnownProcesses(lambda: ask_processes(transport, operator_package))
        self._checked_connection: int | None = None
        self._folder = ScreenshotFolder()
        self.observers = Observers(
            observers, serial=transport.serial, log=transport.log, system=self._system
        )

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self._serial

    @property
    def transport(self) -> Transport:
        """The connection to the device."""
        return self._transport

    @property
    def operator_package(self) -> str:
        """The package of the Operator app in use."""
        return self._operator_package

    @property
    def system_processes(self) -> frozenset[int] | None:
        """The ids of the system's processes, or None if they are unknown."""
        return self._system()

    def _system(self) -> frozenset[int] | None:
        known = self._processes.current
        return None if known is None else known.system

    def close(self) -> None:
        """Release the device; remove the screenshots without a path, and old lock files."""
        with ExitStack() as closing:  # an interrupt on the way leaves nothing out
            closing.callback(sweep, self._flight.folder)
            closing.callback(self._flight.close)
            closing.callback(self._folder.close)
            self._transport.close()

    def run(
        self,
        execution: Execution,
        *,
        processors: Sequence[Processor] = (),
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Run the execution; a failed envelope is returned, not raised.

        ``processors`` are applied after the pipeline's own, before observers see the result;
        ``proofs`` name the actions that are left out of it.
        """

        def run(claim: Claim) -> RunResult:
            self._await_unfinished(claim)
            self.check()
            return self._execute(execution, claim, processors, proofs)

        # Observers get the end when the device is free again, and may use it then.
        return self.observers.watch(
            execution,
            lambda: self._hold(execution.command_id, run),
            find_position=self._transport.log.mark,
            proofs=proofs,
        )

    def ping(self, timeout: float) -> ResultEnvelope:
        """Ask the Operator whether it is there, and return its answer."""
        command = Command.ping(timeout)

        def run(claim: Claim) -> ResultEnvelope:
            self._await_unfinished(claim)
            return self._send(command, claim, command.patience).envelope

        return self._hold(command.command_id, run)

    def shell(self, command: str, *, timeout: float = 30.0) -> ShellResult:
        """Run a short command in the shell that is kept open, between executions.

        The command must read no input and leave the shell as it is; stdout and stderr come
        as one.
        """

        def run(claim: Claim) -> ShellResult:
            self._await_unfinished(claim)
            self._transport.quick_shell.start(command)
            return self._transport.quick_shell.result(timeout)

        return self._hold("shell", run)

    def use_alone(self, doing: str, seconds: float, do: Callable[[], _T]) -> _T:
        """Do something else with the device, for at most so many seconds, between executions."""

        def run(claim: Claim) -> _T:
            self._await_unfinished(claim)
            self._check_clearance(claim, doing, seconds)
            return do()

        return self._hold(doing, run)

    def forget(self, position: int) -> None:
        """Forget what is known about a device that went back to an earlier state.

        Its log before this position no longer describes it.
        """
        self._processes.forget(position)
        self.observers.apps.skip_to(position)
        self._checked_connection = None

    def check(self) -> None:
        """Raise if the device is unfit, unless this connection was checked already."""
        if self._checked_connection != self._transport.connections:
            self._check_device()
            self._checked_connection = self._transport.connections

    def _check_device(self) -> None:
        self._processes.update(self._preflight())

    def _hold(self, command_id: str, run: Callable[[Claim], _T]) -> _T:
        # With a lease, only a former holder can be in the way, and it is about to notice its loss.
        patience = 0.0 if self._clearance is always_clear else _FORMER_HOLDER
        return self._flight.hold(command_id, run, serial=self.serial, patience=patience)

    def _await_unfinished(self, claim: Claim) -> None:
        """Wait for the end of a command whose sender did not see it end."""
        if claim.problem:
            self.observers.notice(claim.problem)
        if claim.unfinished is None:
            return
        await_end(
            claim.unfinished,
            self._transport,
            operator_package=self._operator_package,
            processes=self._processes,
            notice=self.observers.notice,
            grace=LATE_GRACE,
            clock=self._clock,
        )

    def _execute(
        self,
        execution: Execution,
        claim: Claim,
        processors: Sequence[Processor],
        proofs: Mapping[str, str],
    ) -> RunResult:
        begin = self._clock()
        closed = self._force_stop_apps(execution, claim)
        command = Command.of(execution)
        reply = self._send(command, claim, longest_run(execution))
        lines = self._transport.log.read(reply.start, reply.end)
        picture, collected = self._collect(execution, reply, closed, lines, proofs)
        envelope = postprocess.postprocess(
            reply.envelope, collected, (*self._processors, *processors)
        )
        for warning in postprocess.warnings_of(envelope, collected):
            self.observers.notice(warning)
        recovery = _recover_steps(execution, envelope, lines, reply.pid).without(proofs)
        return RunResult.of(
            recovery.completed(envelope, collected),
            serial=self.serial,
            elapsed=self._clock() - begin,
            log=LogSlice(lines),
            screenshot=picture,
            screenshot_error=collected.screenshot_error,
            recovered=recovery.steps,
            stopped_at=recovery.stopped_at,
            last_proof=recovery.last_proof,
        )

    def _force_stop_apps(self, execution: Execution, claim: Claim) -> frozenset[str]:
        """Stop the apps of all close_app actions, which the Operator cannot; return their ids."""
        closed = set()
        for action in execution.actions:
            if action.type != "close_app" or action.params is None:
                continue
            app = action.params.application_id or ""
            self._check_clearance(claim, execution.command_id, longest_run(execution))
            result = self._transport.shell(f"am force-stop {quote(app)}")
            if not result.ok:
                raise _not_stopped(app, result, self.serial)
            closed.add(action.id)
        return frozenset(closed)

    def _send(self, command: Command, claim: Claim, longest: float) -> Reply:
        # A device that is gone is noticed before anything is sent.
        log = self._transport.log
        position = log.mark()
        self._transport.quick_shell.prepare()
        newest = log.read(max(position - _SEARCHED_LINES, 0), position)
        busy = max(command.patience, longest) + LATE_GRACE
        self._check_clearance(claim, command.command_id, busy)
        claim.take_off(
            self._clock() + busy,
            after=next((line for line in reversed(newest) if time_of(line)), b""),
        )
        try:
            reply = dispatch(
                self._transport,
                command,
                operator_package=self._operator_package,
                processes=self._processes,
                find_cause=self._check_device,
                on_arrival=claim.arrive,
                clock=self._clock,
            )
        except _ENDS:
            claim.land()
            raise
        except (errors.DeviceError, errors.TransportError) as error:
            error.serial = error.serial or self.serial
            error.add_hint(_STILL_ACTING)
            raise
        claim.land()
        return reply

    def _check_clearance(self, claim: Claim, command_id: str, seconds: float) -> None:
        try:
            self._clearance(command_id, seconds)
            claim.check()
        except errors.LeaseError as exc:
            exc.serial = self.serial  # a lease knows the device by its key alone
            raise

    def _collect(
        self,
        execution: Execution,
        reply: Reply,
        closed: frozenset[str],
        lines: Sequence[bytes],
        proofs: Mapping[str, str],
    ) -> tuple[bytes | None, Collected]:
        """Fetch what the envelope lacks: the hierarchies and the screenshot."""
        snapshots: list[str] = []
        if postprocess.needs_snapshots(reply.envelope):
            snapshots = snapshots_from_lines(lines, pid=reply.pid)
        collected = Collected(
            actions=execution.actions,
            serial=self.serial,
            closed=closed,
            snapshots=tuple(snapshots),
            proofs=proofs,
        )
        if not postprocess.needs_screenshot(reply.envelope):
            return None, collected
        wanted = postprocess.screenshot_path(execution.actions, "")
        taken = take_screenshot(
            self._transport, self._folder, command_id=execution.command_id, path=wanted
        )
        return taken.picture, replace(
            collected,
            screenshot=taken.path,
            screenshot_error=taken.error,
            display=taken.display,
        )


def _entries_of(pid: int, lines: Iterable[bytes]) -> Iterator[LogEntry]:
    for line in lines:
        entry = parse_log_line(line)
        if entry is not None and entry.pid == pid:
            yield entry


def _recover_steps(
    execution: Execution, envelope: ResultEnvelope, lines: Sequence[bytes], pid: int
) -> Recovery:
    """Return from the log the steps of a run whose envelope lost them."""
    if envelope.ok or envelope.steps:
        return Recovery()
    return postprocess.recover(execution, _entries_of(pid, lines))


def _not_stopped(app: str, result: ShellResult, serial: str) -> errors.ShellError:
    output = result.stderr.strip() or result.stdout.strip() or "no output"
    return errors.ShellError(
        f"close_app could not stop {app}: am force-stop ended with {result.exit_code}: {output}",
        serial=serial,
        hint="Nothing was sent. Check the package name, and that `adb shell am` works.",
        details={
            "applicationId": app,
            "adbExitCode": result.exit_code,
            "stdout": result.stdout,
            "stderr": result.stderr,
        },
    )


def longest_run(execution: Execution) -> float:
    """Return the most seconds that the actions can take; the Operator never cuts them short."""
    return sum(
        ACTION_TYPES[canonical_type(action.type)].longest(action.params or _NO_PARAMS)
        for action in execution.actions
    )


def await_end(
    unfinished: Unfinished,
    transport: Transport,
    *,
    operator_package: str,
    processes: KnownProcesses,
    notice: Callable[[str], None],
    grace: float,
    clock: Callable[[], float],
) -> None:
    """Wait until the device is done with a command whose sender did not see it end.

    Without a sign that the command arrived, the wait is ``grace`` seconds: a command sent over a
    breaking connection may never have reached the device.
    """
    command_id, log = unfinished.command_id, transport.log
    position = log.mark()
    reader = AnswerReader(command_id, operator_package, processes.catch_up(log, position))
    so_far = transport.exec_out(f"logcat -d {FORMAT_OPTION}")
    if _has_ended(reader, unfinished.lines_after(so_far), processes):
        return
    notice(f"waiting for {command_id} to end: its sender did not see it end")
    soon = min(clock() + grace, unfinished.latest_end)

    def deadline() -> float:
        return unfinished.latest_end if unfinished.arrived or reader.is_taken else soon

    while clock() < deadline():
        end = log.wait(position, deadline())
        if _has_ended(reader, log.read(position, end), processes):
            return
        position = end


def _has_ended(reader: AnswerReader, lines: Iterable[bytes], processes: KnownProcesses) -> bool:
    """Whether the log holds the end of a command, however it ended."""
    try:
        answer = reader.feed(lines)
        if reader.is_in_doubt:
            answer = reader.settle(processes.ask())
    except errors.EnvelopeMalformedError:
        return True
    return answer is not None


class Observers:
    """Notify the observers of one device; a failing observer only causes a warning.

    ``apps`` watches the app under test, by the ``log`` if there is one.
    """

    def __init__(
        self,
        observers: Iterable[Observer] = (),
        *,
        serial: str,
        log: Log | None = None,
        system: Callable[[], frozenset[int] | None] = lambda: None,
    ) -> None:
        self._observers = list(observers)
        self._serial = serial
        self._typed = TypedTexts()
        self._apps_seen = AppsSeen()
        self.apps = AppWatch(self._apps_seen, log, system=system)

    def add(self, observer: Observer) -> Callable[[], None]:
        """Add an observer; the returned function removes it."""
        self._observers.append(observer)

        def remove() -> None:
            if observer in self._observers:
                self._observers.remove(observer)

        return remove

    def _emit(self, kind: type[Event], /, **about: Any) -> None:
        """Make an event and send it to all observers."""
        if self._observers:
            self.send(kind(serial=self._serial, at=time.time(), **about))

    def send(self, event: Event) -> None:
        """Send an event to all observers."""
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as exc:  # a report must not fail a run
                _warn(f"the observer {observer!r} failed on {type(event).__name__}: {exc!r}")

    def watch(
        self,
        execution: Execution,
        run: Callable[[], RunResult],
        *,
        find_position: Callable[[], int | None] = lambda: None,
        proofs: Mapping[str, str] = NO_PROOFS,
    ) -> RunResult:
        """Run, and send events about the start, the end and the artefacts.

        ``find_position`` returns the position of the log; an error in it ends the run.
        """
        begin = time.monotonic()
        about: dict[str, Any] = {"execution": execution, "log_position": None, "proofs": proofs}
        started = False
        self._typed.sent(execution)
        try:
            about["log_position"] = find_position()
            started = True
            self._emit(events.ExecutionStarted, **about)
            result = about["result"] = run()
            self._typed.received(execution, result)
            self._apps_seen.received(execution, result)
        except BaseException as exc:
            about["error"] = exc
            if not started:
                self._emit(events.ExecutionStarted, execution=execution, proofs=proofs)
            raise
        finally:
            self._emit(events.ExecutionFinished, elapsed=time.monotonic() - begin, **about)
            # An error that its own frames hold would keep alive what they have open.
            about.pop("error", None)
        if self._observers:
            self._emit_artifacts(result, asked=postprocess.screenshot_path(execution.actions, ""))
        return result

    def _emit_artifacts(self, result: RunResult, *, asked: str) -> None:
        for step in result.steps:
            about: dict[str, Any] = {"command_id": result.command_id, "step_id": step.id}
            if step.action_type == "snapshot_ui" and "text" in step.data:
                data = step.data["text"].encode("utf-8", "surrogatepass")
                self._emit(events.ArtifactMade, kind="snapshot", data=data, **about)
            elif step.action_type == "take_screenshot" and "path" in step.data:
                # Without a requested path the file is temporary: it stands in for missing bytes.
                path = asked or (step.data["path"] if result.screenshot is None else "")
                about |= {"path": Path(path) if path else None, "data": result.screenshot}
                self._emit(events.ArtifactMade, kind="screenshot", **about)

    def notice(self, message: str) -> None:
        """Send a notice: a remark, not a failure."""
        self._emit(events.Notice, message=message)


def _warn(message: str) -> None:
    """Warn, even if a filter turns warnings into errors."""
    try:
        warnings.warn(message, errors.ClawperatorWarning, stacklevel=3)
    except errors.ClawperatorWarning:
        _log.warning("%s", visible(message))
