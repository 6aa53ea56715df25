"""What was nearly found, and the screen in outline."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.snapshot import near_miss
from pytest_clawperator.snapshot.near_miss import nearest, outline, quoted
from pytest_clawperator.snapshot.query import Query
from pytest_clawperator.snapshot.tree import Snapshot
from tests.snapshot.screens import node, screen

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=80)


def reasons(snapshot: Snapshot, **keywords: Any) -> list[str]:
    """Return why the nearest node was not the one."""
    misses = nearest(snapshot, Query.of(None, keywords))  # type: ignore[arg-type]
    return list(misses[0].reasons) if misses else []


DIGITS = re.compile(r"^Total: \d+$")
# A node, what is searched, and why the node is not it; without a reason it is not even near.
NEAR: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"text": "Log in"}, {"text": "Login"}, "text is `Log in`, wanted `Login`"),
    ({"text": "LOGIN"}, {"text": "Login"}, "text is `LOGIN`, wanted `Login`"),
    ({"text": "Login "}, {"text": "Login"}, "text is `Login `, wanted `Login`"),
    ({"text": "Log\xa0in"}, {"text": "Log in"}, r"text is `Log\xa0in`, wanted `Log in`"),
    (
        {"text": "Wi-Fi  •  Bluetooth"},
        {"text": "Wifi"},
        "text is `Wi-Fi  •  Bluetooth`, wanted `Wifi`",
    ),
    (
        {"text": "Settings"},
        {"text_contains": "setings"},
        "text is `Settings`, wanted one with `setings`",
    ),
    (
        {"text": "Log in", "cls": "x.Button"},
        {"text": "Log in", "role": "textfield"},
        "role is button, wanted textfield",
    ),
    (
        {"text": "Log in"},
        {"text": "Log in", "role": "row"},
        "role is text, wanted row, which the XML does not show",
    ),
    ({"text": "Log in", "bounds": "[0,0][0,0]"}, {"text": "Log in"}, "no visible area"),
    (
        {"text": "Wi-Fi", "desc": "Network"},
        {"text": "Network"},
        "text is `Wi-Fi`, wanted `Network`, which is its description",
    ),
    ({"text": "Wi-Fi"}, {"desc": "Wi-Fi"}, "no description, wanted `Wi-Fi`, which is its text"),
    (
        {"text": "Total: x"},
        {"text": DIGITS},
        r"text is `Total: x`, wanted one with the pattern `^Total: \d+$`",
    ),
    (
        {"text": "Sum", "desc": "Total: 5"},
        {"text": DIGITS},
        r"text is `Sum`, wanted one with the pattern `^Total: \d+$`, which its description has",
    ),
    (
        {"id": "com.example:id/submit"},
        {"id": "com.other:id/submit"},
        "id is `com.example:id/submit`, wanted `com.other:id/submit`",
    ),
    (
        {"id": "com.example:id/submit", "text": "OK"},
        {"id": "submit", "text": "OK", "role": "button"},
        "role is text, wanted button",
    ),
    (
        {"id": "com.example:id/search_source_text"},
        {"id": "serach"},
        "id is `com.example:id/search_source_text`, wanted `serach`",
    ),
    ({"text": "Weather"}, {"text": "Login"}, ""),
    ({"text": "!"}, {"text": "?"}, ""),
    ({"text": "on the screen"}, {"text": "no"}, ""),
    ({"text": ""}, {"text": "Login"}, ""),
    ({"id": "com.example:id/weather"}, {"id": "com.example:id/login"}, ""),
]


@pytest.mark.parametrize(("attributes", "keywords", "why"), NEAR)
def test_a_near_miss_names_each_field_that_does_not_fit(
    attributes: dict[str, Any], keywords: dict[str, Any], why: str
) -> None:
    """It shows what was there and what was wanted; a node that is not near is not a miss."""
    assert reasons(screen(node(**attributes)), **keywords) == ([why] if why else [])


def test_the_nearest_comes_first() -> None:
    """Misses are ordered by how near they are, the text before the role, up to the limit."""
    texts = ["Log out", "Logn", "Log in now", "Catalogue"]
    snapshot = screen(*(node(text=text) for text in texts))
    form = screen(
        node(text="Password", cls="android.widget.EditText"),
        node(text="Log in", cls="android.widget.Button"),
    )

    misses = nearest(snapshot, NodeMatcher(text_equals="Login"), limit=2)
    first = nearest(form, Query.of(None, {"text": "Login", "role": "textfield"}))[0]

    assert [miss.node.text for miss in misses] == ["Logn", "Log in now"]
    assert len(nearest(snapshot, {"text": "Login"}, limit=1)) == 1
    assert first.node.text == "Log in"
    assert set(first.reasons) == {
        "text is `Log in`, wanted `Login`",
        "role is button, wanted textfield",
    }
    again = pickle.loads(pickle.dumps(first))
    assert str(again) == str(first)
    assert str(again).startswith('button "Log in" [0,0][100,50]: ')


def test_a_short_id_in_a_matcher_is_explained() -> None:
    """A matcher object wants whole ids; the reason names the one that is there."""
    misses = nearest(screen(node(id="com.example:id/ok")), NodeMatcher(resource_id="ok"))

    assert misses[0].reasons == ("id is `com.example:id/ok`, wanted `ok`, which is its short id",)


def test_the_covering_window_is_the_overlay_or_a_prompt() -> None:
    """A node under another window is reported as covered, also if a prompt is the snapshot."""
    prompt = "com.android.permissioncontroller"
    overlay: dict[str, object] = {"has_overlay": True, "overlay_package": "com.example"}
    rows: list[tuple[dict[str, object], str | None]] = [
        ({}, None),
        ({"has_overlay": False, "overlay_package": "com.x"}, None),
        ({"has_overlay": True, "overlay_package": "com.keyboard"}, "com.keyboard"),
        (overlay, None),
        ({**overlay, "foreground_package": prompt}, prompt),
    ]
    for known, cover in rows:
        snapshot = screen(node(text="OK"), **known)

        assert snapshot.covering_package == cover
        if cover is not None:
            assert reasons(snapshot, text="OK") == [f"covered by {cover}"]


def test_many_long_texts_are_compared_quickly() -> None:
    """Only the most promising texts are compared closely, however many there are."""
    texts = (f"{n} {'lorem ipsum ' * 200}" for n in range(3_000))
    snapshot = screen(*(node(text=text) for text in texts))

    misses = nearest(snapshot, {"text": "lorem ipsum " * 40})

    assert len(misses) == 3


def test_the_outline_folds_mere_layout_away() -> None:
    """The screen is drawn with its nodes of interest; mere layout is left out."""
    snapshot = screen(
        node(
            node(
                node(text="Wi-Fi", cls="android.widget.TextView", bounds="[0,0][100,50]"),
                node(
                    id="com.example:id/toggle",
                    cls="android.widget.Switch",
                    checked=True,
                    enabled=False,
                    bounds="[100,0][200,50]",
                ),
                cls="android.widget.LinearLayout",
                clickable=True,
                bounds="[0,0][1080,50]",
            ),
            node(cls="android.widget.FrameLayout"),
            node(text="gone", bounds="[0,0][0,0]"),
            node(cls="android.view.View", id="com.example:id/map"),
            cls="android.widget.LinearLayout",
            id="com.example:id/content",
            bounds="[0,0][1080,2400]",
        )
    )

    assert outline(snapshot).split("\n") == [
        "com.example, 8 nodes",
        "- container [0,0][1080,50]",
        '  - button "Wi-Fi" [0,0][100,50]',
        "  - switch #toggle [checked, disabled] [100,0][200,50]",
        "- unknown #map [0,0][100,50]",
    ]


def test_outlines_are_bounded() -> None:
    """However much is on the screen, an outline stays short and counts what it leaves out."""
    snapshot = screen(
        *(node(text="\n" * 500) if n == 3 else node(text="x" * 500) for n in range(60))
    )

    lines = outline(snapshot, limit=10).split("\n")

    assert len(lines) == 12
    assert lines[-1] == "... and 49 more"
    assert max(map(len, lines)) < 120


@given(ANY_TEXT, st.integers(4, 60))
def test_any_text_can_be_shown(text: str, longest: int) -> None:
    """No terminal is upset by what an app shows, and no line gets long."""
    shown = near_miss.plain(text, longest=longest)

    assert shown.isprintable()
    assert len(shown) <= longest
    assert quoted(text).startswith('"')


def test_texts_that_look_the_same_are_shown_with_their_difference() -> None:
    """Long texts are shown where they differ, odd characters by name, backslashes doubled."""
    long = "x" * 100

    (cut,) = reasons(screen(node(text=f"{long}a tail")), text=f"{long}b tail")
    (odd,) = reasons(screen(node(text="P\u0430y now")), text="Pay now")

    assert "xa tail`" in cut
    assert "xb tail` (they differ from character 101 on)" in cut
    assert "character 2 is U+0430 CYRILLIC SMALL LETTER A, wanted U+0061 LATIN" in odd
    assert quoted("a\\nb") != quoted("a\nb")


CLOSE = node(text="Schließen", cls="android.widget.Button", id="android:id/aerr_close")
TITLE = node(text="Bank wurde beendet", cls="android.widget.TextView", id="android:id/alertTitle")


def test_the_dialog_of_a_crash_is_known_by_its_buttons_in_every_language() -> None:
    """Its title is reported, or its first text; an app that quotes such an id has no dialog."""
    crashed = screen(TITLE, CLOSE)
    untitled = screen(node(text="Bank hängt"), CLOSE)
    quoting = screen(node(text="android:id/aerr_close"))

    assert near_miss.crash_dialog(crashed) == "Bank wurde beendet"
    assert near_miss.crash_prefix(crashed) == '"Bank wurde beendet" is on the screen; '
    assert near_miss.crash_hint(crashed) == near_miss.CRASH_HINT
    assert near_miss.crash_dialog(untitled) == "Bank hängt"
    assert near_miss.crash_dialog(quoting) is None
    assert near_miss.crash_hint(quoting) is None
    assert near_miss.crash_prefix(quoting) == near_miss.crash_prefix(None) == ""


SYSTEM_UI, CONTROLLER = "com.android.systemui", "com.google.android.permissioncontroller"
_ALLOW = f"{CONTROLLER}:id/permission_allow_button"
_QUESTION = f"{CONTROLLER}:id/permission_message"


@pytest.mark.parametrize(
    ("nodes", "window"),
    [
        ([TITLE, CLOSE], near_miss.SystemWindow("com.example", "Bank wurde beendet", True)),
        (
            [
                node(text="Allow Shop to take pictures?", id=_QUESTION, package=CONTROLLER),
                node(text="Allow", id=_ALLOW, package=CONTROLLER),
            ],
            near_miss.SystemWindow(CONTROLLER, "Allow Shop to take pictures?"),
        ),
        (
            [node(text="Battery low", id="android:id/alertTitle", package=SYSTEM_UI)],
            near_miss.SystemWindow(SYSTEM_UI, "Battery low"),
        ),
        (
            [
                node(text="Unfortunately, Shop has stopped.", package="android"),
                node(text="OK", id="android:id/button1", package="android"),
            ],
            near_miss.SystemWindow("android", "Unfortunately, Shop has stopped."),
        ),
        (
            [node(text="USB debugging", id="android:id/alertTitle", package="android")],
            near_miss.SystemWindow("android", "USB debugging"),
        ),
        (
            [node(text="12:00", id=f"{SYSTEM_UI}:id/keyguard_clock", package=SYSTEM_UI)],
            near_miss.SystemWindow(SYSTEM_UI, "the lock screen"),
        ),
        ([node(text="Delete it?", id="android:id/alertTitle")], None),
        ([node(text="Allow", id="com.example:id/permission_allow")], None),
        ([node(text="Camera", id="android:id/title", package=CONTROLLER)], None),
        ([node(text="Wi-Fi", id=f"{SYSTEM_UI}:id/tile_label", package=SYSTEM_UI)], None),
        ([node(text="Open with", id="android:id/title", package="android")], None),
    ],
    ids=[
        *("crash", "permission", "battery", "old crash", "usb", "lock"),
        *("dialog of the app", "id of the app", "settings", "shade", "chooser"),
    ],
)
def test_windows_of_the_system_that_nobody_opened(
    nodes: list[str], window: near_miss.SystemWindow | None
) -> None:
    """Dialogs of the system, not those of the app, and not what people open themselves."""
    assert near_miss.system_window(screen(*nodes)) == window
