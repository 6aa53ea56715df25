"""Accessibility events, printed as Android prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pytest_clawperator.simulator.screen.accessibility.nodes import UiNode

EventType = Literal[
    "TYPE_VIEW_CLICKED",
    "TYPE_VIEW_LONG_CLICKED",
    "TYPE_VIEW_FOCUSED",
    "TYPE_VIEW_TEXT_CHANGED",
    "TYPE_VIEW_SCROLLED",
    "TYPE_WINDOW_STATE_CHANGED",
    "TYPE_WINDOW_CONTENT_CHANGED",
    "TYPE_NOTIFICATION_STATE_CHANGED",
]


class AccessibilityEvent(str):
    """An event: the text that Android prints for it, with its parts at hand."""

    type: EventType
    time: float
    package: str
    class_name: str
    texts: tuple[str, ...]
    content_desc: str
    source: UiNode | None
    scroll: tuple[int, int, int, int]

    __slots__ = (
        "class_name", "content_desc", "package", "scroll", "source", "texts", "time", "type",
    )  # fmt: skip

    def __new__(
        cls,
        type: EventType,
        *,
        time: float,
        package: str,
        class_name: str,
        texts: Sequence[str] = (),
        content_desc: str = "",
        source: UiNode | None = None,
        scroll: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> AccessibilityEvent:
        """Make an event; ``scroll`` is x and y and the limit of each."""
        enabled = source is None or source.enabled
        password = source is not None and source.password
        text = (
            f"EventType: {type}; EventTime: {int(time * 1000)}; PackageName: {package};"
            " MovementGranularity: 0; Action: 0; ContentChangeTypes: []; WindowChangeTypes: []"
            f" [ ClassName: {class_name}; Text: [{', '.join(texts)}];"
            f" ContentDescription: {content_desc or 'null'}; ItemCount: -1; CurrentItemIndex: -1;"
            f" Enabled: {_word(enabled)}; Password: {_word(password)};"
            f" Checked: {_word(source is not None and source.checked)};"
            f" FullScreen: {_word(type == 'TYPE_WINDOW_STATE_CHANGED')};"
            f" Scrollable: {_word(source is not None and source.scrollable)}; BeforeText: null;"
            f" FromIndex: -1; ToIndex: -1; ScrollX: {scroll[0]}; ScrollY: {scroll[1]};"
            f" MaxScrollX: {scroll[2]}; MaxScrollY: {scroll[3]}; ScrollDeltaX: -1;"
            " ScrollDeltaY: -1; AddedCount: -1; RemovedCount: -1; ParcelableData: null;"
            " DisplayId: 0 ]; recordCount: 0"
        )
        event = super().__new__(cls, text)
        event.type, event.package, event.class_name = type, package, class_name
        event.texts, event.content_desc = tuple(texts), content_desc
        event.source, event.scroll, event.time = source, scroll, time
        return event


def _word(value: bool) -> str:
    return "true" if value else "false"


def texts_of(node: UiNode) -> tuple[str, ...]:
    """Return the texts of an event about a node: those in it, in order."""
    return tuple(text for part in node.walk() if (text := part.label))
