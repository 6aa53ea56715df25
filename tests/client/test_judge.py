"""Which node an action turns to, and what keeps it from that."""

from __future__ import annotations

import itertools
import pickle
import random
import re
from typing import Any

import pytest

from pytest_clawperator import errors
from pytest_clawperator.client.judge import (
    ambiguous,
    differs,
    distinct,
    find_crowd,
    obstacle,
    recipient,
    refusal,
)
from pytest_clawperator.client.target import Target, Use, target_of
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import NodeNotFoundError, StepFailedError
from pytest_clawperator.snapshot.query import Query
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.doubles.runner import (
    PACKAGE,
    SERIAL,
    SHOP,
    Act,
    Phone,
    ScriptedRunner,
    client,
    first,
    node,
    result_of,
    screen,
)


def nodes(*given: str, text: str = "Go", **about: str | bool) -> list[Node]:
    """Return the nodes of a screen with this text."""
    windows: dict[str, object] = dict(about)
    return Snapshot.from_xml(screen(*given), **windows).find_all(text=text)  # type: ignore[arg-type]


LABEL = node(text="Go", kind="TextView", bounds="[0,0][50,50]")


ROW = node(LABEL, desc="Go", clickable=True)


@pytest.mark.parametrize(
    ("given", "use", "kept"),
    [
        # A title and a button do different things; a tap on a label goes to its row.
        ([LABEL, node(text="Go", kind="Button", clickable=True)], Use.TAP, [0, 1]),
        ([ROW], Use.TAP, [0]),
        ([ROW], Use.READ, [0]),
        ([node(LABEL, LABEL, clickable=True)], Use.TAP, [0]),
        ([node(LABEL, LABEL, clickable=True)], Use.READ, [0, 1]),
        # The value beside each node is another.
        ([ROW], Use.PLACE, [0, 1]),
    ],
)
def test_nodes_that_mean_the_same_count_once(given: list[str], use: Use, kept: list[int]) -> None:
    """That depends on what is done with them."""
    both = nodes(*given)

    assert len(both) == 2
    assert distinct(both, use) == [both[place] for place in kept]


def test_the_operator_looks_seven_levels_up() -> None:
    """A clickable node that is further away does not take the tap."""

    def wrapped(levels: int) -> Node:
        inner = LABEL
        for _ in range(levels - 1):
            inner = node(inner)
        return nodes(node(inner, id="row", clickable=True))[0]

    assert recipient(wrapped(7), Use.TAP).short_id == "row"
    assert recipient(wrapped(8), Use.TAP).text == "Go"


@pytest.mark.parametrize(
    ("given", "use", "reason"),
    [
        (node(text="Go", clickable=True, enabled=False), Use.TAP, "it is disabled"),
        (node(text="Go", kind="EditText", enabled=False), Use.FILL, "it is disabled"),
        (
            node(text="Go", kind="Button", enabled=False),
            Use.FILL,
            "it is not a text field, and it is disabled",
        ),
        (node(text="Go", focusable=True, enabled=False), Use.FOCUS, "it is disabled"),
        (
            node(LABEL, clickable=True, enabled=False),
            Use.TAP,
            "the node around it is disabled",
        ),
        (node(text="Go", bounds="[0,2400][50,2450]"), Use.TAP, "it is off the screen"),
        (node(node(text="Go", enabled=False), clickable=True), Use.TAP, None),
        (node(text="Go", enabled=False), Use.READ, None),
        (LABEL, Use.TAP, None),
    ],
)
def test_what_keeps_an_action_from_its_node(given: str, use: Use, reason: str | None) -> None:
    """The node that takes the action counts, not the one that was matched."""
    found = obstacle(nodes(given)[0], use)

    assert (None if found is None else found.reason) == reason


@pytest.mark.parametrize(
    ("given", "package", "is_obstacle"),
    [
        (LABEL, "com.chat.heads", True),
        (node(text="Go", clickable=True), "com.chat.heads", False),
        (LABEL, "com.google.android.inputmethod.latin", False),
    ],
)
def test_a_window_over_the_app(given: str, package: str, is_obstacle: bool) -> None:
    """It may swallow a tap on a point, but its place is unknown: it is not a certain obstacle."""
    (label,) = nodes(given, has_overlay=True, overlay_package=package)

    found = obstacle(label, Use.TAP)

    assert (found is not None) is is_obstacle
    assert found is None or not found.certain


def test_a_changed_screen() -> None:
    """Neither enabling nor a cover that disappeared is a change."""
    off = nodes(node(text="Go", enabled=False), node(text="Wait", id="cover"))[0]
    on = nodes(node(text="Go"), node(text="Wait"))[0]
    alone = nodes(node(text="Go"))[0]
    cover = off.snapshot.find(text="Wait")
    assert isinstance(cover, Node)

    assert differs(off, on)  # the other node lost its id
    assert differs(off, alone)
    assert not differs(off, alone, apart=cover)


@pytest.mark.parametrize(
    ("kind", "reason"), [("TextView", "it is not a text field"), ("EditText", None)]
)
def test_why_a_device_refuses_a_text(kind: str, reason: str | None) -> None:
    """A label takes no text, and waiting does not change that."""
    (found,) = nodes(node(text="Go", kind=kind))

    refused = refusal(found, Use.FILL)

    assert (refused and refused.reason) == reason
    assert refused is None or not refused.may_pass


def target(**keywords: str) -> Target:
    """Return a target."""
    return target_of(None, keywords, verb="click")


@pytest.mark.parametrize(
    ("xml", "given", "message", "hint"),
    [
        # The keyword that matches only one, rather a node that takes clicks.
        (screen(node(text="Go", kind="TextView"), node(text="Go", kind="Button", clickable=True)),
         target(text="Go"), "2 nodes match node(text='Go')",
         "role='button' matches only number 2 of these."),
        (screen(node(text="Go", id="a"), node(text="Go", id="b")), target(text="Go"), "",
         "id='a' matches only number 1 of these."),
        (screen(node(text="Go"), node(text="Go", desc="Really")), target(text="Go"), "",
         "desc='Really' matches only number 2 of these."),
        # The row that only one is in.
        (SHOP, target(text="Buy"), "3 nodes match node(text='Buy'), and the first was tapped",
         "within=claw.node(id='row', has=claw.node(text='Tea')) is around only number 1 of these."),
        # Nothing distinguishes them.
        (screen(node(text="Go"), node(text="Go")), target(text="Go"), "",
         "Choose one with another keyword, .first, .last, .nth(i), within= or has=; or let the"),
        # What is around the node need not be one.
        (SHOP, target_of(None, {"text": "Buy"}, within={"id": f"{PACKAGE}:id/row"}, verb="click"),
         f"3 nodes match node(id='{PACKAGE}:id/row').node(text='Buy')",
         "within=claw.node(id='row', has=claw.node(text='Tea')) is around only number 1 of these."),
        # The first few are listed.
        (screen(*[node(text="Go", desc="x")] * 9), target(text="Go"), "... and 4 more", ""),
    ],
)  # fmt: skip
def test_an_ambiguous_target_has_a_way_out(
    xml: str, given: Target, message: str, hint: str
) -> None:
    """The hint begins with what would have worked."""
    crowd = find_crowd(given, Snapshot.from_xml(xml), Use.TAP)
    assert crowd is not None

    error = ambiguous("click", crowd, Use.TAP, serial=SERIAL, done=True)

    assert message in error.message
    assert str(error.hint).startswith(hint)


@pytest.mark.parametrize(
    ("xml", "given", "untrue"),
    [
        # A tap on the second text goes to the first node, which does not count twice.
        (screen(node(node(text="Go", desc="x"), node(text="Go", desc="y"), clickable=True),
                node(text="Go", desc="y")), target(text="Go"),
         "desc='y' matches only number 2 of these."),
        # A description is the text of a node that has none.
        (screen(node(text="A", desc="Go", id="a"), node(desc="Go", id="b")), target(desc="Go"),
         "text='Go' matches only"),
        (screen(node(desc="Go", text="Go", id="a"), node(desc="Go", id="a")), target(desc="Go"),
         "text='Go' matches only number 1 of these."),
        # Another row with that id is around the others.
        (screen(node(node(node(text="Tea"), node(text="Go"), id="row"), node(text="Go"),
                     id="row")), target(text="Go"), "has=claw.node(text='Tea')"),
    ],
)  # fmt: skip
def test_a_way_out_is_one(xml: str, given: Target, untrue: str) -> None:
    """What would match other nodes, too, is not advised."""
    crowd = find_crowd(given, Snapshot.from_xml(xml), Use.TAP)
    assert crowd is not None

    assert untrue not in str(ambiguous("click", crowd, Use.TAP, serial=SERIAL).hint)


@pytest.mark.parametrize("seed", range(40))
def test_advice_is_true(seed: int) -> None:
    """Whatever a screen is like, what the hint says matches only one of the nodes does."""
    chance = random.Random(seed)

    def grown(depth: int) -> str:
        below = [grown(depth - 1) for _ in range(chance.randrange(4))] if depth else []
        text, desc, name = (chance.choice(["", "Go", "Tea"]) for _ in range(3))
        kind = chance.choice(["Button", "TextView", "FrameLayout"])
        is_clickable = chance.random() < 0.3
        return node(*below, text=text, desc=desc, id=name, kind=kind, clickable=is_clickable)

    snapshot = Snapshot.from_xml(screen(*(grown(2) for _ in range(3))))
    for given, use in itertools.product(({"text": "Go"}, {"desc": "Tea"}), (Use.TAP, Use.READ)):
        crowd = find_crowd(target(**given), snapshot, use)
        advice = "" if crowd is None else str(ambiguous("x", crowd, use, serial=SERIAL).hint)
        said = re.match(r"(\w+)='(\w+)' matches only number (\d) of these", advice)
        if crowd is not None and said is not None:
            word, value, place = said.groups()
            both = Query.of(None, {**given, word: value})  # type: ignore[typeddict-item]  # any word
            assert snapshot.find_all(both) == [crowd.nodes[int(place) - 1]]


def test_one_node_is_not_ambiguous() -> None:
    """An index says which, and a single node is one."""
    snapshot = Snapshot.from_xml(SHOP)

    assert find_crowd(target(text="Tea"), snapshot, Use.TAP) is None
    assert find_crowd(target(text="Buy").nth(1), snapshot, Use.TAP) is None


MISSING = {"error": "NODE_NOT_FOUND"}
NO_LIST = {"error": "CONTAINER_NOT_FOUND"}
FAILURES = {
    "click": MISSING,
    "enter_text": {"error": "NODE_NOT_CLICKABLE"},
    "scroll": NO_LIST,
    "scroll_and_click": NO_LIST,
    "scroll_until": {
        "termination_reason": "EDGE_REACHED",
        "scrolls_executed": "7",
        "error": "TARGET_NOT_FOUND",
    },
    "wait_for_navigation": {"error": "NAVIGATION_TIMEOUT", "last_package": "com.other"},
    "read_text": {"error": "VALIDATOR_MISMATCH", "raw_text": "soon"},
}


def failing(act: Act, shown: str = SHOP) -> StepFailedError:
    """Make something fail on a phone; return the error."""
    with pytest.raises(StepFailedError) as failed:
        act(client(Phone(shown, data=FAILURES), timeout=0))
    return failed.value


COMPARED = "text= is compared letter by letter; nodes that are not on the screen need a"
TOAST = "A toast is not a node: claw.device.toasts() lists those on"
WHOLE_ID = f"On the screen that id is {PACKAGE}:id/name"


@pytest.mark.parametrize(
    ("act", "kind", "message", "hint"),
    [
        (lambda claw: claw.click(text="tea"), NodeNotFoundError, "", COMPARED),
        (lambda claw: claw.click(text="Your order was saved"), NodeNotFoundError, "", TOAST),
        # The keyword is the one that was used.
        (lambda claw: claw.click(desc="logo"), NodeNotFoundError, "", f"desc={COMPARED[5:]}"),
        (lambda claw: claw.click(text="tea", desc="tea"), NodeNotFoundError, "",
         "text= and desc= are compared letter by letter; nodes"),
        (lambda claw: claw.click(text_contains="tae"), NodeNotFoundError, "",
         "Nodes that are not on the screen need a scroll first."),
        (lambda claw: claw.click(role="switch"), NodeNotFoundError, "",
         "Nodes that are not on the screen need a scroll first."),
        (lambda claw: claw.click(text=re.compile("^tea$")), NodeNotFoundError, "",
         "Case counts in a pattern, unless it has re.IGNORECASE; nodes that"),
        (lambda claw: claw.click(text=re.compile("^Saved!$")), NodeNotFoundError, "", TOAST),
        (lambda claw: claw.click(text="Tea"), NodeNotFoundError, "", "set a longer timeout="),
        # An id is shown in the form that it has on the screen.
        (lambda claw: claw.click(NodeMatcher.of(id="name")), NodeNotFoundError, "", WHOLE_ID),
        (lambda claw: claw.click(id="com.other:id/name"), NodeNotFoundError, "", WHOLE_ID),
        (lambda claw: claw.click(id="zzzzzz"), NodeNotFoundError, "",
         "No node on the screen has that id"),
        (lambda claw: claw.click(id=f"{PACKAGE}:id/"), NodeNotFoundError, "", "has no name"),
        # Of several conditions the hint names the one that fails.
        (lambda claw: claw.node(id="row").nth(5).click(), NodeNotFoundError, "",
         "Only 3 match node(id='row'), so there is no .nth(5)."),
        (lambda claw: claw.node(id="row", has={"text": "Wine"}).click(), NodeNotFoundError, "",
         "3 match node(id='row'), but none contains node(text='Wine')."),
        (lambda claw: claw.node(id="row", has={"id": "name"}).click(), NodeNotFoundError, "",
         WHOLE_ID),
        (lambda claw: claw.node(id="row", has={"text": "Tea"}).nth(1).click(), NodeNotFoundError,
         "", "Only 1 match node(id='row', has=node(text='Tea'))"),
        (lambda claw: claw.node(role="listitem").nth(1).click(), NodeNotFoundError, "",
         "does not show that role"),
        (lambda claw: claw.enter_text("x", text="Tea"), StepFailedError,
         "enter_text node(text='Tea'): it is not a text field", "a label beside it takes no input"),
        # Scrolling
        (lambda claw: claw.scroll_and_click(text="Tea"), errors.ContainerNotFoundError,
         "nothing that scrolls is on the screen", "click() will do"),
        (lambda claw: claw.scroll(within={"id": f"{PACKAGE}:id/lst"}),
         errors.ContainerNotFoundError, f"no node(id='{PACKAGE}:id/lst') on the screen", ""),
        (lambda claw: claw.scroll_until(text="Wine"), NodeNotFoundError,
         "scroll_until: no node(text='Wine') on the screen after scrolling: EDGE_REACHED after 7"
         " scrolls", "max_scrolls"),
        (lambda claw: claw.wait_for_navigation(package="com.a"), errors.NavigationTimeoutError,
         "wait_for_navigation to com.a: com.other is in front", ""),
        (lambda claw: claw.read_text(text="Tea", validator="version"),
         errors.ValidatorMismatchError, "it reads 'soon'", ""),
    ],
)  # fmt: skip
def test_a_failure_is_explained(
    act: Act, kind: type[StepFailedError], message: str, hint: str
) -> None:
    """Message and hint say what was wanted, what is there, and what to do."""
    error = failing(act)

    assert isinstance(error, kind)
    assert message in error.message
    assert hint in str(error.hint)
    assert ("toast" in hint) == ("toast" in str(error.hint))
    if hint != TOAST:
        assert ("letter by letter" in hint) == ("letter by letter" in str(error.hint))


def test_the_error_of_a_missing_node_has_the_screen() -> None:
    """With matcher, nearest nodes and outline; it crosses a process whole."""
    error = failing(lambda claw: claw.click(text="tea", timeout=3))

    assert error.message == "click: no node(text='tea') on the screen within 3 s"
    text = str(error)
    assert text.startswith("[phone-1] NODE_NOT_FOUND: click: no node(text='tea')")
    assert "nearest:" in text
    assert "text is `Tea`, wanted `tea`" in text
    assert text.splitlines()[-1].startswith("  hint: text= is compared letter by letter")
    for each in (error, pickle.loads(pickle.dumps(error))):
        assert each.matcher == NodeMatcher.of(text="tea")
        assert each.nearest[0].node.label == "Tea"
        assert each.snapshot.find(text="Tea")
        assert '"Bread"' in each.outline
        assert str(each) == text


def test_the_error_of_a_missing_list_has_what_is_near_it() -> None:
    """A node that came too late has nothing near it."""
    missing = failing(lambda claw: claw.scroll(within={"id": f"{PACKAGE}:id/lst"}))
    late = failing(lambda claw: claw.click(text="Tea"))

    assert missing.matcher == NodeMatcher.of(id=f"{PACKAGE}:id/lst")
    assert missing.nearest[0].node.short_id == "list"
    assert late.nearest == ()


def test_a_long_screen_is_cut_in_the_text() -> None:
    """It is whole in the attribute."""
    texts = [node(text=f"Line {n}", kind="TextView") for n in range(30)]

    error = failing(lambda claw: claw.click(text="Wine"), screen(*texts))

    shown = str(error).splitlines()
    assert len(shown) < 24
    assert error.outline.count("\n") + 1 > error.shown_lines
    assert any("more lines in .outline" in line for line in shown)


def test_hard_failures_read_the_same() -> None:
    """An Operator that fails in free text leads to the same words."""

    def answer(execution: Any) -> Any:
        if execution.actions[0].type == "snapshot_ui":
            return Phone(SHOP).run(execution)
        error = "Task execution failed: No UI node found matching criteria: NodeMatcher(…)"
        return result_of(execution, error=error)

    with pytest.raises(NodeNotFoundError) as missed:
        client(ScriptedRunner(answer)).click(text="tea", timeout=0)

    assert missed.value.message == "click: no node(text='tea') on the screen"
    assert missed.value.details["error"].startswith("Task execution failed: No UI node found")


def test_a_failure_with_one_of_several_nodes_says_which() -> None:
    """So does the locator."""
    claw = first(Phone(SHOP, data={"click": {"error": "NODE_NOT_CLICKABLE"}}))
    buy = claw.node(text="Buy")

    with pytest.raises(StepFailedError) as failed:
        buy.click(timeout=0)

    assert "click node(text='Buy') (1st of 3):" in failed.value.message
    assert repr(buy) == "node(text='Buy') (1st of 3)"
