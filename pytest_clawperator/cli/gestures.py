"""What a person does: ``click``, ``type``, ``press``, ``scroll``, ``open`` and ``close``."""

from __future__ import annotations

import re
from typing import Any

import click

from pytest_clawperator.cli.command import command
from pytest_clawperator.cli.executions import (
    USUAL_MS,
    NodeUse,
    direct,
    finite,
    one_of,
    payload,
    perform,
    timed,
    unique,
)
from pytest_clawperator.cli.options import (
    CONTAINER,
    ELEMENT,
    TYPED_INTO,
    GlobalOptions,
    invalid,
    missing_argument,
    read_number,
    require_selector,
)
from pytest_clawperator.cli.output import Answer
from pytest_clawperator.contracts.ecmascript import is_blank
from pytest_clawperator.contracts.wording import quote

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
    use: NodeUse = "FOCUS" if is_focus else "TAP"
    return perform(options, direct("click", "click", params), use=use if matcher else None)


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
    return perform(options, direct("type", "enter_text", params), use="FILL")


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
    """Scroll once; down reveals what is further down."""
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
    wanted = one_of("scroll-until", "direction", words, direction, flag="--direction")
    return _search(options, "scroll-until", matcher, container, wanted, is_click=is_click)


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
    wanted = one_of("scroll-and-click", "direction", words, direction, flag="--direction")
    return _search(options, "scroll-and-click", matcher, container, wanted, is_click=True)


def _search(
    options: GlobalOptions,
    command: str,
    matcher: dict[str, Any] | None,
    container: dict[str, Any] | None,
    direction: str | None,
    *,
    is_click: bool,
) -> Answer:
    """Scroll to an element, and click it if wanted; these are two types of actions."""
    wanted = direction or "down"
    if wanted not in DIRECTIONS:
        raise missing_argument(
            f"Invalid direction: {wanted}",
            hint=f"It is one of {_LISTED}. An element is named by a flag: --text {quote(wanted)}.",
        )
    require_selector(command, matcher)
    params: dict[str, Any] = {"matcher": matcher, "direction": wanted}
    params |= {} if container is None else {"container": container}
    params |= {"clickAfter": True} if is_click else {}
    kind = "scroll_and_click" if is_click else "scroll_until"
    sent = _scroll(kind, params, options, name="scroll-until")
    return perform(options, sent, use="TAP" if is_click else None, is_timeout_used=True)


def _scroll(
    kind: str,
    params: dict[str, Any],
    options: GlobalOptions,
    *,
    name: str,
    task: str | None = None,
) -> dict[str, Any]:
    """Return the execution of a scroll; ``--timeout`` limits the whole search."""
    limit = USUAL_MS if options.timeout is None else finite(read_number(options.timeout))
    command_id = unique(name)
    return payload(kind, params, step="a1", command_id=command_id, task_id=task, timeout_ms=limit)


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
