"""Matchers on pages find what they find in Python: the same cases run through both."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from pytest_clawperator.errors import ConfigurationError
from pytest_clawperator.report import page as page_module
from pytest_clawperator.report.contents import tree_data
from pytest_clawperator.report.page import join_modules
from pytest_clawperator.snapshot.tree import Snapshot
from tests.report.matching_cases import FILE, odd_screens, places
from tests.snapshot.screens import node, screen

FILES = Path(page_module.__file__).parent / "files"

# The modules as a page has them, for tests that call them.
ENGINE = """
globalThis.engine = {
  Tree, findAll, roleOf, folded, readMatcher, keywordsOf, quoted, suggestMatchers, isBlank,
};
"""


@cache
def cases() -> dict[str, Any]:
    """Read the cases."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


@cache
def snapshot(name: str) -> Snapshot:
    """Read a screen of the cases."""
    return Snapshot.from_xml(cases()["screens"][name])


@pytest.fixture(scope="module")
def engine(browser: Browser) -> Iterator[Page]:
    """Load the modules about screens into an empty page."""
    with browser.new_context() as context:
        page = context.new_page()
        page.add_script_tag(content=join_modules(FILES, "screen/suggesting.js") + ENGINE)
        page.evaluate(
            "(screens) => { globalThis.trees = new Map(screens.map(([name, data]) => "
            "[name, new engine.Tree(data)])); }",
            [[name, tree_data(snapshot(name))] for name in cases()["screens"]],
        )
        yield page


def test_there_are_cases_of_all_kinds() -> None:
    """Many cases find one node, many find none, and some find several."""
    counts = [len(one["places"]) for one in cases()["cases"]]
    keywords = {keyword for one in cases()["cases"] for keyword in one["matcher"]}

    assert min(counts.count(0), counts.count(1), sum(count > 1 for count in counts)) > 150
    assert keywords == {"text", "text_contains", "id", "desc", "desc_contains", "role"}
    assert odd_screens().items() <= cases()["screens"].items()


def test_python_finds_what_the_cases_say() -> None:
    """The answers in the file are those of the snapshot's own search."""
    wrong = [
        one
        for one in cases()["cases"]
        if places(snapshot(one["screen"]), one["matcher"]) != one["places"]
    ]

    assert wrong == []


def test_the_page_finds_what_the_cases_say(engine: Page) -> None:
    """The script finds the same nodes in the same order."""
    wrong = engine.evaluate(
        """(cases) => cases.flatMap(({ screen, matcher, places }) => {
          const found = engine.findAll(trees.get(screen), matcher).map((node) => node.place);
          return String(found) === String(places) ? [] : [{ screen, matcher, places, found }];
        })""",
        cases()["cases"],
    )

    assert wrong == []


def test_the_page_tells_the_same_of_each_node(engine: Page) -> None:
    """Labels, roles, and whether it is on the screen."""
    for name in cases()["screens"]:
        told = engine.evaluate(
            "(name) => trees.get(name).nodes.map((n) => [n.label, engine.roleOf(n), n.isOnScreen, "
            "n.shortId])",
            name,
        )

        nodes = snapshot(name).nodes
        assert told == [[one.label, one.role, one.is_on_screen, one.short_id] for one in nodes]


def test_every_character_is_folded_alike(engine: Page) -> None:
    """Wherever both know a character, its case makes the same difference."""
    from pytest_clawperator.snapshot.query import folded

    characters = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    theirs = engine.evaluate("(all) => all.map(engine.folded)", characters)

    differing = [one for one, other in zip(characters, theirs, strict=True) if folded(one) != other]
    # Python and the browser come with different versions of Unicode, which adds a few letters.
    assert len(differing) <= 60, differing
    assert [one for one in differing if ord(one) < 0x1C80] == []


def test_white_space_means_the_same(engine: Page) -> None:
    """A text is blank on the page exactly where Python calls it so."""
    characters = [chr(code) for code in range(0xD800)]

    theirs = engine.evaluate("(all) => all.map(engine.isBlank)", characters)

    assert theirs == [one.isspace() for one in characters]


@pytest.mark.parametrize(
    ("typed", "keywords"),
    [
        ('text="Go"', {"text": "Go"}),
        ("text='Go', role='button'", {"text": "Go", "role": "button"}),
        ("id=ok", {"id": "ok"}),
        ('clawperator.click(id="ok", text_contains="a, b")', {"id": "ok", "text_contains": "a, b"}),
        ('claw.node(desc="Sea\\u0072ch")', {"desc": "Search"}),
        (r'text="say \"hi\"\n"', {"text": 'say "hi"\n'}),
        (r"""text='it\'s \x41 \U0001f600'""", {"text": "it's A \U0001f600"}),
        (r'text=r"back\slash"', {"text": "back\\slash"}),
        ("Sign in", {"text_contains": "Sign in"}),
        ('"Sign in"', {"text_contains": "Sign in"}),
        ('text="still typ', {"text": "still typ"}),
        ('desc_contains="x",', {"desc_contains": "x"}),
    ],
)
def test_matchers_are_read_as_people_type_them(
    engine: Page, typed: str, keywords: dict[str, str]
) -> None:
    """Python's strings, calls copied from a test, and plain words are understood."""
    assert engine.evaluate("(typed) => engine.readMatcher(typed).matcher", typed) == keywords


PATTERNS = [
    r"^Incr", r"\w+$", r"(?P<a>.)(?P=a)", r"[^\W\d_]{2,}", r"\bin\b", r"\d+", r"[]\[-]", r"a{,2}b?",
    r"\Aa", r"e\Z", r"x{}|{", r"[\w.-]+@\S+", r"(?:on|off)(?!\w)", r"(?<=\$)\d", r".", r"\.",
    r"\ |\-|\"", r"é|א", r"[ -\-]", r"[&&!]|[a-]$", r"\W", r"\u0041|\x42", r"^\s", r"[\s\S]{30}",
]  # fmt: skip


@pytest.mark.parametrize("flags", ["", "re.IGNORECASE", "re.I | re.DOTALL", "re.M"])
def test_patterns_find_what_python_finds(engine: Page, flags: str) -> None:
    """A regular expression typed into the box means what it means to Python's re."""
    differing = []
    for pattern, keyword in itertools.product(PATTERNS, ("text", "id", "desc")):
        compiled = re.compile(pattern, eval(flags) if flags else 0)
        typed = f"{keyword}=re.compile({pattern!r}{f', {flags}' if flags else ''})"
        for name in cases()["screens"]:
            found = engine.evaluate(
                "([name, typed]) => engine.findAll(trees.get(name), engine.readMatcher(typed)"
                ".matcher).map((node) => node.place)",
                [name, typed],
            )
            # The keyword is any of those that take a pattern.
            expected = snapshot(name).find_all(**{keyword: compiled})  # type: ignore[arg-type]
            order = {one: place for place, one in enumerate(snapshot(name).nodes)}
            if found != [order[one] for one in expected]:
                differing.append((name, typed, found, [order[one] for one in expected]))

    assert differing == []


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ('txt="Go"', "Nodes are not matched by txt="),
        ('text="a", text="b"', "text= is there twice"),
        ('text="a" and more', "A keyword such as text="),
        ('text=""', "still empty"),
        ('text="Go", desc="\u3000"', "desc= must not be blank"),
        (f'text="{"x" * 513}"', "512 characters"),
        ('text_contains=re.compile("a")', "text_contains= takes no pattern"),
        ('text=re.compile("(?i)a")', "cannot be tried here"),
        ('text=re.compile("a", re.VERBOSE)', "re.VERBOSE cannot be tried here"),
        ('text=re.compile("a(")', "The pattern"),
        ('text=re.compile("a"', "should end with a bracket"),
    ],
)
def test_what_is_no_matcher_is_told(engine: Page, typed: str, told: str) -> None:
    """The box says what is wrong."""
    assert told in engine.evaluate("(typed) => engine.readMatcher(typed).problem", typed)


def test_an_unknown_role_is_told_with_those_that_begin_so(engine: Page) -> None:
    """It finds nothing, as in Python, where a misspelt one is an error."""
    read = engine.evaluate("""engine.readMatcher('role="butt"')""")

    assert read == {"matcher": {"role": "butt"}, "note": "role button?"}
    with pytest.raises(ConfigurationError, match="no role"):
        snapshot("roles").find(role="butt")


@pytest.mark.parametrize("text", ['"', "\\", "a\nb\tc", "\u202e\u200b", "\0\x1b", "é\U0001f600"])
def test_code_that_is_copied_means_the_same_text(engine: Page, text: str) -> None:
    """A string of the page is one of Python, and shows what could mislead."""
    code = engine.evaluate("engine.quoted", text)

    assert eval(code) == text
    assert code.isprintable()
    assert (
        engine.evaluate("(code) => engine.readMatcher(`text=${code}`).matcher.text", code) == text
    )


def test_a_pattern_is_copied_as_it_was_typed(engine: Page) -> None:
    """With its flags, in the way of Python."""
    typed = r"""claw.node(id=re.compile(r"^a\d", I|re.M), role='button')"""

    code = engine.evaluate("(typed) => engine.keywordsOf(engine.readMatcher(typed).matcher)", typed)

    assert code == 'id=re.compile("^a\\\\d", re.I | re.M), role="button"'


def suggestions(engine: Page, looked_at: Snapshot, place: int) -> list[dict[str, Any]]:
    """Return the matchers that the page suggests for a node."""
    found: list[dict[str, Any]] = engine.evaluate(
        "([data, place]) => engine.suggestMatchers(new engine.Tree(data).nodes[place])"
        ".map(({ matcher, code, place, count }) => ({ matcher, code, place, count }))",
        [tree_data(looked_at), place],
    )
    return found


def test_suggested_matchers_find_the_node(engine: Page) -> None:
    """In Python each finds the very node, as the one that it says of as many as it says."""
    for name in cases()["screens"]:
        looked_at = snapshot(name)
        for place, one in enumerate(looked_at.nodes):
            if not one.is_on_screen:
                continue
            for told in suggestions(engine, looked_at, place):
                found = places(looked_at, told["matcher"])
                assert found[told["place"]] == place
                assert len(found) == told["count"]


def test_the_best_matcher_comes_first(engine: Page) -> None:
    """Unique ones before others, one keyword before two, and which one it is where it must be."""
    button = "android.widget.Button"
    looked_at = screen(
        node(text="Add", id="a:id/add", cls=button),
        node(text="Add", id="a:id/row", cls=button),
        node(text="Add", id="a:id/row", cls="android.widget.TextView"),
    )

    codes = [one["code"] for one in suggestions(engine, looked_at, 2)]

    assert codes[:2] == [
        'clawperator.node(id="row", role="button")',
        'clawperator.node(id="row").nth(0)',
    ]
    assert suggestions(engine, looked_at, 1)[0]["code"] == 'clawperator.node(id="add")'
