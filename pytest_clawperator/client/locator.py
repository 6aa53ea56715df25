"""Locators: a node is described once and looked up at each use, so it is never stale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NoReturn, get_args

from typing_extensions import Unpack

from pytest_clawperator.client import plans
from pytest_clawperator.client.actions import Actions
from pytest_clawperator.client.device import NoDevice
from pytest_clawperator.client.judge import matching
from pytest_clawperator.client.perform import partial_snapshot
from pytest_clawperator.client.plans import ScrollOutcome
from pytest_clawperator.client.target import (
    LocatorBase,
    TargetLike,
    Use,
    inside,
    target_of,
    unshown,
)
from pytest_clawperator.client.timing import timeout_of
from pytest_clawperator.contracts import foreign_names
from pytest_clawperator.contracts.actions import Direction, Retry, WaitForNode
from pytest_clawperator.contracts.foreign_names import HintsAtNames
from pytest_clawperator.contracts.matchers import MatcherKeywords
from pytest_clawperator.contracts.wording import closest, shown
from pytest_clawperator.errors import ConfigurationError, ErrorCode, StepFailedError
from pytest_clawperator.execution.result import RunStep
from pytest_clawperator.redaction import hide
from pytest_clawperator.snapshot.tree import Bounds, Node, Snapshot, visible_bounds

__tracebackhide__ = True  # a failure is shown at the test's own line

Way = Literal["left", "right", "up", "down"]
# Typed into a field to be emptied: one key then deletes it, however long the text was.
_STAND_IN = "x"


@dataclass(frozen=True, repr=False)
class Locator(LocatorBase, HintsAtNames):
    """A description of a node: ``claw.node(text="OK")``.

    Only one node may match where one is acted on or read; :attr:`first`, :attr:`last` and
    :meth:`nth` choose among several. It is not a node itself: each method looks it up again.
    """

    _own_word = "node(...)"
    _their_names = foreign_names.LOCATOR

    client: Actions = field(compare=False)

    def __repr__(self) -> str:
        if self.target.node is not None:
            return hide(f"<Locator of {self.target}>")
        ordinal = self.target.ordinal
        return hide(f"{self.target} ({ordinal})" if ordinal else str(self.target))

    def __bool__(self) -> bool:
        raise ConfigurationError(
            f"{self} is a description, which is neither true nor false",
            hint="Use .exists() to see whether the node is there, or .count() to count matches.",
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, int, float)):
            raise ConfigurationError(
                f"{self} is a description, which has no value to compare with {shown(other)}",
                hint="Compare its text, .read() == ..., or wait for the text: "
                "expect(...).to_have_text(...).",
            )
        return isinstance(other, Locator) and self.target == other.target

    # Narrowing it down

    def node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        has: TargetLike | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> Locator:
        """Return a locator of a node inside this one, or inside any node that this one matches.

        ``claw.node(id="cart").node(text="Remove")``
        """
        inner = target_of(target, matcher, has=has, verb="node")
        return Locator(inside(self.target, inner), self.client)

    @property
    def first(self) -> Locator:
        """A locator of the first matching node.

        ``claw.node(id="row").first.click()``
        """
        return self.nth(0)

    @property
    def last(self) -> Locator:
        """A locator of the last matching node.

        ``claw.node(id="row").last.click()``
        """
        return self.nth(-1)

    def nth(self, index: int) -> Locator:
        """Return a locator of one of the matching nodes: 0 is the first, 1 the second, -1 the last.

        ``claw.node(id="row").nth(2).click()``
        """
        if type(index) is not int:
            raise ConfigurationError(
                f"nth() takes a whole number, not {shown(index)}",
                hint="0 is the first match, 1 the second, -1 the last.",
            )
        if self.target.index is not None:
            raise ConfigurationError(
                f"{self} is one node already", hint="Call nth() once, on all matches."
            )
        return Locator(self.target.nth(index), self.client)

    # Doing something with it

    def click(self, *, timeout: float | None = None) -> RunStep:
        """Tap it.

        ``claw.node(text="OK").click()``
        """
        return self.client.click(self, timeout=timeout)

    def long_click(self, *, timeout: float | None = None) -> RunStep:
        """Press and hold it.

        ``claw.node(text="Item 3").long_click()``
        """
        return self.client.long_click(self, timeout=timeout)

    def double_click(self, *, timeout: float | None = None) -> None:
        """Tap it twice, quickly.

        ``claw.node(id="photo").double_click()``

        Double taps, swipes and drags are touches that adb makes, at points of the screen.
        """
        self.client.device.double_tap(self._touched("double_click", timeout).center)

    def swipe(
        self,
        direction: Way,
        /,
        *,
        distance_ratio: float = 0.8,
        duration: float = 0.3,
        timeout: float | None = None,
    ) -> None:
        """Swipe over it: ``direction`` is where the finger goes.

        ``claw.node(text="Old mail").swipe("left")``

        ``distance_ratio`` is the length as a part of the node's, ``duration`` is in seconds.
        """
        start, end = swipe_over(self._touched("swipe", timeout), direction, distance_ratio)
        self.client.device.swipe(start, end, duration=duration)

    def drag_to(
        self,
        other: TargetLike | tuple[int, int],
        /,
        *,
        duration: float = 1.0,
        timeout: float | None = None,
    ) -> None:
        """Hold it, move it to the centre of another node, or to a point, and let go.

        ``claw.node(text="Draft").drag_to(claw.node(id="bin"))``
        """
        if isinstance(other, tuple):
            end = other
        else:
            goal = Locator(target_of(other, {}, verb="drag_to"), self.client)
            end = goal._touched("drag_to", timeout).center
        self.client.device.drag(self._touched("drag_to", timeout).center, end, duration=duration)

    def enter_text(
        self,
        value: str,
        /,
        *,
        submit: bool = False,
        secret: bool = False,
        timeout: float | None = None,
    ) -> RunStep:
        """Replace its text; a ``secret`` is shown in no message, report or file.

        ``claw.node(id="email").enter_text("ada@example.com")``
        """
        return self.client.enter_text(value, self, submit=submit, secret=secret, timeout=timeout)

    def clear(self, *, timeout: float | None = None) -> None:
        """Empty a field.

        ``claw.node(id="search").clear()``

        The Operator does not enter empty text, so one letter is entered and deleted by a key.
        """
        device = self.client.device
        if isinstance(device, NoDevice):
            device.key_event("del")  # raises with the reason before anything is changed
        self.enter_text(_STAND_IN, timeout=timeout)
        device.key_event("move_end")
        device.key_event("del")
        snapshot = self.client.snapshot()
        # A field that was described by its text has another now; it has the focus.
        fields = matching(self.target, snapshot)[:1] or [n for n in snapshot.nodes if n.focused]
        if any(field.text == _STAND_IN for field in fields):
            self._not_emptied(snapshot)

    def read(self, *, timeout: float | None = None) -> str:
        """Return its text.

        ``assert claw.node(id="total").read() == "$12.00"``
        """
        return self.client.read_text(self, timeout=timeout)

    def scroll_into_view(
        self,
        *,
        direction: Direction = "down",
        max_scrolls: int = 20,
        timeout: float | None = None,
    ) -> ScrollOutcome:
        """Scroll until it is on the screen.

        ``claw.node(text="Item 120").scroll_into_view()``

        What is scrolled is the node that it is inside of, or else the list around that.
        """
        around = self.target.within
        return self.client.scroll_until(
            self,
            within=None if around is None else Locator(around, self.client),
            direction=direction,
            max_scrolls=max_scrolls,
            timeout=timeout,
        )

    def wait(self, *, timeout: float | None = None) -> Locator:
        """Wait until it is on the screen, and return the locator itself.

        ``claw.node(text="Welcome").wait(timeout=20).click()``
        """
        self.client.wait_for_node(self, timeout=timeout)
        return self

    # Finding it

    def exists(self) -> bool:
        """Whether it is on the screen now.

        ``if claw.node(text="Not now").exists(): ...``
        """
        if self.target.is_plain and not self.target.is_matchable_on_snapshot:
            return self._exists_on_device()
        self._check_roles()
        step = self.client._perform(plans.snapshot_step())
        snapshot = partial_snapshot(step)
        nodes = self._counted(snapshot)
        if nodes or not snapshot.is_partial:
            return bool(nodes)
        # What a damaged snapshot lacks may still be there.
        return (
            self._exists_on_device() if self.target.is_plain else bool(self.resolve(step.snapshot))
        )

    def all(self) -> list[Node]:
        """Return all matching nodes that are on the screen now.

        ``names = [node.text for node in claw.node(id="name").all()]``
        """
        self._check_roles()
        return self._counted(self.client.snapshot())

    def count(self) -> int:
        """Count the matching nodes that are on the screen now.

        ``assert claw.node(id="row").count() == 3``
        """
        return len(self.all())

    def bounds(self, *, timeout: float | None = None) -> Bounds:
        """Return its bounds in pixels, as soon as it is there.

        ``x, y = claw.node(id="map").bounds().center``
        """
        client = self.client
        seconds = timeout_of(timeout, client.timeout)
        return client.performer.find(self.target, seconds, verb="bounds").bounds

    def resolve(self, snapshot: Snapshot) -> list[Node]:
        """Return the matching nodes on a snapshot; the first is the one to use.

        ``claw.node(text="OK").resolve(snapshot)``
        """
        self._check_roles()
        return self.target.resolve(snapshot)

    def _check_roles(self) -> None:
        """Raise if snapshots do not show a role in it, so that it would seem to be absent."""
        if not self.target.is_matchable_on_snapshot:
            raise unshown(self.target)

    def _touched(self, verb: str, timeout: float | None) -> Bounds:
        """Return where a finger can touch it, as soon as it is there."""
        client = self.client
        seconds = timeout_of(timeout, client.timeout)
        node = client.performer.find(self.target, seconds, verb=verb, use=Use.TAP)
        return shown_part(node, verb, serial=client.serial)

    def _counted(self, snapshot: Snapshot) -> list[Node]:
        nodes = self.resolve(snapshot)
        self.target.last.total = len(nodes)
        return nodes

    def _exists_on_device(self) -> bool:
        assert self.target.matcher is not None
        one_try = WaitForNode(self.target.matcher, retry=Retry(max_attempts=1))
        result = self.client.performer.run([one_try])
        if result.code != ErrorCode.NODE_NOT_FOUND:
            result.raise_for_status()
        return result.ok

    def _not_emptied(self, snapshot: Snapshot) -> NoReturn:
        raise StepFailedError(
            f"clear {self}: the field was not emptied",
            serial=self.client.serial,
            hint="The delete key did not reach it: check that the field takes the focus.",
            matcher=self.target.matcher,
            snapshot=snapshot,
        )


def shown_part(node: Node, verb: str, *, serial: str) -> Bounds:
    """Return the part of a node that a finger can touch."""
    part = visible_bounds(node)
    if part is not None and part.area > 0:
        return part
    raise StepFailedError(
        f"{verb}: nothing of {node!r} is on the screen",
        code=ErrorCode.NODE_NOT_CLICKABLE,
        serial=serial,
        hint="Bring it into view with scroll_into_view().",
        snapshot=node.snapshot,
    )


def swipe_over(
    part: Bounds, direction: Way, distance_ratio: float
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where a swipe over the middle of a node begins and ends."""
    if direction not in get_args(Way):
        near = closest(str(direction), get_args(Way))
        raise ConfigurationError(
            f"{shown(direction)} is not a direction of a swipe",
            hint=f"{f'Did you mean {near}? ' if near else ''}It is one of"
            f" {', '.join(get_args(Way))}: where the finger goes.",
        )
    is_part = type(distance_ratio) in (int, float) and 0 < distance_ratio <= 1
    if not is_part:
        raise ConfigurationError(
            f"distance_ratio={shown(distance_ratio)} is not a part of a node",
            hint="It is more than 0 and at most 1, as in 0.8.",
        )
    x, y = part.center
    along = part.width if direction in ("left", "right") else part.height
    step = max(1, round(along * distance_ratio / 2))
    low, high = -min(step, along // 2), min(step, (along - 1) // 2)
    begin, end = (high, low) if direction in ("left", "up") else (low, high)
    if direction in ("left", "right"):
        return (x + begin, y), (x + end, y)
    return (x, y + begin), (x, y + end)
