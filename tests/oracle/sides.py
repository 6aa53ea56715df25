"""The sides that are compared: Python, the page of a test, and the simulated Operator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Page

from pytest_clawperator.assertions.expect import Expect
from pytest_clawperator.client.client import Clawperator
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.report import page as page_module
from pytest_clawperator.report.contents import tree_data
from pytest_clawperator.report.page import join_modules
from pytest_clawperator.simulator.screen.accessibility import Bounds, UiNode, find_all
from pytest_clawperator.snapshot.tree import Node, Snapshot
from tests.doubles.clock import FakeTime
from tests.doubles.runner import Phone, client, first
from tests.oracle import chance
from tests.oracle.meaning import Element, Screen, View

FILES = Path(page_module.__file__).parent / "files"
SIZE = (1080, 2400)
WIRE = {
    "text": "textEquals",
    "text_contains": "textContains",
    "id": "resourceId",
    "desc": "contentDescEquals",
    "desc_contains": "contentDescContains",
    "role": "role",
}
LOCATORS_OF_A_SCREEN = 12

EXPECT = Expect(clock=FakeTime().clock)
EXPECT.set_timeout(0)
EXPECT.configure(linger=0)


@dataclass
class Case:
    """A locator on a screen, described for the evaluator, and as code."""

    number: int
    xml: str
    snapshot: Snapshot
    claws: Mapping[str, Clawperator]
    view: View
    code: str

    @property
    def about(self) -> str:
        """The code, and the screen."""
        return f"{self.code}\n  on {self.xml}"

    @property
    def places(self) -> list[int]:
        """The nodes that it means, by their places in the tree."""
        return [one.place for one in self.view.shown]

    def found(self, code: str | None = None) -> list[int]:
        """Return the nodes that Python finds, by the code or by other code for the same."""
        return self._places(self._locator("strict", code or self.code).resolve(self.snapshot))

    def _places(self, nodes: Sequence[Node]) -> list[int]:
        order = {node: place for place, node in enumerate(self.snapshot.nodes)}
        return [order[node] for node in nodes]

    def answers(self) -> Iterator[tuple[str, object, object]]:
        """Yield other ways to ask for the same, the right answers, and those that Python gives."""
        locator, wanted, snapshot = (
            self._locator("strict", self.code),
            self.view.wanted,
            self.snapshot,
        )
        yield "exists()", bool(self.places), locator.exists()
        yield "count()", len(self.places), locator.count()
        keywords: Any = wanted.keywords
        if wanted.is_flat:
            anywhere = [one.place for one in self.view.anywhere]
            found = snapshot.find_all(**keywords, on_screen=False)
            yield "snapshot.find_all(on_screen=False)", anywhere, self._places(found)
            yield "snapshot.find_all()", self.places, self._places(snapshot.find_all(**keywords))
        if replace(wanted, around=None).is_flat and wanted.around and wanted.around.is_flat:
            around: Any = wanted.around.keywords
            found = snapshot.within(**around).find_all(**keywords)
            yield "snapshot.within()", self.places, self._places(found)

    def found_by_operator(self) -> list[int] | None:
        """Return the nodes that the simulated Operator finds; None if it cannot be asked."""
        wanted, elements = self.view.wanted, self.view.screen.elements
        whole_id = ":id/" in str(wanted.keywords.get("id", ":id/"))
        has_pattern = any(isinstance(value, re.Pattern) for value in wanted.keywords.values())
        is_usual = elements[0].box == (0, 0, *SIZE) and all(
            one.box and (one.parent or one is elements[0]) for one in elements
        )
        if not wanted.is_flat or has_pattern or not is_usual or not whole_id:
            return None
        matcher = {WIRE[word]: str(value) for word, value in wanted.keywords.items()}
        root = _simulated(elements[0])
        order = {node: place for place, node in enumerate(root.walk())}
        return [order[node] for node in find_all(root, matcher, SIZE)]

    def passes(self, check: chance.Check, where: str) -> bool:
        """Whether a check of the locator passes: on the snapshot, or on a device."""
        if where == "snapshot":
            checks = EXPECT(self.snapshot).node(self._locator("strict", self.code))
        else:
            checks = EXPECT(self._locator(where, self.code))
        try:
            getattr(checks, check.name)(*check.given, **dict(check.options))
        except AssertionError:
            return False
        return True

    def _locator(self, kind: str, code: str) -> Locator:
        claw = self.claws[kind]
        located = eval(code, {"claw": claw, "clawperator": claw, "re": re})
        assert isinstance(located, Locator)
        return located


def cases(random: Random) -> Iterator[Case]:
    """Yield locators on screens, without end."""
    number = 0
    while True:
        xml = chance.screen_xml(random)
        snapshot, screen = Snapshot.from_xml(xml), Screen.read(xml)
        claws = {"strict": client(Phone(xml)), "first": first(Phone(xml))}
        for _ in range(LOCATORS_OF_A_SCREEN):
            wanted = chance.description(random, screen)
            code = chance.code(random, wanted)
            yield Case(number, xml, snapshot, claws, View(screen, wanted), code)
        number += 1


def _simulated(element: Element) -> UiNode:
    """Return the node as the simulated Operator has it, with what is inside it."""
    corners = map(int, re.findall(r"-?\d+", element.get("bounds")))
    node = UiNode(
        element.get("class"),
        "com.example",
        Bounds(*corners),
        text=element.get("text"),
        content_desc=element.get("content-desc"),
        resource_id=element.get("resource-id"),
        clickable=element.is_("clickable"),
    )
    for child in element.children:
        node.add(_simulated(child))
    return node


# The page


def load_engine(page: Page) -> None:
    """Load the modules about screens into an empty page."""
    script = join_modules(FILES, "screen/suggesting.js")
    names = "{ Tree, locate, readLocator, codeOf, pythonPattern }"
    page.add_script_tag(content=f"{script}\nglobalThis.engine = {names};")


def found_by_page(engine: Page, several: Sequence[Case]) -> list[Any]:
    """Return for each locator what the page finds and its code to copy, or why it is refused."""
    trees = {case.number: tree_data(case.snapshot) for case in several}
    found: list[Any] = engine.evaluate(
        """([trees, cases]) => {
          const made = new Map(trees.map(([number, data]) => [number, new engine.Tree(data)]));
          return cases.map(([number, code]) => {
            const read = engine.readLocator(code);
            if (read.problem !== undefined) return read.problem;
            const found = engine.locate(made.get(number), read.locator);
            return [found.map((node) => node.place), engine.codeOf(read.locator)];
          });
        }""",
        [list(trees.items()), [[case.number, case.code] for case in several]],
    )
    return found


def tried_by_page(
    engine: Page, given: Sequence[tuple[str, int]], texts: Sequence[str]
) -> list[Any]:
    """Return for each pattern in which of the texts the page finds it, or why it is refused."""
    named = [[source, [n for n in "IMS" if flags & getattr(re, n)]] for source, flags in given]
    found: list[Any] = engine.evaluate(
        """([given, texts]) => given.map(([source, flags]) => {
          try {
            const regex = engine.pythonPattern(source, flags);
            return texts.map((text) => regex.test(text));
          } catch (error) {
            return error.message;
          }
        })""",
        [named, texts],
    )
    return found
