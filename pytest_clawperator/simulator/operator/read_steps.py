"""Steps that look: wait_for_node, snapshot_ui, read_text and the like."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_clawperator.simulator.operator.command import NO_RETRY, Action, NodeMatcher, Retry
from pytest_clawperator.simulator.operator.envelope import StepResult, failed, succeeded
from pytest_clawperator.simulator.operator.operator_log import SCOPE, UI_SCOPE, Source
from pytest_clawperator.simulator.operator.parser import is_temperature, is_version, matches
from pytest_clawperator.simulator.operator.run import Details, Run, StepFailure, TimeLimitReached
from pytest_clawperator.simulator.operator.steps import (
    describe,
    find,
    find_or_fail,
    look,
    look_or_fail,
    run_stage,
    window_data,
)
from pytest_clawperator.simulator.screen import accessibility
from pytest_clawperator.simulator.screen.accessibility import Hierarchy, UiNode, role_of

NAVIGATION_POLL_MS = 200


async def find_in_stage(run: Run, matcher: NodeMatcher, retry: Retry) -> UiNode:
    """Look for a node as often as the retry allows."""

    async def attempt() -> UiNode:
        run.log.debug(Source.WAIT_FOR_NODE, f"{UI_SCOPE} Waiting for node matching: {matcher}")
        node = find_or_fail(run, matcher)
        run.log.debug(Source.WAIT_FOR_NODE, f"{UI_SCOPE} Found matching node: {describe(node)}")
        return node

    return await run_stage(run, f"waitForNode({matcher})", attempt, retry=retry)


async def wait_for_node(run: Run, action: Action) -> StepResult:
    """Wait for a node; a timeout can end the retries early, but never prolong them."""
    node = await run.on_screen(_find_in_time(run, action))
    return succeeded(
        action,
        resource_id=node.resource_id,
        label=node.label,
        timeout_ms=None if action.timeout_ms is None else str(action.timeout_ms),
    )


async def _find_in_time(run: Run, action: Action) -> UiNode:
    if action.timeout_ms is None:
        return await find_in_stage(run, action.matcher, action.retry)
    with run.time.limit(action.timeout_ms) as limit:
        try:
            return await find_in_stage(run, action.matcher, action.retry)
        except TimeLimitReached as reached:
            if reached.limit is not limit:
                raise
            raise StepFailure(
                f"Timeout waiting for node matching: {action.matcher} "
                f"(timeoutMs={action.timeout_ms})",
                code="NODE_NOT_FOUND",
            ) from None


async def wait_for_navigation(run: Run, action: Action) -> StepResult:
    """Wait until the expected app came to the front, or the expected node is there."""
    began = run.time.now()
    initial = window_data(run).get("foreground_package")
    has_changed = False
    package: str | None = None
    while run.time.now() - began <= (action.timeout_ms or 0):
        package = window_data(run).get("foreground_package")
        has_changed |= initial is not None and package is not None and package != initial
        is_expected = package is not None and package == action.package
        # To the published app, one that was in front already has not been navigated to.
        is_arrival = is_expected and (has_changed or run.documented)
        if is_arrival or (action.matcher and await has_node(run, action.matcher, NO_RETRY)):
            elapsed = str(run.time.elapsed(began))
            return succeeded(action, resolved_package=package, elapsed_ms=elapsed)
        await run.time.pause(NAVIGATION_POLL_MS)
    return failed(action, error="NAVIGATION_TIMEOUT", last_package=package)


async def has_node(
    run: Run, matcher: NodeMatcher, retry: Retry, *, on_screen: bool = False
) -> bool:
    """Return whether a node is there, looking as often as the retry allows."""
    looking = find_in_stage(run, matcher, retry)
    try:
        await (run.on_screen(looking) if on_screen else looking)
    except StepFailure:
        return False
    return True


async def sleep(run: Run, action: Action) -> StepResult:
    """Do nothing for a while."""
    duration = action.duration_ms

    async def attempt() -> None:
        run.log_task(f"Pausing for {duration}ms...")
        await run.time.pause(duration)
        run.log_task(f"Paused for {duration}ms")

    await run_stage(
        run,
        "pause",
        attempt,
        retry=action.retry,
        label=f"Pausing for {duration}ms",
        on_screen=False,
        success=lambda _: {"stage_id": "pause", "requested_ms": duration},
    )
    return succeeded(action, duration_ms=str(duration))


# -- Snapshots -----------------------------------------------------------------------------------

FORMAT = "hierarchy_xml"
_MARKER = f"{SCOPE} UI Hierarchy:\n"
_UNAVAILABLE = (
    "SNAPSHOT_HIERARCHY_UNAVAILABLE: UI hierarchy dump not available; "
    "accessibility service may not be ready"
)
_MOST_FOREIGN_LINES = 1000
# What other processes log in between; one line looks like the dump, one like a result.
_FOREIGN_LINES = (
    ("WifiHAL", "Created vendor message iface"),
    ("BatteryService", '<node level="85" status="2"/>'),
    ("ConnectivityService", "requestNetwork for uid/pid:10123/4711"),
    ("Launcher", "[Clawperator-Result] is not what this line carries"),
    ("chatty", "uid=1000(system) expire 3 lines"),
)


async def snapshot_ui(run: Run, action: Action) -> StepResult:
    """Log the hierarchy of the active window and describe the windows."""

    async def attempt() -> tuple[Hierarchy, dict[str, str | None]]:
        run.log_task("Logging UI tree")
        if look(run) is None:
            raise StepFailure(_UNAVAILABLE, code="UI_TREE_UNAVAILABLE")
        printed = accessibility.print_hierarchy(run.ui.view.roots(), run.ui.display.rotation)
        _dump(run, printed.xml)
        return printed, window_data(run)

    _, windows = await run_stage(
        run,
        "logUiTree",
        attempt,
        retry=action.retry,
        label="Logging UI tree",
        on_screen=False,
        success=lambda taken: {
            "stage_id": "logUiTree",
            "node_count": taken[0].node_count,
            "max_depth": 0,  # the app's own count never finds a node
            "actual_format": FORMAT,
            **taken[1],
            "truncated": False,
        },
        failure=None,
    )
    return succeeded(action, actual_format=FORMAT, **windows)


def _dump(run: Run, xml: str) -> None:
    if run.faults.take("missing_dump"):
        return
    if run.faults.take("truncated_dump"):
        xml = xml[: len(xml) // 2]
    foreign = run.faults.take("foreign_lines")
    if foreign is None:
        run.log.debug(Source.TASK_SCOPE, _MARKER + xml)
    else:
        _dump_with_foreign_lines(run, xml, foreign.options["count"])


def _dump_with_foreign_lines(run: Run, xml: str, count: str) -> None:
    # Other processes can only come in between entries, so every line becomes one.
    lines = (_MARKER + xml).rstrip("\n").split("\n")
    wanted = min(int(count), _MOST_FOREIGN_LINES) if re.fullmatch(r"\d{1,6}", count) else 0
    places = sorted(run.rng.randrange(1, len(lines)) for _ in range(wanted))
    for number, line in enumerate(lines):
        while places and places[0] == number:
            tag, text = _FOREIGN_LINES[len(places) % len(_FOREIGN_LINES)]
            run.log.foreign(tag, text, pid=run.rng.randrange(1200, 2000))
            places.pop(0)
        run.log.debug(Source.TASK_SCOPE, line)


# -- Reading texts -------------------------------------------------------------------------------

_ROW_ROLES = frozenset({"row", "listitem", "card"})


class _WrongForm(StepFailure):
    """The text was read, but it is not of the wanted form."""

    def __init__(self, text: str, where: str) -> None:
        message = f"Validation failed for text '{text}' from matching UI node{where}"
        super().__init__(message, code="VALIDATOR_MISMATCH")
        self.text = text


async def read_text(run: Run, action: Action) -> StepResult:
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
        if not action.container or not is_soft:
            raise
        return failed(action, error=problem.code)


async def _read_one(run: Run, action: Action) -> StepResult:
    is_valid = _validator(action)
    where = " within container" if action.container else ""
    kind = "text" if is_valid is None else "validated text"

    async def attempt() -> str:
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

    stage = _stage(action, "getText" if is_valid is None else "getValidatedText")
    said: Details = {"matcher": action.matcher, "validator": "custom"}
    if is_valid is None or where:
        reading = run_stage(run, stage, attempt, retry=action.retry)
    else:
        reading = run_stage(
            run,
            stage,
            attempt,
            retry=action.retry,
            success=lambda text: {**said, "validated_value": _short_hash(text)},
            failure=lambda message: {**said, "failure_point": _failure_point(message)},
        )
    text = await run.on_screen(reading)
    validator = action.validator or "none"
    return succeeded(action, text=text, validator=validator, container=_container_text(action))


async def _read_all(run: Run, action: Action) -> StepResult:
    where = " within container" if action.container else ""

    async def attempt() -> list[str]:
        run.log_ui(f"Getting all text for nodes matching: {_wanted(action)}")
        nodes = accessibility.find_all(
            _part(run, action), action.matcher.fields, run.ui.display.size
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


def _part(run: Run, action: Action) -> UiNode:
    root = look_or_fail(run)
    if not action.container:
        return root
    container = find(run, root, action.container)
    if container is None:
        raise StepFailure(
            f"Container not found for: {action.container}", code="CONTAINER_NOT_FOUND"
        )
    return container


def _find_node(run: Run, action: Action) -> UiNode:
    if not action.container:
        return find_or_fail(run, action.matcher)
    node = find(run, _part(run, action), action.matcher)
    if node is None:
        raise StepFailure(
            f"No UI node found matching criteria: {_wanted(action)}", code="NODE_NOT_FOUND"
        )
    return node


def _wanted(action: Action) -> str:
    if not action.container:
        return str(action.matcher)
    return f"{action.matcher} within container: {action.container}"


def _stage(action: Action, verb: str) -> str:
    if not action.container:
        return f"{verb}({action.matcher})"
    return f"{verb}WithinContainer(matcher={action.matcher}, container={action.container})"


def _container_text(action: Action) -> str | None:
    return str(action.container) if action.container else None


def _validator(action: Action) -> Callable[[str], bool] | None:
    if action.validator == "regex":
        return lambda text: matches(text, action.validator_pattern)
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


async def read_key_value_pair(run: Run, action: Action) -> StepResult:
    """Read the value that stands after a label."""
    matcher = action.matcher

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
        siblings = accessibility.children_on_screen(parent, size)
        at = next(index for index, node in enumerate(siblings) if node is child)
        after = siblings[at + 1 :]
        if after or role_of(parent) in _ROW_ROLES:
            nodes = [
                n for sibling in after for n in accessibility.on_screen(sibling, size) if n.label
            ]
            summary = (node for node in nodes if node.resource_id.endswith("/summary"))
            value = next(summary, nodes[0] if nodes else None)
            if value is not None:
                return value.label
            break
        child = parent
    raise StepFailure("VALUE_NODE_NOT_FOUND", code="VALUE_NODE_NOT_FOUND")
