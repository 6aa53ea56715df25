"""Observers hear of everything that happens in a run, and cannot harm it."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from pytest_clawperator.contracts.events import (
    ArtifactMade,
    Event,
    ExecutionFinished,
    ExecutionStarted,
)
from pytest_clawperator.errors import (
    BroadcastError,
    ClawperatorWarning,
    DeviceNotFoundError,
    ExecutionConflictError,
)
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.transport.interface import ShellResult
from tests.doubles.log import line
from tests.doubles.pipeline import SHOT, SLEEP, MakeBench, envelope, step


def test_the_watchers_hear_of_everything(bench: MakeBench) -> None:
    """Start, end and artefacts are told in order, with the position in the log."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    here.transport.log.lines.append(line("earlier"))

    result = here.run({"id": "a", "type": "take_screenshot"})

    start, end, made = here.events
    assert isinstance(start, ExecutionStarted)
    assert isinstance(end, ExecutionFinished)
    assert isinstance(made, ArtifactMade)
    assert start.log_position == end.log_position == 1
    assert start.execution.command_id == "cmd-1"
    assert end.result is result
    assert end.error is None
    assert (made.kind, made.step_id, made.data) == ("screenshot", "a", result.screenshot)
    assert made.path is None


def test_the_watchers_hear_of_the_file_that_was_asked_for(bench: MakeBench, tmp_path: Path) -> None:
    """A path of one's own is told; a passing file is not."""
    here = bench((0.1, envelope("cmd-1", SHOT)))
    path = tmp_path / "mine.png"

    here.run({"id": "a", "type": "take_screenshot", "params": {"path": str(path)}})

    made = here.events[-1]
    assert isinstance(made, ArtifactMade)
    assert made.path == path


def test_the_watchers_hear_of_errors(bench: MakeBench) -> None:
    """An execution without an envelope ends with its error."""
    here = bench(broadcast=ShellResult("", "refused", 1))

    with pytest.raises(BroadcastError) as caught:
        here.run(SLEEP)

    end = here.events[-1]
    assert isinstance(end, ExecutionFinished)
    assert end.error is caught.value
    assert end.result is None


def test_a_watcher_that_fails_harms_nobody(bench: MakeBench) -> None:
    """The run goes on, and the failure is a warning that names it."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))

    def broken(event: Event) -> None:
        raise ValueError("broken report")

    remove = here.pipeline.observers.add(broken)
    with pytest.warns(ClawperatorWarning, match="broken report"):
        result = here.run(SLEEP)
    remove()
    here.answer((0.1, envelope("cmd-2", step("sleep"))))
    again = here.run(SLEEP, command_id="cmd-2")

    assert result.ok
    assert again.ok


def test_a_watcher_that_fails_harms_nobody_where_warnings_are_errors(bench: MakeBench) -> None:
    """A filter that makes errors of warnings does not make a run fail for its watchers."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))

    def broken(event: Event) -> None:
        raise ValueError("broken report")

    here.pipeline.observers.add(broken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = here.run(SLEEP)

    assert result.ok


def test_a_watcher_may_use_the_device_when_an_execution_ended(bench: MakeBench) -> None:
    """The end is told when the device is free again."""
    here = bench((0.1, envelope("cmd-1", step("sleep"))))
    nested: list[RunResult] = []

    def act(event: Event) -> None:
        if isinstance(event, ExecutionFinished) and not nested:
            here.answer((0.1, envelope("cmd-2", step("sleep"))))
            nested.append(here.run(SLEEP, command_id="cmd-2"))

    here.pipeline.observers.add(act)
    result = here.run(SLEEP)

    assert result.ok
    assert nested[0].ok


def test_the_watchers_hear_of_what_was_never_sent(bench: MakeBench) -> None:
    """A conflict, too, is an execution that started and ended."""
    here = bench()

    with here.pipeline._flight.claim("other", serial="s"), pytest.raises(ExecutionConflictError):
        here.run(SLEEP)

    assert [type(event) for event in here.events] == [ExecutionStarted, ExecutionFinished]


def test_the_watchers_hear_of_a_device_that_is_gone(bench: MakeBench) -> None:
    """Where not even the log can be opened, start and end are told all the same."""
    here = bench()
    gone = DeviceNotFoundError("gone", serial="PH1")

    def mark() -> int:
        raise gone

    here.transport.log.mark = mark  # type: ignore[method-assign]
    with pytest.raises(DeviceNotFoundError):
        here.run(SLEEP)

    start, end = here.events
    assert isinstance(start, ExecutionStarted)
    assert isinstance(end, ExecutionFinished)
    assert end.error is gone
