"""``expect``: the entry to all expectations, and their settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, overload

from pytest_clawperator.assertions import golden
from pytest_clawperator.assertions.expect_envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expect_node import LocatorAssertions
from pytest_clawperator.assertions.expect_poll import PollAssertions
from pytest_clawperator.assertions.expect_screen import ScreenAssertions, SnapshotAssertions
from pytest_clawperator.assertions.expectation import Expectation, ExpectSettings, require_check
from pytest_clawperator.assertions.golden import GoldenStore
from pytest_clawperator.assertions.wait import Clock, FixedScreen, LiveScreen
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.target import Target
from pytest_clawperator.client.timing import seconds_of, timeout_of
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.wording import describe
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.tree import Node, Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line
T = TypeVar("T")


class Expecting(HintsAtNames):
    """Takes a subject, and returns what can be expected of it."""

    _own_word = "expect"
    _their_names = foreign_names.EXPECTING

    def __init__(self, settings: Callable[[], ExpectSettings], *, is_soft: bool) -> None:
        self._settings = settings
        self._is_soft = is_soft

    @overload
    def __call__(self, target: Locator | Node, message: str | None = None) -> LocatorAssertions: ...

    @overload
    def __call__(self, target: Clawperator, message: str | None = None) -> ScreenAssertions: ...

    @overload
    def __call__(self, target: Snapshot, message: str | None = None) -> SnapshotAssertions: ...

    @overload
    def __call__(
        self, target: ResultEnvelope, message: str | None = None
    ) -> EnvelopeAssertions: ...

    def __call__(self, target: Any, message: str | None = None) -> Any:
        """Expect something of a locator, a client, a snapshot, a node of it, or an envelope.

        ``message`` stands at the beginning of a failure.
        """
        expectation = self._expectation(message)
        checks = checks_of(target, expectation)
        require_check(expectation)
        return checks

    def poll(
        self,
        function: Callable[[], T],
        message: str | None = None,
        *,
        timeout: float | None = None,
    ) -> PollAssertions[T]:
        """Expect something of the value of a function, which is called until the check holds.

            expect.poll(lambda: claw.device.current_package()).to_equal("com.example.shop")

        An ``AssertionError`` in the function means "not yet".
        """
        expectation = self._expectation(message)
        checks = PollAssertions(function, expectation, timeout=timeout)
        require_check(expectation)
        return checks

    def _expectation(self, message: Any) -> Expectation:
        if message is not None and not isinstance(message, str):
            raise ConfigurationError(
                f"the message of an expectation is a text, found {describe(message)}",
                hint="A timeout belongs to the check: expect(...).to_be_visible(timeout=10).",
            )
        return Expectation(self._settings(), message, self._is_soft)


class Expect(Expecting):
    """Expect something of a node, a screen, a snapshot or an envelope, and wait for it.

        expect(claw.node(text="Welcome")).to_be_visible(timeout=20)
        expect(claw).to_be_in_app("com.example.shop")
        expect(envelope).to_have_succeeded()

    ``expect.soft(...)`` takes the same; after a failure the test continues and fails at its end.
    """

    __name__ = "expect"

    #: Takes the same; after a failure the test continues and fails at its end.
    soft: Expecting

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._current = self._first = ExpectSettings(clock=clock or Clock())
        super().__init__(self._now, is_soft=False)
        self.soft = Expecting(self._now, is_soft=True)

    def set_timeout(self, seconds: float | None) -> None:
        """Set the default timeout of checks; None means the client's."""
        checked = None if seconds is None else timeout_of(seconds, 0.0, name="set_timeout()")
        self._current = replace(self._current, timeout=checked)

    def configure(self, *, linger: float | None = None, goldens: GoldenStore | None = None) -> None:
        """Set how long to keep checking after a failure, and where goldens are kept.

        With ``linger=0`` a failure does not report whether the check passed a little later.
        """
        if linger is not None:
            self._current = replace(self._current, linger=seconds_of(linger, 0.0, name="linger="))
        if goldens is not None:
            golden.use(goldens)

    def reset(self, settings: ExpectSettings | None = None) -> None:
        """Restore earlier settings, or the initial ones."""
        self._current = self._first if settings is None else settings

    @property
    def settings(self) -> ExpectSettings:
        """The current settings, to be restored with ``reset``."""
        return self._current

    def _now(self) -> ExpectSettings:
        return self._current


def checks_of(target: Any, expectation: Expectation) -> Any:
    """Return what can be expected of a subject."""
    if isinstance(target, Locator):
        return LocatorAssertions(target.target, LiveScreen(target.client), expectation)
    if isinstance(target, Clawperator):
        return ScreenAssertions(LiveScreen(target), expectation)
    if isinstance(target, Snapshot):
        return SnapshotAssertions(FixedScreen(target, is_strict=True), expectation)
    if isinstance(target, Node):
        screen = FixedScreen(target.snapshot, is_strict=True)
        return LocatorAssertions(Target(node=target), screen, expectation)
    if isinstance(target, ResultEnvelope):
        return EnvelopeAssertions(target, expectation)
    raise ConfigurationError(
        f"expect() does not take an object of type {type(target).__name__}",
        hint="Give claw.node(...), the client, a snapshot, a node of it, or an envelope; "
        "for anything else use a plain assert, or expect.poll(function).",
    )


#: The entry to all expectations.
expect = Expect()
