"""Expectations about a node."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clawperator.assertions import node_checks
from pytest_clawperator.assertions.expectation import Check, Manner
from pytest_clawperator.assertions.failure import Failure, node_failure
from pytest_clawperator.assertions.node_checks import APPEARED, DISAPPEARED
from pytest_clawperator.assertions.polling import Outcome
from pytest_clawperator.assertions.role_check import check_roles
from pytest_clawperator.assertions.texts import Text
from pytest_clawperator.assertions.view import Screen, View
from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.errors import ExpectationError

__tracebackhide__ = True  # a failure is shown at the test's own line


class LocatorAssertions:
    """What can be expected of a node; waited for, unless it is one of a snapshot.

    Where several nodes fit, the first counts. A check of how a node is fails both ways,
    wanted or not, where the node is not on the screen.
    """

    def __init__(self, target: Target, screen: Screen, manner: Manner) -> None:
        self._target = target
        self._screen = screen
        self._manner = manner
        check_roles(target)

    def to_be_visible(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen."""
        self._hold(node_checks.VISIBLE, timeout)

    def not_to_be_visible(self, *, timeout: float | None = None) -> None:
        """Expect it to be off the screen, or not there at all."""
        self._hold(node_checks.VISIBLE.negated(DISAPPEARED), timeout)

    def to_be_hidden(self, *, timeout: float | None = None) -> None:
        """Expect it to be off the screen, or not there at all."""
        self._hold(node_checks.HIDDEN, timeout)

    def not_to_be_hidden(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen."""
        self._hold(node_checks.HIDDEN.negated(APPEARED), timeout)

    def to_exist(self, *, timeout: float | None = None) -> None:
        """Expect it to be in the tree, on the screen or off it."""
        self._hold(node_checks.EXISTS, timeout)

    def not_to_exist(self, *, timeout: float | None = None) -> None:
        """Expect it to be nowhere in the tree."""
        self._hold(node_checks.EXISTS.negated(DISAPPEARED), timeout)

    def to_be_enabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be enabled."""
        self._hold(node_checks.ENABLED, timeout)

    def not_to_be_enabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be there and disabled."""
        self._hold(node_checks.ENABLED.negated(), timeout)

    def to_be_disabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be disabled."""
        self._hold(node_checks.DISABLED, timeout)

    def not_to_be_disabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be there and enabled."""
        self._hold(node_checks.DISABLED.negated(), timeout)

    def to_be_checked(self, *, timeout: float | None = None) -> None:
        """Expect a switch, a box or the like to be on."""
        self._hold(node_checks.CHECKED, timeout)

    def not_to_be_checked(self, *, timeout: float | None = None) -> None:
        """Expect it to be there and off."""
        self._hold(node_checks.CHECKED.negated(), timeout)

    def to_be_focused(self, *, timeout: float | None = None) -> None:
        """Expect it to have the focus."""
        self._hold(node_checks.FOCUSED, timeout)

    def not_to_be_focused(self, *, timeout: float | None = None) -> None:
        """Expect it to be there without the focus."""
        self._hold(node_checks.FOCUSED.negated(), timeout)

    def to_be_selected(self, *, timeout: float | None = None) -> None:
        """Expect a tab or the like to be selected."""
        self._hold(node_checks.SELECTED, timeout)

    def not_to_be_selected(self, *, timeout: float | None = None) -> None:
        """Expect it to be there and not selected."""
        self._hold(node_checks.SELECTED.negated(), timeout)

    def to_be_in_viewport(
        self, *, ratio: float | None = None, timeout: float | None = None
    ) -> None:
        """Expect some of it, or so much of it, to be where it can be seen.

        What counts are the bounds, the window's, and those of the lists around it. Phones
        cut the bounds of most nodes to what can be seen, so a ratio says less there.
        """
        self._hold(node_checks.in_viewport(ratio), timeout)

    def not_to_be_in_viewport(
        self, *, ratio: float | None = None, timeout: float | None = None
    ) -> None:
        """Expect none of it, or less than so much, to be where it can be seen."""
        self._hold(node_checks.in_viewport(ratio).negated(), timeout)

    def to_have_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect its text, or its description where it has none, to be this.

        A pattern is searched for. A list is about all nodes that fit, one text for each.
        """
        self._hold(node_checks.has_text(expected), timeout)

    def not_to_have_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect it to be there with another text."""
        self._hold(node_checks.has_text(expected).negated(), timeout)

    def to_contain_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect its text to have this in it, letter by letter.

        A list is about all nodes that fit: each is in one of them, in this order.
        """
        self._hold(node_checks.contains_text(expected), timeout)

    def not_to_contain_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect it to be there with a text that does not have this in it."""
        self._hold(node_checks.contains_text(expected).negated(), timeout)

    def to_have_desc(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect its description for people who do not see the screen to be this."""
        self._hold(node_checks.has_desc(expected), timeout)

    def not_to_have_desc(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect it to be there with another description."""
        self._hold(node_checks.has_desc(expected).negated(), timeout)

    def to_have_role(self, role: str, /, *, timeout: float | None = None) -> None:
        """Expect it to be a button, a switch, a textfield or the like."""
        self._hold(node_checks.has_role(role), timeout)

    def not_to_have_role(self, role: str, /, *, timeout: float | None = None) -> None:
        """Expect it to be there in another role."""
        self._hold(node_checks.has_role(role).negated(), timeout)

    def to_have_count(self, count: int, /, *, timeout: float | None = None) -> None:
        """Expect so many nodes on the screen that fit."""
        self._hold(node_checks.has_count(count), timeout)

    def not_to_have_count(self, count: int, /, *, timeout: float | None = None) -> None:
        """Expect another number of nodes on the screen that fit."""
        self._hold(node_checks.has_count(count).negated(), timeout)

    def to_have_value(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect the value beside a label, as in Settings; a field's value is its text."""
        self._hold(node_checks.has_value(expected), timeout)

    def not_to_have_value(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect another value beside the label."""
        self._hold(node_checks.has_value(expected).negated(), timeout)

    def _hold(self, check: Check[View], timeout: float | None) -> None:
        manner = self._manner
        seconds = self._screen.seconds(timeout, manner.settings.timeout)
        manner.hold(check, self._look, self._explain, timeout=seconds)

    def _look(self) -> View:
        return View(self._screen.look(), self._target, self._screen)

    def _explain(self, check: Check[View], outcome: Outcome[View]) -> ExpectationError:
        ordinal = "" if check.about_all else self._target.ordinal
        subject = f"{self._target} ({ordinal})" if ordinal else str(self._target)
        failure = Failure(subject, self._manner.message, self._screen.serial)
        return node_failure(failure, check, outcome)
