"""Several actions in one execution."""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar

from typing_extensions import Self, Unpack, override

from pytest_clawperator.client.app_actions import AppActions
from pytest_clawperator.client.batch.sending import BatchStep, check, send
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.plan import action_plans, scroll_plans
from pytest_clawperator.client.plan.performer import Performer
from pytest_clawperator.client.plan.plan import Plan
from pytest_clawperator.client.plan.scroll_outcome import ScrollOutcome
from pytest_clawperator.client.plan.target import (
    TargetLike,
    container_of,
    optional_target,
    target_of,
)
from pytest_clawperator.client.plan.timing import timeout_of
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.actions import Direction
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import MatcherKeywords
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.execution.result import RunStep
from pytest_clawperator.snapshot.tree import Snapshot
from pytest_clawperator.text import visible_line

T = TypeVar("T")


class Batch(
    AppActions[
        BatchStep[RunStep],
        BatchStep[str],
        BatchStep[list[str]],
        BatchStep[Snapshot],
        BatchStep[ScrollOutcome],
    ],
    HintsAtNames,
):
    """Collects actions in a ``with`` block and sends them at its end.

    The methods are those of the client and mean the same; each returns a step that has the
    ``result`` and the ``value`` after the block. If the block raises, nothing is sent. One
    execution holds up to 50 actions, 64,000 bytes and two minutes; a close_app and what
    follows a screenshot begin another, and so does a node that must be looked up on a
    snapshot.
    """

    _own_word = "b"
    _their_names = foreign_names.BATCH

    def __init__(self, performer: Performer, *, timeout: float, device: Device) -> None:
        self._performer = performer
        self._steps: list[BatchStep[Any]] = []
        self._is_open = False
        self._was_open = False
        self.device = device
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
        return f"<Batch of {len(self._steps)} on {visible_line(self._performer.serial)}>"

    @override
    def _do(self, plan: Plan[T], timeout: float | None = None) -> BatchStep[T]:
        __tracebackhide__ = True
        if not self._is_open:
            raise ConfigurationError(
                f"{plan.verb} is outside the batch's block",
                hint="Write `with claw.batch() as b:` and call its methods inside.",
            )
        step = BatchStep(plan, timeout_of(timeout, self.timeout))
        check(plan, step.seconds)
        self._steps.append(step)
        return step

    def screenshot(self) -> BatchStep[bytes]:
        """Take a screenshot; what follows begins another execution."""
        __tracebackhide__ = True
        return self._do(action_plans.screenshot())

    def scroll_until(
        self,
        target: TargetLike | None = None,
        /,
        *,
        click: bool = False,
        direction: Direction = "down",
        max_scrolls: int = 20,
        max_duration: float | None = None,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[ScrollOutcome]:
        """Scroll until a node comes up, and with ``click`` tap it; without a node, to the end."""
        __tracebackhide__ = True
        plan = scroll_plans.scroll_until(
            optional_target(target, matcher, verb="scroll_until"),
            container_of(within, verb="scroll_until"),
            direction=direction,
            max_scrolls=max_scrolls,
            max_duration=max_duration,
            click=click,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._do(plan, timeout)

    def scroll_and_click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        direction: Direction = "down",
        max_scrolls: int = 10,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> BatchStep[ScrollOutcome]:
        """Scroll to a node and tap it."""
        __tracebackhide__ = True
        plan = scroll_plans.scroll_and_click(
            target_of(target, matcher, verb="scroll_and_click"),
            container_of(within, verb="scroll_and_click"),
            direction=direction,
            max_scrolls=max_scrolls,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._do(plan, timeout)
