"""``expect(locator)``: the expectations about a node."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clawperator.assertions import checks
from pytest_clawperator.assertions.expectation import Expectation, Stating
from pytest_clawperator.assertions.failure import Failure, node_failure
from pytest_clawperator.assertions.text_match import Text
from pytest_clawperator.assertions.wait import Outcome, ScreenSource
from pytest_clawperator.client.target import Target
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.errors import ExpectationError

__tracebackhide__ = True  # a failure is shown at the test's own line


class LocatorAssertions(Stating, HintsAtNames):
    """What can be expected of a node; each check waits, unless the node is from a snapshot.

    A check of one node fails, negated or not, if several match, or if the node is not on the
    screen.
    """

    _own_word = "expect(...)"
    _their_names = foreign_names.EXPECT

    def __init__(self, target: Target, screen: ScreenSource, expectation: Expectation) -> None:
        self._target = target
        self._screen = screen
        self._expectation = expectation
        checks.check_roles(target)

    def to_be_visible(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen."""
        self._verify(checks.VISIBLE, timeout)

    def not_to_be_visible(self, *, timeout: float | None = None) -> None:
        """Expect it to be off the screen or absent."""
        self._verify(checks.VISIBLE.negated(checks.DISAPPEARED), timeout)

    def to_be_hidden(self, *, timeout: float | None = None) -> None:
        """Expect it to be off the screen or absent."""
        self._verify(checks.HIDDEN, timeout)

    def not_to_be_hidden(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen."""
        self._verify(checks.HIDDEN.negated(checks.APPEARED), timeout)

    def to_exist(self, *, timeout: float | None = None) -> None:
        """Expect it to be in the tree, on the screen or off it."""
        self._verify(checks.EXISTS, timeout)

    def not_to_exist(self, *, timeout: float | None = None) -> None:
        """Expect it to be nowhere in the tree."""
        self._verify(checks.EXISTS.negated(checks.DISAPPEARED), timeout)

    def to_be_enabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be enabled."""
        self._verify(checks.ENABLED, timeout)

    def not_to_be_enabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen and disabled."""
        self._verify(checks.ENABLED.negated(), timeout)

    def to_be_disabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be disabled."""
        self._verify(checks.DISABLED, timeout)

    def not_to_be_disabled(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen and enabled."""
        self._verify(checks.DISABLED.negated(), timeout)

    def to_be_checked(self, *, timeout: float | None = None) -> None:
        """Expect a switch, a checkbox or a radio button to be on."""
        self._verify(checks.CHECKED, timeout)

    def not_to_be_checked(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen and off."""
        self._verify(checks.CHECKED.negated(), timeout)

    def to_be_focused(self, *, timeout: float | None = None) -> None:
        """Expect it to have the focus."""
        self._verify(checks.FOCUSED, timeout)

    def not_to_be_focused(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen without the focus."""
        self._verify(checks.FOCUSED.negated(), timeout)

    def to_be_selected(self, *, timeout: float | None = None) -> None:
        """Expect it, such as a tab, to be selected."""
        self._verify(checks.SELECTED, timeout)

    def not_to_be_selected(self, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen and not selected."""
        self._verify(checks.SELECTED.negated(), timeout)

    def to_be_in_viewport(
        self, *, ratio: float | None = None, timeout: float | None = None
    ) -> None:
        """Expect a part of it to be in the viewport: at least ``ratio``, or a pixel.

        Its bounds are compared with those of the window and of the scrollables around it.
        Phones report most bounds already cut to the visible part, so a ratio means less there.
        """
        self._verify(checks.in_viewport(ratio), timeout)

    def not_to_be_in_viewport(
        self, *, ratio: float | None = None, timeout: float | None = None
    ) -> None:
        """Expect less than ``ratio`` of it, or nothing, to be in the viewport."""
        self._verify(checks.in_viewport(ratio).negated(), timeout)

    def to_have_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect its text, or its description if it has none, to be this.

        A pattern is searched for. A list holds one text for each matching node.
        """
        self._verify(checks.has_text(expected), timeout)

    def not_to_have_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect it to be on the screen with another text."""
        self._verify(checks.has_text(expected).negated(), timeout)

    def to_contain_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect its text to contain this; upper and lower case count.

        Of a list, each text must be in one of the matching nodes, in this order.
        """
        self._verify(checks.contains_text(expected), timeout)

    def not_to_contain_text(
        self, expected: Text | Sequence[Text], /, *, timeout: float | None = None
    ) -> None:
        """Expect it to be on the screen with a text that does not contain this."""
        self._verify(checks.contains_text(expected).negated(), timeout)

    def to_have_desc(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect its content description, which screen readers speak, to be this."""
        self._verify(checks.has_desc(expected), timeout)

    def not_to_have_desc(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen with another content description."""
        self._verify(checks.has_desc(expected).negated(), timeout)

    def to_have_role(self, role: str, /, *, timeout: float | None = None) -> None:
        """Expect it to have this role, such as button, switch or textfield."""
        self._verify(checks.has_role(role), timeout)

    def not_to_have_role(self, role: str, /, *, timeout: float | None = None) -> None:
        """Expect it to be on the screen with another role."""
        self._verify(checks.has_role(role).negated(), timeout)

    def to_have_count(self, count: int, /, *, timeout: float | None = None) -> None:
        """Expect this number of matching nodes on the screen."""
        self._verify(checks.has_count(count), timeout)

    def not_to_have_count(self, count: int, /, *, timeout: float | None = None) -> None:
        """Expect another number of matching nodes on the screen."""
        self._verify(checks.has_count(count).negated(), timeout)

    def to_have_value(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect this value beside a label, as in Settings; the value of a field is its text."""
        self._verify(checks.has_value(expected), timeout)

    def not_to_have_value(self, expected: Text, /, *, timeout: float | None = None) -> None:
        """Expect another value beside a label."""
        self._verify(checks.has_value(expected).negated(), timeout)

    def _verify(self, check: checks.NodeCheck, timeout: float | None) -> None:
        seconds = self._screen.seconds(timeout, self._expectation.settings.timeout)
        about = Failure(str(self._target), self._expectation.message, self._screen.serial)
        self._expectation.verify(
            check, self._look, self._explain, about=about, screen=self._screen, timeout=seconds
        )

    def _look(self) -> checks.NodeView:
        screen = self._screen
        return checks.NodeView(screen.look(), self._target, screen.is_strict, screen.serial)

    def _explain(
        self, check: checks.NodeCheck, outcome: Outcome[checks.NodeView]
    ) -> ExpectationError:
        ordinal = "" if check.about_all or self._screen.is_strict else self._target.ordinal
        subject = f"{self._target} ({ordinal})" if ordinal else str(self._target)
        failure = Failure(subject, self._expectation.message, self._screen.serial)
        return node_failure(failure, check, outcome)
