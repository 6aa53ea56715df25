"""A phone whose clock the test moves, with short ways to look at it and to touch it."""

from __future__ import annotations

import textwrap
from typing import Any

from pytest_clawperator.simulator.apps.load import parse_app, shipped_apps
from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.screen.accessibility import (
    AccessibilityEvent,
    UiNode,
    find,
    find_all,
)
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi

SETTINGS = "com.android.settings"
SHOP = "com.example.shop"
CONFORMANCE = "com.clawperator.conformance"
HOME = "com.google.android.apps.nexuslauncher"

HEAD = """\
package: com.example.demo
name: Demo
start: main
"""


def app(text: str) -> App:
    """Make an app of its screens and whatever else stands in its file."""
    return parse_app(HEAD + textwrap.dedent(text))


def screen_app(items: str, more: str = "") -> App:
    """Make an app whose only screen holds these items."""
    body = textwrap.indent(textwrap.dedent(items), "      ")
    return parse_app(HEAD + textwrap.dedent(more) + "screens:\n  main:\n    items:\n" + body)


class Phone:
    """A screen with some apps, and the time."""

    def __init__(self, *apps: App, start: str | None = None, **options: Any) -> None:
        self.now = 1000.0
        self.events: list[AccessibilityEvent] = []
        self.crashes: list[tuple[str, str]] = []
        self.complaints: list[str] = []
        self.ui = PhoneUi(clock=lambda: self.now, **options)
        self.ui.changes.on_event = self.events.append
        self.ui.changes.on_crash = lambda package, message: self.crashes.append((package, message))
        self.ui.changes.on_complaint = lambda package, message: self.complaints.append(message)
        for installed in apps or shipped_apps():
            self.ui.apps.install(installed)
        if start is None and len(apps) == 1:
            start = apps[0].package
        if start is not None:
            assert self.ui.launching.start_app(start)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    @property
    def root(self) -> UiNode:
        """The root of the active window."""
        root = self.ui.view.active_root()
        assert root is not None
        return root

    def has(self, text: str) -> bool:
        """Whether a text is on the screen."""
        return find(self.root, {"textEquals": text}, self.ui.display.size) is not None

    def texts(self) -> list[str]:
        """List every text on the screen."""
        return [node.text for node in find_all(self.root, {}, self.ui.display.size) if node.text]

    def node(self, text: str) -> UiNode:
        """Return the first node with a text or description."""
        found = find(self.root, {"textEquals": text}, self.ui.display.size)
        assert found is not None, f"{text!r} is not among {self.texts()}"
        return found

    def by_id(self, name: str) -> UiNode:
        """Return the first node whose resource id ends with a name."""
        found = next((n for n in self.root.walk() if n.resource_id.endswith(f":id/{name}")), None)
        assert found is not None, f"no {name}"
        return found

    def tap(self, text: str) -> None:
        """Tap the middle of a text."""
        assert self.ui.touch.tap(*self.node(text).bounds.centre)

    def tap_id(self, name: str) -> None:
        """Tap the middle of the node with an id."""
        assert self.ui.touch.tap(*self.by_id(name).bounds.centre)

    def window_packages(self) -> list[str]:
        """List the packages of the windows, from the bottom up."""
        return [window.package for window in self.ui.view.windows()]

    def swipe_up(self, node: UiNode) -> None:
        """Swipe over a node as the Operator does to scroll down."""
        left, top, right, bottom = node.bounds
        x, height = (left + right) // 2, bottom - top
        self.ui.touch.swipe((x, top + round(0.52 * height)), (x, top + round(0.24 * height)))

    def swipe_down(self, node: UiNode) -> None:
        """Swipe over a node as the Operator does to scroll up."""
        left, top, right, bottom = node.bounds
        x, height = (left + right) // 2, bottom - top
        self.ui.touch.swipe((x, top + round(0.48 * height)), (x, top + round(0.76 * height)))

    def scroll_to(self, text: str) -> None:
        """Scroll the first list down until a text shows."""
        for _ in range(100):
            if self.has(text):
                return
            self.swipe_up(self.scrollable())
        raise AssertionError(f"{text!r} never came")

    def value_of(self, label: str) -> str:
        """Return the text below a label in its row."""
        row = self.node(label).parent
        assert row is not None
        return next(part.text for part in row.children if part.resource_id.endswith("/summary"))

    def scrollable(self) -> UiNode:
        """Return the first node that can be scrolled."""
        return next(node for node in self.root.walk() if node.scrollable)


def demo(text: str) -> Phone:
    """Make a phone that shows the app of this text."""
    return Phone(app(text))
