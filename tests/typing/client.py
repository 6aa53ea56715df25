"""The client as a user's type checker sees it; this module is checked, never run."""

from __future__ import annotations

import re

from typing_extensions import assert_type

from pytest_clawperator.client.batch import Batch, BatchStep
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.client.plans import ScrollOutcome
from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.execution.result import RunResult, RunStep
from pytest_clawperator.snapshot.tree import Bounds, Node, Snapshot


def methods_return_values(claw: Clawperator) -> None:
    """Texts are strings, pictures are bytes, and the rest are steps."""
    assert_type(claw.execute([{"type": "snapshot_ui"}], timeout=5), RunResult)
    assert_type(claw.open_app("com.a"), RunStep)
    assert_type(claw.click(text="OK", timeout=0), RunStep)
    assert_type(claw.click(at=(1, 2)), RunStep)
    assert_type(claw.enter_text("hi", id="name", submit=True, secret=True), RunStep)
    assert_type(claw.read_text(id="total", validator="version"), str)
    assert_type(claw.read_all_text(role="button"), list[str])
    assert_type(claw.read_value(label="Version"), str)
    assert_type(claw.scroll("up"), ScrollOutcome)
    assert_type(claw.scroll_until(text="OK", click=True), ScrollOutcome)
    assert_type(claw.snapshot(), Snapshot)
    assert_type(claw.screenshot(), bytes)
    for page in claw.pages():
        assert_type(page, Snapshot)
    with claw as same:
        assert_type(same, Clawperator)


def nodes_have_many_forms(claw: Clawperator, snapshot: Snapshot) -> None:
    """Every method takes a node in all its forms."""
    claw.click(NodeMatcher.of(text="OK"), within={"id": "com.a:id/list"})
    claw.click(snapshot.find(text="OK"))
    assert_type(snapshot.find(text="OK"), Node)
    assert_type("OK" in snapshot, bool)
    claw.timout = 30  # type: ignore[attr-defined]
    claw.device.airplanemode = True  # type: ignore[attr-defined]
    claw.click(claw.node(text="OK"), within=snapshot.find_all(id="row")[0])
    claw.scroll(within=claw.node(id="list"))
    claw.read_value(claw.node(text="Version"))
    claw.click(txt="OK")  # type: ignore[call-arg]
    claw.click(text=5)  # type: ignore[arg-type]
    claw.click("OK")  # type: ignore[arg-type]
    claw.press_key("enter")  # type: ignore[arg-type]
    claw.scroll("sideways")  # type: ignore[arg-type]


def locators_chain(claw: Clawperator) -> None:
    """Locators lead to locators, nodes and values."""
    row = claw.node(id="row", has=claw.node(text="A"))
    assert_type(row.node(text="Delete").nth(1), Locator)
    assert_type(row.wait(timeout=1), Locator)
    assert_type(row.read(), str)
    assert_type(row.all(), list[Node])
    assert_type(row.exists(), bool)
    assert_type(row.count(), int)
    assert_type(row.bounds(), Bounds)
    assert_type(row.scroll_into_view(), ScrollOutcome)


def batches_have_values_later(claw: Clawperator) -> None:
    """Values of a batch have the types that the client returns."""
    with claw.batch() as b:
        assert_type(b, Batch)
        text = b.read_text(id="total")
        click = b.click(text="OK")
        picture = b.screenshot()
        texts = b.read_all_text(id="row")
        screen = b.snapshot()
        scrolled = b.scroll("up")
        b.click("OK")  # type: ignore[arg-type]
    assert_type(text, BatchStep[str])
    assert_type(text.value, str)
    assert_type(text.result, RunStep)
    assert_type(click.value, RunStep)
    assert_type(picture.value, bytes)
    assert_type(texts.value, list[str])
    assert_type(screen.value, Snapshot)
    assert_type(scrolled.value, ScrollOutcome)


def patterns_and_gestures(claw: Clawperator, snapshot: Snapshot) -> None:
    """Patterns are accepted like texts, as far as a snapshot can be searched for them."""
    claw.click(text=re.compile("^A"), id=re.compile("b$"))
    claw.read_value(re.compile("Total"))
    snapshot.find_all(desc=re.compile("c"))
    claw.click(text_contains=re.compile("A"))  # type: ignore[arg-type]  # text= does that
    claw.node(text="A").drag_to(claw.node(text="B"), duration=2)
    claw.node(text="A").drag_to((1, 2))
    claw.node(text="A").swipe("left", distance_ratio=0.5)
    claw.node(text="A").swipe("sideways")  # type: ignore[arg-type]  # one of four
    assert_type(claw.device.toasts(), list[str])


def names_of_other_tools(claw: Clawperator, snapshot: Snapshot) -> None:
    """Names that a hint at run time explains are still unknown to a type checker."""
    claw.tap(text="OK")  # type: ignore[attr-defined]
    claw(text="OK")  # type: ignore[operator]
    claw.node(text="OK").fill("a")  # type: ignore[attr-defined]
    claw.device.keyevent("enter")  # type: ignore[attr-defined]
    snapshot.find_element(text="OK")  # type: ignore[attr-defined]
    snapshot.root.get_attribute("text")  # type: ignore[attr-defined]
