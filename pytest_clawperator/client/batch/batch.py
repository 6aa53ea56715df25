"""Several actions in one execution."""

from __future__ import annotations

from typing import Literal

from typing_extensions import Unpack

from pytest_clawperator.client.batch.node_actions import BatchedNodeActions
from pytest_clawperator.client.batch.sending import BatchStep
from pytest_clawperator.client.plan import action_plans, scroll_plans
from pytest_clawperator.client.plan.target import (
    TargetLike,
    container_of,
    optional_target,
    target_of,
)
from pytest_clawperator.client.scroll_outcome import ScrollOutcome
from pytest_clawperator.client.uri_check import check_uri
from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import Direction
from pytest_clawperator.contracts.keywords import MatcherKeywords
from pytest_clawperator.execution.result import RunStep
from pytest_clawperator.snapshot.tree import Snapshot


class Batch(BatchedNodeActions):
    """Collects actions in a ``with`` block and sends them at its end.

    The methods are those of the client and mean the same; what they give has the ``result``
    and the ``value`` after the block. If the block raises, nothing is sent. One execution
    holds up to 50 actions, 64,000 bytes and two minutes; a close_app and what follows a
    screenshot begin another, and so does a node that must be looked up on a snapshot.
    """

    def open_app(self, package: str) -> BatchStep[RunStep]:
        """Start an app, or bring it to the front."""
        __tracebackhide__ = True
        return self._add(action_plans.open_app(package))

    def close_app(self, package: str) -> BatchStep[RunStep]:
        """Stop an app; unless it comes first, an execution begins with it."""
        __tracebackhide__ = True
        return self._add(action_plans.close_app(package))

    def open_uri(self, uri: str) -> BatchStep[RunStep]:
        """Open a web address or a deep link."""
        __tracebackhide__ = True
        check_uri(self._device, uri)
        return self._add(action_plans.open_uri(uri))

    def press_key(self, key: Literal["back", "home", "recents"]) -> BatchStep[RunStep]:
        """Press a key of the system."""
        __tracebackhide__ = True
        return self._add(action_plans.simple(f"press_key {key!r}", actions.PressKey(key)))

    def back(self) -> BatchStep[RunStep]:
        """Go back."""
        __tracebackhide__ = True
        return self.press_key("back")

    def home(self) -> BatchStep[RunStep]:
        """Go to the home screen."""
        __tracebackhide__ = True
        return self.press_key("home")

    def recents(self) -> BatchStep[RunStep]:
        """Show the apps that were used last."""
        __tracebackhide__ = True
        return self.press_key("recents")

    def sleep(self, seconds: float) -> BatchStep[RunStep]:
        """Let the device do nothing for a while."""
        __tracebackhide__ = True
        return [self._add(plan) for plan in action_plans.sleeps(seconds)][-1]

    def start_recording(self, session_id: str | None = None) -> BatchStep[RunStep]:
        """Record what is done on the device from then on."""
        __tracebackhide__ = True
        return self._add(action_plans.simple("start_recording", actions.StartRecording(session_id)))

    def stop_recording(self, session_id: str | None = None) -> BatchStep[RunStep]:
        """End the recording."""
        __tracebackhide__ = True
        return self._add(action_plans.simple("stop_recording", actions.StopRecording(session_id)))

    def snapshot(self, *, timeout: float | None = None) -> BatchStep[Snapshot]:
        """Capture what is on the screen as a tree of nodes."""
        __tracebackhide__ = True
        return self._add(action_plans.snapshot(), timeout)

    def screenshot(self) -> BatchStep[bytes]:
        """Take a picture of the screen; what follows begins another execution."""
        __tracebackhide__ = True
        return self._add(action_plans.screenshot())

    def scroll(
        self,
        direction: Direction = "down",
        *,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
    ) -> BatchStep[ScrollOutcome]:
        """Scroll once."""
        __tracebackhide__ = True
        plan = scroll_plans.scroll(
            direction,
            container_of(within, verb="scroll"),
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._add(plan, timeout)

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
        return self._add(plan, timeout)

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
        return self._add(plan, timeout)

    def scroll_to_top(self, *, within: TargetLike | None = None) -> BatchStep[ScrollOutcome]:
        """Scroll back to where the list begins."""
        __tracebackhide__ = True
        return self._add(scroll_plans.scroll_to_top(container_of(within, verb="scroll_to_top")))
