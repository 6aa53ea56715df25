"""The methods of the client that act at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import Unpack, override

from pytest_clawperator.client.app_actions import AppActions
from pytest_clawperator.client.device.device import Device
from pytest_clawperator.client.plan import action_plans, page_search, scroll_plans
from pytest_clawperator.client.plan.performer import Performer
from pytest_clawperator.client.plan.plan import Plan
from pytest_clawperator.client.plan.scroll_outcome import ScrollOutcome
from pytest_clawperator.client.plan.target import (
    Route,
    Target,
    TargetLike,
    container_of,
    optional_target,
    target_of,
)
from pytest_clawperator.client.plan.timing import timeout_of
from pytest_clawperator.contracts.actions import Direction
from pytest_clawperator.contracts.matchers import MatcherKeywords
from pytest_clawperator.contracts.wording import shown
from pytest_clawperator.errors import UNUSABLE_FILE, ConfigurationError, file_problem
from pytest_clawperator.execution.result import RunStep
from pytest_clawperator.snapshot.tree import Snapshot

T = TypeVar("T")


class DirectActions(AppActions[RunStep, str, list[str], Snapshot, ScrollOutcome]):
    """Every action on one device, carried out when its method is called."""

    def __init__(self, performer: Performer, *, device: Device, timeout: float) -> None:
        self.performer = performer
        self.device = device
        self.timeout = timeout

    @property
    def serial(self) -> str:
        """The device's serial."""
        return self.performer.serial

    @override
    def _do(self, plan: Plan[T], timeout: float | None = None) -> T:
        __tracebackhide__ = True
        return self.performer.perform(plan, timeout_of(timeout, self._timeout))

    def screenshot(self, path: str | Path | None = None) -> bytes:
        """Return a picture of the screen as PNG, and write it to ``path`` if there is one.

        ``claw.screenshot("failed.png")``
        """
        __tracebackhide__ = True
        if path is not None and not isinstance(path, (str, Path)):
            raise ConfigurationError(
                f"screenshot() cannot write to {shown(path)}", hint="Give a path: text or a Path."
            )
        picture = self._do(action_plans.screenshot())
        if path is not None:
            _write(Path(path), picture)
        return picture

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
        """Scroll until a node comes up, and with ``click`` tap it; without a node, to the end.

        ``claw.scroll_until(text="About phone", click=True)``

        It ends after ``max_scrolls``, or ``max_duration`` seconds: by default one for each.
        """
        __tracebackhide__ = True
        gesture = {"distance_ratio": distance_ratio, "settle_delay": settle_delay}
        plan = scroll_plans.scroll_until(
            optional_target(target, matcher, verb="scroll_until"),
            container_of(within, verb="scroll_until"),
            direction=direction,
            max_scrolls=max_scrolls,
            max_duration=max_duration,
            click=click,
            **gesture,
        )
        wanted = plan.target
        if wanted is None or wanted.is_plain:
            return self._do(plan, timeout)
        pages = self._pages(plan.container, direction, max_scrolls, timeout, gesture)
        return self._search(plan, pages, click=click, max_duration=max_duration)

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
        __tracebackhide__ = True
        wanted = target_of(target, matcher, verb="scroll_and_click")
        gesture = {"distance_ratio": distance_ratio, "settle_delay": settle_delay}
        plan = scroll_plans.scroll_and_click(
            wanted,
            container_of(within, verb="scroll_and_click"),
            direction=direction,
            max_scrolls=max_scrolls,
            **gesture,
        )
        if wanted.route() is Route.SENT:
            return self._do(plan, timeout)
        pages = self._pages(plan.container, direction, max_scrolls, timeout, gesture)
        return self._search(plan, pages, click=True, needs_list=True)

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

        A screen on which nothing scrolls is one page, so wait for a list that is still to come.
        """
        scroll_plans.check_count("pages", max_scrolls, sys.maxsize, least=0)
        container = container_of(within, verb="pages")
        page = self.snapshot()
        yield page
        if not page_search.shows_everything(page, container):
            pages = self._pages(container, direction, max_scrolls, None, {})
            yield from page_search.more_pages(self.performer, "pages", pages)

    def _pages(
        self,
        container: Target | None,
        direction: Direction,
        max_scrolls: int,
        timeout: float | None,
        gesture: Mapping[str, float | None],
    ) -> page_search.Pages:
        seconds = timeout_of(timeout, self.timeout)
        return page_search.Pages(container, direction, max_scrolls, seconds, gesture)

    def _search(
        self, plan: Plan[ScrollOutcome], pages: page_search.Pages, **options: Any
    ) -> ScrollOutcome:
        __tracebackhide__ = True
        return page_search.search(self.performer, plan, pages, look_timeout=self.timeout, **options)


def _write(path: Path, picture: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
    except UNUSABLE_FILE as exc:
        raise ConfigurationError(
            f"the screenshot cannot be written to {path}: {file_problem(exc)}",
            hint="Give a path that can be written; without one the bytes are only returned.",
        ) from exc
