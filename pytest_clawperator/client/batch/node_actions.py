"""The methods of a batch that are about one node."""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar

from typing_extensions import Self, Unpack

from pytest_clawperator.client.batch.sending import BatchStep, check, send
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.node_actions import Validator
from pytest_clawperator.client.plan import action_plans
from pytest_clawperator.client.plan.performer import Performer
from pytest_clawperator.client.plan.plan import Plan
from pytest_clawperator.client.plan.target import TargetLike
from pytest_clawperator.client.plan.timing import seconds_of
from pytest_clawperator.contracts.keywords import MatcherKeywords
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.result import RunStep

T = TypeVar("T")


class BatchedNodeActions:
    """Touching, typing, reading and waiting, later."""

    def __init__(self, performer: Performer, *, timeout: float, device: Device) -> None:
        self._performer = performer
        self._device = device
        self._steps: list[BatchStep[Any]] = []
        self._is_open = False
        self._was_open = False
        self.timeout = timeout

    def __enter__(self) -> Self:
        __tracebackhide__ = True
        if self._was_open:
            raise ConfigurationError(
                "the batch was used before: its actions would be sent again",
                hint="Begin another one with `with claw.batch() as b:`.",
            )
        self._is_open = self._was_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        self._is_open = False
        if kind is None:
            send(self._performer, self._steps)

    def __repr__(self) -> str:
        return f"<Batch of {len(self._steps)} on {self._performer.serial}>"

    def _add(self, plan: Plan[T], timeout: float | None = None) -> BatchStep[T]:
        __tracebackhide__ = True
        if not self._is_open:
            raise ConfigurationError(
                f"{plan.verb} is outside the batch's block",
                hint="Write `with claw.batch() as b:` and call its methods inside.",
            )
        step = BatchStep(plan, seconds_of(timeout, self.timeout))
        check(plan, step.seconds)
        self._steps.append(step)
        return step

    def click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        at: tuple[int, int] | None = None,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[RunStep]:
        """Tap a node, or with ``at`` a point in pixels."""
        __tracebackhide__ = True
        return self._add(
            action_plans.click("click", target, matcher, at=at, within=within), timeout
        )

    def long_click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        at: tuple[int, int] | None = None,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[RunStep]:
        """Press a node, or a point, and hold it."""
        __tracebackhide__ = True
        plan = action_plans.click(
            "long_click", target, matcher, at=at, within=within, click_type="long_click"
        )
        return self._add(plan, timeout)

    def focus(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[RunStep]:
        """Give a node the focus without tapping it."""
        __tracebackhide__ = True
        plan = action_plans.click("focus", target, matcher, within=within, click_type="focus")
        return self._add(plan, timeout)

    def enter_text(
        self,
        value: str,
        target: TargetLike | None = None,
        /,
        *,
        submit: bool = False,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[RunStep]:
        """Replace the text of a field."""
        __tracebackhide__ = True
        plan = action_plans.enter_text(value, target, matcher, within=within, submit=submit)
        return self._add(plan, timeout)

    def read_text(
        self,
        target: TargetLike | None = None,
        /,
        *,
        validator: Validator | None = None,
        pattern: str | None = None,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[str]:
        """Read a node's text."""
        __tracebackhide__ = True
        plan = action_plans.read_text(
            target, matcher, within=within, validator=validator, pattern=pattern
        )
        return self._add(plan, timeout)

    def read_all_text(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[list[str]]:
        """Read the texts of all nodes that fit."""
        __tracebackhide__ = True
        return self._add(action_plans.read_all_text(target, matcher, within=within), timeout)

    def read_value(
        self,
        label: str | TargetLike | None = None,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[str]:
        """Read the value that stands beside a label."""
        __tracebackhide__ = True
        return self._add(action_plans.read_value(label, matcher, within=within), timeout)

    def wait_for_node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[RunStep]:
        """Wait until a node is on the screen."""
        __tracebackhide__ = True
        return self._add(action_plans.wait_for_node(target, matcher, within=within), timeout)

    def wait_for_navigation(
        self,
        target: TargetLike | None = None,
        /,
        *,
        package: str | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[RunStep]:
        """Wait until another app has come to the front, or a node of another screen is there."""
        __tracebackhide__ = True
        return self._add(action_plans.wait_for_navigation(package, target, matcher), timeout)
