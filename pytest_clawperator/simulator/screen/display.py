"""The display of a phone, its time, and the events about what changes on it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_clawperator.simulator.screen.accessibility import AccessibilityEvent, EventType, UiNode
from pytest_clawperator.simulator.screen.tasks import Page

_MAX_RUNS = 1000


class _Entry(NamedTuple):
    due: float
    number: int  # no two entries have the same, so owner and act are never compared
    owner: object
    act: Callable[[], object]


class Timeline:
    """The phone's time, and planned calls; each belongs to an owner that may go away before.

    Time passes only when ``advance`` is called; ``on_planned`` is called when something is
    planned that comes before everything else.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.now = clock()
        self.on_planned: Callable[[], None] = lambda: None
        self._entries: list[_Entry] = []
        self._count = 0

    def at(self, due: float, act: Callable[[], object], *, owner: object) -> None:
        """Plan a call; calls due at the same time are made in the order of planning."""
        self._count += 1
        heapq.heappush(self._entries, _Entry(due, self._count, owner, act))
        if self._entries[0].number == self._count:
            self.on_planned()

    @property
    def next_due(self) -> float | None:
        """When the next planned call is due; None if nothing is planned."""
        return self._entries[0].due if self._entries else None

    def after(self, delay: float, act: Callable[[], object], *, owner: object) -> None:
        """Plan a call in ``delay`` seconds."""
        self.at(self.now + delay, act, owner=owner)

    def cancel(self, owner: object) -> None:
        """Drop the planned calls of an owner."""
        kept = [entry for entry in self._entries if entry.owner is not owner]
        if len(kept) != len(self._entries):
            self._entries = kept
            heapq.heapify(kept)

    def advance(self) -> None:
        """Go on to the clock's time and make the calls that are due, each at its own time.

        A call that keeps planning itself again is made a limited number of times; what is left
        waits for the next ``advance``.
        """
        time = self._clock()
        done = 0
        while self._entries and self._entries[0].due <= time and done < _MAX_RUNS:
            entry = heapq.heappop(self._entries)
            self.now = max(self.now, entry.due)
            entry.act()
            done += 1
        self.now = max(self.now, time)


_SYSTEM_UI = "com.android.systemui"
_TOAST_CLASS = "android.widget.Toast$TN"


class Changes:
    """Counts changes of the screen and sends accessibility events.

    ``version`` grows whenever the screen may look different, ``revision`` only when its content
    changed, not when something was merely scrolled. ``on_event`` is called with each event,
    ``on_start`` with package and activity of each app that is asked to come to the front,
    ``on_crash`` with the package and the message of each app that crashes, ``on_complaint`` with
    the package of an app and what its file asks for although it cannot be done.
    """

    def __init__(self, timeline: Timeline) -> None:
        self.version = 0
        self.revision = 0
        self.on_event: Callable[[AccessibilityEvent], None] = lambda event: None
        self.on_start: Callable[[str, str], None] = lambda package, activity: None
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
                texts=tuple(texts),
                content_desc=source.content_desc if source is not None else "",
                source=source,
                scroll=scroll,
            )
        )


_REFERENCE_WIDTH = 1080
_REFERENCE_DENSITY = 420


class Display:
    """What apps are laid out for; each change of it changes what shows.

    ``rotation`` is in quarter turns. ``right_to_left`` is whether everything is mirrored, and
    ``cutout`` how many dp of its upper edge apps may not use; both are how the phone is made.
    """

    _limits: Mapping[str, Callable[[Any], Any]] = {
        "rotation": lambda turns: turns % 4,
        "density": lambda density: max(1, density),
        "font_scale": lambda scale: min(max(scale, 0.25), 5.0),
    }

    def __init__(self, size: tuple[int, int], *, density: int | None, changes: Changes) -> None:
        self._changes = changes
        self._natural_size = size
        self.density = density if density is not None else default_density(size)
        self.rotation = 0
        self.dark = False
        self.font_scale = 1.0
        self.right_to_left = False
        self.cutout = 0

    def __setattr__(self, name: str, value: Any) -> None:
        value = self._limits.get(name, lambda value: value)(value)
        if getattr(self, name, None) != value:
            super().__setattr__(name, value)
            self._changes.note()

    @property
    def insets(self) -> tuple[int, int, int, int]:
        """What a cutout takes of the left, the top, the right and the bottom, in pixels."""
        taken = self.cutout * self.density // 160
        around = [0, taken, 0, 0]
        left, top, right, bottom = around[self.rotation :] + around[: self.rotation]
        return left, top, right, bottom

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as the phone is held now."""
        width, height = self._natural_size
        return (height, width) if self.rotation % 2 else (width, height)

    def resize(self, size: tuple[int, int]) -> None:
        """Change the size that the display has when it is not turned."""
        self._natural_size = size

    def contains(self, x: int, y: int) -> bool:
        """Return whether a point lies on the display."""
        width, height = self.size
        return 0 <= x < width and 0 <= y < height


def default_density(size: tuple[int, int]) -> int:
    """Return the density at which a display shows as much as 1080 pixels do at 420 dpi."""
    return max(40, round(_REFERENCE_DENSITY * min(size) / _REFERENCE_WIDTH))
