"""The parameters of an action: one flat set for all of them.

Any action may carry any parameter; the ones it does not use are ignored by the Operator.
What an action needs is said in :mod:`pytest_clawperator.contracts.rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.aliases import PARAM_ALIASES
from pytest_clawperator.contracts.schema import Flag, JsonObject, Nested, Number, Text, WireObject
from pytest_clawperator.contracts.selectors import NodeMatcher

AnyText = Annotated[str | None, Text()]
AnyNumber = Annotated[float | None, Number()]
Pixels = Annotated[int, Number(least=0, whole=True)]
YesNo = Annotated[bool | None, Flag()]
Matcher = Annotated[NodeMatcher | None, Nested(NodeMatcher)]
Retry = Annotated[dict[str, Any] | None, JsonObject()]


@dataclass(frozen=True, repr=False)
class Coordinate(WireObject):
    """A point on the screen, in pixels from the top left corner."""

    example = '{"x": 540, "y": 1200}'

    x: Pixels
    y: Pixels


@dataclass(frozen=True, kw_only=True, repr=False)
class ActionParams(WireObject):
    """Every parameter that exists; None is what was not given."""

    aliases = PARAM_ALIASES

    application_id: AnyText = None
    session_id: AnyText = None
    uri: Annotated[str | None, Text(limits.MAX_URI_LENGTH)] = None
    duration_ms: AnyNumber = None
    path: AnyText = None
    matcher: Matcher = None
    coordinate: Annotated[Coordinate | None, Nested(Coordinate)] = None
    text: Annotated[str | None, Text(limits.MAX_TEXT_LENGTH)] = None
    submit: YesNo = None
    clear: YesNo = None
    click_type: AnyText = None
    container: Matcher = None
    direction: AnyText = None
    max_swipes: AnyNumber = None
    distance_ratio: AnyNumber = None
    settle_delay_ms: AnyNumber = None
    max_scrolls: AnyNumber = None
    max_duration_ms: AnyNumber = None
    no_position_change_threshold: AnyNumber = None
    find_first_scrollable_child: YesNo = None
    click_after: YesNo = None
    validator: AnyText = None
    validator_pattern: AnyText = None
    key: AnyText = None
    retry: Retry = None
    scroll_retry: Retry = None
    click_retry: Retry = None
    expected_package: Annotated[str | None, Text(limits.MAX_PACKAGE_LENGTH)] = None
    expected_node: Matcher = None
    timeout_ms: AnyNumber = None
    label_matcher: Matcher = None
    all: YesNo = None
