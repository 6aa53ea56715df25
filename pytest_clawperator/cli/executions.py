"""What commands that run an execution share: its payload, its run, its answer; and ``exec``."""

from __future__ import annotations

import math
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.options import GlobalOptions, invalid, missing_argument, read_number
from pytest_clawperator.cli.output import Answer, Line, Piece
from pytest_clawperator.cli.session import open_session
from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.ecmascript import parse_json, why_not_json
from pytest_clawperator.contracts.payload import Execution, override_timeout, validate_execution
from pytest_clawperator.errors import (
    UNUSABLE_FILE,
    ConfigurationError,
    ErrorCode,
    file_problem,
    is_file,
)
from pytest_clawperator.execution.postprocess import screenshot_path
from pytest_clawperator.execution.result import RunResult

OBSERVE, ACTION, CLI = "clawperator-observe", "clawperator-action", "clawperator-cli"

#: The timeout of executions for which none was given, in milliseconds.
USUAL_MS = 30_000

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


def unique(name: str) -> str:
    """Return a unique id: the name, the time, and seven random characters."""
    return f"{name}-{_now()}-{''.join(secrets.choice(_LETTERS) for _ in range(7))}"


def timed(name: str) -> str:
    """Return an id of the name and the time."""
    return f"{name}_{_now()}"


def payload(
    kind: str,
    params: dict[str, Any] | None = None,
    *,
    step: str,
    command_id: str,
    task_id: str | None = None,
    source: str = CLI,
    timeout_ms: float = USUAL_MS,
    is_direct: bool = False,
) -> dict[str, Any]:
    """Return an execution of one action, in wire form."""
    action: dict[str, Any] = {"id": step, "type": kind}
    if params is not None:
        action["params"] = params
    return {
        "commandId": command_id,
        "taskId": task_id or command_id,
        "source": source,
        "expectedFormat": "android-ui-automator",
        "timeoutMs": timeout_ms,
        "actions": [action],
        **({"mode": "direct"} if is_direct else {}),
    }


def direct(
    name: str,
    kind: str,
    params: dict[str, Any] | None = None,
    *,
    timeout_ms: float = USUAL_MS,
    source: str = ACTION,
    step: str | None = None,
) -> dict[str, Any]:
    """Return an execution of one action whose step has the name of the command."""
    return payload(
        kind,
        params,
        step=step or name,
        command_id=unique(name),
        source=source,
        timeout_ms=timeout_ms,
        is_direct=True,
    )


def _now() -> int:
    return round(time.time() * 1000)


_MILLISECONDS = "--timeout is in milliseconds, as in --timeout 30000."

#: Makes the page for people of a run that succeeded.
Page = Callable[[RunResult], Sequence[Piece]]


def perform(
    options: GlobalOptions,
    payload: Any,
    *,
    use: NodeUse | None = None,
    page: Page | None = None,
    finish: Callable[[RunResult, Answer], Answer] = lambda result, answer: answer,
    is_timeout_used: bool = False,
) -> Answer:
    """Validate a payload, run it on the chosen device, and return the answer.

    ``use`` is what its only action does with one node; with ``--matchers strict`` no other may
    match. With ``is_timeout_used`` the command itself has applied ``--timeout``. ``finish``
    completes the answer of a successful run.
    """
    execution = checked(payload, None if is_timeout_used else options.timeout)
    with open_session(options) as runner:
        if use is not None and options.matchers == "strict":
            result = _judging().run_on_one_node(runner, execution, use)
        else:
            result = runner.run(execution)
        if not result.ok and options.output == "pretty":
            raise _judging().explained(runner, execution, result)
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


#: What an action does with its node, as in ``client.target.Use``.
NodeUse = Literal["TAP", "FOCUS", "FILL", "READ", "PLACE"]


def _judging() -> ModuleType:
    """Return the module that judges screens, which is slow to import."""
    return import_module("pytest_clawperator.cli.judging")


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
    """Return ``--timeout`` as a number; raise if it is not finite."""
    if not math.isfinite(number):
        raise invalid("timeoutMs must be a finite number", hint=_MILLISECONDS)
    return number


def rehearsed(
    options: GlobalOptions, payload: Any, *, is_dry: bool, is_timeout_used: bool = False
) -> Answer:
    """Validate a payload, and return what would be run; for a dry run, its plan."""
    execution = checked(payload, None if is_timeout_used else options.timeout)
    if is_dry:
        return Answer({"ok": True, "dryRun": True, "plan": execution.plan()})
    return Answer({"ok": True, "validated": True, "execution": execution.to_wire()})


def steps_page(result: RunResult) -> list[Piece]:
    """Return a line for each step; the id of a single one is left out."""
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
    """Return the value given as an argument or as an option; raise if both are given."""
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
    """Return the envelope; a screenshot without a path is kept in the folder for temporary files.

    The file of the run itself is deleted with the run.
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


@command(
    "exec",
    examples=[
        "exec payload.json",
        "exec payload.json --validate-only",
        "exec - < payload.json",
        'exec --payload \'{"commandId": "c1", ...}\' --dry-run',
    ],
)
@click.argument("words", nargs=-1, metavar="[JSON|FILE|-]")
@click.option(
    "--payload", "--execution", "--input", "--file", metavar="JSON|FILE|-",
    help="The same as the argument.",
)  # fmt: skip
@click.option("--validate-only", "--validate", is_flag=True, help="Only check the payload.")
@click.option("--dry-run", is_flag=True, help="Only print what would be sent.")
def execute(
    options: GlobalOptions,
    words: tuple[str, ...],
    payload: str | None,
    validate_only: bool,
    dry_run: bool,
) -> Answer:
    """Run an execution payload: JSON, a file that holds it, or - for stdin."""
    source = one_of("exec", "payload", words, payload, flag="--payload")
    if not source:
        raise missing_argument(
            "exec requires a payload",
            hint="Pass JSON, the path of a file, or - for stdin: clawperator-py exec payload.json.",
        )
    raw = _read(source)
    if validate_only or dry_run:
        return rehearsed(options, raw, is_dry=dry_run)
    return perform(options, raw)


def _read(source: str) -> Any:
    """Read and parse the payload; a text that begins like JSON is JSON."""
    if source == "-":
        return _parsed(sys.stdin.read(), "Invalid JSON content on stdin")
    begin = source.lstrip()[:1]
    if begin == "{" or (begin == "[" and not is_file(Path(source))):
        return _parsed(source, "Invalid JSON content")
    try:
        text = Path(source).read_bytes().decode("utf-8-sig")
    except UNUSABLE_FILE as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else file_problem(error)
        raise invalid(
            f"Failed to read execution file: {source}: {reason}",
            hint="Pass JSON itself, the path of a file that holds it, or - for stdin.",
        ) from error
    return _parsed(text, "Invalid JSON content in execution file")


def _parsed(text: str, problem: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        raise invalid(f"{problem}: {why_not_json(error)}") from error
