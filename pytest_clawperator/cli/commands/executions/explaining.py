"""Why a run failed, for people: with the node that comes nearest to the one that was meant."""

from __future__ import annotations

from contextlib import suppress

from pytest_clawperator.cli.commands.executions.payloads import OBSERVE, direct
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.contracts.payload import Execution, validate_execution
from pytest_clawperator.errors import ClawperatorError, ErrorCode
from pytest_clawperator.execution.pipeline import Runner
from pytest_clawperator.execution.result import RunResult, error_of
from pytest_clawperator.snapshot.near_miss import nearest


def explained(runner: Runner, execution: Execution, result: RunResult) -> ClawperatorError:
    """Return the error of a failed run; if a node was not found, the screen is looked at."""
    error = error_of(result)
    matcher = _matcher(execution)
    if matcher is not None and result.code is ErrorCode.NODE_NOT_FOUND:
        # The look is a help; if it fails as well, the error is told without it.
        with suppress(ClawperatorError, KeyError):
            look = direct("snapshot", "snapshot_ui", source=OBSERVE, step="snap")
            screen = runner.run(validate_execution(look)).step("snap").snapshot
            for miss in nearest(screen, matcher, limit=1):
                error.hint = f"Nearest: {miss}. {error.hint or ''}".rstrip()
    return error


def _matcher(execution: Execution) -> NodeMatcher | None:
    """Return which node the last action is about."""
    params = execution.actions[-1].params
    if params is None:
        return None
    return params.matcher or params.label_matcher or params.expected_node
