"""The methods that are about one node."""

from __future__ import annotations

import re
from typing import Literal

from typing_extensions import Unpack

from pytest_clawperator.client.acting import (
    Acting,
    ScrollT,
    SnapshotT,
    StepT,
    TextsT,
    TextT,
)
from pytest_clawperator.client.plan import action_plans, read_plans
from pytest_clawperator.client.plan.target import TargetLike
from pytest_clawperator.contracts.matchers import MatcherKeywords

Validator = Literal["temperature", "version", "regex"]


class NodeActions(Acting[StepT, TextT, TextsT, SnapshotT, ScrollT]):
    """Touching, typing, reading and waiting.

    A node is named by keywords (``text``, ``text_contains``, ``id``, ``desc``,
    ``desc_contains``, ``role``), or by one positional argument: a ``NodeMatcher``, a dict in
    wire form, a node of a snapshot, or a locator. ``within`` is a node around it, in the
    same forms. ``timeout`` is how many seconds the node is looked for; 0 is one attempt.
    """

    def click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        at: tuple[int, int] | None = None,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> StepT:
        """Tap a node, or with ``at`` a point in pixels.

        ``claw.click(text="Sign in")``
        """
        __tracebackhide__ = True
        return self._do(action_plans.click("click", target, matcher, at=at, within=within), timeout)

    def long_click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        at: tuple[int, int] | None = None,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> StepT:
        """Press a node, or a point, and hold it.

        ``claw.long_click(text="Item 3")``
        """
        __tracebackhide__ = True
        plan = action_plans.click(
            "long_click", target, matcher, at=at, within=within, click_type="long_click"
        )
        return self._do(plan, timeout)

    def focus(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> StepT:
        """Focus a node without tapping it.

        ``claw.focus(id="search")``
        """
        __tracebackhide__ = True
        plan = action_plans.click("focus", target, matcher, within=within, click_type="focus")
        return self._do(plan, timeout)

    def enter_text(
        self,
        value: str,
        target: TargetLike | None = None,
        /,
        *,
        submit: bool = False,
        secret: bool = False,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> StepT:
        """Replace the text of a field; ``submit`` taps the field afterwards.

        ``claw.enter_text("ada@example.com", id="email")``

        A ``secret`` is shown in no message, report or file; what is typed into a password
        field is one anyway. The Operator does not press Enter:
        ``claw.device.key_event("enter")`` does.
        """
        __tracebackhide__ = True
        plan = action_plans.enter_text(
            value, target, matcher, within=within, submit=submit, secret=secret
        )
        return self._do(plan, timeout)

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
    ) -> TextT:
        """Return a node's text, or its description where it has none.

        ``version = claw.read_text(id="version", pattern="[0-9.]+")``

        With a validator, or a pattern that all of it must match, a text of another form
        counts as not there yet.
        """
        __tracebackhide__ = True
        plan = read_plans.read_text(
            target, matcher, within=within, validator=validator, pattern=pattern
        )
        return self._do(plan, timeout)

    def read_all_text(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> TextsT:
        """Return the texts of all nodes that fit; an empty list is not waited on.

        ``names = claw.read_all_text(id="com.example.shop:id/product_name")``
        """
        __tracebackhide__ = True
        return self._do(read_plans.read_all_text(target, matcher, within=within), timeout)

    def read_value(
        self,
        label: str | re.Pattern[str] | TargetLike | None = None,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> TextT:
        """Return the value beside a label, as in Settings.

        ``version = claw.read_value(label="Android version")``
        """
        __tracebackhide__ = True
        return self._do(read_plans.read_value(label, matcher, within=within), timeout)

    def wait_for_node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> StepT:
        """Wait until a node is on the screen.

        ``claw.wait_for_node(text="Welcome", timeout=20)``
        """
        __tracebackhide__ = True
        return self._do(action_plans.wait_for_node(target, matcher, within=within), timeout)

    def wait_for_navigation(
        self,
        target: TargetLike | None = None,
        /,
        *,
        package: str | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> StepT:
        """Wait until another app has come to the front, or a node of another screen is there.

        ``claw.wait_for_navigation(package="com.android.settings", text="Connections")``

        An app that was in front already does not come to the front: give a node, too.
        """
        __tracebackhide__ = True
        return self._do(action_plans.wait_for_navigation(package, target, matcher), timeout)
