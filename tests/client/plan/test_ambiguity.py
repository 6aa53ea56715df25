"""What an error about several nodes says."""

from __future__ import annotations

import pytest

from pytest_clawperator.client.plan.ambiguity import ambiguous, find_crowd
from pytest_clawperator.client.plan.target import Target, Use, target_of
from pytest_clawperator.errors import StepFailedError
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.runner import SERIAL, SHOP, node, screen


def error(xml: str, target: Target, *, use: Use = Use.TAP, done: bool = False) -> StepFailedError:
    """Return the error for a target that several nodes fit."""
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
            "role='button' fits only 2.",
        ),
        ((node(text="Go", id="a"), node(text="Go", id="b")), "id='a' fits only 1."),
        ((node(text="Go"), node(text="Go", desc="Really")), "desc='Really' fits only 2."),
    ],
)
def test_the_keyword_that_fits_only_one(nodes: tuple[str, ...], way: str) -> None:
    """The hint begins with what would have worked, rather for a node that takes clicks."""
    assert str(error(screen(*nodes), target(text="Go")).hint).startswith(way)


def test_the_row_that_only_one_is_in() -> None:
    """Where all look alike, the row around one of them tells."""
    told = str(error(SHOP, target(text="Buy")).hint)

    assert told.startswith(
        "within=claw.node(id='row', has=claw.node(text='Tea')) is around 1 alone."
    )


def test_nodes_that_nothing_tells_apart() -> None:
    """Then only their order does, or the first wins."""
    told = error(screen(node(text="Go"), node(text="Go")), target(text="Go"), done=True)

    assert "2 nodes fit node(text='Go'), and the first was tapped" in told.message
    assert str(told.hint).startswith(
        "Say which with another keyword, .first, .last, .nth(i), within= or has=; or let the first"
    )


def test_a_container_that_several_fit() -> None:
    """What is around the node must be one, too."""
    inner = target_of(None, {"text": "Tea"}, within={"textEquals": "Buy"}, verb="click")

    assert "3 nodes fit node(text='Buy')" in error(SHOP, inner).message


def test_one_node_is_no_crowd() -> None:
    """An index says which, and a single node is one."""
    snapshot = Snapshot.from_xml(SHOP)

    assert find_crowd(target(text="Tea"), snapshot, Use.TAP) is None
    assert find_crowd(target(text="Buy").nth(1), snapshot, Use.TAP) is None
