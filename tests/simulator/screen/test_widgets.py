"""Which widgets show at one moment, and the nodes of each kind."""

from __future__ import annotations

from tests.doubles.simulator.screen_phone import Phone, demo, screen_app
from tests.simulator.screen.sample_apps import TIMED


def test_widgets_appear_and_disappear_with_the_clock() -> None:
    """A widget appears and disappears at its times, and each is a new version of the screen."""
    phone = demo(TIMED)
    assert not phone.has("Early")
    version = phone.ui.view.version

    phone.wait(0.7)
    assert phone.ui.view.version == version
    phone.wait(0.1)
    assert phone.ui.view.version != version
    assert phone.has("Early")
    phone.wait(0.7)
    assert not phone.has("Early")
    assert phone.has("Loading")


def test_a_widget_is_repeated_for_each_entry_of_a_list() -> None:
    """A variable that holds a list repeats a widget for each entry, with its parts at hand."""
    phone = Phone(
        screen_app(
            "- {text: '{number}. {item.name}', repeat: people}\n",
            "state:\n  people: [{name: Ann}, {name: Bob}]\n",
        )
    )

    assert phone.texts() == ["1. Ann", "2. Bob"]


def test_repeats_in_repeats_are_bounded() -> None:
    """However often a file multiplies, a screen is built, with as many nodes as there may be."""
    phone = Phone(
        screen_app("- {scroll: s, items: [{column: [{text: x, repeat: 2000}], repeat: 2000}]}\n")
    )

    assert sum(1 for _ in phone.root.walk()) < 30_000


def test_a_group_leaves_no_trace() -> None:
    """A group shows and hides several widgets, and has no node itself."""
    phone = Phone(
        screen_app(
            "- {group: [{text: A}, {text: B}], visible_if: on}\n- {button: Turn, on_tap:"
            " {toggle: on}}\n",
            "state: {on: true}\n",
        )
    )

    assert phone.texts() == ["A", "B", "Turn"]
    assert phone.node("A").parent is phone.node("Turn").parent
    phone.tap("Turn")
    assert phone.texts() == ["Turn"]


def test_a_row_has_icon_title_summary_and_switch_as_parts() -> None:
    """A row is a layout that takes the touch, with icon, title, summary and switch inside."""
    phone = Phone(
        screen_app(
            "- {row: Wi-Fi, summary: HomeNet, icon: true, switch: on, id: wifi}\n",
            "state: {on: true}\n",
        )
    )

    row = phone.by_id("wifi")
    assert row.cls == "android.widget.LinearLayout"
    assert (row.clickable, row.text) == (True, "")
    assert [part.resource_id for part in row.children] == [
        "android:id/icon", "android:id/title", "android:id/summary", "android:id/switch_widget",
    ]  # fmt: skip
    assert [part.kind for part in row.children] == ["icon", "row_title", "row_summary", "switch"]
    assert row.children[-1].checked
    assert not any(part.clickable for part in row.children)


def test_each_kind_has_the_class_and_flags_of_its_android_twin() -> None:
    """Each kind looks to the accessibility service as its Android twin does."""
    phone = Phone(
        screen_app(
            """\
            - {title: Heading}
            - {text: Plain}
            - {button: Press, desc: Pressable, class: com.example.MyButton}
            - {icon_button: Open menu}
            - {switch: Wi-Fi, checked: on}
            - {checkbox: Agree}
            - {image: A cat}
            - {progress: Loading}
            - {chip: Red, selected_if: "true"}
            - {text: Off, enabled_if: "false", on_long_press: {back: true}}
            """,
            "state: {on: true}\n",
        )
    )

    def described(text: str) -> str:
        node = phone.node(text)
        flags = ("clickable", "checkable", "checked", "heading", "selected", "long_clickable")
        on = [flag for flag in flags if getattr(node, flag)]
        return " ".join([node.cls.rpartition(".")[2], *on, *([] if node.enabled else ["off"])])

    assert [
        described(text)
        for text in ("Heading", "Plain", "Press", "Open menu", "Wi-Fi", "Agree", "A cat")
    ] == [
        "TextView heading",
        "TextView",
        "MyButton clickable",
        "ImageButton clickable",
        "Switch clickable checkable checked",
        "CheckBox clickable checkable",
        "ImageView",
    ]
    assert [described(text) for text in ("Loading", "Red", "Off")] == [
        "ProgressBar",
        "Chip selected",
        "TextView long_clickable off",
    ]
    assert phone.node("Open menu").text == ""
    assert phone.node("Press").content_desc == "Pressable"


def test_a_short_id_gets_the_package_of_its_app() -> None:
    """A short id gets the app's package; a whole one stays; values are filled in."""
    phone = Phone(
        screen_app(
            "- {text: A, id: a}\n- {text: B, id: 'android:id/b'}\n- {text: C, id: 'c{1 + 1}'}\n"
        )
    )

    assert [phone.node(text).resource_id for text in "ABC"] == [
        "com.example.demo:id/a", "android:id/b", "com.example.demo:id/c2",
    ]  # fmt: skip


def test_an_empty_field_shows_its_hint_and_a_password_bullets() -> None:
    """An empty field says its hint, a password says bullets, and both are editable."""
    phone = Phone(screen_app("- {field: Name, id: a}\n- {field: Secret, id: b, password: true}\n"))
    assert [phone.by_id(name).text for name in "ab"] == ["Name", "Secret"]

    phone.ui.nodes.set_text(phone.by_id("a"), "Ann")
    phone.ui.nodes.set_text(phone.by_id("b"), "abc")

    assert [phone.by_id(name).text for name in "ab"] == ["Ann", "•••"]
    assert [phone.by_id(name).password for name in "ab"] == [False, True]
    assert all(phone.by_id(name).editable for name in "ab")
    assert phone.by_id("b").hint == "Secret"
