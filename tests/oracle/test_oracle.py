"""Locators and checks against a second evaluator, on screens that are made by chance.

A failure prints the seed and the case. The long version, of 100,000 comparisons, takes its seed
from the run: ``CLAWPERATOR_SEED=5 make soak`` repeats it.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Page

from tests.oracle import chance, meaning, sides
from tests.oracle.meaning import Description, Screen

SEED = 27
CHECKS_OF_A_LOCATOR = 3
LOCATORS_OF_A_TURN = 500
# Where a check is made: on a device, with matchers that are strict or not, or on a snapshot.
PLACES = ("snapshot", "snapshot", "snapshot", "strict", "first")
# What the page says of patterns that only Python can try.
UNTRIED = "cannot be tried here"
# A node without a text matches no pattern, so nothing asks for that.
TEXTS = list(filter(None, chance.TEXTS))


@dataclass
class Tally:
    """What was compared, and where the two disagree."""

    seed: int
    compared: Counter[str] = field(default_factory=Counter)
    sorts: Counter[tuple[str, bool]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def compare(self, kind: str, case: str, right: object, found: object) -> None:
        """Count a comparison, and keep it if the two differ."""
        self.compared[kind] += 1
        self.sorts[kind, bool(right)] += 1
        if right != found:
            self.wrong.append(f"{kind}: {case}\n  right: {right}\n  found: {found}")

    @property
    def total(self) -> int:
        """How many comparisons there were."""
        return self.compared.total()

    def smaller_part(self, kind: str) -> float:
        """Return which part of a kind found something, or held, or which did not, if less did."""
        return min(self.sorts[kind, True], self.sorts[kind, False]) / self.compared[kind]

    def report(self) -> str:
        """Return the first cases that differ, and the seed that leads to them."""
        return "\n".join([f"seed {self.seed}: {len(self.wrong)} differ", *self.wrong[:5]])


def compare_python(tally: Tally, least: int) -> None:
    """Compare what Python makes of locators and checks, until there were enough of them."""
    random = Random(tally.seed)
    for case in sides.cases(random):
        if tally.total >= least:
            return
        tally.compare("locator", case.about, case.places, case.found())
        by_operator = case.found_by_operator()
        if by_operator is not None:
            tally.compare("operator", case.about, case.places, by_operator)
        for way, right, found in case.answers() if random.random() < 0.3 else ():
            tally.compare("answer", f"{way} of {case.about}", right, found)
        for check in islice(chance.checks(random, case.view), CHECKS_OF_A_LOCATOR):
            where = random.choice(PLACES)
            view = replace(case.view, is_strict=False) if where == "first" else case.view
            right = meaning.holds(view, check.name, *check.given, *dict(check.options).values())
            about = f"{check} on the {where} of {case.about}"
            tally.compare("check", about, right, case.passes(check, where))


def compare_page(engine: Page, tally: Tally, least: int) -> int:
    """Compare what pages make of locators, and their code; return how many only Python can try."""
    stream, untried = sides.cases(Random(tally.seed)), 0
    while tally.total < least:
        several = list(islice(stream, LOCATORS_OF_A_TURN))
        for case, found in zip(several, sides.found_by_page(engine, several), strict=True):
            if isinstance(found, list):
                places, code = found
                tally.compare("page", case.about, case.places, places)
                tally.compare("copy", f"{code}\n  for {case.about}", places, case.found(code))
            elif UNTRIED in found:
                untried += 1
            else:
                tally.compare("page", case.about, case.places, found)
    return untried


def compare_patterns(engine: Page, tally: Tally, count: int) -> None:
    """Compare in which texts the page finds patterns with where Python's re finds them."""
    random = Random(tally.seed)
    sources = [chance.pattern_source(random) for _ in range(count)]
    given = [(source, random.choice(chance.FLAG_SETS)) for source in sources]
    tried = sides.tried_by_page(engine, given, TEXTS)
    for (source, flags), found in zip(given, tried, strict=True):
        pattern = chance.compiled(source, flags)
        if pattern is None:
            tally.compare("wrong pattern", repr(source), True, isinstance(found, str))
        elif isinstance(found, list) or UNTRIED not in found:
            right = [pattern.search(text) is not None for text in TEXTS]
            tally.compare("pattern", f"{source!r} {flags!r}", right, found)


def check_python(seed: int, least: int) -> None:
    """Compare as much as this in Python, and see that it was about something."""
    tally = Tally(seed)
    compare_python(tally, least)

    assert not tally.wrong, tally.report()
    assert min(tally.smaller_part("locator"), tally.smaller_part("check")) > 0.2
    assert tally.compared["operator"] > 0.01 * least


def check_page(engine: Page, seed: int, least: int) -> None:
    """Compare as much as this on a page, and see that it was about something."""
    tally = Tally(seed)
    compare_patterns(engine, tally, least // 4)
    untried = compare_page(engine, tally, least)

    assert not tally.wrong, tally.report()
    assert tally.smaller_part("page") > 0.2
    assert untried < 0.1 * tally.compared["page"]
    assert min(tally.compared["pattern"], tally.compared["wrong pattern"]) > 0.02 * least


@pytest.fixture(scope="module")
def engine(browser: Browser) -> Iterator[Page]:
    """Open a page that knows screens and locators."""
    with browser.new_context() as context:
        page = context.new_page()
        sides.load_engine(page)
        yield page


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
        imported = re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
        assert set(imported) - sys.stdlib_module_names <= {"tests"}
        assert set(re.findall(r"^from tests\.(\w+)", source, re.MULTILINE)) <= {"oracle"}


def test_a_disagreement_is_reported_with_its_seed() -> None:
    """A tally counts what is compared, and shows the seed and the case of what differs."""
    tally = Tally(5)
    tally.compare("locator", "claw.node(id='a')", [1], [1])
    tally.compare("page", "claw.node(id='b')", [], [2])

    assert tally.total == 2
    assert tally.report() == "seed 5: 1 differ\npage: claw.node(id='b')\n  right: []\n  found: [2]"


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
