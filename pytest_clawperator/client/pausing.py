"""``claw.pause()``: stopping in the middle of a script, with a prompt."""

from __future__ import annotations

import code
import contextlib
import sys
from types import FrameType
from typing import Any, NoReturn

from pytest_clawperator.client.direct_actions import DirectActions
from pytest_clawperator.redaction import hide
from pytest_clawperator.text import visible

CLIENT_NAME = "claw"


def is_interactive() -> bool:
    """Whether there is a terminal with somebody at it."""
    streams = (sys.__stdin__, sys.__stdout__)
    return all(stream is not None and _is_terminal(stream) for stream in streams)


def ask(client: DirectActions, *, why: str, frame: FrameType | None = None) -> None:
    """Run a prompt on the terminal until it is left; the frame's names are defined there."""
    names: dict[str, Any] = {word: _Leave(word) for word in ("exit", "quit")}
    if frame is not None:
        names |= {**frame.f_globals, **frame.f_locals}
    names[CLIENT_NAME] = client
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - makes the line at the prompt one that can be edited
    banner = (
        f"{hide(why)}\n{client.device.info} stays as it is; {CLIENT_NAME} is its client, as in"
        f" {CLIENT_NAME}.snapshot(). Ctrl-D or exit() goes on."
    )
    with contextlib.suppress(SystemExit):  # exit() is said to the prompt, not to the program
        code.interact(visible(banner), local=names, exitmsg="going on")


class _Leave:
    """Leaves the prompt; Python's own ``exit`` would also close the input of later ones."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __repr__(self) -> str:
        return f"{self._word}() or Ctrl-D goes on"

    def __call__(self, _: object = None) -> NoReturn:
        raise SystemExit


def pause_script(client: DirectActions, frame: FrameType | None) -> None:
    """Pause outside of pytest; without a terminal, print that and go on."""
    place = f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
    if is_interactive():
        ask(client, why=f"paused{place}", frame=frame)
    else:
        print(visible(f"not paused{place}: there is no terminal to ask on"), file=sys.stderr)


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except ValueError:  # closed
        return False
