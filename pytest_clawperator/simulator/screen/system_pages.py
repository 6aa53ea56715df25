"""Android's own pages: home screen, recent apps, and the dialogs of permissions and crashes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pytest_clawperator.simulator.apps.expressions import Expression, Template
from pytest_clawperator.simulator.apps.kinds import Value
from pytest_clawperator.simulator.apps.schema import App, Dialog, Screen, Widget
from pytest_clawperator.simulator.screen.tasks import Page

CONTROLLER = "com.android.permissioncontroller"
ACTIVITY = "com.android.permissioncontroller.permission.ui.GrantPermissionsActivity"
_REFUSALS_BEFORE_SILENCE = 2
_QUESTIONS = {
    "POST_NOTIFICATIONS": "send you notifications",
    "ACCESS_FINE_LOCATION": "access this device’s location",
    "ACCESS_COARSE_LOCATION": "access this device’s approximate location",
    "CAMERA": "take pictures and record video",
    "RECORD_AUDIO": "record audio",
    "READ_CONTACTS": "access your contacts",
    "READ_CALENDAR": "access your calendar",
    "CALL_PHONE": "make and manage phone calls",
    "SEND_SMS": "send and view SMS messages",
    "READ_MEDIA_IMAGES": "access photos and videos on this device",
}
_WHILE_IN_USE = frozenset(
    {"ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION", "CAMERA", "RECORD_AUDIO"}
)


class Permissions:
    """Which package may do what."""

    def __init__(self) -> None:
        self._granted: defaultdict[str, set[str]] = defaultdict(set)
        self._refusals: defaultdict[tuple[str, str], int] = defaultdict(int)

    def granted(self, package: str) -> set[str]:
        """Return the permissions that a package has."""
        return set(self._granted.get(package, ()))

    def grant(self, package: str, permission: str) -> None:
        """Grant a permission."""
        self._granted[package].add(permission)
        self._refusals.pop((package, permission), None)

    def revoke(self, package: str, permission: str) -> None:
        """Take a permission away; the package may ask again."""
        self._granted[package].discard(permission)
        self._refusals.pop((package, permission), None)

    def refuse(self, package: str, permission: str) -> None:
        """Note that the user refused a permission."""
        self._refusals[package, permission] += 1

    def may_ask(self, package: str, permission: str) -> bool:
        """Return whether Android still shows the question; after two refusals it does not."""
        return self._refusals.get((package, permission), 0) < _REFUSALS_BEFORE_SILENCE

    def clear(self, package: str) -> None:
        """Forget everything about a package."""
        self._granted.pop(package, None)
        for key in [key for key in self._refusals if key[0] == package]:
            del self._refusals[key]


def question(name: str, permission: str) -> str:
    """Return the question that Android asks for an app."""
    short = permission.rpartition(".")[2]
    return f"Allow {name} to {_QUESTIONS.get(short, f'use {short}')}?"


def answers(permission: str) -> tuple[tuple[str, str, str], ...]:
    """Return the buttons: each with its id, its text, and ``allow`` or ``deny``."""
    deny = ("permission_deny_button", "Don’t allow", "deny")
    if permission.rpartition(".")[2] in _WHILE_IN_USE:
        return (
            ("permission_allow_foreground_only_button", "While using the app", "allow"),
            ("permission_allow_one_time_button", "Only this time", "allow"),
            deny,
        )
    return (("permission_allow_button", "Allow", "allow"), deny)


LAUNCHER = "com.google.android.apps.nexuslauncher"
LAUNCHER_ACTIVITY = "com.google.android.apps.nexuslauncher.NexusLauncherActivity"
RECENTS_ACTIVITY = "com.android.quickstep.RecentsActivity"
SYSTEM = "android"
SYSTEM_UI = "com.android.systemui"
CHOOSER_ACTIVITY = "com.android.internal.app.ResolverActivity"
CLEAR_ALL = "clear all"
_HOME_COLUMNS = 4
_CARD_WIDTH, _CARD_HEIGHT = 288, 520
Choose = Callable[[str], object]


def _nothing(name: str) -> Value:
    return ""


def _plain(text: str) -> Template:
    return Template(text.replace("{", "{{").replace("}", "}}"))


def _widget(kind: str, text: str | None = None, **more: Any) -> Widget:
    for name in ("id", "desc", "value", "title_id"):
        if name in more:
            more[name] = _plain(more[name])
    return Widget.model_construct(kind=kind, text=None if text is None else _plain(text), **more)


def launcher_page(apps: Iterable[App], *, now: float, choose: Choose) -> Page:
    """Build the home screen: a search bar and the icons of all apps that have one."""
    icons = tuple(
        _widget("icon", app.name, value=app.package, clickable=True)
        for app in sorted(apps, key=lambda app: app.name.casefold())
        if app.launcher
    )
    body = Screen.model_construct(
        toolbar=False,
        items=(
            _widget("space", height=48),
            _widget("list", id="workspace", items=icons, columns=_HOME_COLUMNS),
        ),
        bottom=(
            _widget("button", "Search", id="search_container_hotseat", desc="Google search"),
            _widget("space", height=16),
        ),
    )
    return Page(LAUNCHER, "home", body, LAUNCHER_ACTIVITY, now, _nothing, choose=choose)


def lock_page(*, now: float) -> Page:
    """Build the lock screen, which lies over everything."""
    prefix = f"{SYSTEM_UI}:id/"
    body = Screen.model_construct(
        toolbar=False,
        items=(
            _widget("space", height=160),
            _widget("text", "Locked", id=f"{prefix}lock_icon_view", align="center"),
        ),
        bottom=(
            _widget(
                "text", "Swipe up to open", id=f"{prefix}keyguard_indication_text", align="center"
            ),
        ),
    )
    return Page(SYSTEM_UI, "keyguard", body, "NotificationShade", now, _nothing)


def recents_page(apps: Sequence[App], *, now: float, choose: Choose) -> Page:
    """Build the page of the recent apps, as cards, the latest first."""
    cards = tuple(
        _widget(
            "column",
            width=_CARD_WIDTH,
            items=(
                _widget("title", app.name, size=16),
                _widget(
                    "card",
                    id="task",
                    desc=app.name,
                    value=app.package,
                    clickable=True,
                    height=_CARD_HEIGHT,
                ),
            ),
        )
        for app in apps
    )
    empty = (_widget("text", "No recent items", align="center"),)
    clear = _widget("button", "Clear all", id="clear_all", value=CLEAR_ALL)
    tasks = _widget("list", id="overview_panel", items=cards, direction="horizontal")
    body = Screen.model_construct(
        toolbar=False,
        items=(_widget("space", height=80), *((tasks, clear) if cards else empty)),
    )
    return Page(LAUNCHER, "recents", body, RECENTS_ACTIVITY, now, _nothing, choose=choose)


def permission_page(app: App, permission: str, *, now: float, choose: Choose) -> Page:
    """Build the dialog that asks whether an app may do something."""
    prefix = f"{CONTROLLER}:id/"
    body = Dialog.model_construct(
        cancelable=False,
        items=(
            _widget(
                "title",
                question(app.name, permission),
                id=f"{prefix}permission_message",
                size=18,
            ),
            *(
                _widget("button", text, id=prefix + name, value=answer)
                for name, text, answer in answers(permission)
            ),
        ),
    )
    return Page(CONTROLLER, "permission", body, ACTIVITY, now, _nothing, choose=choose)


def chooser_page(apps: Sequence[App], *, now: float, choose: Choose) -> Page:
    """Build the dialog that asks which of several apps opens a link.

    ``choose`` is called with ``once PACKAGE`` or ``always PACKAGE``.
    """
    chosen = ""

    def tapped(value: str) -> None:
        nonlocal chosen
        if value in ("once", "always"):
            choose(f"{value} {chosen}")
        else:
            chosen = value

    def lookup(name: str) -> Value:
        return chosen if name == "chosen" else ""

    body = _chooser_body(apps)
    return Page(SYSTEM, "chooser", body, CHOOSER_ACTIVITY, now, lookup, choose=tapped)


def _chooser_body(apps: Sequence[App]) -> Dialog:
    rows = tuple(
        _widget(
            "row",
            app.name,
            icon=True,
            value=app.package,
            clickable=True,
            title_id="android:id/text1",
            selected_if=Expression(f"chosen == '{app.package}'"),
        )
        for app in apps
    )
    is_any_chosen = Expression("chosen != ''")
    buttons = tuple(
        _widget("button", text, id=f"android:id/button_{how}", value=how, enabled_if=is_any_chosen)
        for text, how in (("Just once", "once"), ("Always", "always"))
    )
    return Dialog.model_construct(
        items=(
            _widget("title", "Open with", id="android:id/title"),
            _widget("list", id="android:id/resolver_list", items=rows),
            _widget("line", items=buttons, align="end"),
        ),
    )


def crash_page(app: App, *, now: float, choose: Choose, hangs: bool = False) -> Page:
    """Build the dialog about an app that has crashed, or that hangs."""
    other = ("Wait", "aerr_wait", "wait") if hangs else ("App info", "aerr_app_info", "info")
    buttons = tuple(
        _widget("button", text, id=f"android:id/{name}", value=value)
        for text, name, value in (other, ("Close app", "aerr_close", "close"))
    )
    title = f"{app.name} isn't responding" if hangs else f"{app.name} has stopped"
    body = Dialog.model_construct(title=_plain(title), items=buttons)
    name = f"Application {'Not Responding' if hangs else 'Error'}: {app.package}"
    return Page(SYSTEM, "crash", body, name, now, _nothing, choose=choose)


def alert_page(title: str, *, now: float, choose: Choose) -> Page:
    """Build a dialog of the system itself, as about a low battery."""
    heading = _widget("title", title, id="android:id/alertTitle")
    button = _widget("button", "OK", id="android:id/button1", value="ok")
    body = Dialog.model_construct(items=(heading, button))
    return Page("com.android.systemui", "alert", body, "AlertDialog", now, _nothing, choose=choose)
