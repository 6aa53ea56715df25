"""The methods about apps, keys and the screen as a whole."""

from __future__ import annotations

from typing import Literal

from pytest_clawperator.client.acting import ScrollT, SnapshotT, StepT, TextsT, TextT
from pytest_clawperator.client.device.uri_check import check_uri
from pytest_clawperator.client.node_actions import NodeActions
from pytest_clawperator.client.plan import action_plans, scroll_plans
from pytest_clawperator.client.plan.target import TargetLike, container_of
from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import Direction
from pytest_clawperator.contracts.wording import shown


class AppActions(NodeActions[StepT, TextT, TextsT, SnapshotT, ScrollT]):
    """Apps, keys, snapshots, scrolling and time, besides what is about one node.

    ``direction`` is where the content goes on: "down" shows what is further down. ``within``
    is the list to scroll, or a node around it; without it, the first thing on the screen that
    scrolls. ``timeout`` is how many seconds the list is waited for. ``distance_ratio`` is the
    length of a gesture as a part of the list's, ``settle_delay`` the seconds of rest after it.
    """

    # Apps and keys

    def open_app(self, package: str) -> StepT:
        """Start an app, or bring it to the front; it may take a moment until it is there.

        ``claw.open_app("com.android.settings")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.open_app(package))

    def close_app(self, package: str) -> StepT:
        """Stop an app, so that it starts anew when it is opened.

        ``claw.close_app("com.android.settings")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.close_app(package))

    def open_uri(self, uri: str) -> StepT:
        """Open a web address or a deep link.

        ``claw.open_uri("shop://item/3")``
        """
        __tracebackhide__ = True
        check_uri(self.device, uri)
        return self._do(action_plans.open_uri(uri))

    def press_key(self, key: Literal["back", "home", "recents"]) -> StepT:
        """Press a key of the system; other keys are pressed by ``claw.device.key_event``.

        ``claw.press_key("back")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.simple(f"press_key {shown(key)}", actions.PressKey(key)))

    def back(self) -> StepT:
        """Go back.

        ``claw.back()``
        """
        __tracebackhide__ = True
        return self.press_key("back")

    def home(self) -> StepT:
        """Go to the home screen.

        ``claw.home()``
        """
        __tracebackhide__ = True
        return self.press_key("home")

    def recents(self) -> StepT:
        """Show the apps that were used last.

        ``claw.recents()``
        """
        __tracebackhide__ = True
        return self.press_key("recents")

    # The screen

    def snapshot(self, *, timeout: float | None = None) -> SnapshotT:
        """Return what is on the screen as a tree of nodes.

        ``assert claw.snapshot().find(text="Wi-Fi")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.snapshot(), timeout)

    def scroll(
        self,
        direction: Direction = "down",
        *,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
    ) -> ScrollT:
        """Scroll once; the outcome is true if anything moved, false at the edge.

        ``moved = claw.scroll("down")``
        """
        __tracebackhide__ = True
        plan = scroll_plans.scroll(
            direction,
            container_of(within, verb="scroll"),
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._do(plan, timeout)

    def scroll_to_top(
        self, *, within: TargetLike | None = None, timeout: float | None = None
    ) -> ScrollT:
        """Scroll back to where the list begins.

        ``claw.scroll_to_top()``
        """
        __tracebackhide__ = True
        container = container_of(within, verb="scroll_to_top")
        return self._do(scroll_plans.scroll_to_top(container), timeout)

    # Time and recordings

    def sleep(self, seconds: float) -> StepT:
        """Pause on the device; waiting for a node is quicker and surer.

        ``claw.sleep(0.5)``
        """
        __tracebackhide__ = True
        return [self._do(plan) for plan in action_plans.sleeps(seconds)][-1]

    def start_recording(self, session_id: str | None = None) -> StepT:
        """Record what is done on the device from now on.

        ``claw.start_recording("checkout")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.simple("start_recording", actions.StartRecording(session_id)))

    def stop_recording(self, session_id: str | None = None) -> StepT:
        """End the recording; the step's data names the file on the device.

        ``recorded = claw.stop_recording().data["filePath"]``
        """
        __tracebackhide__ = True
        return self._do(action_plans.simple("stop_recording", actions.StopRecording(session_id)))
