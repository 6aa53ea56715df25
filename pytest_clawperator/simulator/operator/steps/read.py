"""The steps that read: read_text and read_key_value_pair."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pytest_clawperator.simulator.operator.answer.envelope import StepResult, failed, succeeded
from pytest_clawperator.simulator.operator.payload.command import (
    NodeMatcher,
    ReadKeyValuePair,
    ReadText,
)
from pytest_clawperator.simulator.operator.payload.text_validators import (
    is_temperature,
    is_version,
    matches,
)
from pytest_clawperator.simulator.operator.steps.looking import find, find_or_fail, look_or_fail
from pytest_clawperator.simulator.operator.steps.run import Details, Run, StepFailure
from pytest_clawperator.simulator.operator.steps.stage import run_stage
from pytest_clawperator.simulator.screen.accessibility import node_search
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.accessibility.roles import role_of

_ROW_ROLES = frozenset({"row", "listitem", "card"})


class _WrongForm(StepFailure):
    """The text was read, but it is not of the wanted form."""

    def __init__(self, text: str, where: str) -> None:
        message = f"Validation failed for text '{text}' from matching UI node{where}"
        super().__init__(message, code="VALIDATOR_MISMATCH")
        self.text = text


async def read_text(run: Run, action: ReadText) -> StepResult:
    """Read the text of one node, or of every node that fits."""
    try:
        return await (_read_all(run, action) if action.all else _read_one(run, action))
    except _WrongForm as problem:
        raw = problem.text
        if not run.documented and "\n" in raw:
            raw = ""  # the published app takes it from its own message, where lines end it
        return failed(action, error=problem.code, raw_text=raw)
    except StepFailure as problem:
        is_soft = problem.code in ("CONTAINER_NOT_FOUND", "NODE_NOT_FOUND")
        if action.container is None or not is_soft:
            raise
        return failed(action, error=problem.code)


async def _read_one(run: Run, action: ReadText) -> StepResult:
    is_valid = _validator(action)
    where = "" if action.container is None else " within container"

    async def attempt() -> str:
        kind = "text" if is_valid is None else "validated text"
        run.log_ui(f"Getting {kind} for node matching: {_wanted(action)}")
        text = _find_node(run, action).label
        if not text:
            raise StepFailure("Matching UI node has no text content", code="NODE_HAS_NO_TEXT")
        if is_valid is not None and not is_valid(text):
            run.log_ui(f"Validation failed for text '{text}' from matching node{where}")
            raise _WrongForm(text, where)
        if is_valid is not None and not where:
            run.log_ui(f"✅ Validated text: '{text}'")
        else:
            run.log_ui(f"Got {kind} from matching node{where}: '{text}'")
        return text

    text = await run.on_screen(_stage_of_one(run, action, attempt))
    return succeeded(
        action,
        text=text,
        validator=action.validator or "none",
        container=_container_text(action),
    )


async def _stage_of_one(run: Run, action: ReadText, attempt: Callable[[], Awaitable[str]]) -> str:
    if action.validator is None or action.container is not None:
        verb = "getText" if action.validator is None else "getValidatedText"
        return await run_stage(run, _stage(action, verb), attempt, retry=action.retry)
    said: Details = {"matcher": action.matcher, "validator": "custom"}
    return await run_stage(
        run,
        _stage(action, "getValidatedText"),
        attempt,
        retry=action.retry,
        success=lambda text: {**said, "validated_value": _short_hash(text)},
        failure=lambda message: {**said, "failure_point": _failure_point(message)},
    )


async def _read_all(run: Run, action: ReadText) -> StepResult:
    where = "" if action.container is None else " within container"

    async def attempt() -> list[str]:
        run.log_ui(f"Getting all text for nodes matching: {_wanted(action)}")
        nodes = node_search.find_all(
            _part(run, action), action.matcher.to_wire(), run.ui.display.size
        )
        texts = [node.label for node in nodes if node.label]
        run.log_ui(f"Got text from {len(texts)} matching nodes{where}")
        return texts

    stage = run_stage(run, _stage(action, "getAllText"), attempt, retry=action.retry)
    texts = await run.on_screen(stage)
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return succeeded(
        action,
        text="[" + ",".join(f'"{text}"' for text in quoted) + "]",
        all="true",
        count=str(len(texts)),
        validator="none",
        container=_container_text(action),
    )


def _part(run: Run, action: ReadText) -> UiNode:
    root = look_or_fail(run)
    if action.container is None:
        return root
    container = find(run, root, action.container)
    if container is None:
        raise StepFailure(
            f"Container not found for: {action.container}", code="CONTAINER_NOT_FOUND"
        )
    return container


def _find_node(run: Run, action: ReadText) -> UiNode:
    if action.container is None:
        return find_or_fail(run, action.matcher)
    node = find(run, _part(run, action), action.matcher)
    if node is None:
        raise StepFailure(
            f"No UI node found matching criteria: {_wanted(action)}", code="NODE_NOT_FOUND"
        )
    return node


def _wanted(action: ReadText) -> str:
    if action.container is None:
        return str(action.matcher)
    return f"{action.matcher} within container: {action.container}"


def _stage(action: ReadText, verb: str) -> str:
    if action.container is None:
        return f"{verb}({action.matcher})"
    return f"{verb}WithinContainer(matcher={action.matcher}, container={action.container})"


def _container_text(action: ReadText) -> str | None:
    return None if action.container is None else str(action.container)


def _validator(action: ReadText) -> Callable[[str], bool] | None:
    if action.validator == "regex":
        pattern = action.validator_pattern or ""
        return lambda text: matches(text, pattern)
    return {"temperature": is_temperature, "version": is_version}.get(action.validator or "")


def _failure_point(message: str) -> str:
    if "not found" in message:
        return "node_not_found"
    if "no text content" in message:
        return "text_missing"
    return "validation_failed" if "Validation failed" in message else "unknown"


def _short_hash(text: str) -> str:
    # String.hashCode in base 16, so that what was read is not in the log.
    units = text.encode("utf-16-le", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at : at + 2], "little")) & 0xFFFFFFFF
    signed = value - 2**32 if value >= 2**31 else value
    return f"{signed:x}"[:8]


async def read_key_value_pair(run: Run, action: ReadKeyValuePair) -> StepResult:
    """Read the value that stands after a label."""
    matcher = action.label_matcher

    async def attempt() -> tuple[str, str]:
        run.log_ui(f"readKeyValuePair: {matcher}")
        return _pair(run, look_or_fail(run), matcher)

    stage = run_stage(run, f"readKeyValuePair({matcher})", attempt, retry=action.retry)
    try:
        label, value = await run.on_screen(stage)
    except StepFailure as problem:
        if problem.code not in ("NODE_NOT_FOUND", "VALUE_NODE_NOT_FOUND"):
            raise
        return failed(action, error=problem.code)
    return succeeded(action, label=label, value=value)


def _pair(run: Run, root: UiNode, matcher: NodeMatcher) -> tuple[str, str]:
    label = find(run, root, matcher)
    if label is None:
        raise StepFailure("NODE_NOT_FOUND", code="NODE_NOT_FOUND")
    return label.label, _value_after(run, root, label)


def _value_after(run: Run, root: UiNode, label: UiNode) -> str:
    size = run.ui.display.size
    child = label
    while child is not root and child.parent is not None:
        parent = child.parent
        siblings = node_search.children_on_screen(parent, size)
        at = next(index for index, node in enumerate(siblings) if node is child)
        after = siblings[at + 1 :]
        if after or role_of(parent) in _ROW_ROLES:
            nodes = [
                n for sibling in after for n in node_search.on_screen(sibling, size) if n.label
            ]
            summary = (node for node in nodes if node.resource_id.endswith("/summary"))
            value = next(summary, nodes[0] if nodes else None)
            if value is not None:
                return value.label
            break
        child = parent
    raise StepFailure("VALUE_NODE_NOT_FOUND", code="VALUE_NODE_NOT_FOUND")
