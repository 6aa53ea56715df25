"""Running an execution for a command, and the answer of the command."""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_clawperator.cli.commands.executions.numbers import read_number
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import invalid
from pytest_clawperator.cli.output import Answer, Line, Piece
from pytest_clawperator.cli.session import open_session
from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.completion import override_timeout
from pytest_clawperator.contracts.payload import Execution, validate_execution
from pytest_clawperator.errors import ConfigurationError, ErrorCode, file_problem
from pytest_clawperator.execution.postprocess import screenshot_path
from pytest_clawperator.execution.result import RunResult

_MILLISECONDS = "--timeout is in milliseconds, as in --timeout 30000."
# It takes long to import, and few need it.
_EXPLAINING = "pytest_clawperator.cli.commands.executions.explaining"

#: Makes the page for people of a run that succeeded.
Page = Callable[[RunResult], Sequence[Piece]]


def perform(
    options: GlobalOptions,
    payload: Any,
    *,
    page: Page | None = None,
    finish: Callable[[RunResult, Answer], Answer] = lambda result, answer: answer,
    is_timeout_used: bool = False,
) -> Answer:
    """Validate a payload, run it on the chosen device, and return the answer.

    ``is_timeout_used`` says that the command itself took account of ``--timeout``. ``finish``
    completes the answer of a run that succeeded.
    """
    execution = checked(payload, None if is_timeout_used else options.timeout)
    with open_session(options) as runner:
        result = runner.run(execution)
        if not result.ok and options.output == "pretty":
            raise import_module(_EXPLAINING).explained(runner, execution, result)
        wire = _with_kept_screenshot(execution, result)
    document = {
        "envelope": wire,
        "deviceId": result.serial,
        "terminalSource": result.terminal_source,
        "isCanonicalTerminal": True,
    }
    if not result.ok:
        return Answer(document, exit_code=1)
    shown = page(result) if page is not None else steps_page(result)
    return finish(result, Answer(document, shown))


def checked(payload: Any, timeout: str | None) -> Execution:
    """Return the execution of a payload, with another timeout if one was given."""
    execution = validate_execution(payload)
    if timeout is None:
        return execution
    limit = finite(read_number(timeout))
    if not limits.MIN_TIMEOUT_MS <= limit <= limits.MAX_TIMEOUT_MS:
        bounds = f"{limits.MIN_TIMEOUT_MS} and {limits.MAX_TIMEOUT_MS}"
        raise invalid(f"timeoutMs must be between {bounds}", hint=_MILLISECONDS)
    return override_timeout(execution, limit / 1000)


def finite(number: float) -> float:
    """Return ``--timeout`` as a number; raise if it is none."""
    if not math.isfinite(number):
        raise invalid("timeoutMs must be a finite number", hint=_MILLISECONDS)
    return number


def rehearsed(
    options: GlobalOptions, payload: Any, *, is_dry: bool, is_timeout_used: bool = False
) -> Answer:
    """Validate a payload, and return what would be run; a dry run tells the plan of it."""
    execution = checked(payload, None if is_timeout_used else options.timeout)
    if is_dry:
        return Answer({"ok": True, "dryRun": True, "plan": execution.plan()})
    return Answer({"ok": True, "validated": True, "execution": execution.to_wire()})


def steps_page(result: RunResult) -> list[Piece]:
    """Return a line for each step; the id of an only one says nothing."""
    where = f"on {result.serial}, {result.elapsed:.1f} s"
    if len(result.steps) == 1:
        return [Line(f"✓ {result.steps[0].action_type} {where}", "green")]
    return [Line(f"✓ {step.id}: {step.action_type} {where}", "green") for step in result.steps]


def positive_timeout(options: GlobalOptions, message: str) -> float | None:
    """Return ``--timeout`` in milliseconds, None without one; raise if it is not positive."""
    if options.timeout is None:
        return None
    found = read_number(options.timeout)
    if not 0 < found < float("inf"):
        raise invalid(message, hint=_MILLISECONDS)
    return found


def one_of(
    command: str, what: str, words: tuple[str, ...], option: str | None, *, flag: str
) -> str | None:
    """Return what was given as an argument or as an option; raise if it was given twice."""
    if words and option:
        raise invalid(
            f"{command}: pass the {what} as a positional argument or via {flag}, not both",
            hint=f"See `clawperator-py {command} --help`.",
        )
    if len(words) > 1:
        raise invalid(
            f"{command} takes one {what}, found {len(words)} words",
            hint="Put quotes around a text with spaces.",
        )
    return words[0] if words else option


def _with_kept_screenshot(execution: Execution, result: RunResult) -> dict[str, Any]:
    """Return the envelope; a screenshot without a path is kept where the system keeps such files.

    The file that the run made goes with the run.
    """
    wire = result.to_wire()
    if result.screenshot is None or screenshot_path(execution.actions, ""):
        return wire
    for step in wire["stepResults"]:
        if step["actionType"] == "take_screenshot" and "path" in step["data"]:
            step["data"]["path"] = str(_kept(result.screenshot, execution.command_id))
            break
    return wire


def _kept(picture: bytes, command_id: str) -> Path:
    name = "".join(one if one.isalnum() or one in "._-" else "_" for one in command_id)
    place = Path(tempfile.gettempdir())
    path = place / f"clawperator-screenshot-{name}-{round(time.time() * 1000)}.png"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(picture)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {file_problem(error)}",
            code=ErrorCode.FILE_UNAVAILABLE,
            hint="Say where to write the picture: --path FILE.",
        ) from error
    return path
