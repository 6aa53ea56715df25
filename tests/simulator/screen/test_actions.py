"""The verbs of app files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.screen.phone_state import WebAnswer
from tests.doubles.simulator.screen_phone import HOME, Phone, app, demo, screen_app
from tests.simulator.screen.sample_apps import DEMO, DIALOGS, SYSTEM_UI, TIMED


def test_a_snackbar_and_a_toast_vanish() -> None:
    """One is part of the app's window for a while, the other a window of the system."""
    phone = demo(TIMED)
    phone.tap("Later")
    assert not phone.has("Hello")
    phone.wait(0.4)
    assert phone.has("Hello")
    phone.wait(1.5)
    assert phone.has("Hello")
    phone.wait(1.3)
    assert not phone.has("Hello")

    phone = demo(TIMED)
    phone.tap("Toast")
    toast = phone.ui.view.windows()[1]
    assert (toast.type, toast.package, toast.active) == ("system", SYSTEM_UI, False)
    assert [node.text for node in toast.root.walk() if node.text] == ["Crunch"]
    assert not phone.has("Crunch")
    phone.wait(3.5)
    assert phone.window_packages() == [DEMO, SYSTEM_UI]


CONTROLLER = "com.android.permissioncontroller"


def test_a_permission_is_asked_for_by_another_package() -> None:
    """The prompt is an active window above the app; the answer is remembered."""
    phone = demo(DIALOGS)
    phone.tap("Notify")
    assert phone.window_packages() == [DEMO, CONTROLLER, SYSTEM_UI]
    assert phone.ui.view.foreground_package() == CONTROLLER
    assert phone.ui.view.foreground_activity().endswith("GrantPermissionsActivity")
    assert phone.has("Allow Demo to send you notifications?")
    phone.ui.keys.back()
    assert phone.ui.view.foreground_package() == CONTROLLER

    phone.tap("Allow")

    assert phone.has("Answer allowed")
    assert phone.ui.permissions.granted(DEMO) == {"android.permission.POST_NOTIFICATIONS"}
    phone.tap("Notify")
    assert phone.ui.view.foreground_package() == DEMO


def test_after_two_refusals_android_asks_no_more() -> None:
    """The first two times the user is asked, then the app gets a no at once."""
    phone = demo(DIALOGS)
    for _ in range(2):
        phone.tap("Notify")
        phone.tap("Don’t allow")
        assert phone.has("Answer denied")

    phone.tap("Notify")

    assert phone.ui.view.foreground_package() == DEMO
    phone.ui.processes.revoke_permission(DEMO, "android.permission.POST_NOTIFICATIONS")
    phone.tap("Notify")
    assert phone.ui.view.foreground_package() == CONTROLLER


def test_a_prompt_stays_with_its_app() -> None:
    """Home leaves app and prompt behind; coming back finds both."""
    phone = demo(DIALOGS)
    phone.tap("Locate")
    assert {"While using the app", "Only this time", "Don’t allow"} <= set(phone.texts())

    phone.ui.keys.home()
    assert phone.window_packages() == [HOME, SYSTEM_UI]
    phone.ui.launching.start_app(DEMO)

    assert phone.ui.view.foreground_package() == CONTROLLER
    phone.ui.processes.force_stop(DEMO)
    assert phone.ui.view.foreground_package() == HOME


NEWS = """\
state: {news: none, count: 0, done: 0}
screens:
  main:
    items:
      - {text: "News {news}, {count}, {done}"}
      - button: Text
        on_tap: [{fetch: {url: "http://localhost/{news}", into: news, on_answer: {add: {done: 1}}}}]
      - {button: Number, on_tap: [{fetch: {url: "http://localhost/", into: count}}]}
      - {button: Away, on_tap: [{navigate: other}]}
  other:
    items: [{text: "Other {news}"}]
"""


class Asked:
    """A web whose answers the test gives."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.answer: Callable[[WebAnswer], None] = lambda answer: None

    def fetch(self, url: str, answered: Callable[[WebAnswer], None]) -> None:
        """Keep who is to be answered."""
        self.urls.append(url)
        self.answer = answered


def test_an_answer_goes_into_its_variable() -> None:
    """The address is filled in; a text that does not fit, or that comes too late, does nothing."""
    web = Asked()
    phone = Phone(app(NEWS), fetch=web.fetch)
    phone.tap("Text")
    version = phone.ui.changes.version

    web.answer(WebAnswer(text="rain"))
    assert web.urls == ["http://localhost/none"]
    assert phone.has("News rain, 0, 1")
    assert phone.ui.changes.version > version
    phone.tap("Number")
    web.answer(WebAnswer(text="many"))
    assert phone.has("News rain, 0, 1")
    assert "a whole number is wanted" in phone.complaints[0]
    phone.tap("Text")
    phone.ui.processes.force_stop(DEMO)
    web.answer(WebAnswer(text="snow"))
    phone.ui.launching.start_app(DEMO)

    assert phone.has("News none, 0, 0")
    offline = Phone(app(NEWS))
    offline.tap("Text")
    assert "the phone has no network" in offline.complaints[0]
    with pytest.raises(ConfigurationError, match="there is no variable `new`"):
        app(NEWS.replace("into: news", "into: new"))


STATE = "state: {text: ten, count: 1, entries: [1], on: true}\n"


@pytest.mark.parametrize(
    ("action", "part"),
    [
        ("{set: {count: '{text}'}}", "a whole number is wanted, found a text: 'ten'"),
        ("{add: {count: '(on and text) - 1'}}", "`-` needs numbers, found a text"),
        ("{add: {count: on and text}}", "needs a number, found a text: 'ten'"),
        ("{remove: {entries: 3}}", "`entries` has no entry 3; its entries: 0 to 0"),
        ("{start_app: com.example.none}", "there is no app com.example.none"),
        ("{open_uri: 'none://x'}", "no app handles 'none://x'"),
        ("{dismiss: true}", "no dialog is open"),
        ("{append: {full: 1}}", "takes no more"),
    ],
)
def test_an_action_that_cannot_be_done_is_logged(action: str, part: str) -> None:
    """It changes nothing, what follows is done, and the complaint has the file's line."""
    items = f"""\
    - {{text: 'Count {{count}}'}}
    - {{button: Go, on_tap: [{action}, {{toast: Done}}]}}
    """
    full = ", ".join(["1"] * 1000)
    phone = Phone(screen_app(items, STATE.replace("{", f"{{full: [{full}], ", 1)))

    phone.tap("Go")

    assert phone.has("Count 1") or "(on and text)" in action
    assert phone.ui.view.toast is not None
    (complaint,) = phone.complaints
    assert complaint.startswith("app.yaml:9:")
    assert part in complaint


def test_a_screen_complains_once() -> None:
    """What cannot be shown is reported once, until a variable changes."""
    items = """\
    - {text: "Sum {(on and text) * 2}"}
    - {button: Go, on_tap: {add: {count: 1}}}
    """
    phone = Phone(screen_app(items, STATE))

    shown = [phone.has("Sum 0"), phone.has("Go")]
    before = list(phone.complaints)
    phone.tap("Go")
    phone.texts()

    assert shown == [True, True]
    assert len(before) == 1
    assert phone.complaints == before * 2
    assert before[0].startswith("app.yaml:8:")


def test_an_arg_of_another_kind_keeps_its_default() -> None:
    """A value that does not fit an arg is reported, and the screen opens with its default."""
    text = """\
    state: {typed: x}
    screens:
      main:
        items: [{button: Go, on_tap: {navigate: {to: next, with: {size: "{typed}"}}}}]
      next: {title: "Size {size}", args: {size: 3}}
    """
    phone = Phone(app(text))

    phone.tap("Go")

    assert phone.has("Size 3")
    assert "`next.size` stays 3" in phone.complaints[0]


def test_siblings_of_one_id_keep_their_own_values() -> None:
    """Two fields may have one id, as on Android; each has its own text."""
    phone = Phone(screen_app("- {field: A, id: f}\n- {field: B, id: f}\n"))

    phone.tap("A")
    phone.ui.typing.type_text("first")

    assert "first" in phone.texts()
    assert "B" in phone.texts()
