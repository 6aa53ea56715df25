"""Where actions went: the node that a matcher found on the screen before, or the point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import ClawperatorError
from pytest_clawperator.report.trace.reading import Trace
from pytest_clawperator.snapshot.parse import decoded
from pytest_clawperator.snapshot.tree import Snapshot

_TOUCHING = ("click", "enter_text")
# Neighbouring executions act on the same few screens, which may be large.
_SCREENS = 8

Screens = Callable[[str], "Snapshot | None"]


def touches_of(trace: Trace) -> dict[str, dict[str, Any]]:
    """Return bounds and point of what each execution touched, by its id, as far as is known.

    A trace says what was sent and what was on the screen; the first match is what the device
    acts on. Where an action has no look of its own, the screen is as the last look found it.
    """
    screens = lru_cache(maxsize=_SCREENS)(lambda name: _snapshot(trace.blob(name)))
    found: dict[str, dict[str, Any]] = {}
    began: dict[Any, dict[str, Any]] = {}
    last: dict[Any, Any] = {}
    for event in trace.events:
        number = event.get("id")
        if not isinstance(number, int):
            continue
        if event["kind"] == "execution":
            began[number] = event
        elif event["kind"] == "execution-end" and number in began:
            serial = str(began[number].get("serial"))
            screen = event.get("before") or last.get(serial)
            if touch := _touch(began[number].get("payload"), screen, screens):
                found[str(number)] = touch
            # What was there before an action says nothing of what is there after it.
            last[serial] = event.get("after")
    return found


def _touch(payload: Any, screen: Any, screens: Screens) -> dict[str, Any] | None:
    for params in _touching(payload):
        coordinate, matcher = params.get("coordinate"), params.get("matcher")
        if isinstance(coordinate, Mapping):
            return {"point": [coordinate.get("x"), coordinate.get("y")]}
        if isinstance(matcher, Mapping) and isinstance(screen, str):
            return _touched_node(matcher, screens(screen))
    return None


def _touching(payload: Any) -> Iterator[Mapping[str, Any]]:
    actions = payload.get("actions") if isinstance(payload, Mapping) else None
    for action in actions if isinstance(actions, list) else ():
        is_one = isinstance(action, Mapping) and action.get("type") in _TOUCHING
        if is_one and isinstance(action.get("params"), Mapping):
            yield action["params"]


def _snapshot(xml: bytes | None) -> Snapshot | None:
    try:
        return None if xml is None else Snapshot.from_step(decoded(xml), {}, partial=True)
    except ClawperatorError:  # a trace may say anything
        return None


def _touched_node(matcher: Mapping[str, Any], screen: Snapshot | None) -> dict[str, Any] | None:
    if screen is None:
        return None
    try:
        nodes = screen.find_all(NodeMatcher.from_wire(matcher))
    except ClawperatorError:
        return None
    box = nodes[0].bounds if nodes else None
    if box is None:
        return None
    return {"bounds": [box.left, box.top, box.right, box.bottom], "point": list(box.center)}
