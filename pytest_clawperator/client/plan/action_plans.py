"""Plans of every action but reads and scrolls, made from the arguments of its method."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clawperator.client.device.commands import package_name
from pytest_clawperator.client.plan.actionability import Use
from pytest_clawperator.client.plan.plan import Aim, Keywords, Plan, node_matcher, the_step
from pytest_clawperator.client.plan.target import TargetLike, optional_target, target_of
from pytest_clawperator.client.plan.timing import Wait, timeout_of
from pytest_clawperator.contracts import actions, limits
from pytest_clawperator.contracts.actions import ClickType, TypedAction
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import (
    ConfigurationError,
    ErrorCode,
    ExecutionValidationError,
    Problem,
    TransportError,
)
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.tree import Snapshot

LONGEST_NAVIGATION = 30.0
# A net below the retries of wait_for_node, for a phone on which each look takes long.
_SLOW_LOOKS = 1.0
_LONGEST_SLEEP = limits.MAX_SLEEP_MS / 2000


def simple(verb: str, action: TypedAction) -> Plan[RunStep]:
    """Plan an action that neither looks for a node nor waits."""
    return Plan(
        verb=verb,
        action=lambda aim, wait: action,
        value=the_step,
        takes_retry=False,
        worth_waiting=frozenset(),
    )


def sleeps(seconds: float) -> list[Plan[RunStep]]:
    """Plan doing nothing for a while, in parts that leave an execution time for the rest."""
    __tracebackhide__ = True
    left = timeout_of(seconds, 0.0, name="sleep()")
    parts = [simple("sleep", actions.Sleep(_LONGEST_SLEEP))] * int(left // _LONGEST_SLEEP)
    rest = left % _LONGEST_SLEEP
    return [*parts, simple("sleep", actions.Sleep(rest))] if rest or not parts else parts


def open_app(package: str) -> Plan[RunStep]:
    """Plan starting an app."""
    __tracebackhide__ = True
    return simple(f"open_app {shown(package)}", actions.OpenApp(package_name(package)))


def close_app(package: str) -> Plan[RunStep]:
    """Plan stopping an app."""
    __tracebackhide__ = True
    return simple(f"close_app {shown(package)}", actions.CloseApp(package_name(package)))


def open_uri(uri: str) -> Plan[RunStep]:
    """Plan opening an address."""
    return simple(f"open_uri {shown(uri)}", actions.OpenUri(uri))


def click(
    verb: str,
    given: TargetLike | None,
    keywords: Keywords,
    *,
    at: tuple[int, int] | None = None,
    within: TargetLike | None = None,
    click_type: ClickType | None = None,
) -> Plan[RunStep]:
    """Plan a tap, a long press, or focusing."""
    __tracebackhide__ = True
    if at is not None:
        return _click_at(verb, at, [given, keywords, within], click_type)

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.Click(
            aim.matcher, coordinate=aim.point, click_type=click_type, retry=wait.retry
        )

    return Plan(
        verb=verb,
        action=action,
        value=the_step,
        target=target_of(given, keywords, within=within, verb=verb),
        takes_point=click_type != "focus",
        use=Use.FOCUS if click_type == "focus" else Use.TAP,
    )


def _click_at(
    verb: str, point: tuple[int, int], others: Sequence[object], click_type: ClickType | None
) -> Plan[RunStep]:
    __tracebackhide__ = True
    if any(other is not None and other != {} for other in others):
        raise ConfigurationError(
            f"{verb}(at={point}) was told of a node, too: which is meant?",
            hint="Give either the point or the node.",
        )
    return Plan(
        verb=f"{verb} at {point}",
        action=lambda aim, wait: actions.Click(
            coordinate=point, click_type=click_type, retry=wait.retry
        ),
        value=the_step,
    )


def enter_text(
    value: str,
    given: TargetLike | None,
    keywords: Keywords,
    *,
    within: TargetLike | None = None,
    submit: bool = False,
    secret: bool = False,
) -> Plan[RunStep]:
    """Plan replacing the text of a field; a secret is sent as it is, and told nobody."""
    __tracebackhide__ = True
    given_value: object = value
    if secret and isinstance(given_value, str):
        SECRETS.add(value)
    if not isinstance(given_value, str) or "\0" in given_value:
        problem = Problem(
            "value", "enter_text needs a text that a field can hold", repr(value), "text"
        )
        raise ExecutionValidationError([problem], hint="Give a str without NUL characters.")
    if not value.strip():
        problem = Problem("value", "enter_text needs a text that is not blank", repr(value), "text")
        hint = "The Operator refuses blank text. To empty a field: node(...).clear()"
        raise ExecutionValidationError([problem], hint=hint)

    def action(aim: Aim, wait: Wait) -> TypedAction:
        return actions.EnterText(node_matcher(aim), value, submit=submit or None, retry=wait.retry)

    target = target_of(given, keywords, within=within, verb="enter_text")
    return Plan(verb="enter_text", action=action, value=the_step, target=target, use=Use.FILL)


def wait_for_node(
    given: TargetLike | None, keywords: Keywords, *, within: TargetLike | None = None
) -> Plan[RunStep]:
    """Plan waiting for a node."""
    __tracebackhide__ = True

    def action(aim: Aim, wait: Wait) -> TypedAction:
        timeout = wait.seconds + _SLOW_LOOKS
        return actions.WaitForNode(node_matcher(aim), timeout=timeout, retry=wait.retry)

    return Plan(
        verb="wait_for_node",
        action=action,
        value=the_step,
        target=target_of(given, keywords, within=within, verb="wait_for_node"),
        from_nodes=lambda nodes, step: step if nodes else None,
    )


def wait_for_navigation(
    package: str | None, given: TargetLike | None, keywords: Keywords
) -> Plan[RunStep]:
    """Plan waiting for another app or screen."""
    __tracebackhide__ = True
    target = optional_target(given, keywords, verb="wait_for_navigation")
    if target is not None and not target.is_plain:
        raise ConfigurationError(
            f"wait_for_navigation() needs a matcher that the device understands, not {target}",
            hint="The screen it is on is not there yet, so nothing can be looked up: write the "
            "whole id, as in com.example:id/name, and no pattern; or wait with node(...).wait().",
        )

    def action(aim: Aim, wait: Wait) -> TypedAction:
        timeout = max(wait.seconds, 0.001)
        return actions.WaitForNavigation(
            timeout=timeout, expected_package=package, expected_node=aim.matcher
        )

    return Plan(
        verb="wait_for_navigation" if package is None else f"wait_for_navigation to {package}",
        action=action,
        value=the_step,
        target=target,
        is_aimed=False,
        worth_waiting=frozenset({ErrorCode.NAVIGATION_TIMEOUT}),
        longest_wait=LONGEST_NAVIGATION,
    )


def snapshot() -> Plan[Snapshot]:
    """Plan a snapshot."""
    return Plan(
        verb="snapshot",
        action=lambda aim, wait: actions.SnapshotUi(retry=wait.retry),
        value=lambda step, _: step.snapshot,
        worth_waiting=frozenset({ErrorCode.UI_TREE_UNAVAILABLE}),
    )


def look() -> Plan[RunStep]:
    """Plan a snapshot whose hierarchy is parsed later, whole or damaged."""
    return Plan(
        verb="snapshot",
        action=lambda aim, wait: actions.SnapshotUi(retry=wait.retry),
        value=the_step,
        worth_waiting=frozenset({ErrorCode.UI_TREE_UNAVAILABLE}),
    )


def screenshot() -> Plan[bytes]:
    """Plan a screenshot."""
    return Plan(
        verb="screenshot",
        action=lambda aim, wait: actions.TakeScreenshot(),
        value=_picture,
        takes_retry=False,
        worth_waiting=frozenset(),
    )


def _picture(step: RunStep, result: RunResult) -> bytes:
    if result.screenshot is None:
        raise TransportError(
            "the screenshot was taken, but its bytes did not come back",
            serial=result.serial,
            hint="Over HTTP a screenshot is a file of the other host: see the step's path.",
            details={"path": step.data.get("path")},
        )
    return result.screenshot
