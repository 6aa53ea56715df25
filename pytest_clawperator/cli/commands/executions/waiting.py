"""``wait``, ``wait-for-nav`` and ``sleep``: until the screen is as expected, or for a while."""

from __future__ import annotations

from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.numbers import read_number
from pytest_clawperator.cli.commands.executions.payloads import USUAL_MS, direct, payload, unique
from pytest_clawperator.cli.commands.executions.running import (
    finite,
    one_of,
    perform,
    positive_timeout,
    rehearsed,
)
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import invalid, missing_argument
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.cli.selectors import ELEMENT, require_selector
from pytest_clawperator.client.plan.timing import retry_for
from pytest_clawperator.contracts.text.ecmascript import is_blank

# What an execution may take beyond the wait in it, in milliseconds.
_MARGIN_MS = 5_000
_LONGEST_NAVIGATION_MS, _LONGEST_SLEEP_MS = 30_000, 120_000
_SLEEP_HINT = "It is in milliseconds, as in: clawperator-py sleep 2000."


@command(
    "wait",
    selectors=[ELEMENT],
    examples=['wait --text "Done"', 'wait --text-contains "Done" --timeout 10000 --json'],
)
def wait(options: GlobalOptions, matcher: dict[str, Any] | None) -> Answer:
    """Wait until an element is on the screen; --timeout says how long, in milliseconds."""
    require_selector("wait", matcher)
    limit = positive_timeout(
        options,
        "--timeout must be a positive number of milliseconds when specified."
        " Omit --timeout to use the default wait cap.",
    )
    params: dict[str, Any] = {"matcher": matcher}
    if limit is not None:
        # The Operator looks as often as a retry object says, whatever the timeout.
        params |= {"timeoutMs": limit, "retry": retry_for(limit / 1000).to_wire()}
    wanted = direct("wait", "wait_for_node", params, timeout_ms=_whole(limit))
    return perform(options, wanted, is_timeout_used=True)


@command(
    "wait-for-nav",
    selectors=[ELEMENT],
    examples=[
        "wait-for-nav --app com.android.settings --timeout 5000",
        'wait-for-nav --text "Settings" --timeout 5000',
    ],
)
@click.option(
    "--app", "--package", "--package-id", "--application-id", "--app-id", metavar="PACKAGE",
    help="The app that shall be in front.",
)  # fmt: skip
@click.option("--validate-only", "--validate", is_flag=True, help="Only check the execution.")
@click.option("--dry-run", is_flag=True, help="Only print what would be sent.")
def wait_for_nav(
    options: GlobalOptions,
    matcher: dict[str, Any] | None,
    app: str | None,
    validate_only: bool,
    dry_run: bool,
) -> Answer:
    """Wait until an app is in front, or an element on the screen; --timeout is required."""
    if app is not None and is_blank(app):
        raise invalid("wait-for-nav --app requires a non-empty package id")
    limit = positive_timeout(
        options, "wait-for-nav --timeout must be a positive number of milliseconds"
    )
    example = "As in: clawperator-py wait-for-nav --app com.android.settings --timeout 5000."
    if app is None and matcher is None:
        raise missing_argument(
            "wait-for-nav requires --app or a selector, and --timeout", hint=example
        )
    if limit is None:
        raise missing_argument("wait-for-nav requires --timeout MS", hint=example)
    if limit > _LONGEST_NAVIGATION_MS:
        raise invalid(f"wait-for-nav --timeout must not exceed {_LONGEST_NAVIGATION_MS}ms")
    params: dict[str, Any] = {} if app is None else {"expectedPackage": app}
    params |= {} if matcher is None else {"expectedNode": matcher}
    params["timeoutMs"] = limit
    wanted = direct("wait-for-nav", "wait_for_navigation", params, timeout_ms=_whole(limit))
    if validate_only or dry_run:
        return rehearsed(options, wanted, is_dry=dry_run, is_timeout_used=True)
    return perform(options, wanted, is_timeout_used=True)


@command("sleep", examples=["sleep 2000"])
@click.argument("words", nargs=-1, metavar="MS")
def sleep(options: GlobalOptions, words: tuple[str, ...]) -> Answer:
    """Let the device do nothing for some milliseconds."""
    text = one_of("sleep", "duration", words, None, flag="")
    if not text:
        raise missing_argument("sleep requires a duration in milliseconds", hint=_SLEEP_HINT)
    duration = read_number(text)
    if not 0 <= duration < float("inf"):
        raise invalid(f"Duration must be a non-negative number (got: {text})", hint=_SLEEP_HINT)
    if duration > _LONGEST_SLEEP_MS:
        raise invalid(f"Duration must be <= {_LONGEST_SLEEP_MS}ms (got: {text}ms)")
    given = 0.0 if options.timeout is None else finite(read_number(options.timeout))
    wanted = payload(
        "sleep",
        {"durationMs": duration},
        step="sleep",
        command_id=unique("sleep"),
        timeout_ms=max(_whole(duration), given),
    )
    return perform(options, wanted, is_timeout_used=True)


def _whole(limit: float | None) -> float:
    """Return the timeout of an execution that waits so long."""
    return max((limit or 0) + _MARGIN_MS, USUAL_MS)
