"""Finding nodes."""

from __future__ import annotations

import pickle
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.contracts.matchers import MATCHER_KEYS, NodeMatcher
from pytest_clawperator.errors import ErrorCode
from pytest_clawperator.simulator.screen import accessibility as simulated
from pytest_clawperator.simulator.screen.accessibility import Bounds as UiBounds
from pytest_clawperator.simulator.screen.accessibility import UiNode, hierarchy_xml
from pytest_clawperator.simulator.screen.accessibility import role_of as simulated_role_of
from pytest_clawperator.snapshot.query import (
    FIELDS,
    UNSHOWN_ROLES,
    Query,
    Searchable,
    folded,
    identifying_matcher,
    is_certain,
)
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.snapshot.screens import login, node, screen


def test_the_first_is_found() -> None:
    """Parents come before children; all can be listed and counted, also those off the screen."""
    snapshot = login()

    found = snapshot.find_all(text="Log in")

    assert snapshot.find(text="Log in") is found[0]
    assert [one.short_id for one in found] == ["submit", ""]
    assert snapshot.count(text="Log in") == 2
    assert snapshot.find_all(text="nothing") == []
    assert snapshot.find(text="Log out", on_screen=False)
    assert snapshot.count(text_contains="log") == 2
    assert snapshot.count(text_contains="log", on_screen=False) == 3


def test_a_scope_is_searched_alone() -> None:
    """The container itself is not inside; without the container nothing is found."""
    snapshot = login()
    scopes = (
        snapshot.within(id="list"),
        snapshot.within(id="com.example:id/list"),
        snapshot.within(text="none"),
    )
    for scope, is_there in zip(scopes, (True, True, False), strict=True):
        assert scope.count(text="Log in") == is_there
        assert scope.count(id="list") == 0
        assert ("Log in" in scope) is is_there
        assert "Welcome" not in scope
        assert scope.find_all(role="textfield") == []


def test_a_scope_is_what_is_in_any_container() -> None:
    """Each node is found once, in the order of the tree, also if containers are nested."""
    leaf = node(text="leaf", id="leaf")
    snapshot = screen(node(leaf, node(leaf, id="box"), id="box"), leaf, node(leaf, id="box"))
    leaves = snapshot.find_all(text="leaf")

    boxes = snapshot.within(id="box")

    assert boxes.find_all(text="leaf") == [leaves[0], leaves[1], leaves[3]]
    assert boxes.find_all(id="leaf") == boxes.find_all(role="text") == boxes.find_all(text="leaf")
    assert boxes.find_all(id="box") == [snapshot.find_all(id="box")[1]]


def test_a_scope_is_neither_true_nor_false() -> None:
    """It is there even if its container is not."""
    with pytest.raises(errors.ConfigurationError, match="neither true nor false"):
        assert login().within(text="none")


def test_within_a_node() -> None:
    """A node can be searched like a snapshot: what is inside it, not the node itself."""
    snapshot = login()
    form = snapshot.find(id="form")

    assert form.find(text="Log in") is snapshot.find(id="submit")
    assert not form.find_all(id="form")
    assert form.count(role="button") == 1
    assert snapshot.within(form).find_all(text="Log in") == form.find_all(text="Log in")
    assert snapshot.within({"resourceId": "com.example:id/form"}).count(role="button") == 1
    with pytest.raises(errors.ConfigurationError, match="node of another snapshot"):
        login().within(form)
    assert "Welcome" not in form


def test_an_xpath_finds_nodes_off_the_screen_too() -> None:
    """Its variables may hold anything that an app can show."""
    snapshot, odd = login(), screen(node(text="a\x01b"))

    found = snapshot.xpath("//node[@text=$wanted]/preceding-sibling::node", wanted="Log out")

    assert found == [snapshot.find(desc="an entry")]
    assert snapshot.xpath("//node[@text='nothing']") == []
    assert len(snapshot.xpath("//node")) == len(snapshot)
    assert odd.xpath("//node[@text=$t]", t="a\x01b") == [odd.nodes[1]]


def test_an_xpath_that_gives_no_nodes_is_a_coded_error() -> None:
    """An expression that is invalid, or does not give nodes, is refused with a hint."""
    broken = ("//node[", "//node[@text=$nothing]", "\x00", "")
    for expression in (*broken, "string(//node)", "//@text", "/*"):
        with pytest.raises(errors.SnapshotError) as caught:
            login().xpath(expression)

        assert caught.value.code == ErrorCode.XPATH_INVALID, expression
        assert caught.value.hint


def missed(area: Searchable, **keywords: Any) -> errors.NodeNotFoundError:
    """Search for a node that is not there, and return the error."""
    with pytest.raises(errors.NodeNotFoundError) as caught:
        area.find(**keywords)
    return caught.value


def test_a_search_without_a_match_is_an_error_with_near_misses() -> None:
    """It says what was sought, what came near, and what to use where a node may be missing."""
    snapshot = login()

    error = missed(snapshot, text="Login", role="button")
    again = pickle.loads(pickle.dumps(error))

    assert error.code is ErrorCode.NODE_NOT_FOUND
    assert error.snapshot is snapshot
    assert error.matcher == NodeMatcher(text_equals="Login", role="button")
    assert error.nearest[0].node is snapshot.find(id="submit")
    assert "text is `Log in`, wanted `Login`" in str(error)
    assert "find_all(...)" in str(error.hint)
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("Log in", True),
        ("an entry", True),  # a description
        ("Log", False),
        ("log in", False),
        ("Log out", False),  # off the screen
    ],
)
def test_a_text_is_in_a_snapshot(text: str, is_there: bool) -> None:
    """A node on the screen has exactly that text or description."""
    assert (text in login()) is is_there


@pytest.mark.parametrize("wanted", ["", " ", 5, None, {"text": "OK"}, re.compile("OK")])
def test_only_a_text_can_be_in_a_snapshot(wanted: Any) -> None:
    """A blank text, or anything else, would be there always or never."""
    with pytest.raises((TypeError, errors.ExecutionValidationError, errors.ConfigurationError)):
        _ = wanted in login()


def test_a_miss_names_other_reasons() -> None:
    """A covering window and a role that the XML does not show are named; long texts are cut."""
    prompt = screen(
        node(text="Allow"),
        foreground_package="com.android.permissioncontroller",
        has_overlay=True,
        overlay_package="com.example",
    )

    covered, unshown = missed(prompt, text="Log in").message, missed(prompt, role="Row").message

    assert covered.endswith("; covered by com.android.permissioncontroller")
    assert unshown.index("does not show the role row") < unshown.index("covered by")
    assert len(missed(login(), text="x" * 1000).message) < 400


def test_a_miss_names_the_container() -> None:
    """A container that was given, or that is missing itself, is part of the explanation."""
    snapshot = login()

    inside = str(missed(snapshot.within(id="form"), text="Welcome"))
    without = str(missed(snapshot.within(id="from"), text="Welcome"))

    assert "outside the container" in inside
    assert "in container com.example:id/form" in inside
    assert "the container is not there either" in without
    assert "id is `com.example:id/form`, wanted `from`" in without


def test_a_miss_in_several_containers_is_outside_all_of_them() -> None:
    """A node in the second one is not said to be outside."""
    box = node(node(text="Tea"), id="box")
    snapshot = screen(node(node(text="Milk"), id="box"), box, node(text="Team"))

    error = missed(snapshot.within(id="box"), text="Team")

    assert "in unknown box [0,0][100,50] or 1 more" in error.message
    assert [miss.reasons for miss in error.nearest] == [
        ("outside the containers",),
        ("text is `Tea`, wanted `Team`",),
    ]


@pytest.mark.parametrize(
    ("attributes", "fields"),
    [
        ({"id": "x:id/only", "text": "a"}, {"resource_id": "x:id/only"}),
        ({"id": "x:id/twice", "text": "only"}, {"text_equals": "only"}),
        ({"id": "x:id/twice", "text": "twice", "desc": "only"}, {"content_desc_equals": "only"}),
        (
            {"id": "x:id/twice", "text": "again"},
            {"resource_id": "x:id/twice", "text_equals": "again"},
        ),
        (
            {"text": "twice", "cls": "android.widget.Button"},
            {"text_equals": "twice", "role": "button"},
        ),
        ({"cls": "android.widget.Button"}, {"role": "button"}),
        ({"text": "x" * 600, "desc": "short"}, {"content_desc_equals": "short"}),
        ({"id": "x:id/twice", "text": "twice"}, None),
        ({"text": "only", "bounds": "[0,0][0,0]"}, None),  # off-screen
        ({"text": ""}, None),
    ],
)
def test_the_identifying_matcher_has_the_fewest_fields(
    attributes: dict[str, Any], fields: dict[str, str] | None
) -> None:
    """The matcher with the fewest fields is given that finds this very node first."""
    first = node(id="x:id/twice", text="twice", cls="android.widget.TextView")
    snapshot = screen(first, node(text="again"), node(**attributes))

    matcher = snapshot.nodes[-1].matcher()

    assert matcher == (None if fields is None else NodeMatcher(**fields))


CLASSES = [
    *("android.view.View", "android.widget.TextView", "android.widget.Button", "x.Chip", ""),
    *("android.widget.LinearLayout", "android.widget.FrameLayout", "android.widget.ImageView"),
    *("android.widget.Switch", "android.widget.EditText", "android.widget.ListView"),
    *("androidx.recyclerview.widget.RecyclerView", "androidx.appcompat.widget.Toolbar"),
    "com.google.android.material.tabs.TabLayout",
]
TEXTS = [
    *("", "", " ", "OK", "ok", "Save file", "a longer sentence with spaces", "Größe", "a\nb"),
    "&<\"'>",
]
IDS = ["", "", "com.x:id/ok", "com.x:id/tab_bar", "com.x:id/list", "tag"]
ROLES = [
    *("tab", "button", "textfield", "switch", "list", "icon", "image", "container", "text"),
    "unknown",
]


def random_tree(chance: random.Random, *, shows_all: bool) -> UiNode:
    """Grow a tree; unless the XML ``shows_all``, with what the XML leaves out as well."""
    root = UiNode("android.widget.FrameLayout", "com.x", UiBounds(0, 0, 1080, 2400))
    grown = [root]
    for _ in range(chance.randrange(25)):
        left, top = chance.randrange(-200, 1200), chance.randrange(-200, 2600)
        extent = chance.choice((-100, 0, 50, 400)), chance.choice((-100, 0, 50, 900))
        child = UiNode(
            chance.choice(CLASSES),
            "com.x",
            UiBounds(left, top, left + extent[0], top + extent[1]),
            text=chance.choice(TEXTS),
            content_desc=chance.choice(TEXTS),
            resource_id=chance.choice(IDS),
            clickable=chance.random() < 0.2,
        )
        if not shows_all:
            child = replace(
                child,
                heading=chance.random() < 0.2,
                collection_item=chance.random() < 0.2,
                screen_reader_focusable=chance.random() < 0.2,
                orientation=chance.choice((None, "horizontal", "vertical")),
                columns=chance.choice((None, 1, 2)),
                children=[],
            )
        grown.append(chance.choice(grown).add(child))
    return root


def random_matcher(chance: random.Random) -> dict[str, str]:
    """Make up a matcher, of mostly one field."""
    fields = {
        "textEquals": chance.choice(TEXTS),
        "textContains": chance.choice([*TEXTS, "SAVE", "größ", "A"]),
        "resourceId": chance.choice(IDS),
        "contentDescEquals": chance.choice(TEXTS),
        "contentDescContains": chance.choice([*TEXTS, "FILE"]),
        "role": chance.choice([*ROLES, "Button"]),
    }
    names = chance.sample(list(fields), chance.choice((1, 1, 1, 2, 3)))
    return {name: fields[name] for name in names if fields[name].strip()} or {"textEquals": "OK"}


@pytest.mark.parametrize("seed", range(8))
def test_finds_what_the_operator_finds(seed: int) -> None:
    """Hundreds of random trees and matchers give the same nodes as on the simulated phone."""
    chance = random.Random(seed)
    for _ in range(50):
        tree = random_tree(chance, shows_all=True)
        snapshot = Snapshot.from_xml(hierarchy_xml([tree], 0))
        theirs = list(tree.walk())
        for _ in range(8):
            matcher = random_matcher(chance)
            expected = list(simulated.find_all(tree, matcher, (1080, 2400)))

            found = [snapshot.nodes.index(one) for one in snapshot.find_all(matcher)]

            assert found == [theirs.index(one) for one in expected], (matcher, snapshot.xml)


@pytest.mark.parametrize("seed", range(4))
def test_roles_and_identifying_matchers_are_those_of_the_operator(seed: int) -> None:
    """Roles differ only if the XML does not show them; the Operator finds what is identified."""
    chance = random.Random(seed)
    for _ in range(50):
        tree = random_tree(chance, shows_all=False)
        snapshot = Snapshot.from_xml(hierarchy_xml([tree], 0))

        for ours, theirs in zip(snapshot.nodes, list(tree.walk()), strict=True):
            role, matcher = simulated_role_of(theirs), identifying_matcher(ours)
            assert ours.role == role or (role in UNSHOWN_ROLES and not is_certain(ours))
            if matcher is not None:
                assert simulated.find(tree, matcher.to_wire(), (1080, 2400)) is theirs


@pytest.mark.parametrize(
    ("keywords", "fits"),
    [
        ({"text": "Log in"}, True),
        ({"text": "log in"}, False),
        ({"text": "Log"}, False),
        ({"text": "User name"}, True),  # the description is the label of what has no text
        ({"text": "an entry"}, False),
        ({"text_contains": "LOG"}, True),
        ({"text_contains": "entry"}, False),
        ({"id": "com.example:id/submit"}, True),
        ({"id": "submit"}, True),
        ({"id": "mit"}, False),
        ({"id": "Submit"}, False),
        ({"desc": "an entry"}, True),
        ({"desc": "An entry"}, False),
        ({"desc": "Log in"}, False),
        ({"desc_contains": "ENTRY"}, True),
        ({"role": "textfield"}, True),
        ({"role": "TextField"}, True),
        ({"role": "switch"}, False),
        ({"text": "Log in", "role": "button"}, True),
        ({"text": "Log in", "role": "textfield"}, False),
        ({"text": "Log out"}, False),  # off-screen
        ({"text": re.compile("og")}, True),
        ({"text": re.compile("^og")}, False),
        ({"text": re.compile("^log IN$")}, False),
        ({"text": re.compile("^log IN$", re.IGNORECASE)}, True),
        ({"text": re.compile("^User")}, True),  # a description, where there is no text
        ({"text": re.compile("^$")}, False),  # what a node does not have fits nothing
        ({"id": re.compile("^sub")}, True),
        ({"id": re.compile(r"^com\.example:id/sub")}, True),
        ({"id": re.compile("^$")}, False),
        ({"desc": re.compile("entry$")}, True),
        ({"desc": re.compile("^$")}, False),
        ({"text": re.compile("Log"), "role": "button"}, True),
        ({"text": re.compile("Log"), "role": "textfield"}, False),
        ({"text": re.compile("Log out")}, False),  # off-screen
    ],
)
def test_every_field_that_is_given_must_fit(keywords: dict[str, Any], fits: bool) -> None:
    """Every field that is given must fit, by the Operator's rules."""
    assert bool(login().find_all(**keywords)) is fits


def test_a_matcher_is_an_object_or_a_dict_in_wire_form() -> None:
    """Only a keyword may be a short id; a matcher is what the Operator would get."""
    snapshot = login()

    for matcher in (
        NodeMatcher(text_equals="Log in", role="button"),
        {"textEquals": "Log in", "role": "button"},
        {"text": "Log in", "role": "button"},
        Query(NodeMatcher(text_equals="Log in", role="button")),
    ):
        assert snapshot.find(matcher) is snapshot.find(id="submit")
    assert not snapshot.find_all({"id": "submit"})
    assert not snapshot.find_all(NodeMatcher(resource_id="submit"))
    assert Query.of(None, {"id": "submit"}).takes_short_id
    assert not Query.of(None, {"id": "com.example:id/submit"}).takes_short_id
    assert not Query.of(None, {"text": "a"}).takes_short_id


def test_a_mistake_in_a_matcher_is_not_a_miss() -> None:
    """An empty matcher, two matchers, unknown keywords and misspelt roles are refused."""
    snapshot: Any = login()

    with pytest.raises(errors.ExecutionValidationError, match="at least one field"):
        snapshot.find()
    with pytest.raises(TypeError, match="not both"):
        snapshot.find(NodeMatcher(text_equals="a"), text="a")
    with pytest.raises(errors.ConfigurationError, match="not matched by colour="):
        snapshot.find(colour="red")
    with pytest.raises(errors.ConfigurationError, match="Did you mean text="):
        snapshot.find(txt="x")
    for search in (snapshot.find, snapshot.find_all, snapshot.count):
        with pytest.raises(errors.ConfigurationError, match="Did you mean switch"):
            search(role="swich")


def test_case_is_ignored_as_on_the_device() -> None:
    """Characters are compared one by one, so no text grows and no neighbour counts."""
    for one, other in (("ÄÖÜ", "äöü"), ("ΣΑΣ", "σας"), ("ISTANBUL", "ıstanbul"), ("a", "A")):
        assert folded(one) == folded(other)
    assert len(folded("straße İ")) == len("straße İ")


def test_each_field_of_a_matcher_is_compared_with_a_node() -> None:
    """No field is without its row, and each row names attributes that nodes have."""
    attributes = [row.attribute for row in FIELDS.values()]
    attributes += [row.elsewhere[0] for row in FIELDS.values() if row.elsewhere]

    assert set(FIELDS) == {key.field for key in MATCHER_KEYS}
    assert all(hasattr(Node, attribute) for attribute in attributes)


def test_patterns_and_long_texts_are_found_on_a_snapshot() -> None:
    """A node is searched as the whole is; a text may be longer than the wire allows."""
    snapshot, long = login(), "Terms " * 200
    terms = screen(node(text=long), node(text=long[:512]))

    found = snapshot.root.find_all(text=re.compile("^Log"))

    assert found == snapshot.find_all(text=re.compile("^Log")) != []
    assert [len(one.text) for one in terms.find_all(text=long)] == [1200]
    assert len(terms.find_all(text_contains="terms " * 100)) == 1


LONG = "a sentence that is long enough"


@pytest.mark.parametrize(
    ("attributes", "role"),
    [
        ({"cls": "androidx.viewpager2.widget.ViewPager2"}, "pager"),
        ({"cls": "android.widget.Button"}, "button"),
        ({"cls": "android.widget.RadioButton"}, "button"),
        ({"cls": "android.widget.ImageButton"}, "button"),
        ({"cls": "ANDROID.WIDGET.EDITTEXT"}, "textfield"),
        ({"cls": "android.widget.AutoCompleteTextView"}, "textfield"),
        ({"cls": "android.widget.Switch"}, "switch"),
        ({"cls": "android.widget.CheckBox"}, "checkbox"),
        ({"cls": "androidx.recyclerview.widget.RecyclerView"}, "list"),
        ({"cls": "android.widget.ListView"}, "list"),
        ({"cls": "android.widget.GridView"}, "grid"),
        ({"cls": "android.widget.Toolbar"}, "toolbar"),
        ({"cls": "com.google.android.material.tabs.TabLayout"}, "tabbar"),
        ({"cls": "x.BottomNavigationView"}, "tabbar"),
        ({"cls": "android.widget.ImageView"}, "image"),
        ({"cls": "android.widget.ImageView", "clickable": True}, "icon"),
        ({"cls": "x.Chip"}, "chip"),
        ({"cls": "android.widget.LinearLayout", "text": "a"}, "container"),
        ({"cls": "x.ConstraintLayout"}, "container"),
        ({"cls": "android.view.View"}, "unknown"),
        ({"cls": "android.view.View", "clickable": True}, "unknown"),
        ({"cls": "android.view.View", "desc": "a"}, "text"),
        ({"cls": "android.view.View", "text": " "}, "unknown"),
        ({"cls": "android.view.View", "text": "a", "clickable": True}, "button"),
        ({"cls": "android.view.View", "text": LONG, "clickable": True}, "text"),
        ({"cls": "android.view.View", "desc": LONG, "clickable": True}, "button"),
    ],
)
def test_the_first_rule_that_fits_names_the_role(attributes: dict[str, object], role: str) -> None:
    """The first rule that fits names the role."""
    assert screen(node(**attributes)).nodes[1].role == role


def test_the_parent_decides_for_some_roles() -> None:
    """What a text is in counts, and a click on one of three ancestors counts as its own."""
    rows: list[tuple[dict[str, object], str]] = [
        ({"cls": "x.TabLayout"}, "tab"),
        ({"id": "com.example:id/bottom_bar"}, "tab"),
        ({"id": "com.tablet:id/x"}, "tab"),  # the whole id counts, its package too
        ({"cls": "android.widget.Toolbar"}, "title"),
        ({"clickable": True}, "button"),
        ({}, "text"),
    ]
    for parent, role in rows:
        assert screen(node(node(text="a"), **parent)).nodes[2].role == role, parent
    for levels, role in ((0, "button"), (2, "button"), (3, "text")):
        tree = node(text="a")
        for _ in range(levels):
            tree = node(tree)
        assert screen(node(tree, clickable=True)).nodes[-1].role == role, levels


def test_a_role_is_certain_unless_the_xml_leaves_something_out() -> None:
    """Roles that the XML does not show are documented."""
    page = (Path(__file__).parents[2] / "docs" / "snapshots.md").read_text(encoding="utf-8")
    rows: list[tuple[dict[str, object], bool]] = [
        ({"cls": "android.widget.Button"}, True),
        ({"cls": "android.widget.ListView"}, True),
        ({"cls": "androidx.recyclerview.widget.RecyclerView"}, False),
        ({"cls": "android.widget.GridView"}, False),
        ({"cls": "android.widget.LinearLayout"}, False),
        ({"text": "a"}, False),
    ]

    for attributes, certain in rows:
        assert is_certain(screen(node(**attributes)).nodes[1]) is certain, attributes
    for role in UNSHOWN_ROLES:
        assert f"`{role}`" in page
