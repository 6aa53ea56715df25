"""``scroll``, ``scroll-until`` and ``scroll-and-click``."""

from __future__ import annotations

from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.numbers import read_number
from pytest_clawperator.cli.commands.executions.payloads import USUAL_MS, payload, unique
from pytest_clawperator.cli.commands.executions.running import finite, one_of, perform
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import missing_argument
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.cli.selectors import CONTAINER, ELEMENT, require_selector
from pytest_clawperator.contracts.text.wording import quote

DIRECTIONS = ("down", "up", "left", "right")
_LISTED = ", ".join(DIRECTIONS)

_direction = click.option("--direction", metavar="DIRECTION", help=f"One of {_LISTED}.")
_words = click.argument("words", nargs=-1, metavar="[DIRECTION]")


@command(
    "scroll",
    selectors=[CONTAINER],
    examples=["scroll down", "scroll up --container-id android:id/list"],
)
@_words
@_direction
def scroll(
    options: GlobalOptions,
    container: dict[str, Any] | None,
    words: tuple[str, ...],
    direction: str | None,
) -> Answer:
    """Scroll once; down shows what is further down."""
    wanted = one_of("scroll", "direction", words, direction, flag="--direction")
    if wanted not in DIRECTIONS:
        raise missing_argument("scroll requires a direction", hint=f"It is one of {_LISTED}.")
    params: dict[str, Any] = {"direction": wanted}
    params |= {} if container is None else {"container": container}
    sent = _scroll("scroll", params, options, name="scroll", task="cli-action-scroll")
    return perform(options, sent, is_timeout_used=True)


@command(
    "scroll-until",
    selectors=[ELEMENT, CONTAINER],
    examples=[
        'scroll-until --text "About phone"',
        'scroll-until up --text "Wi-Fi" --container-id android:id/list --click',
    ],
)
@_words
@_direction
@click.option("--click", "is_click", is_flag=True, help="Click the element when it is there.")
def scroll_until(
    options: GlobalOptions,
    matcher: dict[str, Any] | None,
    container: dict[str, Any] | None,
    words: tuple[str, ...],
    direction: str | None,
    is_click: bool,
) -> Answer:
    """Scroll until an element is on the screen."""
    params = _search("scroll-until", matcher, container, words, direction)
    return _perform_search(options, params, is_click=is_click)


@command(
    "scroll-and-click",
    selectors=[ELEMENT, CONTAINER],
    examples=['scroll-and-click --text "Submit"', 'scroll-and-click up --text "Submit"'],
)
@_words
@_direction
def scroll_and_click(
    options: GlobalOptions,
    matcher: dict[str, Any] | None,
    container: dict[str, Any] | None,
    words: tuple[str, ...],
    direction: str | None,
) -> Answer:
    """Scroll until an element is on the screen, and click it."""
    params = _search("scroll-and-click", matcher, container, words, direction)
    return _perform_search(options, params, is_click=True)


def _search(
    command: str,
    matcher: dict[str, Any] | None,
    container: dict[str, Any] | None,
    words: tuple[str, ...],
    direction: str | None,
) -> dict[str, Any]:
    """Return the parameters of a search for an element."""
    wanted = one_of(command, "direction", words, direction, flag="--direction") or "down"
    if wanted not in DIRECTIONS:
        raise missing_argument(
            f"Invalid direction: {wanted}",
            hint=f"It is one of {_LISTED}. An element is named by a flag: --text {quote(wanted)}.",
        )
    require_selector(command, matcher)
    params: dict[str, Any] = {"matcher": matcher, "direction": wanted}
    return params if container is None else {**params, "container": container}


def _perform_search(options: GlobalOptions, params: dict[str, Any], *, is_click: bool) -> Answer:
    """Scroll to an element, and click it if that is wanted: those are two kinds of actions."""
    kind = "scroll_and_click" if is_click else "scroll_until"
    wanted = {**params, "clickAfter": True} if is_click else params
    sent = _scroll(kind, wanted, options, name="scroll-until")
    return perform(options, sent, is_timeout_used=True)


def _scroll(
    kind: str,
    params: dict[str, Any],
    options: GlobalOptions,
    *,
    name: str,
    task: str | None = None,
) -> dict[str, Any]:
    """Return the execution of a scroll; ``--timeout`` is how long the whole may take."""
    limit = USUAL_MS if options.timeout is None else finite(read_number(options.timeout))
    command_id = unique(name)
    return payload(kind, params, step="a1", command_id=command_id, task_id=task, timeout_ms=limit)
