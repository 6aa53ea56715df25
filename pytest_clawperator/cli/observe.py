"""What is on the screen: ``snapshot``, ``screenshot``, ``read``, ``wait`` and ``sleep``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.executions import (
    OBSERVE,
    USUAL_MS,
    direct,
    finite,
    one_of,
    payload,
    perform,
    positive_timeout,
    rehearsed,
    unique,
)
from pytest_clawperator.cli.options import (
    CONTAINER,
    ELEMENT,
    GlobalOptions,
    Mistake,
    invalid,
    missing_argument,
    read_number,
    require_selector,
)
from pytest_clawperator.cli.output import Answer, Piece
from pytest_clawperator.client.timing import retry_for
from pytest_clawperator.contracts.ecmascript import is_blank
from pytest_clawperator.execution.result import RunResult
from pytest_clawperator.text import visible_in_xml

# A whole screen for people; the messages of errors show less.
_OUTLINE_LINES = 400


@command(
    "snapshot",
    examples=[
        "snapshot",
        "snapshot --outline --device emulator-5554",
        "snapshot --xml > screen.xml",
        "snapshot --json | jq -r '.envelope.stepResults[0].data.text'",
    ],
)
@click.option("--outline", is_flag=True, help="Print what a person sees, one line for each node.")
@click.option("--xml", is_flag=True, help="Print the hierarchy as XML.")
def snapshot(options: GlobalOptions, outline: bool, xml: bool) -> Answer:
    """Capture the UI hierarchy of the screen."""
    if outline and xml:
        raise Mistake("use --outline OR --xml, not both")

    def finish(result: RunResult, answer: Answer) -> Answer:
        if xml:
            return replace(answer, text=visible_in_xml(result.step("snap").snapshot.xml))
        if not outline and options.output == "json":
            return answer
        from pytest_clawperator.snapshot.near_miss import outline as outlined  # not needed for XML

        shown = outlined(result.step("snap").snapshot, limit=_OUTLINE_LINES)
        if not outline:
            return replace(answer, page=[shown])
        return Answer({**answer.document, "outline": shown}, [shown], text=shown)

    wanted = direct("snapshot", "snapshot_ui", source=OBSERVE, step="snap")
    return perform(options, wanted, finish=finish)


@command(
    "screenshot",
    examples=["screenshot", "screenshot --path screen.png", "screenshot --open"],
)
@click.option("--path", "--file", metavar="FILE", help="Where to write the picture.")
@click.option("--open", "is_opened", is_flag=True, help="Show the picture when it is taken.")
def screenshot(options: GlobalOptions, path: str | None, is_opened: bool) -> Answer:
    """Capture the screen as a PNG picture; without a path, into the folder for temporary files."""
    if path == "":
        raise Mistake("--path requires a value")

    def finish(result: RunResult, answer: Answer) -> Answer:
        [step] = answer.document["envelope"]["stepResults"]
        if is_opened:
            _open(step["data"]["path"])
        return replace(answer, page=[step["data"]["path"]])

    wanted = payload(
        "take_screenshot",
        {} if path is None else {"path": path if is_blank(path) else str(Path(path).absolute())},
        step="snap",
        command_id=unique("screenshot"),
        source=OBSERVE,
    )
    return perform(options, wanted, finish=finish)


def _open(path: str) -> None:
    """Open a picture with the system's viewer."""
    if click.launch(path) != 0:
        sys.stderr.write(f"no program could be started to show {path}\n")


@command(
    "read",
    selectors=[ELEMENT, CONTAINER],
    examples=[
        "read --id com.example:id/total",
        'read --text-contains "€" --container-id android:id/list --all --json',
    ],
)
@click.option("--all", "is_all", is_flag=True, help="The texts of all that fit; needs --json.")
def read(
    options: GlobalOptions,
    matcher: dict[str, Any] | None,
    container: dict[str, Any] | None,
    is_all: bool,
) -> Answer:
    """Read the text of an element."""
    require_selector("read", matcher)
    if is_all and not options.is_json_explicit:
        raise invalid(
            "read --all requires explicit JSON output",
            hint="Pass --json, --output json, or --format json.",
        )
    params: dict[str, Any] = {"matcher": matcher}
    params |= {} if container is None else {"container": container}
    params |= {"all": True} if is_all else {}
    wanted = direct("read", "read_text", params)
    return perform(options, wanted, use=None if is_all else "READ", page=_value("text"))


@command(
    "read-value",
    examples=['read-value --label "Battery"', "read-value --label-id com.example:id/label --json"],
)
@click.option("--label", "--text", "--label-text", metavar="TEXT", help="The label's text.")
@click.option("--label-id", "--id", "--resource-id", metavar="ID", help="The label's resource id.")
@click.option("--label-desc", "--desc", "--content-desc", metavar="TEXT", help="Its description.")
@click.option("--validate-only", "--validate", is_flag=True, help="Only check the execution.")
@click.option("--dry-run", is_flag=True, help="Only print what would be sent.")
def read_value(
    options: GlobalOptions,
    label: str | None,
    label_id: str | None,
    label_desc: str | None,
    validate_only: bool,
    dry_run: bool,
) -> Answer:
    """Read the value beside a label."""
    given = {"--label": label, "--label-id": label_id, "--label-desc": label_desc}
    for flag, value in given.items():
        if value and is_blank(value):
            raise invalid(f"read-value {flag} value must not be empty")
    fields = {"textEquals": label, "resourceId": label_id, "contentDescEquals": label_desc}
    matcher = {field: value for field, value in fields.items() if value}
    if not matcher:
        raise missing_argument(
            "read-value requires a label selector",
            hint='Say which label: clawperator-py read-value --label "Battery".',
        )
    wanted = direct("read-value", "read_key_value_pair", {"labelMatcher": matcher})
    if validate_only or dry_run:
        return rehearsed(options, wanted, is_dry=dry_run)
    return perform(options, wanted, use="PLACE", page=_value("value"))


def _value(key: str) -> Any:
    """Return the page of a value that was read: the value alone."""

    def page(result: RunResult) -> Sequence[Piece]:
        return [step.data.get(key, "") for step in result.steps]

    return page


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
    """Wait until an element is on the screen, for --timeout milliseconds at most."""
    require_selector("wait", matcher)
    limit = positive_timeout(
        options,
        "--timeout must be a positive number of milliseconds when specified."
        " Omit --timeout to use the default wait cap.",
    )
    params: dict[str, Any] = {"matcher": matcher}
    if limit is not None:
        # The Operator follows the retry object, whatever the timeout is.
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
    help="The app that should be in front.",
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
    """Return the timeout of an execution that waits this long."""
    return max((limit or 0) + _MARGIN_MS, USUAL_MS)
