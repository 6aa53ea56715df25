"""``expect``: say what should be so, and wait until it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, overload

from pytest_clawperator.assertions.envelope import EnvelopeAssertions
from pytest_clawperator.assertions.expectation import Manner, Settings
from pytest_clawperator.assertions.golden import store as goldens
from pytest_clawperator.assertions.golden.store import GoldenStore
from pytest_clawperator.assertions.locator import LocatorAssertions
from pytest_clawperator.assertions.poll import PollAssertions
from pytest_clawperator.assertions.polling import Clock
from pytest_clawperator.assertions.screen import ScreenAssertions, SnapshotAssertions
from pytest_clawperator.assertions.view import LiveScreen, StillScreen
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.plan.target import Target
from pytest_clawperator.client.plan.timing import seconds_of
from pytest_clawperator.contracts.envelope import ResultEnvelope
from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.snapshot.query import NoMatch
from pytest_clawperator.snapshot.tree import Node, Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")


class Expecting:
    """Takes what something is expected of, and offers what can be expected of it."""

    def __init__(self, settings: Callable[[], Settings], *, is_soft: bool) -> None:
        self._settings = settings
        self._is_soft = is_soft

    @overload
    def __call__(
        self, target: Locator | Node | NoMatch, message: str | None = None
    ) -> LocatorAssertions: ...

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

        ``message`` says what it means, should it fail.
        """
        manner = self._manner(message)
        if isinstance(target, Locator):
            return LocatorAssertions(target.target, LiveScreen(target.client), manner)
        if isinstance(target, Clawperator):
            return ScreenAssertions(LiveScreen(target), manner)
        if isinstance(target, Snapshot):
            return SnapshotAssertions(StillScreen(target), manner)
        if isinstance(target, (Node, NoMatch)):
            return LocatorAssertions(_still(target), StillScreen(target.snapshot), manner)
        if isinstance(target, ResultEnvelope):
            return EnvelopeAssertions(target, manner)
        raise ConfigurationError(
            f"nothing can be expected of an object of type {type(target).__name__}",
            hint="Give claw.node(...), the client, a snapshot, a node of it, or an envelope; "
            "for anything else use a plain assert, or expect.poll(function).",
        )

    def poll(
        self,
        function: Callable[[], T],
        message: str | None = None,
        *,
        timeout: float | None = None,
    ) -> PollAssertions[T]:
        """Expect something of what a function gives, which is called until it is so.

        expect.poll(lambda: claw.device.current_package()).to_equal("com.example.shop")
        """
        return PollAssertions(function, self._manner(message), timeout=timeout)

    def _manner(self, message: str | None) -> Manner:
        return Manner(self._settings(), message, self._is_soft)


class Expect(Expecting):
    """Say what should be so, and wait until it is.

    expect(claw.node(text="Welcome")).to_be_visible(timeout=20)
    expect(claw).to_be_in_app("com.example.shop")
    expect(envelope).to_have_succeeded()

    ``expect.soft(...)`` takes the same and lets the test go on; it fails at its end.
    """

    __name__ = "expect"

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._current = self._first = Settings(clock=clock or Clock())
        super().__init__(self._now, is_soft=False)
        self.soft = Expecting(self._now, is_soft=True)

    def set_timeout(self, seconds: float | None) -> None:
        """Set how long expectations wait unless told otherwise; None: as long as the client."""
        checked = None if seconds is None else seconds_of(seconds, 0.0, name="set_timeout()")
        self._current = replace(self._current, timeout=checked)

    def configure(self, *, linger: float | None = None, goldens: GoldenStore | None = None) -> None:
        """Set how long to watch on after a failure, and where goldens are kept.

        With ``linger=0`` a failure does not say whether it was only a matter of time.
        """
        if linger is not None:
            self._current = replace(self._current, linger=seconds_of(linger, 0.0, name="linger="))
        if goldens is not None:
            _use_goldens(goldens)

    def reset(self, settings: Settings | None = None) -> None:
        """Go back to earlier settings, or to those that were there at first."""
        self._current = self._first if settings is None else settings

    @property
    def settings(self) -> Settings:
        """What was set, to go back to."""
        return self._current

    def _now(self) -> Settings:
        return self._current


def _use_goldens(store: GoldenStore) -> None:
    goldens.use(store)


def _still(found: Node | NoMatch) -> Target:
    """Describe what was found on a snapshot, or what was not."""
    if isinstance(found, Node):
        return Target(node=found)
    container = found.container
    return Target(query=found.query, within=None if container is None else _still(container))


#: Say what should be so, and wait until it is.
expect = Expect()
