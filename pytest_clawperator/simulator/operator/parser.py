"""Parse a payload as the Operator does: lenient JSON, ranges, validators."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from pytest_clawperator.simulator.operator import command
from pytest_clawperator.simulator.operator.command import Action, Command, NodeMatcher, Retry

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


# -- Actions -------------------------------------------------------------------------------------

Reader = Callable[["JsonObject"], Any]


def _required(key: str, limit: int) -> Reader:
    return lambda params: params.required(key, limit)


def _integer(key: str, default: int, low: int, high: int) -> Reader:
    return lambda params: params.integer(key, default, low, high)


def _clamped(key: str, high: int) -> Reader:
    """Read a whole number of at least 1; None where there is none."""

    def read(params: JsonObject) -> int | None:
        number = params.whole(key)
        return None if number is None else min(max(number, 1), high)

    return read


def _flag(key: str, default: bool) -> Reader:
    return lambda params: params.flag(key, default)


def _word(key: str, words: Mapping[str, str], default: str | None = None) -> Reader:
    """Read a word, whatever its case; an unknown one is refused."""

    def read(params: JsonObject) -> str | None:
        text = params.text(key)
        if text is None:
            return default
        if text.lower() not in words:
            raise PayloadRefused(f"unsupported {key}: {text}", java_class=STATE)
        return words[text.lower()]

    return read


def _matcher(key: str, *, needed: bool = False) -> Reader:
    def read(params: JsonObject) -> NodeMatcher:
        given = params.object(key)
        if given is None:
            if needed:
                raise PayloadRefused(f"{key} is required", java_class=STATE)
            return command.NO_MATCHER
        texts = {name: given.text(name, MAX_VALUE) for name in command.MATCHER_KEYS}
        fields = {name: text for name, text in texts.items() if text is not None}
        if not fields:
            raise PayloadRefused(f"{key} must include at least one matcher field")
        return NodeMatcher(fields)

    return read


def _retry(default: Retry, key: str = "retry") -> Reader:
    def read(params: JsonObject) -> Retry:
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

    return read


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


def _expected_package(params: JsonObject) -> str:
    package = params.text("expectedPackage", MAX_VALUE) or ""
    return package if package.strip() else ""


def _key(params: JsonObject) -> str | None:
    word = params.required("key", MAX_KEY)
    return _word("key", {key: key for key in ("back", "home", "recents")})(params) or word


_APP = _required("applicationId", MAX_VALUE)
_NODE = _matcher("matcher", needed=True)
_SESSION: Reader = lambda params: params.optional("sessionId", MAX_ID)  # noqa: E731
_READY = _retry(command.UI_READINESS)
_CLICK_TYPE = _word(
    "clickType",
    {
        "default": "click",
        "click": "click",
        "long_click": "long_click",
        "longclick": "long_click",
        "focus": "focus",
    },
    "click",
)
_SCROLLING: Mapping[str, Reader] = {
    "container": _matcher("container"),
    "direction": _word(
        "direction", {"down": "Down", "up": "Up", "left": "Left", "right": "Right"}, "Down"
    ),
    "distance_ratio": lambda params: params.decimal("distanceRatio", 0.7, 0.0, 1.0),
    "settle_delay_ms": _integer("settleDelayMs", 250, 0, 10_000),
    "find_first_scrollable_child": _flag("findFirstScrollableChild", True),
}
# How each type's parameters are read; a retry is read also where it is not used, since a
# malformed one refuses the payload.
_ACTIONS: Mapping[str, Mapping[str, Reader]] = {
    "open_uri": {"uri": _required("uri", MAX_URI), "retry": _retry(command.APP_LAUNCH)},
    "open_app": {"package": _APP, "retry": _retry(command.APP_LAUNCH)},
    "close_app": {"package": _APP, "retry": _retry(command.NO_RETRY)},
    "wait_for_node": {
        "matcher": _NODE,
        "retry": _READY,
        "timeout_ms": _clamped("timeoutMs", MAX_DURATION_MS),
    },
    "click": {
        "matcher": _matcher("matcher"),
        "coordinate": _point,
        "click_type": _CLICK_TYPE,
        "retry": _READY,
    },
    "scroll_and_click": {
        "matcher": _NODE,
        "click_type": _CLICK_TYPE,
        **_SCROLLING,
        "max_scrolls": _integer("maxSwipes", 10, 1, 50),
        "retry": _retry(command.UI_SCROLL, "scrollRetry"),
        "click_retry": _retry(command.UI_READINESS, "clickRetry"),
        "click_after": _flag("clickAfter", True),
    },
    "scroll": {**_SCROLLING, "retry": _retry(command.NO_RETRY)},
    "scroll_until": {
        "matcher": _matcher("matcher"),
        "click_type": _CLICK_TYPE,
        **_SCROLLING,
        "max_scrolls": _integer("maxScrolls", 20, 1, 200),
        "max_duration_ms": _integer("maxDurationMs", 10_000, 0, MAX_DURATION_MS),
        "no_position_change_threshold": _integer("noPositionChangeThreshold", 3, 1, 20),
        "click_after": _flag("clickAfter", False),
    },
    "wait_for_navigation": {
        "package": _expected_package,
        "matcher": _matcher("expectedNode"),
        "timeout_ms": _clamped("timeoutMs", 30_000),
    },
    "read_key_value_pair": {"matcher": _matcher("labelMatcher", needed=True), "retry": _READY},
    "read_text": {
        "validator": _word(
            "validator", {name: name for name in ("temperature", "version", "regex")}
        ),
        "validator_pattern": lambda params: params.text("validatorPattern") or "",
        "matcher": _NODE,
        "retry": _READY,
        "all": _flag("all", False),
        "container": _matcher("container"),
    },
    "enter_text": {
        "matcher": _NODE,
        "text": _required("text", MAX_VALUE),
        "submit": _flag("submit", False),
        "retry": _READY,
    },
    "snapshot_ui": {"retry": _READY},
    "start_recording": {"session_id": _SESSION},
    "stop_recording": {"session_id": _SESSION},
    "take_screenshot": {"retry": _retry(command.NO_RETRY)},
    "doctor_ping": {},
    "press_key": {"key": _key},
    "sleep": {
        "duration_ms": _integer("durationMs", 0, 0, MAX_DURATION_MS),
        "retry": _retry(command.NO_RETRY),
    },
}
_ALIASES = {"find_node": "wait_for_node", "type_text": "enter_text", "key_press": "press_key"}


def _action(index: int, entry: JsonObject) -> Action:
    step_id = entry.required("id", MAX_ID)
    name = entry.required("type", MAX_TYPE)
    params = entry.object("params") or JsonObject({})
    kind = _ALIASES.get(name.lower(), name.lower())
    if kind not in _ACTIONS:
        raise PayloadRefused(f"unsupported action type at index={index}: {name}", java_class=STATE)
    values = {field: read(params) for field, read in _ACTIONS[kind].items()}
    action = Action(id=step_id, type=kind, **values)
    _check(action)
    return action


def _check(action: Action) -> None:
    """Refuse parameters that do not go together."""
    if action.type == "click":
        if not action.matcher and action.coordinate is None:
            raise PayloadRefused("click requires matcher or coordinate")
        if action.matcher and action.coordinate is not None:
            raise PayloadRefused("click matcher and coordinate are mutually exclusive")
    if action.type == "wait_for_navigation":
        if not action.package and not action.matcher:
            raise PayloadRefused(
                "wait_for_navigation requires at least one of expectedPackage or expectedNode"
            )
        if action.timeout_ms is None:
            raise PayloadRefused("timeoutMs is required", java_class=STATE)
    if action.validator == "regex":
        if not action.validator_pattern.strip():
            raise PayloadRefused("validatorPattern is required for regex validator")
        try:
            compile_pattern(action.validator_pattern)
        except ValueError as problem:
            raise PayloadRefused(str(problem), java_class=PATTERN) from problem


# -- Validators and their patterns ---------------------------------------------------------------

_DOUBLE = re.compile(
    r"[\x00-\x20]*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)[\x00-\x20]*",
    re.ASCII,
)
_UNIT = re.compile(r"(°[CF]|[CF])\Z", re.IGNORECASE)
_VERSION = re.compile(r"\d+(\.\d+)*")
_LETTERS = "a-zA-ZªµºÀ-ÖØ-öø-ˁͰ-ϿЀ-῿Ⰰ-퟿"
_PROPERTIES: Mapping[str, str] = {
    "L": _LETTERS,
    "Alphabetic": _LETTERS,
    "Alpha": "a-zA-Z",
    "Lower": "a-z",
    "Ll": "a-zß-öø-ÿ",
    "Upper": "A-Z",
    "Lu": "A-ZÀ-ÖØ-Þ",
    "N": r"\d",
    "Nd": r"\d",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Space": r"\s",
    "Sc": "$¢-¥֏₠-⃀",
}
_ESCAPES = {"h": r"[ \t\xa0]", "z": r"\Z", "Z": r"(?=\n?\Z)", "R": r"(?:\r\n|\s)"}
# What Android writes in another way than Python, and the brackets of sets.
_SPELLINGS = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\(\?<(?P<group>[a-zA-Z]\w*)>|\\k<(?P<back>\w+)>"
    r"|\\(?P<sign>[pP])(?:\{(?:Is)?(?P<name>\w+)\}|(?P<letter>[A-Z]))"
    r"|\\(?P<escape>.)|(?P<bracket>[\[\]])",
    re.DOTALL,
)


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
    in_set = False

    def piece(found: re.Match[str]) -> str:
        nonlocal in_set
        if found["quoted"] is not None:
            return re.escape(found["quoted"])
        if found["group"] and not in_set:
            return f"(?P<{found['group']}>"
        if found["back"]:
            return f"(?P={found['back']})"
        if found["sign"]:
            return _property(found["name"] or found["letter"], found["sign"] == "P", in_set)
        if found["bracket"]:
            in_set = found["bracket"] == "["
        elif found["escape"] and not in_set:
            return _ESCAPES.get(found["escape"], found[0])
        return found[0]

    return _SPELLINGS.sub(piece, pattern)


def _property(name: str, negated: bool, in_set: bool) -> str:
    members = _PROPERTIES.get(name)
    if members is None or (negated and in_set):
        raise re.error(f"the property {name!r} is not supported here")
    return members if in_set else f"[{'^' if negated else ''}{members}]"


_INTEGER = re.compile(r"\s*(-?\d+)(?:[eE]([+-]?\d{1,3}))?\s*", re.ASCII)
_MISSING = object()


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
