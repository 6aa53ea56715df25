"""Parse a payload as the Operator does: lenient JSON, ranges, validators."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pytest_clawperator.simulator.operator.command import (
    APP_LAUNCH,
    MATCHER_KEYS,
    NO_RETRY,
    UI_READINESS,
    UI_SCROLL,
    Action,
    Click,
    ClickType,
    CloseApp,
    Command,
    Direction,
    DoctorPing,
    EnterText,
    Key,
    NodeMatcher,
    OpenApp,
    OpenUri,
    PressKey,
    ReadKeyValuePair,
    ReadText,
    Retry,
    Scroll,
    ScrollAndClick,
    ScrollStyle,
    ScrollUntil,
    Sleep,
    SnapshotUi,
    StartRecording,
    StopRecording,
    TakeScreenshot,
    Validator,
    WaitForNavigation,
    WaitForNode,
)

ARGUMENT = "java.lang.IllegalArgumentException"
STATE = "java.lang.IllegalStateException"
PATTERN = "java.util.regex.PatternSyntaxException"
SYNTAX = "kotlinx.serialization.json.internal.JsonDecodingException"
INT_MAX, LONG_MAX = 2**31 - 1, 2**63 - 1
MAX_PAYLOAD_BYTES = 64_000
MAX_ACTIONS = 64
MAX_ID = 128
MAX_SOURCE = 64
MAX_TYPE = 64
MAX_VALUE = 512
MAX_URI = 2048
MAX_KEY = 32
MAX_DURATION_MS = 120_000


class PayloadRefused(Exception):
    """The app throws this payload away; ``java_class`` is the exception that its log names."""

    def __init__(self, reason: str, *, java_class: str = ARGUMENT) -> None:
        super().__init__(reason)
        self.reason = reason
        self.java_class = java_class


def parse_command(payload: str) -> Command:
    """Parse a payload; PayloadRefused where the app would throw."""
    if not payload.strip():
        raise PayloadRefused("payload is required")
    if len(payload.encode("utf-8", "surrogatepass")) > MAX_PAYLOAD_BYTES:
        raise PayloadRefused(f"payload exceeds {MAX_PAYLOAD_BYTES} bytes")
    root = JsonObject(read_json(payload))
    command_id = root.required("commandId", MAX_ID)
    task_id = root.required("taskId", MAX_ID)
    source = root.required("source", MAX_SOURCE)
    timeout_ms = root.integer("timeoutMs", 30_000, 1000, MAX_DURATION_MS)
    actions = root.array("actions")
    if not actions:
        raise PayloadRefused("actions must not be empty")
    if len(actions) > MAX_ACTIONS:
        raise PayloadRefused(f"actions exceeds max size of {MAX_ACTIONS}")
    return Command(
        command_id=command_id,
        task_id=task_id,
        source=source,
        timeout_ms=timeout_ms,
        actions=tuple(_action(index, JsonObject(entry)) for index, entry in enumerate(actions)),
    )


def _matcher(params: JsonObject, key: str) -> NodeMatcher | None:
    given = params.object(key)
    if given is None:
        return None
    values = {name: given.text(wire, MAX_VALUE) for wire, name in MATCHER_KEYS.items()}
    if all(value is None for value in values.values()):
        raise PayloadRefused(f"{key} must include at least one matcher field")
    return NodeMatcher(**values)


def _required_matcher(params: JsonObject, key: str) -> NodeMatcher:
    matcher = _matcher(params, key)
    if matcher is None:
        raise PayloadRefused(f"{key} is required", java_class=STATE)
    return matcher


def _retry(params: JsonObject, default: Retry, key: str = "retry") -> Retry:
    given = params.object(key)
    if given is None:
        return default
    initial = given.integer("initialDelayMs", 0, 0, 30_000)
    return Retry(
        max_attempts=given.integer("maxAttempts", 1, 1, 10),
        initial_delay=initial,
        max_delay=given.integer("maxDelayMs", initial, initial, 60_000),
        multiplier=given.decimal("backoffMultiplier", 1.0, 1.0, 5.0),
        jitter=given.decimal("jitterRatio", 0.0, 0.0, 1.0),
    )


_CLICK_TYPES: Mapping[str, ClickType] = {
    "default": "click",
    "click": "click",
    "long_click": "long_click",
    "longclick": "long_click",
    "focus": "focus",
}
_DIRECTIONS: Mapping[str, Direction] = {
    "down": "Down",
    "up": "Up",
    "left": "Left",
    "right": "Right",
}
_VALIDATORS: Mapping[str, Validator] = {
    "temperature": "temperature",
    "version": "version",
    "regex": "regex",
}
_KEYS: Mapping[str, Key] = {"back": "back", "home": "home", "recents": "recents"}


def _click_type(params: JsonObject) -> ClickType:
    return params.word("clickType", "clickType", _CLICK_TYPES) or "click"


def _style(params: JsonObject) -> ScrollStyle:
    return ScrollStyle(
        container=_matcher(params, "container"),
        direction=params.word("direction", "direction", _DIRECTIONS) or "Down",
        distance_ratio=params.decimal("distanceRatio", 0.7, 0.0, 1.0),
        settle_delay_ms=params.integer("settleDelayMs", 250, 0, 10_000),
        find_first_scrollable_child=params.flag("findFirstScrollableChild", True),
    )


def _point(params: JsonObject) -> tuple[int, int] | None:
    given = params.object("coordinate")
    if given is None:
        return None
    x, y = given.whole("x", INT_MAX), given.whole("y", INT_MAX)
    if x is None or y is None:
        missing = "x" if x is None else "y"
        raise PayloadRefused(f"coordinate.{missing} is required", java_class=STATE)
    if x < 0 or y < 0:
        raise PayloadRefused("coordinate must contain non-negative integers")
    return x, y


def _close_app(id: str, params: JsonObject) -> Action:
    package = params.required("applicationId", MAX_VALUE)
    _retry(params, NO_RETRY)  # read and not used, but a malformed one refuses the payload
    return CloseApp(id=id, application_id=package)


def _wait_for_node(id: str, params: JsonObject) -> Action:
    matcher, retry = _required_matcher(params, "matcher"), _retry(params, UI_READINESS)
    timeout = params.whole("timeoutMs")
    clamped = None if timeout is None else min(max(timeout, 1), MAX_DURATION_MS)
    return WaitForNode(id=id, matcher=matcher, retry=retry, timeout_ms=clamped)


def _click(id: str, params: JsonObject) -> Action:
    matcher, coordinate = _matcher(params, "matcher"), _point(params)
    if matcher is None and coordinate is None:
        raise PayloadRefused("click requires matcher or coordinate")
    if matcher is not None and coordinate is not None:
        raise PayloadRefused("click matcher and coordinate are mutually exclusive")
    return Click(
        id=id,
        matcher=matcher,
        coordinate=coordinate,
        click_type=_click_type(params),
        retry=_retry(params, UI_READINESS),
    )


def _scroll_and_click(id: str, params: JsonObject) -> Action:
    return ScrollAndClick(
        id=id,
        matcher=_required_matcher(params, "matcher"),
        click_type=_click_type(params),
        style=_style(params),
        max_swipes=params.integer("maxSwipes", 10, 1, 50),
        scroll_retry=_retry(params, UI_SCROLL, "scrollRetry"),
        click_retry=_retry(params, UI_READINESS, "clickRetry"),
        click_after=params.flag("clickAfter", True),
    )


def _scroll_until(id: str, params: JsonObject) -> Action:
    return ScrollUntil(
        id=id,
        matcher=_matcher(params, "matcher"),
        click_type=_click_type(params),
        style=_style(params),
        max_scrolls=params.integer("maxScrolls", 20, 1, 200),
        max_duration_ms=params.integer("maxDurationMs", 10_000, 0, MAX_DURATION_MS),
        no_position_change_threshold=params.integer("noPositionChangeThreshold", 3, 1, 20),
        click_after=params.flag("clickAfter", False),
    )


def _wait_for_navigation(id: str, params: JsonObject) -> Action:
    package = params.text("expectedPackage", MAX_VALUE)
    package = package if package is not None and package.strip() else None
    node = _matcher(params, "expectedNode")
    if package is None and node is None:
        raise PayloadRefused(
            "wait_for_navigation requires at least one of expectedPackage or expectedNode"
        )
    timeout = params.whole("timeoutMs")
    if timeout is None:
        raise PayloadRefused("timeoutMs is required", java_class=STATE)
    return WaitForNavigation(
        id=id,
        expected_package=package,
        expected_node=node,
        timeout_ms=min(max(timeout, 1), 30_000),
    )


def _read_text(id: str, params: JsonObject) -> Action:
    validator = params.word("validator", "validator", _VALIDATORS)
    pattern = params.text("validatorPattern")
    if validator == "regex":
        if pattern is None or not pattern.strip():
            raise PayloadRefused("validatorPattern is required for regex validator")
        try:
            compile_pattern(pattern)
        except ValueError as problem:
            raise PayloadRefused(str(problem), java_class=PATTERN) from problem
    return ReadText(
        id=id,
        matcher=_required_matcher(params, "matcher"),
        retry=_retry(params, UI_READINESS),
        validator=validator,
        validator_pattern=pattern,
        all=params.flag("all", False),
        container=_matcher(params, "container"),
    )


def _enter_text(id: str, params: JsonObject) -> Action:
    return EnterText(
        id=id,
        matcher=_required_matcher(params, "matcher"),
        text=params.required("text", MAX_VALUE),
        submit=params.flag("submit", False),
        retry=_retry(params, UI_READINESS),
    )


def _take_screenshot(id: str, params: JsonObject) -> Action:
    _retry(params, NO_RETRY)  # read and not used, but a malformed one refuses the payload
    return TakeScreenshot(id=id)


def _press_key(id: str, params: JsonObject) -> Action:
    params.required("key", MAX_KEY)
    return PressKey(id=id, key=params.word("key", "key", _KEYS) or "back")


_ACTIONS: Mapping[str, Callable[[str, JsonObject], Action]] = {
    "open_uri": lambda step, params: OpenUri(
        id=step, uri=params.required("uri", MAX_URI), retry=_retry(params, APP_LAUNCH)
    ),
    "open_app": lambda step, params: OpenApp(
        id=step,
        application_id=params.required("applicationId", MAX_VALUE),
        retry=_retry(params, APP_LAUNCH),
    ),
    "close_app": _close_app,
    "wait_for_node": _wait_for_node,
    "find_node": _wait_for_node,
    "click": _click,
    "scroll_and_click": _scroll_and_click,
    "scroll": lambda step, params: Scroll(
        id=step, style=_style(params), retry=_retry(params, NO_RETRY)
    ),
    "scroll_until": _scroll_until,
    "wait_for_navigation": _wait_for_navigation,
    "read_key_value_pair": lambda step, params: ReadKeyValuePair(
        id=step,
        label_matcher=_required_matcher(params, "labelMatcher"),
        retry=_retry(params, UI_READINESS),
    ),
    "read_text": _read_text,
    "enter_text": _enter_text,
    "type_text": _enter_text,
    "snapshot_ui": lambda step, params: SnapshotUi(id=step, retry=_retry(params, UI_READINESS)),
    "start_recording": lambda step, params: StartRecording(
        id=step, session_id=params.optional("sessionId", MAX_ID)
    ),
    "stop_recording": lambda step, params: StopRecording(
        id=step, session_id=params.optional("sessionId", MAX_ID)
    ),
    "take_screenshot": _take_screenshot,
    "doctor_ping": lambda step, params: DoctorPing(id=step),
    "press_key": _press_key,
    "key_press": _press_key,
    "sleep": lambda step, params: Sleep(
        id=step,
        duration_ms=params.integer("durationMs", 0, 0, MAX_DURATION_MS),
        retry=_retry(params, NO_RETRY),
    ),
}


def _action(index: int, entry: JsonObject) -> Action:
    step_id = entry.required("id", MAX_ID)
    name = entry.required("type", MAX_TYPE)
    params = entry.object("params") or JsonObject({})
    make = _ACTIONS.get(name.lower())
    if make is None:
        raise PayloadRefused(f"unsupported action type at index={index}: {name}", java_class=STATE)
    return make(step_id, params)


_DOUBLE = re.compile(
    r"[\x00-\x20]*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)[\x00-\x20]*",
    re.ASCII,
)
_UNIT = re.compile(r"(°[CF]|[CF])\Z", re.IGNORECASE)
_VERSION = re.compile(r"\d+(\.\d+)*")
_LETTERS = "a-zA-ZªµºÀ-ÖØ-öø-ˁͰ-ϿЀ-῿Ⰰ-퟿"
_PROPERTIES: Mapping[str, str] = {
    "L": _LETTERS,
    "IsL": _LETTERS,
    "IsAlphabetic": _LETTERS,
    "Alpha": "a-zA-Z",
    "Lower": "a-z",
    "Ll": "a-zß-öø-ÿ",
    "Upper": "A-Z",
    "Lu": "A-ZÀ-ÖØ-Þ",
    "N": r"\d",
    "Nd": r"\d",
    "IsDigit": r"\d",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "XDigit": "0-9a-fA-F",
    "Punct": r"!-/:-@\[-`{-~",
    "Space": r"\s",
    "Sc": "$¢-¥֏₠-⃀",
}
_ESCAPES: Mapping[str, str] = {
    "h": r"[ \t\xa0]",
    "z": r"\Z",
    "Z": r"(?=\n?\Z)",
    "R": r"(?:\r\n|\s)",
}


# -- Validators and their patterns ---------------------------------------------------------------


def parse_double(text: str) -> float | None:
    """Parse a number as Java's ``toDouble`` does; None where it throws."""
    if not _DOUBLE.fullmatch(text):
        return None
    return float(text.strip("".join(map(chr, range(33)))).rstrip("fFdD"))


def is_temperature(text: str) -> bool:
    """Return whether a text is a number, with or without a unit."""
    return parse_double(_UNIT.sub("", text.strip()).strip()) is not None


def is_version(text: str) -> bool:
    """Return whether a text is numbers with dots in between."""
    return _VERSION.fullmatch(text) is not None


def matches(text: str, pattern: str) -> bool:
    """Return whether the whole text fits the pattern."""
    return compile_pattern(pattern).fullmatch(text) is not None


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern written for Android; a malformed one is a ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about nested sets, which Android has and Python has not
        try:
            return re.compile(_translated(pattern))
        except (re.error, OverflowError, RecursionError) as problem:
            raise ValueError(f"{problem} near index 0\n{pattern}") from problem


def _translated(pattern: str) -> str:
    out: list[str] = []
    at, in_set = 0, False
    while at < len(pattern):
        piece, at = _next_piece(pattern, at, in_set)
        if piece == "[":
            in_set = True
        elif piece == "]":
            in_set = False
        out.append(piece)
    return "".join(out)


def _next_piece(pattern: str, at: int, in_set: bool) -> tuple[str, int]:
    if pattern.startswith("\\Q", at):
        end = pattern.find("\\E", at)
        end = len(pattern) if end < 0 else end
        return re.escape(pattern[at + 2 : end]), end + 2
    named = re.compile(r"\(\?<([a-zA-Z]\w*)>").match(pattern, at)
    if named and not in_set:
        return f"(?P<{named[1]}>", named.end()
    if pattern[at] != "\\":
        return pattern[at], at + 1
    back = re.compile(r"\\k<(\w+)>").match(pattern, at)
    if back:
        return f"(?P={back[1]})", back.end()
    known = re.compile(r"\\([pP])(?:\{(\w+)\}|([A-Z]))").match(pattern, at)
    if known:
        return _property(known, in_set), known.end()
    escape = pattern[at : at + 2]
    if len(escape) == 2 and not in_set:
        escape = _ESCAPES.get(escape[1], escape)
    return escape, at + 2


def _property(known: re.Match[str], in_set: bool) -> str:
    name = known[2] or known[3]
    members = _PROPERTIES.get(name)
    negated = known[1] == "P"
    if members is None or (negated and in_set):
        raise re.error(f"the property {name!r} is not supported here")
    return members if in_set else f"[{'^' if negated else ''}{members}]"


_INTEGER = re.compile(r"\s*(-?\d+)(?:[eE]([+-]?\d{1,3}))?\s*", re.ASCII)
_MISSING = object()
_Word = TypeVar("_Word", bound=str)


# -- JSON as the app reads it --------------------------------------------------------------------


def read_json(payload: str) -> Any:
    """Parse JSON with its numbers as they were written; PayloadRefused where it is none."""
    try:
        return json.loads(payload, strict=False, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as problem:
        raise PayloadRefused(
            f"Unexpected JSON token at offset {problem.pos}: {problem.msg} at path: $\n"
            f"JSON input: {payload[:200]}",
            java_class=SYNTAX,
        ) from problem
    except RecursionError as problem:
        raise PayloadRefused("the payload is nested too deeply", java_class=SYNTAX) from problem


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class JsonObject:
    """A JSON object, read as the app reads it."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise PayloadRefused(f"Element class {_element_class(value)} is not a JsonObject")
        self._values: dict[str, Any] = value

    def text(self, key: str, limit: int | None = None) -> str | None:
        """Return a scalar as text; None where the key is missing or holds no scalar."""
        value = self._values.get(key, _MISSING)
        if value is _MISSING or isinstance(value, (dict, list)):
            return None
        text = _content(value)
        if limit is not None and _length(text) > limit:
            raise PayloadRefused(f"{key} exceeds max length of {limit}")
        return text

    def required(self, key: str, limit: int) -> str:
        """Return a scalar that must be there and not be blank."""
        text = self.text(key)
        if text is None:
            raise PayloadRefused(f"{key} is required", java_class=STATE)
        if not text.strip():
            raise PayloadRefused(f"{key} must not be blank")
        if _length(text) > limit:
            raise PayloadRefused(f"{key} exceeds max length of {limit}")
        return text

    def optional(self, key: str, limit: int) -> str | None:
        """Return a scalar that may be missing but not blank."""
        text = self.text(key, limit)
        if text is not None and not text.strip():
            raise PayloadRefused(f"{key} must not be blank")
        return text

    def whole(self, key: str, limit: int = LONG_MAX) -> int | None:
        """Return a whole number; None where it is missing or written as something else."""
        text = self.text(key)
        found = _INTEGER.fullmatch(text) if text is not None and len(text) < 40 else None
        if found is None:
            return None
        number, exponent = int(found[1]), int(found[2] or 0)
        if exponent < 0:
            number, rest = divmod(number, 10**-exponent)
            if rest:
                return None
        else:
            number *= 10**exponent
        return number if -limit - 1 <= number <= limit else None

    def integer(self, key: str, default: int, low: int, high: int) -> int:
        """Return a whole number between two bounds, or the default."""
        number = self.whole(key)
        return default if number is None else min(max(number, low), high)

    def decimal(self, key: str, default: float, low: float, high: float) -> float:
        """Return a number between two bounds, or the default."""
        text = self.text(key)
        number = parse_double(text) if text is not None else None
        if number is None or number != number:
            return default
        return min(max(number, low), high)

    def flag(self, key: str, default: bool) -> bool:
        """Return a truth value, or the default where it is none."""
        return {"true": True, "false": False}.get((self.text(key) or "").lower(), default)

    def array(self, key: str) -> list[Any]:
        """Return an array that must be there."""
        if key not in self._values:
            raise PayloadRefused(f"{key} is required", java_class=STATE)
        value = self._values[key]
        if not isinstance(value, list):
            raise PayloadRefused(f"Element class {_element_class(value)} is not a JsonArray")
        return value

    def object(self, key: str) -> JsonObject | None:
        """Return an object; None where the key is missing, refused where it holds anything else."""
        return JsonObject(self._values[key]) if key in self._values else None

    def word(self, key: str, what: str, words: Mapping[str, _Word]) -> _Word | None:
        """Return what a word stands for, whatever its case; an unknown one is refused."""
        text = self.text(key)
        if text is None:
            return None
        if text.lower() not in words:
            raise PayloadRefused(f"unsupported {what}: {text}", java_class=STATE)
        return words[text.lower()]


def _content(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _element_class(value: Any) -> str:
    if isinstance(value, (dict, list)):
        name = "JsonObject" if isinstance(value, dict) else "JsonArray"
    else:
        name = "JsonNull" if value is None else "JsonLiteral"
    return f"class kotlinx.serialization.json.{name}"
