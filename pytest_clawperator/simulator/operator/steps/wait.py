"""The steps that wait: wait_for_node, wait_for_navigation and sleep."""

from __future__ import annotations

from pytest_clawperator.simulator.operator.answer.envelope import StepResult, failed, succeeded
from pytest_clawperator.simulator.operator.answer.operator_log import UI_SCOPE, Source
from pytest_clawperator.simulator.operator.payload.command import (
    NO_RETRY,
    NodeMatcher,
    Retry,
    Sleep,
    WaitForNavigation,
    WaitForNode,
)
from pytest_clawperator.simulator.operator.run_time import TimeLimitReached
from pytest_clawperator.simulator.operator.steps.looking import find_or_fail, window_metadata
from pytest_clawperator.simulator.operator.steps.node_text import describe
from pytest_clawperator.simulator.operator.steps.run import Run, StepFailure
from pytest_clawperator.simulator.operator.steps.stage import run_stage
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

NAVIGATION_POLL_MS = 200


async def find_in_stage(run: Run, matcher: NodeMatcher, retry: Retry) -> UiNode:
    """Look for a node as often as the retry says."""

    async def attempt() -> UiNode:
        run.log.debug(Source.WAIT_FOR_NODE, f"{UI_SCOPE} Waiting for node matching: {matcher}")
        node = find_or_fail(run, matcher)
        run.log.debug(Source.WAIT_FOR_NODE, f"{UI_SCOPE} Found matching node: {describe(node)}")
        return node

    return await run_stage(run, f"waitForNode({matcher})", attempt, retry=retry)


async def wait_for_node(run: Run, action: WaitForNode) -> StepResult:
    """Wait for a node; a timeout can end the retries early, but never prolong them."""
    node = await run.on_screen(_find_in_time(run, action))
    return succeeded(
        action,
        resource_id=node.resource_id,
        label=node.label,
        timeout_ms=None if action.timeout_ms is None else str(action.timeout_ms),
    )


async def _find_in_time(run: Run, action: WaitForNode) -> UiNode:
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


async def wait_for_navigation(run: Run, action: WaitForNavigation) -> StepResult:
    """Wait until the expected app came to the front, or the expected node is there."""
    began = run.time.now()
    initial = _foreground(run)
    has_changed = False
    package: str | None = None
    while run.time.now() - began <= action.timeout_ms:
        package = _foreground(run)
        has_changed |= initial is not None and package is not None and package != initial
        is_expected = package is not None and package == action.expected_package
        # To the published app, one that was in front already has not been navigated to.
        is_arrival = is_expected and (has_changed or run.documented)
        if is_arrival or await _has_node(run, action.expected_node):
            elapsed = str(run.time.elapsed(began))
            return succeeded(action, resolved_package=package, elapsed_ms=elapsed)
        await run.time.pause(NAVIGATION_POLL_MS)
    return failed(action, error="NAVIGATION_TIMEOUT", last_package=package)


def _foreground(run: Run) -> str | None:
    metadata = window_metadata(run)
    return None if metadata is None else metadata.foreground_package


async def _has_node(run: Run, matcher: NodeMatcher | None) -> bool:
    if matcher is None:
        return False
    try:
        await find_in_stage(run, matcher, NO_RETRY)
    except StepFailure:
        return False
    return True


async def sleep(run: Run, action: Sleep) -> StepResult:
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
