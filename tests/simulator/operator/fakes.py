"""A screen made of given nodes, and an Operator on it whose pauses take no time."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from typing import Any, cast

from pytest_clawperator.simulator.android import settings_store
from pytest_clawperator.simulator.android.log_buffer import LogBuffer, LogLine
from pytest_clawperator.simulator.android.packages import OPERATOR_SERVICE
from pytest_clawperator.simulator.android.settings_store import SettingsStore
from pytest_clawperator.simulator.apps.schema import App
from pytest_clawperator.simulator.faults import Faults
from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.operator.app import OperatorApp
from pytest_clawperator.simulator.operator.command import Profile
from pytest_clawperator.simulator.operator.operator_log import RESULT_PREFIX
from pytest_clawperator.simulator.operator.run import Surroundings
from pytest_clawperator.simulator.phone_clock import PhoneClock
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode, Window
from pytest_clawperator.simulator.screen.phone_ui import PhoneUi
from pytest_clawperator.simulator.stats import Stats

PACKAGE = "com.clawperator.operator.dev"
APP = "com.example.app"
NOON = 1_774_699_200.0
OK = {"textEquals": "OK"}
MISSING = {"textEquals": "missing"}
PROFILES: tuple[Profile, ...] = ("documented", "0.5.3")


def node(
    text: str = "",
    *children: UiNode,
    bounds: tuple[int, int, int, int] = (0, 0, 1080, 200),
    cls: str = "android.widget.TextView",
    **values: Any,
) -> UiNode:
    """Make a node with its children."""
    made = UiNode(cls=cls, package=values.pop("package", APP), bounds=Bounds(*bounds), text=text)
    for name, value in values.items():
        setattr(made, name, value)
    for child in children:
        made.add(child)
    return made


def screen(*children: UiNode, package: str = APP) -> UiNode:
    """Make a root that fills the display."""
    return node(
        "",
        *children,
        bounds=(0, 0, 1080, 2400),
        cls="android.widget.FrameLayout",
        package=package,
    )


def rows(count: int, *, offset: int = 0, height: int = 200, **values: Any) -> UiNode:
    """Make a list of rows 2000 pixels high that was scrolled by ``offset``."""
    tops = ((number, number * height - offset) for number in range(count))
    return node(
        "",
        *(
            node(f"Row {number}", bounds=(0, 400 + top, 1080, 400 + top + height))
            for number, top in tops
            if -height < top < 2000
        ),
        bounds=(0, 400, 1080, 2400),
        cls="androidx.recyclerview.widget.RecyclerView",
        **{"scrollable": True, "resource_id": f"{APP}:id/list", **values},
    )


def _recorded(name: str) -> Callable[..., bool]:
    def act(self: FakeUi, *arguments: object) -> bool:
        self.done.append(" ".join([name, *(_shown(argument) for argument in arguments)]))
        if name == "swipe":
            self.scroll_by(arguments)
        return name not in self.refuse

    return act


def _shown(argument: object) -> str:
    if isinstance(argument, UiNode):
        return argument.text or argument.resource_id
    return str(argument).replace(" ", "")


class FakeUi:
    """A screen that shows what it is reported to and remembers what was done to it.

    It is all parts of the real one, except ``apps``, in one object.
    """

    start_app = _recorded("start")
    open_uri = _recorded("open_uri")
    tap = _recorded("tap")
    long_press = _recorded("long_press")
    swipe = _recorded("swipe")
    click = _recorded("click")
    long_click = _recorded("long_click")
    focus = _recorded("focus")
    set_text = _recorded("set_text")
    back = _recorded("back")
    home = _recorded("home")
    recents = _recorded("recents")
    enter = _recorded("enter")

    def catch_up(self) -> None:
        """Do nothing: here nothing happens by itself."""

    def __init__(self, build: Callable[[FakeUi], UiNode | None]) -> None:
        self.build = build
        self.view = self.display = self.touch = self.nodes = self.typing = self
        self.keys = self.launching = self.links = self
        self.apps = {APP, "com.android.settings"}
        self.size = (1080, 2400)
        self.rotation = 0
        self.offset = 0
        self.end = 0
        self.looks = 0
        self.done: list[str] = []
        self.refuse: set[str] = set()
        self.extra_windows: list[Window] = []

    def windows(self) -> list[Window]:
        """List the windows, bottom to top."""
        root = self.build(self) or screen()
        return [Window("application", root.package, root, active=True), *self.extra_windows]

    def active_root(self) -> UiNode | None:
        """Build the tree again."""
        self.looks += 1
        return self.build(self)

    def roots(self) -> list[UiNode]:
        """List what a dump shows: the active window."""
        root = self.active_root()
        return [] if root is None else [root]

    def scroll_by(self, points: Any) -> None:
        """Move the list as far as the finger moved, within its length."""
        (_, start), (_, end) = points
        self.offset = min(max(self.offset + start - end, 0), self.end)


class Bench:
    """An Operator on a fake screen, or on a real one with apps, and everything around it."""

    def __init__(
        self,
        build: Callable[[FakeUi], UiNode | None] | UiNode | None = None,
        *,
        profile: Profile = "documented",
        is_release: bool = False,
        time_scale: float = 0.0,
        package: str = PACKAGE,
        seed: int = 1,
        apps: Sequence[App] = (),
    ) -> None:
        root = build if isinstance(build, UiNode) else screen()
        self.now = NOON
        self.clock = PhoneClock(lambda: self.now, time_scale=time_scale)
        self.ui = FakeUi(build if callable(build) else lambda ui: root)
        self.phone = PhoneUi(clock=self.clock.seconds)
        for app in apps:
            self.phone.apps.install(app)
        self.log = LogBuffer(clock=lambda: self.now)
        self.faults = Faults()
        self.files = FileSystem(clock=lambda: self.now, is_full=self._is_full)
        self.settings = SettingsStore()
        self.stats = Stats()
        self.enable_service(package)
        self.app = OperatorApp(
            Surroundings(
                ui=self.phone if apps else cast(PhoneUi, self.ui),
                log=self.log,
                faults=self.faults,
                files=self.files,
                settings=self.settings,
                stats=self.stats,
                clock=self.clock,
            ),
            package=package,
            rng=random.Random(seed),
            profile=profile,
            is_release=is_release,
        )
        self.phone.changes.on_event = self.app.on_accessibility_event

    def enable_service(self, package: str = PACKAGE) -> None:
        """Switch the accessibility service on."""
        settings_store.enable_accessibility_service(self.settings, f"{package}/{OPERATOR_SERVICE}")

    def is_service_enabled(self, package: str = PACKAGE) -> bool:
        """Whether the settings have the accessibility service switched on."""
        return settings_store.is_accessibility_service_on(
            self.settings, f"{package}/{OPERATOR_SERVICE}"
        )

    def _is_full(self) -> bool:
        return self.faults.active("storage_full") is not None

    def send(self, *payloads: str | None) -> None:
        """Send broadcasts one right after the other and wait until all work is done."""

        async def all_of_them() -> None:
            for payload in payloads:
                self.app.receive(payload)
            await all_done()

        asyncio.run(all_of_them())

    def execute(self, *actions: dict[str, Any], **root: Any) -> dict[str, Any]:
        """Run actions as one command; return its only envelope."""
        self.send(command(*actions, **root))
        (envelope,) = self.envelopes()
        return envelope

    def step(self, type: str, **params: Any) -> dict[str, Any]:
        """Run one action; return its step result."""
        envelope = self.execute({"id": "a1", "type": type, "params": params})
        (step,) = envelope["stepResults"]
        return cast("dict[str, Any]", step)

    def entries(self) -> list[LogLine]:
        """List the log."""
        return self.log.since(0)

    def lines(self) -> list[str]:
        """List the log as priority and message."""
        return [f"{line.priority} {line.message}" for line in self.entries()]

    def results(self) -> list[str]:
        """List what was logged as results, without the prefix."""
        messages = [line.message for line in self.entries() if line.priority == "I"]
        return [
            message.removeprefix(RESULT_PREFIX).strip()
            for message in messages
            if message.startswith(RESULT_PREFIX)
        ]

    def envelopes(self) -> list[dict[str, Any]]:
        """List the envelopes that were logged."""
        return [json.loads(result) for result in self.results()]


async def all_done() -> None:
    """Wait until no other task of this event loop is left."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)


def command(*actions: dict[str, Any], **root: Any) -> str:
    """Make a payload."""
    return json.dumps(
        {
            "commandId": "c1",
            "taskId": "t1",
            "source": "test",
            "actions": list(actions),
            **root,
        },
        ensure_ascii=False,
    )


def action(type: str, **params: Any) -> dict[str, Any]:
    """Make an action."""
    return {"id": "a1", "type": type, "params": params}


def button(text: str = "OK", **values: Any) -> UiNode:
    """Make a button in the middle of the screen."""
    given = {"bounds": (100, 1000, 300, 1100), "clickable": True, **values}
    return node(text, cls="android.widget.Button", **given)


def scrolling(count: int = 40, *, profile: Profile = "documented") -> Bench:
    """Make a bench with a list that can be scrolled to its end."""
    bench = Bench(lambda ui: screen(rows(count, offset=ui.offset)), profile=profile)
    bench.ui.end = count * 200 - 2000
    return bench
