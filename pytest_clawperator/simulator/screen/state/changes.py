"""Noting that the screen changed, and telling listeners about events and crashes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_clawperator.simulator.screen.accessibility.events import AccessibilityEvent, EventType
from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode
from pytest_clawperator.simulator.screen.state.page import Page
from pytest_clawperator.simulator.screen.state.timeline import Timeline

_SYSTEM_UI = "com.android.systemui"
_TOAST_CLASS = "android.widget.Toast$TN"


class Changes:
    """Counts changes of the screen and sends accessibility events.

    ``version`` grows whenever the screen may look different, ``revision`` only when its content
    changed, not when something was merely scrolled. ``on_event`` is called with each event,
    ``on_crash`` with the package and the message of each app that crashes, ``on_complaint`` with
    the package of an app and what its file asks for and what cannot be done.
    """

    def __init__(self, timeline: Timeline) -> None:
        self.version = 0
        self.revision = 0
        self.on_event: Callable[[str], None] = lambda text: None
        self.on_crash: Callable[[str, str], None] = lambda package, message: None
        self.on_complaint: Callable[[str, str], None] = lambda package, message: None
        self._timeline = timeline

    def note(self, *, content: bool = True) -> None:
        """Note that the screen may look different."""
        self.version += 1
        self.revision += content

    def emit(
        self,
        type: EventType,
        *,
        page: Page | None = None,
        source: UiNode | None = None,
        package: str = _SYSTEM_UI,
        texts: Sequence[str] = (),
        scroll: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> None:
        """Send an accessibility event about a page or one of its nodes."""
        if page is not None:
            package = page.package
        class_name = page.activity if page is not None else _TOAST_CLASS
        self.on_event(
            AccessibilityEvent(
                type,
                time=self._timeline.now,
                package=package,
                class_name=source.cls if source is not None else class_name,
                texts=texts,
                content_desc=source.content_desc if source is not None else "",
                source=source,
                scroll=scroll,
            )
        )
