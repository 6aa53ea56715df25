"""Telling the watchers of a run what happens, without letting them harm it."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pytest_clawperator.contracts.events import (
    ArtifactMade,
    Event,
    ExecutionFinished,
    ExecutionStarted,
    Notice,
    Observer,
)
from pytest_clawperator.contracts.payload import Execution
from pytest_clawperator.errors import ClawperatorWarning
from pytest_clawperator.execution.postprocess import screenshot_path
from pytest_clawperator.execution.result import RunResult

_log = logging.getLogger("pytest_clawperator")


class Observers:
    """Those who watch the runs on one device; one that fails is named and kept out of the way."""

    def __init__(self, observers: Iterable[Observer] = (), *, serial: str) -> None:
        self._observers = list(observers)
        self._serial = serial

    def add(self, observer: Observer) -> Callable[[], None]:
        """Let somebody watch from now on; the function given back ends it."""
        self._observers.append(observer)

        def remove() -> None:
            if observer in self._observers:
                self._observers.remove(observer)

        return remove

    def tell(self, kind: type[Event], /, **about: Any) -> None:
        """Make the event and hand it to all."""
        if self._observers:
            self.hand_on(kind(serial=self._serial, at=time.time(), **about))

    def hand_on(self, event: Event) -> None:
        """Give an event to all."""
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
    ) -> RunResult:
        """Run, and tell of the start, the end and what came out.

        ``find_position`` says where the log stands; what it raises ends the run.
        """
        begin = time.monotonic()
        about: dict[str, Any] = {"execution": execution, "log_position": None}
        started = False
        try:
            about["log_position"] = find_position()
            started = True
            self.tell(ExecutionStarted, **about)
            result = about["result"] = run()
        except BaseException as exc:
            about["error"] = exc
            if not started:
                self.tell(ExecutionStarted, execution=execution)
            raise
        finally:
            self.tell(ExecutionFinished, elapsed=time.monotonic() - begin, **about)
            # An error that its own frames hold would keep alive what they have open.
            about.pop("error", None)
        if self._observers:
            self._tell_artifacts(result, asked=screenshot_path(execution.actions, ""))
        return result

    def _tell_artifacts(self, result: RunResult, *, asked: str) -> None:
        for step in result.steps:
            about: dict[str, Any] = {"command_id": result.command_id, "step_id": step.id}
            if step.action_type == "snapshot_ui" and "text" in step.data:
                data = step.data["text"].encode("utf-8", "surrogatepass")
                self.tell(ArtifactMade, kind="snapshot", data=data, **about)
            elif step.action_type == "take_screenshot" and "path" in step.data:
                # Without a wish the file is a passing one, good only where the bytes are lacking.
                path = asked or (step.data["path"] if result.screenshot is None else "")
                about |= {"path": Path(path) if path else None, "data": result.screenshot}
                self.tell(ArtifactMade, kind="screenshot", **about)

    def notice(self, message: str) -> None:
        """Say something that fails nothing."""
        self.tell(Notice, message=message)


def _warn(message: str) -> None:
    """Warn, without letting a filter that makes errors of warnings end the run."""
    try:
        warnings.warn(message, ClawperatorWarning, stacklevel=3)
    except ClawperatorWarning:
        _log.warning("%s", message)
