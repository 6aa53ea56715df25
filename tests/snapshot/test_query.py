"""Finding nodes."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import Any

import pytest

from pytest_clawperator.contracts.selectors import NodeMatcher
from pytest_clawperator.errors import (
    ErrorCode,
    NodeNotFoundError,
    SnapshotError,
)
from pytest_clawperator.simulator.screen import accessibility as simulated
from pytest_clawperator.simulator.screen.accessibility import Bounds as UiBounds
from pytest_clawperator.simulator.screen.accessibility import UiNode, hierarchy_xml
from pytest_clawperator.simulator.screen.accessibility import role_of as simulated_role_of
from pytest_clawperator.snapshot.query import NoMatch, identifying_matcher
from pytest_clawperator.snapshot.roles import UNTELLABLE, is_certain
from pytest_clawperator.snapshot.tree import Snapshot
from tests.snapshot.screens import login, node, screen


def test_the_first_is_found() -> None:
    """Of several nodes the first counts, parents before children; all can be had and counted."""
    snapshot = login()

    found = snapshot.find_all(text="Log in")

    assert snapshot.find(text="Log in") is found[0]
    assert [one.short_id for one in found] == ["submit", ""]
    assert snapshot.count(text="Log in") == 2
    assert snapshot.find_all(text="nothing") == []


def test_searching_off_screen() -> None:
    """What is not on the screen is found when asked for."""
    snapshot = login()

    assert snapshot.find(text="Log out", on_screen=False)
    assert snapshot.count(text_contains="log") == 2
    assert snapshot.count(text_contains="log", on_screen=False) == 3


@pytest.mark.parametrize(
    "container", [{"id": "list"}, {"id": "com.example:id/list"}, {"text": "none"}]
)
def test_a_scope_is_searched_alone(container: dict[str, Any]) -> None:
    """A scope is searched alone, its container included; without the container it is empty."""
    snapshot = login()
    is_there = "id" in container

    scope = snapshot.within(**container)

    assert scope.count(text="Log in") == is_there
    assert bool(scope.find(id="list")) is is_there
    assert not scope.find(text="Welcome")
    assert scope.find_all(role="textfield") == []


def test_within_a_node() -> None:
    """A node can be searched like a snapshot, itself included."""
    snapshot = login()
    form = snapshot.find(id="form")
    assert form

    assert form.find(text="Log in") is snapshot.find(id="submit")
    assert form.find(id="form") is form
    assert form.count(role="button") == 1
    assert snapshot.within(form).find_all(text="Log in") == form.find_all(text="Log in")
    assert snapshot.within({"resourceId": "com.example:id/form"}).count(role="button") == 1
    assert not form.find(text="Welcome")


def test_an_xpath_finds_nodes_off_the_screen_too() -> None:
    """What matchers cannot say, an expression can; off-screen nodes are found too."""
    snapshot = login()

    found = snapshot.xpath("//node[@text=$wanted]/preceding-sibling::node", wanted="Log out")

    assert found == [snapshot.find(desc="an entry")]
    assert snapshot.xpath("//node[@text='nothing']") == []
    assert len(snapshot.xpath("//node")) == len(snapshot)


def test_xpath_finds_what_xml_cannot_hold() -> None:
    """Variables may hold anything that an app can show."""
    snapshot = screen(node(text="a\x01b"))

    assert snapshot.xpath("//node[@text=$t]", t="a\x01b") == [snapshot.nodes[1]]


@pytest.mark.parametrize(
    "expression",
    ["//node[", "//node[@text=$nothing]", "string(//node)", "//@text", "/*", "\x00", ""],
)
def test_an_xpath_that_gives_no_nodes_is_a_coded_error(expression: str) -> None:
    """An expression that is none, or gives no nodes, is a coded error."""
    with pytest.raises(SnapshotError) as caught:
        login().xpath(expression)

    assert caught.value.code == ErrorCode.XPATH_INVALID
    assert caught.value.hint


def test_no_match_is_false_and_explains_itself() -> None:
    """What was not found says what came near, in a line and in full."""
    snapshot = login()

    missing = snapshot.find(text="Login", role="button")

    assert not missing
    assert isinstance(missing, NoMatch)
    assert missing.snapshot is snapshot
    assert missing.matcher == NodeMatcher(text_equals="Login", role="button")
    assert missing.nearest[0].node is snapshot.find(id="submit")
    assert "text is `Log in`, wanted `Login`" in repr(missing)
    assert "text is `Log in`, wanted `Login`" in str(missing)
    assert "\n" not in repr(missing)


def test_no_match_fits_what_pytest_shows() -> None:
    """The representation is short enough for pytest to show all of it."""
    long = "x" * 200
    snapshot = screen(*(node(text=f"{long} {n}", id="y" * 200) for n in range(5)))

    missing = snapshot.find(text=f"{long} z", id="y" * 200)

    assert len(repr(missing)) <= 240
    assert repr(missing).endswith("...>")


def test_no_match_names_the_container() -> None:
    """Where a container was given, it is part of the story."""
    snapshot = login()

    inside = snapshot.within(id="form").find(text="Welcome")
    without = snapshot.within(id="from").find(text="Welcome")

    assert "outside the container" in str(inside)
    assert "in container com.example:id/form" in str(inside)
    assert "the container is not there either" in str(without)
    assert "id is `com.example:id/form`, wanted `from`" in str(without)


def test_no_match_names_what_lies_over_the_app() -> None:
    """A prompt in front is the most likely reason for anything not being there."""
    snapshot = screen(
        node(text="Allow"),
        foreground_package="com.android.permissioncontroller",
        has_overlay=True,
        overlay_package="com.example",
    )

    assert "covered by com.android.permissioncontroller" in repr(snapshot.find(text="Log in"))


def test_no_match_names_a_role_that_cannot_be_told() -> None:
    """Who looks for a row learns that a snapshot does not know rows."""
    assert "a snapshot does not tell the role row" in repr(login().find(role="Row"))


def test_no_match_travels() -> None:
    """An error may carry it to another process."""
    missing = login().within(id="form").find(text="Welcome")

    again = pickle.loads(pickle.dumps(missing))

    assert not again
    assert str(again) == str(missing)


def test_asserts_explain_themselves(pytester: pytest.Pytester) -> None:
    """A plain assert on what was not found shows the nearest miss."""
    pytester.makepyfile(
        """
        from pytest_clawperator.snapshot.tree import Snapshot

        def test_screen():
            xml = "<hierarchy><node><node text='Log in' class='Button'/></node></hierarchy>"
            assert Snapshot.from_xml(xml).find(text="Login")
        """
    )

    result = pytester.runpytest_inprocess()

    result.stdout.fnmatch_lines(
        ["*assert <NoMatch textEquals='Login'; near: button*wanted `Login`>*"]
    )


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
    "android.view.View",
    "android.widget.TextView",
    "android.widget.Button",
    "android.widget.LinearLayout",
    "android.widget.FrameLayout",
    "android.widget.ImageView",
    "android.widget.Switch",
    "android.widget.EditText",
    "androidx.recyclerview.widget.RecyclerView",
    "android.widget.ListView",
    "androidx.appcompat.widget.Toolbar",
    "com.google.android.material.tabs.TabLayout",
    "x.Chip",
    "",
]
TEXTS = [
    "",
    "",
    " ",
    "OK",
    "ok",
    "Save file",
    "a longer sentence with spaces",
    "Größe",
    "a\nb",
    "&<\"'>",
]
IDS = ["", "", "com.x:id/ok", "com.x:id/tab_bar", "com.x:id/list", "tag"]
ROLES = [
    "tab",
    "button",
    "textfield",
    "switch",
    "list",
    "icon",
    "image",
    "container",
    "text",
    "unknown",
]


def random_tree(chance: random.Random, *, tells_all: bool) -> UiNode:
    """Grow a tree; unless it tells all, with what the XML leaves out as well."""
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
        if not tells_all:
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
    return {name: fields[name] for name in names if fields[name]} or {"textEquals": "OK"}


@pytest.mark.parametrize("seed", range(8))
def test_finds_what_the_operator_finds(seed: int) -> None:
    """Hundreds of random trees and matchers give the same nodes as on the simulated phone."""
    chance = random.Random(seed)
    for _ in range(50):
        tree = random_tree(chance, tells_all=True)
        snapshot = Snapshot.from_xml(hierarchy_xml([tree], 0))
        theirs = list(tree.walk())
        for _ in range(8):
            matcher = random_matcher(chance)
            expected = list(simulated.find_all(tree, matcher, (1080, 2400)))

            found = [snapshot.nodes.index(one) for one in snapshot.find_all(matcher)]

            assert found == [theirs.index(one) for one in expected], (matcher, snapshot.xml)


@pytest.mark.parametrize("seed", range(4))
def test_roles_differ_only_where_the_xml_is_silent(seed: int) -> None:
    """Where the Operator knows more, it sees a role that the XML cannot tell; nowhere else."""
    chance = random.Random(seed)
    for _ in range(50):
        tree = random_tree(chance, tells_all=False)
        snapshot = Snapshot.from_xml(hierarchy_xml([tree], 0))

        for ours, theirs in zip(snapshot.nodes, tree.walk(), strict=True):
            role = simulated_role_of(theirs)
            assert ours.role == role or (role in UNTELLABLE and not is_certain(ours))


@pytest.mark.parametrize("seed", range(4))
def test_identifying_matchers_identify_on_the_device(seed: int) -> None:
    """The Operator, too, finds the node by the matcher that is said to identify it."""
    chance = random.Random(seed)
    for _ in range(50):
        tree = random_tree(chance, tells_all=False)
        snapshot = Snapshot.from_xml(hierarchy_xml([tree], 0))

        for ours, theirs in zip(snapshot.nodes, list(tree.walk()), strict=True):
            matcher = identifying_matcher(ours)
            if matcher is not None:
                assert simulated.find(tree, matcher.to_wire(), (1080, 2400)) is theirs


def test_what_was_not_found_has_no_text() -> None:
    """Whoever takes a miss for a node is told what came near."""
    missed = screen(node(text="Log in")).find(text="Login")

    with pytest.raises(NodeNotFoundError, match=r"no node whose \.text") as caught:
        _ = missed.text

    assert "text is `Log in`, wanted `Login`" in str(caught.value)
    assert not hasattr(missed, "colour")


def test_scope_of_what_was_not_found_is_empty() -> None:
    """Inside a node that was not found nothing is found."""
    snapshot = screen(node(text="Log in"))

    scope = snapshot.within(snapshot.find(text="Nowhere"))

    assert scope.count(text="Log in") == 0
