"""Notifying the observers of a run, without letting them harm it."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
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
from pytest_clawperator.execution.postprocess import NO_PROOFS, screenshot_path
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.execution.typed_texts import TypedTexts
from pytest_clawperator.text import visible

_log = logging.getLogger("pytest_clawperator")


class Observers:
    """The observers of one device; one that fails is named in a warning."""

    def __init__(self, observers: Iterable[Observer] = (), *, serial: str) -> None:
        self._observers = list(observers)
        self._serial = serial
        self._typed = TypedTexts()

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

        ``find_position`` returns the position of the log; what it raises ends the run.
        """
        begin = time.monotonic()
        about: dict[str, Any] = {"execution": execution, "log_position": None, "proofs": proofs}
        started = False
        self._typed.sent(execution)
        try:
            about["log_position"] = find_position()
            started = True
            self._emit(ExecutionStarted, **about)
            result = about["result"] = run()
            self._typed.received(execution, result)
        except BaseException as exc:
            about["error"] = exc
            if not started:
                self._emit(ExecutionStarted, execution=execution, proofs=proofs)
            raise
        finally:
            self._emit(ExecutionFinished, elapsed=time.monotonic() - begin, **about)
            # An error that its own frames hold would keep alive what they have open.
            about.pop("error", None)
        if self._observers:
            self._emit_artifacts(result, asked=screenshot_path(execution.actions, ""))
        return result

    def _emit_artifacts(self, result: RunResult, *, asked: str) -> None:
        for step in result.steps:
            about: dict[str, Any] = {"command_id": result.command_id, "step_id": step.id}
            if step.action_type == "snapshot_ui" and "text" in step.data:
                data = step.data["text"].encode("utf-8", "surrogatepass")
                self._emit(ArtifactMade, kind="snapshot", data=data, **about)
            elif step.action_type == "take_screenshot" and "path" in step.data:
                # Without a wish the file is a passing one, good only where the bytes are lacking.
                path = asked or (step.data["path"] if result.screenshot is None else "")
                about |= {"path": Path(path) if path else None, "data": result.screenshot}
                self._emit(ArtifactMade, kind="screenshot", **about)

    def notice(self, message: str) -> None:
        """Send a notice: something that fails nothing."""
        self._emit(Notice, message=message)


def _warn(message: str) -> None:
    """Warn, even where a filter turns warnings into errors."""
    try:
        warnings.warn(message, ClawperatorWarning, stacklevel=3)
    except ClawperatorWarning:
        _log.warning("%s", visible(message))
