"""The action methods: each makes a plan, which the client carries out immediately.

A batch borrows these methods and collects their plans instead; see ``Batch``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

from typing_extensions import Unpack

from pytest_clawperator.client import plans
from pytest_clawperator.client.device import Device, check_app, check_uri
from pytest_clawperator.client.device_commands import package_name
from pytest_clawperator.client.perform import Performer, shows_everything
from pytest_clawperator.client.plans import Plan, ScrollOutcome
from pytest_clawperator.client.target import TargetLike, container_of, optional_target, target_of
from pytest_clawperator.client.timing import timeout_of
from pytest_clawperator.contracts import actions
from pytest_clawperator.contracts.actions import Direction
from pytest_clawperator.contracts.matchers import MatcherKeywords
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, file_problem
from pytest_clawperator.execution.result import RunStep
from pytest_clawperator.snapshot.tree import Snapshot

__tracebackhide__ = True  # a failure is shown at the test's own line

T = TypeVar("T")
Validator = Literal["temperature", "version", "regex"]


class Actions:
    """Every action on one device, carried out when its method is called.

    A node is named by keywords (``text``, ``text_contains``, ``id``, ``desc``,
    ``desc_contains``, ``role``), or by one positional argument: a ``NodeMatcher``, a dict in
    wire form, a node of a snapshot, or a locator. ``within`` is a node around it, in the
    same forms; if several match, it may be inside any of them. ``timeout`` is how many seconds
    the node is looked for; 0 is one attempt.

    When scrolling, ``direction`` is where the content continues: "down" shows what is further
    down. ``within`` is the list to scroll, or a node around it; without it, the first thing on
    the screen that scrolls. ``timeout`` is how many seconds the list is waited for.
    ``distance_ratio`` is the length of a gesture as a part of the list's, ``settle_delay`` the
    seconds of rest after it.
    """

    performer: Performer
    #: The device beneath: its shell, files, apps and settings.
    device: Device

    def __init__(self, performer: Performer, *, device: Device, timeout: float) -> None:
        self.performer = performer
        self.device = device
        self.timeout = timeout

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self.performer.serial

    @property
    def timeout(self) -> float:
        """How many seconds methods look for a node by default."""
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self._timeout = timeout_of(seconds)

    def _perform(self, plan: Plan[T], timeout: float | None = None) -> T:
        """Carry out a plan, and return its value."""
        return self.performer.perform(plan, timeout_of(timeout, self._timeout))

    # Touching and typing

    def click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        at: tuple[int, int] | None = None,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> RunStep:
        """Tap a node, or with ``at`` a point in pixels.

        ``claw.click(text="Sign in")``
        """
        plan = plans.click("click", target, matcher, at=at, within=within)
        return self._perform(plan, timeout)

    def long_click(
        self,
        target: TargetLike | None = None,
        /,
        *,
        at: tuple[int, int] | None = None,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> RunStep:
        """Press a node, or a point, and hold it.

        ``claw.long_click(text="Item 3")``
        """
        plan = plans.click(
            "long_click", target, matcher, at=at, within=within, click_type="long_click"
        )
        return self._perform(plan, timeout)

    def focus(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> RunStep:
        """Focus a node without tapping it.

        ``claw.focus(id="search")``
        """
        plan = plans.click("focus", target, matcher, within=within, click_type="focus")
        return self._perform(plan, timeout)

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
    ) -> RunStep:
        """Replace the text of a field; ``submit`` taps the field afterwards.

        ``claw.enter_text("ada@example.com", id="email")``

        A ``secret`` is shown in no message, report or file; what is typed into a password
        field is treated as one anyway. The Operator does not press Enter:
        ``claw.device.key_event("enter")`` does.
        """
        plan = plans.enter_text(value, target, matcher, within=within, submit=submit, secret=secret)
        return self._perform(plan, timeout)

    # Reading

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
    ) -> str:
        """Return a node's text, or its description if it has no text.

        ``version = claw.read_text(id="version", pattern="[0-9.]+")``

        With a validator, or a pattern that the whole text must match, a text of another form
        counts as not there yet.
        """
        plan = plans.read_text(target, matcher, within=within, validator=validator, pattern=pattern)
        return self._perform(plan, timeout)

    def read_all_text(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> list[str]:
        """Return the texts of all matching nodes, without waiting for any.

        ``names = claw.read_all_text(id="com.example.shop:id/product_name")``
        """
        return self._perform(plans.read_all_text(target, matcher, within=within), timeout)

    def read_value(
        self,
        label: str | re.Pattern[str] | TargetLike | None = None,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> str:
        """Return the value beside a label, as in Settings.

        ``version = claw.read_value(label="Android version")``
        """
        return self._perform(plans.read_value(label, matcher, within=within), timeout)

    # Waiting

    def wait_for_node(
        self,
        target: TargetLike | None = None,
        /,
        *,
        within: TargetLike | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> RunStep:
        """Wait until a node is on the screen.

        ``claw.wait_for_node(text="Welcome", timeout=20)``
        """
        return self._perform(plans.wait_for_node(target, matcher, within=within), timeout)

    def wait_for_navigation(
        self,
        target: TargetLike | None = None,
        /,
        *,
        package: str | None = None,
        timeout: float | None = None,
        **matcher: Unpack[MatcherKeywords],
    ) -> RunStep:
        """Wait until another app has come to the front, or a node of another screen is there.

        ``claw.wait_for_navigation(package="com.android.settings", text="Connections")``

        An app that was already in front does not come to the front: give a node, too.
        """
        if package is not None:
            package_name(package)
        return self._perform(plans.wait_for_navigation(package, target, matcher), timeout)

    def sleep(self, seconds: float) -> RunStep:
        """Pause on the device; waiting for a node is faster and more reliable.

        ``claw.sleep(0.5)``
        """
        return [self._perform(plan) for plan in plans.sleeps(seconds)][-1]

    # Apps and keys

    def open_app(self, package: str) -> RunStep:
        """Start an app, or bring it to the front; it may take a moment until it is there.

        ``claw.open_app("com.android.settings")``
        """
        opening = actions.OpenApp(package_name(package))
        return self._perform(plans.simple(f"open_app {shown(package)}", opening))

    def close_app(self, package: str) -> RunStep:
        """Stop an app, so that it starts afresh the next time it is opened.

        ``claw.close_app("com.android.settings")``
        """
        closing = actions.CloseApp(package_name(package))
        check_app(self.device, package)
        return self._perform(plans.simple(f"close_app {shown(package)}", closing))

    def open_uri(self, uri: str) -> RunStep:
        """Open a web address or a deep link.

        ``claw.open_uri("shop://item/3")``
        """
        check_uri(self.device, uri)
        return self._perform(plans.simple(f"open_uri {shown(uri)}", actions.OpenUri(uri)))

    def press_key(self, key: Literal["back", "home", "recents"]) -> RunStep:
        """Press a key of the system; other keys are pressed by ``claw.device.key_event``.

        ``claw.press_key("back")``
        """
        return self._perform(plans.simple(f"press_key {shown(key)}", actions.PressKey(key)))

    def back(self) -> RunStep:
        """Go back.

        ``claw.back()``
        """
        return self.press_key("back")

    def home(self) -> RunStep:
        """Go to the home screen.

        ``claw.home()``
        """
        return self.press_key("home")

    def recents(self) -> RunStep:
        """Show the apps that were used last.

        ``claw.recents()``
        """
        return self.press_key("recents")

    def start_recording(self, session_id: str | None = None) -> RunStep:
        """Record what is done on the device from now on.

        ``claw.start_recording("checkout")``
        """
        return self._perform(plans.simple("start_recording", actions.StartRecording(session_id)))

    def stop_recording(self, session_id: str | None = None) -> RunStep:
        """End the recording; the step's data names the file on the device.

        ``recorded = claw.stop_recording().data["filePath"]``
        """
        return self._perform(plans.simple("stop_recording", actions.StopRecording(session_id)))

    # The whole screen

    def snapshot(self, *, timeout: float | None = None) -> Snapshot:
        """Return what is on the screen as a tree of nodes.

        ``assert "Wi-Fi" in claw.snapshot()``
        """
        return self._perform(plans.snapshot(), timeout)

    def screenshot(self, path: str | Path | None = None) -> bytes:
        """Return a picture of the screen as PNG, and write it to ``path`` if given.

        ``claw.screenshot("failed.png")``
        """
        if path is not None and not isinstance(path, (str, Path)):
            raise ConfigurationError(
                f"screenshot() cannot write to {shown(path)}", hint="Give a path: text or a Path."
            )
        picture = self._perform(plans.screenshot())
        if path is not None:
            _write(Path(path), picture)
        return picture

    def scroll(
        self,
        direction: Direction = "down",
        *,
        within: TargetLike | None = None,
        distance_ratio: float | None = None,
        settle_delay: float | None = None,
        timeout: float | None = None,
    ) -> ScrollOutcome:
        """Scroll once; the outcome is true if anything moved, false at the edge.

        ``moved = claw.scroll("down")``
        """
        plan = plans.scroll(
            direction,
            container_of(within, verb="scroll"),
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._perform(plan, timeout)

    def scroll_to_top(
        self, *, within: TargetLike | None = None, timeout: float | None = None
    ) -> ScrollOutcome:
        """Scroll back to the beginning of the list.

        ``claw.scroll_to_top()``
        """
        container = container_of(within, verb="scroll_to_top")
        return self._perform(plans.scroll_to_top(container), timeout)

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
    ) -> ScrollOutcome:
        """Scroll until a node appears, and with ``click`` tap it; without a node, to the end.

        ``claw.scroll_until(text="About phone", click=True)``

        It ends after ``max_scrolls``, or ``max_duration`` seconds: by default one for each.
        """
        plan = plans.scroll_until(
            optional_target(target, matcher, verb="scroll_until"),
            container_of(within, verb="scroll_until"),
            direction=direction,
            max_scrolls=max_scrolls,
            max_duration=max_duration,
            click=click,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._perform(plan, timeout)

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
    ) -> ScrollOutcome:
        """Scroll to a node and tap it; there must be a list, even if the node is in sight.

        ``claw.scroll_and_click(text="About phone")``
        """
        plan = plans.scroll_and_click(
            target_of(target, matcher, verb="scroll_and_click"),
            container_of(within, verb="scroll_and_click"),
            direction=direction,
            max_scrolls=max_scrolls,
            distance_ratio=distance_ratio,
            settle_delay=settle_delay,
        )
        return self._perform(plan, timeout)

    def pages(
        self,
        *,
        within: TargetLike | None = None,
        max_scrolls: int = 20,
        direction: Direction = "down",
    ) -> Iterator[Snapshot]:
        """Go through a list: a snapshot, a scroll, the next snapshot, until the list ends.

            for page in claw.pages():
                names += [node.text for node in page.find_all(id="product_name")]

        A screen on which nothing scrolls is one page, so first wait for a list that is not
        there yet.
        """
        plans.check_count("pages", max_scrolls, sys.maxsize, least=0)
        container = container_of(within, verb="pages")
        page = self.snapshot()
        yield page
        if not shows_everything(page, container):
            yield from self.performer.more_pages(
                "pages",
                container,
                direction,
                first=page,
                max_scrolls=max_scrolls,
                seconds=self.timeout,
                gesture={},
            )


def _write(path: Path, picture: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
    except UNUSABLE_FILE as exc:
        raise ConfigurationError(
            f"the screenshot cannot be written to {path}: {file_problem(exc)}",
            hint="Give a path that can be written; without one the bytes are only returned.",
        ) from exc
