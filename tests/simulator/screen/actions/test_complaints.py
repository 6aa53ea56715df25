"""What an app file asks for and what cannot be done while the app runs."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.screen_phone import Phone, screen_app

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
    ],
)
def test_an_action_that_cannot_be_done_is_told(action: str, part: str) -> None:
    """It changes nothing, what follows is done, and the complaint has the file's line."""
    phone = Phone(
        screen_app(f"- {{text: 'Count {{count}}'}}\n- {{button: Go, on_tap: {action}}}\n", STATE)
    )

    phone.tap("Go")

    assert phone.has("Count 1") or "(on and text)" in action
    (complaint,) = phone.complaints
    assert complaint.startswith("app.yaml:9:")
    assert part in complaint


def test_what_follows_is_done() -> None:
    """One action that cannot be done does not keep the others from happening."""
    actions = "[{dismiss: true}, {add: {count: 1}}]"
    phone = Phone(
        screen_app(f"- {{text: '{{count}}'}}\n- {{button: Go, on_tap: {actions}}}\n", STATE)
    )

    phone.tap("Go")

    assert phone.has("2")


def test_a_screen_complains_once() -> None:
    """What cannot be shown is told once, until a variable changes."""
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


def test_a_full_list_takes_no_more() -> None:
    """An entry that does not fit any more is told."""
    entries = ", ".join(["1"] * 1000)
    phone = Phone(
        screen_app(
            "- {button: Go, on_tap: {append: {entries: 1}}}\n", f"state: {{entries: [{entries}]}}\n"
        )
    )

    phone.tap("Go")

    assert "takes no more" in phone.complaints[0]


def test_an_arg_of_another_kind_keeps_its_default() -> None:
    """A value that does not fit an arg is told, and the screen opens with its default."""
    from tests.doubles.simulator.screen_phone import app

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
