"""The data in the page of a trace: its events, and packed trees, payloads and pictures."""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import ClawperatorError, SnapshotError
from pytest_clawperator.pictures import picture_uri
from pytest_clawperator.report.trace import Trace
from pytest_clawperator.snapshot.parse import decoded
from pytest_clawperator.snapshot.tree import Snapshot

# Longer texts are cut on a page; the files beside it have them whole.
_MOST_TEXT = 10_000

_MOST_PACKED_TEXT = 1_000_000

_MOST_DEPTH = 60

# What the page unpacks when it is shown.
_PACKED = {"execution": "payload", "execution-end": "envelope"}


def page_contents(trace: Trace, *, passed: Trace | None, folder: Path) -> dict[str, Any]:
    """Return all data that a page in ``folder`` needs to show these traces.

    They have many screens in common: blobs with the same name are the same.
    """
    traces = [trace] if passed is None else [trace, passed]
    return {
        "trace": _story(trace, folder),
        "passed": None if passed is None else packed(_story(passed, folder)),
        "trees": dict(item for one in reversed(traces) for item in _trees(one)),
        "pictures": dict(item for one in reversed(traces) for item in _pictures(one)),
    }


def _story(trace: Trace, folder: Path) -> dict[str, Any]:
    contents: dict[str, Any] = {"events": [], "packed": [], "skipped": trace.skipped}
    touches = touches_of(trace)
    for event in trace.events:
        if event["kind"] == "execution-end":
            event = {**event, "touch": touches.get(str(event.get("id")))}
        contents["events"].append(_page_event(event, contents["packed"], trace, folder))
    return contents


def _trees(trace: Trace) -> Iterator[tuple[str, str]]:
    for name in _texts(_tree_names(trace)):
        if (xml := trace.blob(name)) is not None:
            yield name, packed(read_tree(xml))


def _pictures(trace: Trace) -> Iterator[tuple[str, str]]:
    for name in _texts(event.get("blob") for event in trace.of_kind("picture")):
        picture = trace.blob(name)
        if picture is not None and (uri := picture_uri(picture)) is not None:
            yield name, uri


def packed(value: Any) -> str:
    """Return data as compressed JSON in base64; the result is reproducible."""
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("ascii"), 9, mtime=0)).decode("ascii")


def _page_event(
    event: dict[str, Any], store: list[str], trace: Trace, folder: Path
) -> dict[str, Any]:
    """Return an event whose payload or envelope is replaced by the index of its packed text."""
    shown = dict(event)
    key = _PACKED.get(event["kind"])
    if key is not None and key in shown:
        store.append(packed(_fit(shown.pop(key), longest=_MOST_PACKED_TEXT)))
        shown[key] = len(store) - 1
    if event["kind"] == "artefact":
        shown["href"] = link_to(event.get("path"), trace.folder, folder, is_there=Path.is_file)
    fit: dict[str, Any] = _fit(shown, longest=_MOST_TEXT)
    return fit


def link_to(
    path: object,
    start: Path,
    folder: Path,
    *,
    is_there: Callable[[Path], bool] = Path.exists,
) -> str | None:
    """Return how a page in ``folder`` links to a path below ``start``; None if it is not there."""
    if not isinstance(path, str) or not path or "\0" in path or Path(path).is_absolute():
        return None
    try:
        target = (start / path).resolve()
        if not is_there(target):
            return None
        return quote(Path(os.path.relpath(target, folder.resolve())).as_posix())
    except (OSError, ValueError):
        return None


def _tree_names(trace: Trace) -> Iterator[Any]:
    for event in trace.events:
        if event["kind"] == "execution-end":
            yield from (event.get("before"), event.get("after"))
        polls = event.get("polls") if event["kind"] == "expectation" else None
        for poll in polls if isinstance(polls, list) else ():
            if isinstance(poll, dict):
                yield poll.get("tree")


def _texts(values: Iterable[Any]) -> Iterable[str]:
    """Return each text once; a trace may contain anything."""
    return dict.fromkeys(value for value in values if isinstance(value, str))


def _fit(value: Any, *, longest: int, depth: int = 0) -> Any:
    """Return data that fits JSON and a page: texts cut, depth limited, numbers finite."""
    if isinstance(value, str):
        if len(value) <= longest:
            return value
        return f"{value[:longest]}… ({len(value) - longest:,} more characters)"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if not isinstance(value, (dict, list)):
        return value
    if depth == _MOST_DEPTH:
        return "…"
    if isinstance(value, list):
        return [_fit(one, longest=longest, depth=depth + 1) for one in value]
    return {
        _fit(key, longest=200): _fit(one, longest=longest, depth=depth + 1)
        for key, one in value.items()
    }


# What is shown of a hierarchy that cannot be read.
_MOST_UNREADABLE_TEXT = 20_000


def tree_data(snapshot: Snapshot) -> dict[str, Any]:
    """Return the nodes of a screen, parents before children.

    ``parent`` is the index of the parent node, -1 for the root.
    """
    nodes = list(snapshot.nodes)
    places = {node: place for place, node in enumerate(nodes)}
    return {
        "rotation": snapshot.rotation,
        "isPartial": snapshot.is_partial,
        "nodes": [
            {
                "parent": -1 if node.parent is None else places[node.parent],
                "attributes": node.attributes,
            }
            for node in nodes
        ],
    }


def read_tree(xml: bytes) -> dict[str, Any]:
    """Return the nodes of a hierarchy; for an unreadable one, the problem and its text."""
    try:
        return tree_data(_snapshot(xml))
    except SnapshotError as error:
        return {"problem": str(error), "text": decoded(xml[:_MOST_UNREADABLE_TEXT])}


_TOUCHING = ("click", "enter_text")

# Neighbouring executions act on the same few screens, which may be large.
_SCREENS = 8

Screens = Callable[[str], Snapshot]


def touches_of(trace: Trace) -> dict[str, dict[str, Any]]:
    """Return the bounds and point that each execution touched, by its id, as far as known.

    A trace has what was sent and what was on the screen; the device acts on the first match.
    An action without its own snapshot is judged by the last one before it.
    """
    screens = lru_cache(maxsize=_SCREENS)(lambda name: _snapshot(trace.blob(name) or b""))
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
            # The screen before an action is not the screen after it.
            last[serial] = event.get("after")
    return found


def _touch(payload: Any, screen: Any, screens: Screens) -> dict[str, Any] | None:
    for params in _touching(payload):
        coordinate, matcher = params.get("coordinate"), params.get("matcher")
        if isinstance(coordinate, Mapping):
            return {"point": [coordinate.get("x"), coordinate.get("y")]}
        if isinstance(matcher, Mapping) and isinstance(screen, str):
            return _touched_node(matcher, partial(screens, screen))
    return None


def _touching(payload: Any) -> Iterator[Mapping[str, Any]]:
    actions = payload.get("actions") if isinstance(payload, Mapping) else None
    for action in actions if isinstance(actions, list) else ():
        is_one = isinstance(action, Mapping) and action.get("type") in _TOUCHING
        if is_one and isinstance(action.get("params"), Mapping):
            yield action["params"]


def _snapshot(xml: bytes) -> Snapshot:
    return Snapshot.from_step(decoded(xml), {}, partial=True)


def _touched_node(
    matcher: Mapping[str, Any], screen: Callable[[], Snapshot]
) -> dict[str, Any] | None:
    try:
        nodes = screen().find_all(NodeMatcher.from_wire(matcher))
    except ClawperatorError:  # a trace may contain anything
        return None
    box = nodes[0].bounds if nodes else None
    if box is None:
        return None
    return {"bounds": [box.left, box.top, box.right, box.bottom], "point": list(box.center)}
