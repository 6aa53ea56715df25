"""The parameters of an action: one flat set for all of them, with their other spellings.

Any action may carry any parameter; the ones it does not use are ignored by the Operator.
Which ones an action type needs is in its row of :mod:`pytest_clawperator.contracts.actions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pytest_clawperator.contracts import limits
from pytest_clawperator.contracts.schema.objects import Nested, WireObject, field_rules
from pytest_clawperator.contracts.schema.rules import Flag, JsonObject, Number, Text
from pytest_clawperator.contracts.selectors import NodeMatcher

AnyText = Annotated[str | None, Text()]
AnyNumber = Annotated[float | None, Number()]
Pixels = Annotated[int, Number(least=0, whole=True)]
YesNo = Annotated[bool | None, Flag()]
Matcher = Annotated[NodeMatcher | None, Nested(NodeMatcher)]
Retry = Annotated[dict[str, Any] | None, JsonObject()]

PARAM_ALIASES = {
    "application_id": "applicationId",
    "app_id": "applicationId",
    "appId": "applicationId",
    "app": "applicationId",
    "package": "applicationId",
    "package_id": "applicationId",
    "packageId": "applicationId",
    "session_id": "sessionId",
    "url": "uri",
    "duration_ms": "durationMs",
    "file": "path",
    "filePath": "path",
    "output_path": "path",
    "selector": "matcher",
    "node": "matcher",
    "element": "matcher",
    "value": "text",
    "click_type": "clickType",
    "longPress": "clickType",
    "within": "container",
    "container_selector": "container",
    "max_swipes": "maxSwipes",
    "distance_ratio": "distanceRatio",
    "settle_delay_ms": "settleDelayMs",
    "max_scrolls": "maxScrolls",
    "max_duration_ms": "maxDurationMs",
    "no_position_change_threshold": "noPositionChangeThreshold",
    "find_first_scrollable_child": "findFirstScrollableChild",
    "click_after": "clickAfter",
    "validator_pattern": "validatorPattern",
    "expected_package": "expectedPackage",
    "expected_node": "expectedNode",
    "wait_for": "expectedNode",
    "timeout_ms": "timeoutMs",
    "label_matcher": "labelMatcher",
    "label_selector": "labelMatcher",
}


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


#: The parameters that are matchers.
MATCHER_PARAMS = tuple(
    each.wire_name for each in field_rules(ActionParams) if each.rule == Nested(NodeMatcher)
)
