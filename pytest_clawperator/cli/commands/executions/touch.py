"""``click``, ``type``, ``press`` and ``back``: what a finger does."""

from __future__ import annotations

import re
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.commands.executions.payloads import direct, payload, timed
from pytest_clawperator.cli.commands.executions.running import one_of, perform
from pytest_clawperator.cli.global_options import GlobalOptions
from pytest_clawperator.cli.mistakes import invalid, missing_argument
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.cli.selectors import ELEMENT, TYPED_INTO, require_selector

_PIXELS = re.compile(r"[0-9]+", re.ASCII)
_KEYS = "back, home or recents"


@command(
    "click",
    selectors=[ELEMENT],
    examples=[
        'click --text "Wi-Fi"',
        "click --id com.example:id/menu --long",
        "click --coordinate 540 1200",
    ],
)
@click.option("--coordinate", nargs=2, multiple=True, metavar="X Y", help="A point, in pixels.")
@click.option("--long", "is_long", is_flag=True, help="Press long.")
@click.option("--focus", "is_focus", is_flag=True, help="Only focus the element.")
def click_(
    options: GlobalOptions,
    matcher: dict[str, Any] | None,
    coordinate: tuple[tuple[str, str], ...],
    is_long: bool,
    is_focus: bool,
) -> Answer:
    """Click an element, or a point of the screen."""
    if is_long and is_focus:
        raise invalid("--long and --focus are mutually exclusive")
    params: dict[str, Any] = {}
    if coordinate:
        params["coordinate"] = _point(coordinate, is_focus=is_focus, matcher=matcher)
    else:
        require_selector("click", matcher)
    if matcher:
        params["matcher"] = matcher
    if is_long or is_focus:
        params["clickType"] = "long_click" if is_long else "focus"
    return perform(options, direct("click", "click", params))


@command(
    "type",
    selectors=[TYPED_INTO],
    examples=[
        'type "hello world" --role textfield',
        'type --text "hello" --id com.example:id/search --submit',
    ],
)
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--text", help="The text to type, instead of the argument.")
@click.option("--submit", is_flag=True, help="Press Enter after it.")
@click.option("--clear", is_flag=True, help="Empty the field before.")
def type_(
    options: GlobalOptions,
    matcher: dict[str, Any] | None,
    words: tuple[str, ...],
    text: str | None,
    submit: bool,
    clear: bool,
) -> Answer:
    """Type a text into an element."""
    typed = one_of("type", "text", words, text, flag="--text")
    if not typed:
        raise missing_argument(
            "type requires text to type", hint="Pass it as an argument, or via --text."
        )
    require_selector("type", matcher, without=["text"])
    params = {"matcher": matcher, "text": typed, "submit": submit, "clear": clear}
    return perform(options, direct("type", "enter_text", params))


@command("press", examples=["press back", "press --key home"])
@click.argument("words", nargs=-1, metavar="[KEY]")
@click.option("--key", "--button", metavar="KEY", help=f"The key: {_KEYS}.")
def press(options: GlobalOptions, words: tuple[str, ...], key: str | None) -> Answer:
    """Press a key: back, home or recents."""
    wanted = one_of("press", "key", words, key, flag="--key")
    if not wanted:
        raise missing_argument("press requires a key name", hint=f"It is {_KEYS}.")
    return _press(options, wanted)


@command("back", examples=["back"])
def back(options: GlobalOptions) -> Answer:
    """Press the key back."""
    return _press(options, "back")


def _press(options: GlobalOptions, key: str) -> Answer:
    wanted = payload(
        "press_key",
        {"key": key},
        step="a1",
        command_id=timed("press_key"),
        task_id="cli-action-press-key",
        timeout_ms=10_000,
    )
    return perform(options, wanted)


def _point(
    given: tuple[tuple[str, str], ...], *, is_focus: bool, matcher: dict[str, Any] | None
) -> dict[str, int]:
    """Return a point of the screen, checked."""
    if len(given) > 1:
        raise invalid("--coordinate must not appear more than once")
    if not all(_PIXELS.fullmatch(number) for number in given[0]):
        raise invalid("--coordinate requires two non-negative integers (x y)")
    if matcher is not None:
        raise invalid("use --coordinate OR a selector, not both")
    if is_focus:
        raise invalid("--focus is not supported with --coordinate")
    return dict(zip("xy", map(int, given[0]), strict=True))
