"""Locators and checks, in Python and on pages, against a second evaluator, by chance.

A failure prints the seed and the case. The long version, of 100,000 comparisons, takes its seed
from the run: ``CLAWPERATOR_SEED=5 make soak`` repeats it.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pytest_clawperator.assertions.expect import expect
from pytest_clawperator.client.locator import Locator
from pytest_clawperator.report import page as page_module
from pytest_clawperator.report.contents import tree_data
from pytest_clawperator.report.page import join_modules
from pytest_clawperator.snapshot.tree import Snapshot
from tests.doubles.runner import Phone, client
from tests.oracle import chance, meaning
from tests.oracle.meaning import Description, Screen, View

FILES = Path(page_module.__file__).parent / "files"
SEED = 27
LOCATORS_OF_A_SCREEN = 12
CHECKS_OF_A_LOCATOR = 3
SCREENS_OF_A_TURN = 40
# What the page says of patterns that only Python can try.
UNTRIED = "cannot be tried here"


@dataclass
class Case:
    """A locator on a screen, described for the evaluator, and as code."""

    number: int
    xml: str
    snapshot: Snapshot
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

    def found(self) -> list[int]:
        """Return the nodes that Python finds."""
        order = {node: place for place, node in enumerate(self.snapshot.nodes)}
        return [order[node] for node in self.locator.resolve(self.snapshot)]

    @property
    def locator(self) -> Locator:
        """The locator that the code makes."""
        located = eval(self.code, {"claw": CLAW, "re": re})
        assert isinstance(located, Locator)
        return located

    def passes(self, check: chance.Check) -> bool:
        """Whether a check of the locator passes in Python."""
        try:
            checks = expect(self.snapshot).node(self.locator)
            getattr(checks, check.name)(*check.given, **dict(check.options))
        except AssertionError:
            return False
        return True


CLAW = client(Phone())


@dataclass
class Tally:
    """What was compared, and where the two disagree."""

    seed: int
    compared: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def compare(self, kind: str, case: str, right: object, found: object) -> None:
        """Count a comparison, and keep it if it differs."""
        self.compared[kind] += 1
        self.compared[f"{kind}, {_sort(right)}"] += 1
        if right != found:
            self.wrong.append(f"{kind}: {case}\n  right: {right}\n  found: {found}")

    @property
    def total(self) -> int:
        """How many comparisons there were."""
        return sum(count for kind, count in self.compared.items() if "," not in kind)

    def share(self, kind: str) -> float:
        """Return which part of a kind of comparisons is of this sort, as of ``check, True``."""
        return self.compared[kind] / self.compared[kind.partition(",")[0]]

    def report(self) -> str:
        """Return the first cases that differ, and the seed that leads to them."""
        return "\n".join([f"seed {self.seed}, {len(self.wrong)} differ", *self.wrong[:5]])


def _sort(right: object) -> str:
    return ("some" if right else "none") if isinstance(right, list) else str(right)


def cases(random: Random) -> Iterator[Case]:
    """Yield locators on screens, without end."""
    number = 0
    while True:
        xml = chance.screen_xml(random)
        snapshot, screen = Snapshot.from_xml(xml), Screen.read(xml)
        for _ in range(LOCATORS_OF_A_SCREEN):
            wanted = chance.description(random, screen)
            yield Case(number, xml, snapshot, View(screen, wanted), chance.code(random, wanted))
        number += 1


@pytest.fixture(scope="module")
def engine(browser: Browser) -> Iterator[Page]:
    """Load the modules about screens into an empty page."""
    names = "{ Tree, locate, readLocator, pythonPattern }"
    with browser.new_context() as context:
        page = context.new_page()
        script = join_modules(FILES, "screen/suggesting.js")
        page.add_script_tag(content=f"{script}\nglobalThis.engine = {names};")
        yield page


def found_by_page(engine: Page, several: list[Case]) -> list[Any]:
    """Return for each locator what the page finds, or why it does not try."""
    numbers = sorted({case.number for case in several})
    trees = {case.number: tree_data(case.snapshot) for case in several}
    found: list[Any] = engine.evaluate(
        """([trees, cases]) => {
          const made = trees.map((data) => new engine.Tree(data));
          return cases.map(([tree, code]) => {
            const read = engine.readLocator(code);
            return read.problem ?? engine.locate(made[tree], read.locator).map((one) => one.place);
          });
        }""",
        [
            [trees[number] for number in numbers],
            [[numbers.index(case.number), case.code] for case in several],
        ],
    )
    return found


def compare_python(tally: Tally, least: int) -> None:
    """Compare locators and checks with what Python makes of them, until there were enough."""
    random = Random(tally.seed)
    for case in cases(random):
        if tally.total >= least:
            return
        tally.compare("python", case.about, case.places, case.found())
        for check in islice(chance.checks(random, case.view), CHECKS_OF_A_LOCATOR):
            values = (*check.given, *dict(check.options).values())
            right = meaning.holds(case.view, check.name, *values)
            tally.compare("check", f"{check} of {case.about}", right, case.passes(check))


def compare_page(engine: Page, tally: Tally, least: int) -> None:
    """Compare locators with what the page makes of them, until there were enough."""
    stream = cases(Random(tally.seed))
    while tally.total < least:
        several = list(islice(stream, LOCATORS_OF_A_SCREEN * SCREENS_OF_A_TURN))
        for case, found in zip(several, found_by_page(engine, several), strict=True):
            if isinstance(found, list) or UNTRIED not in found:
                tally.compare("page", case.about, case.places, found)
            else:
                tally.compared["untried,"] += 1


def compare_patterns(engine: Page, tally: Tally, count: int) -> None:
    """Compare patterns on texts with what Python's re says."""
    random = Random(tally.seed)
    sources = [chance.pattern_source(random) for _ in range(count)]
    given = [(source, random.choice(chance.FLAG_SETS)) for source in sources]
    for (source, flags), found in zip(given, tried_by_page(engine, given), strict=True):
        pattern = chance.compiled(source, flags)
        if pattern is None:
            tally.compare("wrong pattern", repr(source), True, isinstance(found, str))
        elif isinstance(found, list) or UNTRIED not in found:
            right = [pattern.search(text) is not None for text in chance.TEXTS]
            tally.compare("pattern", f"{source!r} {flags!r}", right, found)


def tried_by_page(engine: Page, given: list[tuple[str, int]]) -> list[Any]:
    """Return for each pattern in which of the texts the page finds it, or why it is refused."""
    found: list[Any] = engine.evaluate(
        """([given, texts]) => given.map(([source, flags]) => {
          try {
            const regex = engine.pythonPattern(source, flags);
            return texts.map((text) => regex.test(text));
          } catch (error) {
            return error.message;
          }
        })""",
        [
            [[source, [n for n in "IMS" if flags & getattr(re, n)]] for source, flags in given],
            chance.TEXTS,
        ],
    )
    return found


def check_python(seed: int, least: int) -> None:
    """Compare as much as this in Python, and see that it was about something."""
    tally = Tally(seed)
    compare_python(tally, least)

    assert tally.wrong == [], tally.report()
    for kind in ("python, some", "python, none", "check, True", "check, False"):
        assert tally.share(kind) > 0.25, kind


def check_page(engine: Page, seed: int, least: int) -> None:
    """Compare as much as this on a page, and see that it was about something."""
    tally = Tally(seed)
    compare_patterns(engine, tally, least // 4)
    compare_page(engine, tally, least)

    assert tally.wrong == [], tally.report()
    assert min(tally.share("page, some"), tally.share("page, none")) > 0.25
    assert tally.compared["untried,"] < 0.1 * tally.compared["page"]
    assert min(tally.compared["pattern"], tally.compared["wrong pattern"]) > 0.01 * least


def test_locators_and_checks_mean_what_the_documents_say() -> None:
    """In 2,000 comparisons the package and the second evaluator agree."""
    check_python(SEED, 2_000)


def test_locators_mean_the_same_on_a_page(engine: Page) -> None:
    """In 2,000 comparisons pages and the second evaluator agree, and patterns and Python's re."""
    check_page(engine, SEED, 2_000)


@pytest.mark.soak
def test_they_agree_a_hundred_thousand_times() -> None:
    """In a long run there are 100,000 comparisons, others each time."""
    check_python(int(os.environ["CLAWPERATOR_SEED"]), 100_000)


@pytest.mark.soak
def test_they_agree_a_hundred_thousand_times_on_a_page(engine: Page) -> None:
    """In a long run there are as many on a page."""
    check_page(engine, int(os.environ["CLAWPERATOR_SEED"]), 100_000)


def test_the_evaluator_shares_nothing_with_the_package() -> None:
    """A second opinion is of its own making: it imports Python's own modules, and itself."""
    for module in (meaning, chance):
        assert module.__file__ is not None
        source = Path(module.__file__).read_text(encoding="utf-8")
        imported = {
            name.split(".")[0] for name in re.findall(r"^(?:from|import) (\S+)", source, re.M)
        }
        assert imported - sys.stdlib_module_names <= {"tests"}
        assert re.findall(r"tests\.(\w+)", source) in ([], ["oracle", "oracle"])


def test_a_disagreement_is_reported_with_its_seed() -> None:
    """A tally counts what is compared, and shows the seed and the case of what differs."""
    tally = Tally(5)
    tally.compare("python", "claw.node(id='a')", [1], [1])
    tally.compare("page", "claw.node(id='b')", [], [2])

    assert tally.total == 2
    assert tally.report() == (
        "seed 5, 1 differ\npage: claw.node(id='b')\n  right: []\n  found: [2]"
    )


def test_inside_is_any_parent_and_never_the_node_itself() -> None:
    """The evaluator itself is right about what it is for."""
    rows = '<node text="A"/><node text="A"><node text="B"/><node text="A"/></node>'
    screen = Screen.read(f"<hierarchy><node>{rows}</node></hierarchy>")
    row = Description({"text": "A"})

    for wanted, places in (
        (Description({"text": "B"}, around=row), [3]),
        (Description({"text": "A"}, around=row), [4]),
        (Description({"text": "A"}, inside=(row,)), [2]),
        (Description({"text": "B"}, around=Description({"text": "A"}, index=0)), []),
    ):
        assert [one.place for one in meaning.find(screen, wanted)] == places
