"""Which node an action turns to, and what keeps it from that."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.plan.actionability import (
    differs,
    distinct,
    obstacle,
    outermost,
    recipient,
    refusal,
)
from pytest_clawperator.client.plan.target import Use
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.doubles.runner import node, screen


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
    """It may swallow a tap on a point, and nothing tells where it is: it is no certain obstacle."""
    (label,) = nodes(given, has_overlay=True, overlay_package=package)

    found = obstacle(label, Use.TAP)

    assert (found is not None) is is_told
    assert found is None or not found.certain


def test_a_changed_screen() -> None:
    """Enabling is no change, and neither is a cover that went."""
    off = nodes(node(text="Go", enabled=False), node(text="Wait", id="cover"))[0]
    on = nodes(node(text="Go"), node(text="Wait"))[0]
    alone = nodes(node(text="Go"))[0]
    cover = off.snapshot.find(text="Wait")
    assert isinstance(cover, Node)

    assert differs(off, on)  # the other node lost its id
    assert differs(off, alone)
    assert not differs(off, alone, apart=cover)


@pytest.mark.parametrize(
    ("kind", "reason"), [("TextView", "it is no text field"), ("EditText", None)]
)
def test_why_a_device_refuses_a_text(kind: str, reason: str | None) -> None:
    """A label takes no text, and waiting does not change that."""
    (found,) = nodes(node(text="Go", kind=kind))

    refused = refusal(found, Use.FILL)

    assert (refused and refused.reason) == reason
    assert refused is None or not refused.may_pass
