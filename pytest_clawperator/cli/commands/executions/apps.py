"""``open`` and ``close``: apps, links and deep links."""

from __future__ import annotations

import re

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.payloads import payload, timed, unique
from pytest_clawperator.cli.commands.executions.running import one_of, perform
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import missing_argument
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.contracts.text.ecmascript import is_blank

_URI = re.compile(r"[a-z][a-z0-9+\-.]*://", re.IGNORECASE | re.ASCII)
_APP = ("--app", "--package", "--package-id", "--application-id", "--app-id")


@command(
    "open",
    examples=["open com.android.settings", "open https://example.com", "open --app com.example"],
)
@click.argument("words", nargs=-1, metavar="[TARGET]")
@click.option(*_APP, "--uri", "--url", metavar="TARGET", help="The same as the argument.")
def open_(options: GlobalOptions, words: tuple[str, ...], app: str | None) -> Answer:
    """Open an app by its package, or a URL or deep link."""
    target = one_of("open", "target", words, app, flag="--app")
    if target is None or is_blank(target):
        raise missing_argument(
            "open requires a target",
            hint="It is a package, a URL or a deep link: clawperator-py open com.android.settings.",
        )
    is_uri = _URI.search(target) is not None
    wanted = payload(
        "open_uri" if is_uri else "open_app",
        {"uri" if is_uri else "applicationId": target},
        step="a1",
        command_id=timed("open_uri" if is_uri else "open_app"),
        task_id="cli-action-open-uri" if is_uri else "cli-action-open-app",
        timeout_ms=15_000,
    )
    return perform(options, wanted)


@command("close", examples=["close com.android.settings", "close --app com.example"])
@click.argument("words", nargs=-1, metavar="[PACKAGE]")
@click.option(*_APP, metavar="PACKAGE", help="The same as the argument.")
def close(options: GlobalOptions, words: tuple[str, ...], app: str | None) -> Answer:
    """Stop an app."""
    package = one_of("close", "package", words, app, flag="--app")
    if package is None or is_blank(package):
        raise missing_argument(
            "close requires a package name",
            hint="As in: clawperator-py close com.android.settings.",
        )
    wanted = payload(
        "close_app", {"applicationId": package}, step="close", command_id=unique("close")
    )
    return perform(options, wanted)
