"""``exec``: a whole execution payload, from an argument, a file or stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.running import one_of, perform, rehearsed
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import invalid, missing_argument
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.contracts.text.strict_json import parse_json, why_not_json
from pytest_clawperator.errors import UNUSABLE_FILE, file_problem, is_file


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
    """Return the payload, parsed; a text that begins as JSON does is JSON."""
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
