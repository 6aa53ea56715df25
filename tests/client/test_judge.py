"""Which node an action turns to, and what keeps it from that."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.judge import (
    ambiguous,
    differs,
    distinct,
    find_crowd,
    obstacle,
    outermost,
    recipient,
    refusal,
)
from pytest_clawperator.client.target import Target, Use, target_of
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import (
    ContainerNotFoundError,
    ErrorCode,
    NavigationTimeoutError,
    NodeNotFoundError,
    StepFailedError,
    ValidatorMismatchError,
)
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.doubles.runner import (
    PACKAGE,
    SERIAL,
    SHOP,
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


class TestDistinct:
    """The same thing twice is one."""

    def test_a_title_and_a_button(self) -> None:
        """A tap on the one does something else than a tap on the other."""
        both = nodes(LABEL, node(text="Go", kind="Button", clickable=True))

        assert distinct(both, Use.TAP) == both

    def test_a_row_and_its_label(self) -> None:
        """A tap on either goes to the row."""
        both = nodes(node(LABEL, desc="Go", clickable=True))

        assert len(both) == 2
        assert distinct(both, Use.TAP) == both[:1]
        assert distinct(both, Use.READ) == both[:1]

    def test_two_labels_of_one_row(self) -> None:
        """They are one to a tap, and two to a reader."""
        both = nodes(node(LABEL, LABEL, clickable=True))

        assert len(distinct(both, Use.TAP)) == 1
        assert len(distinct(both, Use.READ)) == 2

    def test_the_value_beside_each_is_another(self) -> None:
        """Where the place counts, no node is like another."""
        both = nodes(node(LABEL, desc="Go", clickable=True))

        assert distinct(both, Use.PLACE) == both

    def test_containers_inside_each_other(self) -> None:
        """Only the outermost ones count."""
        inner_and_outer = nodes(node(LABEL, text="Go"), LABEL)

        assert outermost(inner_and_outer) == [inner_and_outer[0], inner_and_outer[2]]


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
    ("given", "package", "is_told"),
    [
        (LABEL, "com.chat.heads", True),
        (node(text="Go", clickable=True), "com.chat.heads", False),
        (LABEL, "com.google.android.inputmethod.latin", False),
    ],
)
def test_a_window_over_the_app(given: str, package: str, is_told: bool) -> None:
    """It may swallow a tap on a point, but its place is unknown: it is not a certain obstacle."""
    (label,) = nodes(given, has_overlay=True, overlay_package=package)

    found = obstacle(label, Use.TAP)

    assert (found is not None) is is_told
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


def error(xml: str, target: Target, *, use: Use = Use.TAP, done: bool = False) -> StepFailedError:
    """Return the error for a target that several nodes match."""
    crowd = find_crowd(target, Snapshot.from_xml(xml), use)
    assert crowd is not None
    return ambiguous("click", crowd, use, serial=SERIAL, done=done)


def target(**keywords: str) -> Target:
    """Return a target."""
    return target_of(None, keywords, verb="click")


@pytest.mark.parametrize(
    ("nodes", "way"),
    [
        (
            (node(text="Go", kind="TextView"), node(text="Go", kind="Button", clickable=True)),
            "role='button' matches only 2.",
        ),
        ((node(text="Go", id="a"), node(text="Go", id="b")), "id='a' matches only 1."),
        ((node(text="Go"), node(text="Go", desc="Really")), "desc='Really' matches only 2."),
    ],
)
def test_the_keyword_that_fits_only_one(nodes: tuple[str, ...], way: str) -> None:
    """The hint begins with what would have worked, rather for a node that takes clicks."""
    assert str(error(screen(*nodes), target(text="Go")).hint).startswith(way)


def test_the_row_that_only_one_is_in() -> None:
    """If all look alike, the row around one of them tells them apart."""
    message = str(error(SHOP, target(text="Buy")).hint)

    assert message.startswith(
        "within=claw.node(id='row', has=claw.node(text='Tea')) is around 1 only."
    )


def test_nodes_that_nothing_distinguishes() -> None:
    """Then only their order does, or the first wins."""
    message = error(screen(node(text="Go"), node(text="Go")), target(text="Go"), done=True)

    assert "2 nodes match node(text='Go'), and the first was tapped" in message.message
    assert str(message.hint).startswith(
        "Choose one with another keyword, .first, .last, .nth(i), within= or has=; or let the first"
    )


def test_a_container_that_several_fit() -> None:
    """What is around the node must be one, too."""
    inner = target_of(None, {"text": "Tea"}, within={"textEquals": "Buy"}, verb="click")

    assert "3 nodes match node(text='Buy')" in error(SHOP, inner).message


def test_one_node_is_no_crowd() -> None:
    """An index says which, and a single node is one."""
    snapshot = Snapshot.from_xml(SHOP)

    assert find_crowd(target(text="Tea"), snapshot, Use.TAP) is None
    assert find_crowd(target(text="Buy").nth(1), snapshot, Use.TAP) is None


MISSING = {"error": "NODE_NOT_FOUND"}


def failing(phone: Phone, do: Any, **options: Any) -> StepFailedError:
    """Make something fail on a phone; return the error."""
    with pytest.raises(StepFailedError) as failed:
        do(client(phone, timeout=0, **options))
    return failed.value


def test_a_missing_node() -> None:
    """The error has the matcher, the nearest nodes, the outline and the screen itself."""
    phone = Phone(SHOP, data={"click": MISSING})

    error = failing(phone, lambda claw: claw.click(text="tea", timeout=3))

    assert isinstance(error, NodeNotFoundError)
    assert error.message == "click: no node(text='tea') on the screen within 3 s"
    assert error.matcher == NodeMatcher.of(text="tea")
    assert error.nearest[0].node.label == "Tea"
    assert error.snapshot.find(text="Tea")
    assert '"Bread"' in error.outline
    text = str(error)
    assert text.startswith("[phone-1] NODE_NOT_FOUND: click: no node(text='tea')")
    assert "nearest:" in text
    assert "text is `Tea`, wanted `tea`" in text
    assert text.splitlines()[-1].startswith("  hint: text= is compared letter by letter")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tea", "text= is compared letter by letter; nodes that are not on the screen need a"),
        ("Your order was saved", "A toast is not a node: claw.device.toasts() lists those on"),
        (re.compile("^tea$"), "Case counts in a pattern, unless it has re.IGNORECASE; nodes that"),
        (re.compile("^Saved!$"), "A toast is not a node: claw.device.toasts() lists those on"),
    ],
)
def test_a_hint_fits_what_was_looked_for(text: Any, hint: str) -> None:
    """Patterns have a hint of their own, and what nothing is like may have been a toast."""
    error = failing(Phone(SHOP, data={"click": MISSING}), lambda claw: claw.click(text=text))

    assert hint in str(error.hint)
    assert ("toast" in hint) == ("toast" in str(error.hint))


def test_the_text_is_compact() -> None:
    """A long screen is cut in the text and whole in the attribute."""
    texts = [node(text=f"Line {n}", kind="TextView") for n in range(30)]
    phone = Phone(screen(*texts), data={"click": MISSING})

    error = failing(phone, lambda claw: claw.click(text="Nobody"))

    shown = str(error).splitlines()
    assert len(shown) < 24
    assert error.outline.count("\n") + 1 > error.shown_lines
    assert any("more lines in .outline" in line for line in shown)


def test_errors_pickle_whole() -> None:
    """An error crosses a process with its screen and its nodes."""
    phone = Phone(SHOP, data={"click": MISSING})
    error = failing(phone, lambda claw: claw.click(text="tea"))

    twin = pickle.loads(pickle.dumps(error))

    assert str(twin) == str(error)
    assert twin.snapshot.xml == error.snapshot.xml
    assert twin.nearest[0].node.label == "Tea"
    assert twin.matcher == error.matcher


def test_a_node_that_came_too_late() -> None:
    """A node that is there by the time of the error needs a longer timeout."""
    phone = Phone(SHOP, data={"click": MISSING})

    error = failing(phone, lambda claw: claw.click(text="Tea"))

    assert "set a longer timeout=" in str(error.hint)
    assert error.nearest == ()


@pytest.mark.parametrize("given", [{"id": "name"}, {"id": "com.other:id/name"}])
def test_the_form_of_an_id(given: dict[str, str]) -> None:
    """The hint has an id in the form in which it is on the screen."""
    phone = Phone(SHOP, data={"click": MISSING})

    error = failing(phone, lambda claw: claw.click(NodeMatcher.of(**given)))

    assert f"On the screen that id is {PACKAGE}:id/name" in str(error.hint)


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


def test_one_of_several() -> None:
    """A failure with one of several nodes says which."""
    phone = Phone(SHOP, data={"click": {"error": "NODE_NOT_CLICKABLE"}})
    claw = first(phone)
    buy = claw.node(text="Buy")

    with pytest.raises(StepFailedError) as failed:
        buy.click(timeout=0)

    assert "click node(text='Buy') (1st of 3):" in failed.value.message
    assert repr(buy) == "node(text='Buy') (1st of 3)"


def test_a_scroll_without_a_list_hints_at_a_click() -> None:
    """A scroll without a list says so, and that a click would do where it would."""
    phone = Phone(SHOP, data={"scroll_and_click": {"error": "CONTAINER_NOT_FOUND"}})

    error = failing(phone, lambda claw: claw.scroll_and_click(text="Tea"))

    assert isinstance(error, ContainerNotFoundError)
    assert "nothing that scrolls is on the screen" in error.message
    assert "click() will do" in str(error.hint)


def test_a_list_that_is_not_there() -> None:
    """A scroll in a list that is missing names the list, and what is near it."""
    phone = Phone(SHOP, data={"scroll": {"error": "CONTAINER_NOT_FOUND"}})

    error = failing(phone, lambda claw: claw.scroll(within={"id": f"{PACKAGE}:id/lst"}))

    assert f"no node(id='{PACKAGE}:id/lst') on the screen" in error.message
    assert error.matcher == NodeMatcher.of(id=f"{PACKAGE}:id/lst")
    assert error.nearest[0].node.short_id == "list"


def test_the_end_of_the_list() -> None:
    """A search that ended says how."""
    data = {"termination_reason": "EDGE_REACHED", "scrolls_executed": "7"}
    phone = Phone(SHOP, data={"scroll_until": {**data, "error": "TARGET_NOT_FOUND"}})

    error = failing(phone, lambda claw: claw.scroll_until(text="Nobody"))

    assert isinstance(error, NodeNotFoundError)
    assert error.code is ErrorCode.TARGET_NOT_FOUND
    assert error.message == (
        "scroll_until: no node(text='Nobody') on the screen "
        "after scrolling: EDGE_REACHED after 7 scrolls"
    )
    assert "max_scrolls" in str(error.hint)


def test_another_app_is_in_front() -> None:
    """A navigation that did not come says where one is instead."""
    failed = {"error": "NAVIGATION_TIMEOUT", "last_package": "com.other"}
    phone = Phone(SHOP, data={"wait_for_navigation": failed})

    error = failing(phone, lambda claw: claw.wait_for_navigation(package="com.a"))

    assert isinstance(error, NavigationTimeoutError)
    assert error.message == "wait_for_navigation to com.a: com.other is in front"


def test_a_text_of_another_form() -> None:
    """The message has what was read instead."""
    failed = {"error": "VALIDATOR_MISMATCH", "raw_text": "soon"}
    phone = Phone(SHOP, data={"read_text": failed})

    error = failing(phone, lambda claw: claw.read_text(text="Tea", validator="version"))

    assert isinstance(error, ValidatorMismatchError)
    assert "it reads 'soon'" in error.message


def test_roles_that_only_the_device_knows() -> None:
    """The hint explains that a snapshot does not show the role."""
    phone = Phone(SHOP)

    error = failing(phone, lambda claw: claw.node(role="listitem").nth(1).click())

    assert "does not show that role" in str(error.hint)


@pytest.mark.parametrize(
    ("has", "index", "hint"),
    [
        (None, 5, "Only 3 match node(id='row'), so there is no .nth(5)."),
        ({"text": "Wine"}, None, "3 match node(id='row'), but none contains node(text='Wine')."),
        ({"id": "name"}, None, f"On the screen that id is {PACKAGE}:id/name"),
        ({"text": "Tea"}, 1, "Only 1 match node(id='row', has=node(text='Tea'))"),
    ],
)
def test_the_condition_that_does_not_hold(has: Any, index: int | None, hint: str) -> None:
    """Of several conditions the hint names the one that fails."""
    claw = client(Phone(SHOP))
    row = claw.node(id="row", has=has)

    with pytest.raises(NodeNotFoundError) as missed:
        (row if index is None else row.nth(index)).click(timeout=0)

    assert hint in str(missed.value.hint)


def test_many_nodes_are_counted() -> None:
    """Of very many matching nodes the first few are listed."""
    phone = Phone(SHOP)

    def click(claw: Clawperator) -> None:
        claw.click(text_contains="e")

    error = failing(phone, click)

    assert error.code is ErrorCode.NODE_AMBIGUOUS
    assert "1. text" in error.message or "1. button" in error.message
    assert ".first, .last, .nth(i), within= or has=" in str(error.hint)


@pytest.mark.parametrize(
    ("id", "hint"),
    [
        ("zzzzzz", "No node on the screen has that id"),
        (f"{PACKAGE}:id/", "has no name"),
    ],
)
def test_hints_about_ids(id: str, hint: str) -> None:
    """The hint for an id that nothing is near does not explain how texts are compared."""
    with pytest.raises(NodeNotFoundError) as missed:
        client(Phone(SHOP, data={"click": {"error": "NODE_NOT_FOUND"}})).click(id=id, timeout=0)

    assert hint in (missed.value.hint or "")
    assert "letter by letter" not in (missed.value.hint or "")
