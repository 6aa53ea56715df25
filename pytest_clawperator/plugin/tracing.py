"""The trace of each attempt at a test, from its setup to its teardown, with its pictures."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clawperator.assertions.expectation import Verification
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.execution.result import PROTECTED, RunResult
from pytest_clawperator.pictures import smaller
from pytest_clawperator.plugin.clients import ClientActivity
from pytest_clawperator.plugin.evidence import (
    CurrentScreen,
    Unavailable,
    folder_name,
    may_show_secret,
    photograph,
    without_secrets,
)
from pytest_clawperator.plugin.failures import is_devices_fault, is_put_aside, is_shared
from pytest_clawperator.plugin.report_sinks import VERSIONS, ReportSinks, TraceOutput, sinks_of
from pytest_clawperator.plugin.run import run_folder, run_id
from pytest_clawperator.plugin.settings import Settings, settings_of_item
from pytest_clawperator.plugin.stash import CURRENT_TEST, ENDING_FIXTURES, SUBTESTS, TRACE
from pytest_clawperator.plugin.tracer import Places, Tracer, failure_of
from pytest_clawperator.plugin.worker_input import worker_input
from pytest_clawperator.report import trace as events
from pytest_clawperator.report.sinks import Attachment
from pytest_clawperator.report.trace import TraceEvent, TraceWriter, now, ticks

__tracebackhide__ = True  # a fixture that fails is shown at its own line
FOLDER = "trace"
# Where traces are while their tests run; a killed run leaves them there.
UNFINISHED = "unfinished"
_numbers = count(1)

_THREAD = "clawperator pictures"
# How long a picture of the screen after an execution may hold up the test, in seconds.
_WITHIN = 5.0
# Pictures that are under way together; each needs some megabytes.
_AT_ONCE = 6
_REMEMBERED = 100


class _Shot:
    """A picture under way: the next execution waits until it cannot show in it."""

    def __init__(self, client: ClientActivity, execution: int, *, shows_password: bool) -> None:
        self.client = client
        self.execution = execution
        self.is_captured, self.is_done = threading.Event(), threading.Event()
        self.is_late = False
        self._shows_password = shows_password
        self._needs_snapshot: bool | None = None
        self._deciding = threading.Lock()

    @property
    def needs_snapshot(self) -> bool:
        """Whether the screen must stay until a snapshot shows what to blacken: decided once."""
        with self._deciding:
            if self._needs_snapshot is None:
                self._needs_snapshot = self._shows_password or may_show_secret(self.client)
            return self._needs_snapshot

    def wait(self) -> None:
        """Wait until the picture is captured, up to the limit; then mark it late."""
        is_free = self.is_captured.wait(_WITHIN)
        if is_free and self.needs_snapshot:
            is_free = self.is_done.wait(_WITHIN)
        self.is_late = not is_free


class PictureTaker:
    """Takes pictures for a trace, in its own threads.

    The next execution waits until the screen before it is captured, and not until the device
    has compressed and sent the picture.
    """

    def __init__(self, writer: TraceOutput) -> None:
        self._writer = writer
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=_THREAD)
        self._room = threading.Semaphore(_AT_ONCE)
        self._shots: dict[ClientActivity, _Shot] = {}
        self._under_way: set[Future[None]] = set()
        # By their digests: the blobs of pictures in the trace, their sizes and scales.
        self._kept: dict[bytes, tuple[str, tuple[int, int], float]] = {}
        self._keeping = threading.Lock()

    def take(self, client: ClientActivity, execution: int, result: RunResult | None) -> None:
        """Take a picture after an execution."""
        if not self._room.acquire(timeout=_WITHIN):
            self._say_why_not(execution, "those before it are still under way")
            return
        shot = _Shot(client, execution, shows_password=_shows_password(result))
        self._shots[client] = shot
        future = self._pool.submit(self._take, shot)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)

    def wait(self, client: ClientActivity) -> None:
        """Wait until the last picture of a client is captured."""
        shot = self._shots.pop(client, None)
        if shot is not None:
            shot.wait()

    def close(self) -> None:
        """Wait for the last pictures."""
        for client in list(self._shots):
            self.wait(client)
        wait(set(self._under_way), timeout=_WITHIN)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _take(self, shot: _Shot) -> None:
        shot.client.collecting_threads.add(threading.current_thread())
        try:
            picture = photograph(shot.client, on_captured=shot.is_captured.set)
            if shot.needs_snapshot:
                screen = CurrentScreen(shot.client, is_broken=False, is_wanted=True)
                picture = without_secrets(picture, screen, is_guarded=True)
            # The screen is free; the test need not wait for the rest.
            shot.is_captured.set()
            shot.is_done.set()
            self._keep(shot, picture)
        except (ClawperatorError, Unavailable, OSError, ValueError) as exc:
            self._say_why_not(shot.execution, str(exc))
        finally:
            shot.is_captured.set()
            shot.is_done.set()
            self._room.release()

    def _keep(self, shot: _Shot, picture: bytes) -> None:
        if shot.is_late:
            self._say_why_not(shot.execution, "the test went on before it was taken")
            return
        digest = sha256(picture).digest()
        with self._keeping:  # the next one may be the same: many executions change nothing
            if digest not in self._kept:
                small, size, scale = smaller(picture)
                if len(self._kept) >= _REMEMBERED:
                    self._kept.clear()
                self._kept[digest] = self._writer.keep(small, ".webp"), size, scale
            blob, size, scale = self._kept[digest]
        self._writer.write(
            events.PictureTaken(
                at=now(),
                serial=shot.client.client.serial,
                blob=blob,
                size=size,
                scale=scale,
                execution=shot.execution,
            )
        )

    def _say_why_not(self, execution: int, why: str) -> None:
        message = f"no picture: {why}"
        self._writer.write(events.Noted(at=now(), message=message, execution=execution))


def _shows_password(result: RunResult | None) -> bool:
    """Whether an execution saw a password field, which may not be recorded elsewhere yet."""
    steps = [] if result is None else [*result.steps, result.last_proof]
    return any(PROTECTED in (step.data.get("text") or "") for step in steps if step is not None)


class AttemptTrace:
    """Writes the trace of one attempt, if it uses a device and the settings want one.

    It is written to a folder for unfinished traces, and moved when it is kept: where the test's
    evidence goes need not be known while there is none.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._places = Places(item.config.rootpath)
        self._early: list[TraceEvent] = []
        self._output: TraceOutput | None = None
        self._tracer: Tracer | None = None
        self._pictures: PictureTaker | None = None
        self._clients: list[ClientActivity] = []
        self._begun = now()
        self._outcome: events.Outcome = "passed"
        self._reason = ""
        self._is_infrastructure = False
        self._has_own_failure = False
        #: Why there is no trace, though one is wanted.
        self.problem = ""

    @property
    def _settings(self) -> Settings:
        return settings_of_item(self._item)

    @property
    def _sinks(self) -> ReportSinks:
        return sinks_of(self._item.config)

    @property
    def is_begun(self) -> bool:
        """Whether the test uses a device, and its trace is being written."""
        return self._output is not None

    # While the test runs

    def add(self, event: TraceEvent) -> None:
        """Add an event; one from before the test uses a device is added when it does."""
        if self._output is None:
            self._early.append(event)
        else:
            self._output.write(event)

    def begin_phase(self, name: Literal["setup", "call", "teardown"]) -> None:
        """Record that a phase begins."""
        self.add(events.PhaseBegan(at=now(), name=name))

    def verified(self, verification: Verification) -> None:
        """Record an expectation."""
        if self._tracer is not None:
            self._tracer.verified(verification)

    def use(self, client: ClientActivity) -> None:
        """Follow a client of the test."""
        if client in self._clients:
            return
        if self._tracer is None:
            self._tracer = self._begin()
        self._clients.append(client)
        on_event = self._tracer.follow(client)
        if self._settings.trace != "off" or self._sinks.need_steps:
            client.on_event = on_event

    def drop(self, client: ClientActivity) -> None:
        """Stop following a client."""
        if client in self._clients:
            self._clients.remove(client)
            client.stop_following()

    def keep_file(self, attachment: Attachment) -> None:
        """Record a file that was kept of the test."""
        if self._output is not None:
            path = Path(os.path.relpath(attachment.path, attachment.path.parent / FOLDER))
            self._output.write(
                events.ArtefactKept(
                    at=now(),
                    name=attachment.name,
                    path=path.as_posix(),
                    mime=attachment.mime,
                )
            )

    def _begin(self) -> Tracer:
        sinks, writer = self._sinks, self._new_writer()
        output = self._output = TraceOutput(writer, sinks)
        attempt = getattr(self._item, "execution_count", 1)  # of pytest-rerunfailures
        output.write(
            events.TraceBegan(
                at=self._begun,
                nodeid=self._item.nodeid,
                attempt=attempt,
                environment=VERSIONS,
                run=run_id(self._item.config),
                worker=worker_input(self._item.config).get("workerid", ""),
            )
        )
        for event in self._early:
            output.write(event)
        self._early.clear()
        if writer is None or self._settings.trace != "on":
            return Tracer(output, place=self._places.current)
        pictures = self._pictures = PictureTaker(output)
        return Tracer(
            output,
            place=self._places.current,
            before_execution=pictures.wait,
            after_execution=pictures.take,
        )

    def _new_writer(self) -> TraceWriter | None:
        """Return the writer of the trace file, if there is to be one."""
        if self._settings.trace == "off":
            return None
        try:
            config = self._item.config
            name = f"{folder_name(self._item.nodeid)}-{os.getpid()}-{next(_numbers)}"
            return TraceWriter(run_folder(config, self._settings) / UNFINISHED / name)
        except OSError as exc:  # no reason to fail a test
            self.problem = f"no trace: {exc}"
            return None

    # At its end

    def end_phase(self, report: pytest.TestReport, error: BaseException | None) -> None:
        """Record how a phase ended."""
        is_part = SUBTESTS in self._item.stash
        if report.skipped and self._outcome == "passed" and not is_part:
            self._outcome = "skipped"
            self._reason = str(error or "")
        if not report.failed:
            return
        self._has_own_failure |= not (is_put_aside(error) or is_shared(error))
        self._is_infrastructure |= is_devices_fault(report)
        is_own = report.when == "call" and not is_devices_fault(report)
        failure = events.Failure(type="", message=report.longreprtext)
        if error is not None:  # else it passed against all expectation
            failure = failure_of(error)
        if self._outcome not in ("failed", "error") or (is_own and self._outcome == "error"):
            self._outcome = "failed" if is_own else "error"
            self._reason = failure.message.partition("\n")[0]
        self.add(
            events.ErrorRaised(
                at=now(),
                phase=report.when or "",
                failure=failure,
                excerpt=None if error is None else self._places.excerpt(error),
                traceback=report.longreprtext,
            )
        )

    def finish(self, *, is_interrupted: bool = False) -> Path | None:
        """End the trace; return its folder if it is to be kept, else remove it.

        The trace of a test that was interrupted has no outcome.
        """
        for client in list(self._clients):
            self.drop(client)
        output, self._output, self._tracer = self._output, None, None
        if output is None:
            return None
        if self._pictures is not None:
            self._pictures.close()
        if not is_interrupted:
            output.write(self._ended())
        writer = output.writer
        if writer is None:
            return None
        writer.close()
        mode = self._settings.trace
        # A shared failure is not specific to the test, which did not even begin.
        if mode == "on" or (mode != "off" and self._has_own_failure):
            return writer.folder
        shutil.rmtree(writer.folder, ignore_errors=True)
        return None

    def _ended(self) -> TraceEvent:
        return events.TraceEnded(
            at=now(),
            outcome=self._outcome,
            seconds=round(now() - self._begun, 6),
            reason=self._reason,
            is_infrastructure=self._is_infrastructure,
        )


def begin_attempt(item: pytest.Item) -> None:
    """Begin the trace of an attempt."""
    if not begun_trace(item).is_begun:  # perhaps that of an attempt without a device
        del item.stash[TRACE]
    begun_trace(item).begin_phase("setup")


def end_interrupted(item: pytest.Item) -> None:
    """End the trace of a test that was interrupted, and so never reported."""
    trace = item.stash.get(TRACE, None)
    if trace is not None:
        trace.finish(is_interrupted=True)
        del item.stash[TRACE]


def remove_empty_folders(config: pytest.Config) -> None:
    """Remove the folders for traces in which nothing was kept."""
    folder = run_folder(config) / UNFINISHED
    with suppress(OSError):  # something is in it, perhaps of a process that still runs
        for empty in (folder, folder.parent, folder.parent.parent):
            empty.rmdir()


def timed_fixture(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Trace how long a fixture took to set up, and note when its teardown begins."""
    __tracebackhide__ = True  # a fixture that fails is shown at its own line
    begin = ticks()
    error: BaseException | None = None
    try:
        return (yield)
    except BaseException as exc:
        error = exc
        raise
    finally:
        _note_fixture(request.config, fixturedef, "setup", begin, error)
        ending = request.config.stash.setdefault(ENDING_FIXTURES, {})

        def clawperator_fixture_ends() -> None:  # a name that is not shown in Allure
            ending[id(fixturedef)] = ticks()

        # Comes before the fixture's own end.
        request.addfinalizer(clawperator_fixture_ends)


def end_fixture(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    """Trace how long a fixture took to tear down."""
    begin = request.config.stash.get(ENDING_FIXTURES, {}).pop(id(fixturedef), None)
    if begin is not None:
        _note_fixture(request.config, fixturedef, "teardown", begin)


def begun_trace(item: pytest.Item) -> AttemptTrace:
    """Return the trace of the current attempt at a test, which begins with its first use."""
    if TRACE not in item.stash:
        item.stash[TRACE] = AttemptTrace(item)
    return item.stash[TRACE]


def _note_fixture(
    config: pytest.Config,
    fixturedef: pytest.FixtureDef[Any],
    stage: Literal["setup", "teardown"],
    begin: float,
    error: BaseException | None = None,
) -> None:
    item = config.stash.get(CURRENT_TEST, None)
    trace = None if item is None else item.stash.get(TRACE, None)
    if trace is not None:
        trace.add(
            events.FixtureEnded(
                at=now(),
                name=fixturedef.argname,
                scope=fixturedef.scope,
                stage=stage,
                seconds=round(ticks() - begin, 6),
                failure=None if error is None else failure_of(error),
            )
        )
