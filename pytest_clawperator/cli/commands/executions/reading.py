"""``read`` and ``read-value``: texts of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.payloads import direct
from pytest_clawperator.cli.commands.executions.running import perform, rehearsed
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import invalid, missing_argument
from pytest_clawperator.cli.output import Answer, Piece
from pytest_clawperator.cli.selectors import CONTAINER, ELEMENT, require_selector
from pytest_clawperator.contracts.ecmascript import is_blank
from pytest_clawperator.execution.result import RunResult


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
    return perform(options, direct("read", "read_text", params), page=_value("text"))


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
    return perform(options, wanted, page=_value("value"))


def _value(key: str) -> Any:
    """Return the page of a value that was read: the value alone."""

    def page(result: RunResult) -> Sequence[Piece]:
        return [step.data.get(key, "") for step in result.steps]

    return page
