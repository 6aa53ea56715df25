"""Loading app files, and the errors about mistakes in them."""

from __future__ import annotations

import contextlib
import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.simulator.apps.load import (
    load_app,
    parse_app,
    plain_app,
    shipped_apps,
    shipped_files,
)
from tests.doubles.simulator.screen_phone import HEAD
from tests.simulator.screen.sample_apps import MAIN


def test_a_file_is_loaded_and_its_path_begins_its_errors(tmp_path: Path) -> None:
    """A user's own file is read, and its path is what errors begin with."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(HEAD + MAIN)
    bad.write_text(HEAD + "screens: 7\n")

    assert load_app(good).name == "Demo"
    with pytest.raises(ConfigurationError) as refused:
        load_app(bad)
    assert refused.value.message.startswith(f"{bad}:4:1: ")


@settings(max_examples=50, deadline=None, database=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
            st.sampled_from(["text", "list", "items", "on_tap", "set", "if", "then", "navigate"]),
            inner, max_size=3,
        ),
        max_leaves=12,
    )
)  # fmt: skip
def test_any_items_are_taken_or_refused(items: object) -> None:
    """Whatever stands where widgets should, it is taken or refused with a ConfigurationError."""
    with contextlib.suppress(ConfigurationError):
        parse_app(HEAD + "screens:\n  main:\n    items: " + json.dumps(items) + "\n")


def test_the_shipped_apps_are_read_once() -> None:
    """Three apps come along, and asking again gives the same ones."""
    apps = shipped_apps()

    assert {"com.android.settings", "com.example.shop", "com.clawperator.conformance"} <= {
        app.package for app in apps
    }
    assert all(first is second for first, second in zip(apps, shipped_apps(), strict=True))


def test_the_shipped_files_have_no_mistakes() -> None:
    """They pass every check that a user's own file has to pass."""
    loaded = [load_app(path).package for path in shipped_files()]

    assert loaded == [app.package for app in shipped_apps()]


def test_a_plain_app_needs_no_file() -> None:
    """An app that has nothing but a name can be made without a file."""
    app = plain_app("com.example.plain", name="{Plain}", activity="a.b.Main", launcher=False)

    assert list(app.activities) == ["a.b.Main"]
    assert app.screens["main"].title is not None
    assert app.screens["main"].title.constant == "{Plain}"


def refusal(text: str) -> ConfigurationError:
    """Return the error of a file that has a mistake."""
    with pytest.raises(ConfigurationError) as refused:
        parse_app(text, path=Path("my.yaml"))
    assert refused.value.hint
    return refused.value


def item_refusal(items: str, more: str = "") -> ConfigurationError:
    """Return the error of widgets with a mistake; they stand from line 7 on."""
    body = textwrap.indent(textwrap.dedent(items), "      ")
    return refusal(HEAD + more + "screens:\n  main:\n    items:\n" + body)


@pytest.mark.parametrize(
    ("items", "line", "parts"),
    [
        ("- txt: Hello\n", 7, ["'txt' is none", "allowed: badge, button"]),
        ("- text: A\n- text: B\n  colour: red\n", 9, ["no `colour`", "allowed: ", "on_tap"]),
        ("- divider:\n  on_tap: {back: true}\n", 8, ["a divider takes no `on_tap`"]),
        ("- text: {count}\n", 7, ["needs quotes"]),
        ("- text: '{count}'\n", 7, ["no name `count`", "known: none"]),
        ("- {text: A, visible_if: 'a >'}\n", 7, ["missing at the end"]),
        ("- text: A\n  appears_after: 800\n", 8, ["800ms, 2s"]),
        ("- {text: A, align: middle}\n", 7, ["'middle' is not allowed", "'start', 'center'"]),
        ("- {text: A, size: big}\n", 7, ["a whole number is wanted, found 'big'"]),
        ("- {text: A, on_tap: 7}\n", 7, ["a list is wanted, found 7"]),
        ("- {text: A, heading: maybe}\n", 7, ["true or false is wanted, found 'maybe'"]),
        ("- {text: A, size: 3}\n", 7, ["greater than or equal to 6"]),
        ("- text: A\n  algin: end\n", 8, ["did you mean `align`?"]),
        ("- text: A\n  on_tap:\n    navigte: main\n", 9, ["did you mean `navigate`?"]),
        ("- Hello\n", 7, ["a widget is a mapping"]),
        ("- {button: A, on_tap: back}\n", 7, ["an action is a mapping", "'back'"]),
        ("- {button: A, on_tap: [back]}\n", 7, ["an action is a mapping"]),
        ("- {button: A, on_tap: {}}\n", 7, ["exactly one verb, here: none", "navigate"]),
        ("- {button: A, on_tap: {back: true, home: true}}\n", 7, ["`back` and `home`"]),
        ("- {button: A, on_tap: {back: true, then: []}}\n", 7, ["`then` belongs to `if`"]),
        ("- button: A\n  on_tap:\n    - navigate: man\n", 9, ["`man`", "did you mean `main`?"]),
        ("- {button: A, on_tap: {dialog: hello}}\n", 7, ["no dialog `hello`", "known: none"]),
        ("- {button: A, on_tap: {set: {count: 1}}}\n", 7, ["no variable `count`"]),
        ("- {button: A, on_tap: {request_permission: android.permission.X}}\n", 7, ["permissions"]),
        ("- {radio: A}\n", 7, ["a radio needs `bind`"]),
        ("- {tabs: [{text: A}], bind: tab}\n", 7, ["all of the kind `tab`"]),
        ("- scroll:\n    - list: [{text: A}]\n", 8, ["needs a `height`"]),
        ("- {column: [{text: A}], items: [{text: B}]}\n", 7, ["keep one"]),
    ],
)
def test_a_mistake_in_a_widget_is_reported_with_its_line(
    items: str, line: int, parts: list[str]
) -> None:
    """The error names file and line, what is wrong, and what is allowed."""
    error = item_refusal(items)

    assert f"my.yaml:{line}:" in error.message
    assert [part for part in parts if part not in error.message] == []
    assert error.details | {"column": 0} == {"file": "my.yaml", "line": line, "column": 0}
    assert f"my.yaml:{line}:{error.details['column']}: " in error.message


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("", 1, ["a mapping"]),
        ("- a\n", 1, ["a mapping"]),
        ("package: demo\nname: D\nstart: a\nscreens: {}\n", 1, ["'demo' is not a package name"]),
        ("name: Demo\nstart: a\nscreens: {}\n", 1, ["`package` is missing"]),
        (HEAD + "colour: red\n" + MAIN, 4, ["no `colour`", "allowed: activity, computed"]),
        (HEAD + "screens:\n  man: {}\n", 3, ["no screen `main`", "did you mean `man`?"]),
        (HEAD + "screens:\n  main: {titel: A}\n", 5, ["no `titel`; did you mean `title`?"]),
        (HEAD + "screens:\n  My Screen: {}\n", 5, ["'My Screen' is not a name"]),
        (HEAD + "state: {index: 1}\n" + MAIN, 4, ["none of and, false, in, index"]),
        (HEAD + "state: {a: null}\n" + MAIN, 4, ["cannot hold None"]),
        (HEAD + "state: {a: 1}\nsaved: {a: 1}\n" + MAIN, 5, ["declared in `state` too"]),
        (HEAD + "computed: {a: b, b: a}\n" + MAIN, 4, ["no name `b`"]),
        (HEAD + "links: [{uri: shop, screen: main}]\n" + MAIN, 4, ["has no scheme"]),
        (HEAD + "links: [{uri: 'a://{x}', screen: main}]\n" + MAIN, 4, ["`x` is not among"]),
        (HEAD + "links: [{uri: 'a://{x}/{x}', screen: main}]\n" + MAIN, 4, ["not a link"]),
        (HEAD + "links: {'a://b': main}\n" + MAIN, 4, ["a list is wanted", "`- ` before each"]),
        (HEAD + "intents: {a.b: other}\n" + MAIN, 4, ["no screen `other`"]),
        (HEAD + "screens:\n  main:\n    timers: [{after: 2s}]\n", 6, ["`do` is missing"]),
        (
            HEAD + MAIN + "dialogs:\n  d:\n    buttons: [{button: A}, {button: B}, {button: C},"
            " {button: D}]\n",
            8,
            ["at most 3"],
        ),
    ],
)
def test_a_mistake_outside_widgets_is_reported_with_its_line(
    text: str, line: int, parts: list[str]
) -> None:
    """The same goes for everything around the widgets."""
    error = refusal(text)

    assert f"my.yaml:{line}:" in error.message
    assert [part for part in parts if part not in error.message] == []


def test_all_mistakes_are_reported_at_once() -> None:
    """The first mistake leads; the others follow with their lines."""
    error = item_refusal("- {text: A, align: x}\n- text: B\n  grow: 7x\n")

    assert "my.yaml:7:" in error.message
    assert "\n  my.yaml:9:9: " in error.message


def test_after_ten_mistakes_the_rest_is_counted() -> None:
    """Ten are listed, and of the others only the number is given."""
    error = item_refusal("- {text: A, align: x}\n" * 15)

    assert error.message.endswith("... and 5 more")
