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
from pytest_clawperator.snapshot.query import KNOWN_ROLES, folded
from pytest_clawperator.snapshot.tree import Snapshot
from tests.snapshot.screens import hierarchy, node, screen

FILES = Path(page_module.__file__).parent / "files"

# The modules as a page has them, for tests that call them.
ENGINE = """
globalThis.engine = {
  Tree, locate, roleOf, folded, readLocator, codeOf, quoted, suggestMatchers, isBlank,
};
"""

TEXT, IMAGE, BUTTON = (f"android.widget.{name}" for name in ("TextView", "ImageView", "Button"))

LINEAR = "android.widget.LinearLayout"


def odd_screens() -> dict[str, str]:
    """Return screens on which details of the rules matter to two languages."""
    turkish = "İstanbul ISPARTA ıssız Straße ΣΊΣΥΦΟΣ ǅ ﬁn \u1e9e Ω K Å"
    spaces = ["\u00a0", "\u3000 ", "\x1f", "\x85", "\ufeff", "\u200b", "\n\t"]
    return {
        "case": hierarchy(
            *(node(text=word, cls=TEXT) for word in turkish.split()),
            *(node(desc=word.lower(), cls=TEXT) for word in turkish.split()),
        ),
        "windows": "<hierarchy>"
        + node(node(text="12:00"), bounds="[0,0][1080,80]")
        + node(node(text="Send", bounds="[0,1200][1080,1300]"), bounds="[0,0][1080,2400]")
        + node(text="Gone", bounds="[0,0][0,0]")
        + "</hierarchy>",
        "blank": hierarchy(
            *(node(text=one, desc=f"said {place}") for place, one in enumerate(spaces)),
            *(node(text="", desc=one) for one in spaces),
        ),
        "ids": hierarchy(
            *(
                node(id=one, text=one or "none")
                for one in (
                    *("a:id/ok", "b:id/ok", "ok", "x:id/not_ok", "a:id/ok:id/ok", "android:id/"),
                    *("", "__proto__", "a:id/__proto__", "constructor", "a:id/OK"),
                )
            )
        ),
        "roles": hierarchy(
            node(
                node(
                    node(node(node(text="deep", cls=TEXT), cls=LINEAR), cls=LINEAR),
                    node(cls=IMAGE, desc="logo"),
                    node(text="a longer text, with spaces", cls=TEXT),
                    node(text="a-longer-text-without-spaces", cls=TEXT),
                    node(text="\U0001f600 " * 10, cls=TEXT),
                    node(text="\U0001f600 " * 10 + "!", cls=TEXT),
                    cls=LINEAR,
                    clickable=True,
                ),
                node(node(text="Title", cls=TEXT), cls="androidx.appcompat.widget.Toolbar"),
                node(node(text="Home", cls=TEXT), node(cls=IMAGE), id="x:id/BottomBar"),
                node(node(desc="Tab", cls=BUTTON), cls="com.google.TabLayout"),
                *(
                    node(cls=f"android.widget.{name}", text="x")
                    for name in (
                        *("RadioButton", "EditText", "AutoCompleteTextView", "SwitchCompat"),
                        *("CheckBox", "RecyclerView", "ListView", "GridView", "ViewPager2"),
                        *("ImageView", "Chip", "View", "ConstraintLayout", "ImageButton"),
                    )
                ),
                cls=LINEAR,
            )
        ),
        "off the screen": hierarchy(
            node(text="below", bounds="[0,2401][100,2500]"),
            node(text="at the edge", bounds="[0,2400][100,2500]"),
            node(text="left", bounds="[-100,0][-1,50]"),
            node(text="touching", bounds="[-100,0][0,50]"),
            node(text="empty", bounds="[10,10][10,60]"),
            node(text="inside out", bounds="[90,60][10,10]"),
            node(text="nowhere", bounds="somewhere"),
            node(node(text="in hidden", bounds="[0,0][50,50]"), bounds="[0,3000][9,3009]"),
        ),
        "a root without size": hierarchy(node(text="inside")).replace(
            "[0,0][1080,2400]", "[0,0][0,0]"
        ),
        "signs": hierarchy(
            *(
                node(text=one, desc=one)
                for one in (
                    *('"quoted"', "it's", "back\\slash", "<b>&amp;", "a\nb", "tab\there"),
                    *("\U0001f600", "e\u0301", "\u00e9", "אב", "a\u202eb", "  padded  "),
                )
            )
        ),
    }


def matchers_for(snapshot: Snapshot) -> Iterator[dict[str, str]]:
    """Yield matchers by all that nodes have, and by parts of it in another case."""
    for found in snapshot.nodes:
        label, desc = found.label, found.content_desc
        yield from _with_parts("text", "text_contains", label)
        yield from _with_parts("desc", "desc_contains", desc)
        if found.resource_id:
            yield {"id": found.resource_id}
            yield {"id": found.short_id or "/"}
        if label:
            yield {"role": found.role, "text": label}
        if found.resource_id and label:
            yield {"id": found.short_id or "/", "text_contains": label[:512]}
    for role in sorted(KNOWN_ROLES):
        yield {"role": role}
        yield {"role": role.upper(), "text_contains": "e"}


def _with_parts(whole: str, part: str, value: str) -> Iterator[dict[str, str]]:
    if not value:
        return
    yield {whole: value}
    yield {whole: value.upper()}
    yield {part: value.swapcase()}
    yield {part: value[1:5] or value}
    yield {whole: value, part: value.lower()}


@cache
def snapshots() -> dict[str, Snapshot]:
    """Read the odd screens, and some of simulated apps."""
    real = json.loads(Path(__file__).with_name("real_screens.json").read_text(encoding="utf-8"))
    return {name: Snapshot.from_xml(xml) for name, xml in {**real, **odd_screens()}.items()}


def places(snapshot: Snapshot, matcher: dict[str, Any]) -> list[int]:
    """Return which nodes match, as places in the order of the tree."""
    order = {found: place for place, found in enumerate(snapshot.nodes)}
    return [order[found] for found in snapshot.find_all(**matcher)]


@pytest.fixture(scope="module")
def engine(browser: Browser) -> Iterator[Page]:
    """Load the modules about screens, and the screens, into an empty page."""
    with browser.new_context() as context:
        page = context.new_page()
        page.add_script_tag(content=join_modules(FILES, "screen/suggesting.js") + ENGINE)
        page.evaluate(
            "(screens) => { globalThis.trees = new Map(screens.map(([name, data]) => "
            "[name, new engine.Tree(data)])); }",
            [[name, tree_data(snapshot)] for name, snapshot in snapshots().items()],
        )
        yield page


def test_the_page_finds_what_python_finds(engine: Page) -> None:
    """The same nodes in the same order, whether a matcher finds none, one or several."""
    cases = [
        {"screen": name, "matcher": matcher, "places": places(snapshot, matcher)}
        for name, snapshot in snapshots().items()
        for matcher in matchers_for(snapshot)
        if not any(value.isspace() for value in matcher.values())  # which is refused
    ]
    counts: list[int] = [len(case["places"]) for case in cases]
    assert min(counts.count(0), counts.count(1), sum(count > 1 for count in counts)) > 150

    wrong = engine.evaluate(
        """(cases) => cases.flatMap(({ screen, matcher, places }) => {
          const found = engine.locate(trees.get(screen), { matcher }).map((node) => node.place);
          return String(found) === String(places) ? [] : [{ screen, matcher, places, found }];
        })""",
        cases,
    )

    assert wrong == []


def test_nodes_and_characters_mean_the_same(engine: Page) -> None:
    """Labels, roles, white space, and the case of every character that both know."""
    for name, snapshot in snapshots().items():
        found = engine.evaluate(
            "(name) => trees.get(name).nodes.map((n) => [n.label, engine.roleOf(n), n.isOnScreen, "
            "n.shortId])",
            name,
        )
        nodes = snapshot.nodes
        assert found == [[one.label, one.role, one.is_on_screen, one.short_id] for one in nodes]

    characters = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    theirs, blanks = json.loads(
        engine.evaluate(
            """() => {
              const codes = [...Array(0x20000).keys()].filter((c) => c < 0xD800 || c >= 0xE000);
              const all = codes.map((code) => String.fromCodePoint(code));
              const blank = all.filter((one) => one < "\\ud800" && engine.isBlank(one));
              return JSON.stringify([all.map(engine.folded), blank]);
            }"""
        )
    )
    differing = [one for one, other in zip(characters, theirs, strict=True) if folded(one) != other]
    # Python and the browser come with different versions of Unicode, which adds a few letters.
    assert len(differing) <= 60, differing
    assert [one for one in differing if ord(one) < 0x1C80] == []
    assert blanks == [one for one in characters if ord(one) < 0xD800 and one.isspace()]


# What is typed, and the keywords of the matcher that is read.
TYPED = {
    'text="Go"': {"text": "Go"},
    "text='Go', role='button'": {"text": "Go", "role": "button"},
    "id=ok": {"id": "ok"},
    'clawperator.click(id="ok", text_contains="a, b")': {"id": "ok", "text_contains": "a, b"},
    'claw.node(desc="Sea\\u0072ch")': {"desc": "Search"},
    r'text="say \"hi\"\n"': {"text": 'say "hi"\n'},
    r"""text='it\'s \x41 \U0001f600'""": {"text": "it's A \U0001f600"},
    r'text=r"back\slash"': {"text": "back\\slash"},
    "Sign in": {"text_contains": "Sign in"},
    '"Sign in"': {"text_contains": "Sign in"},
    'text="still typ': {"text": "still typ"},
    'desc_contains="x",': {"desc_contains": "x"},
    r'text=r"a\"b"': {"text": r"a\"b"},
    'claw.node(text="still typ': {"text": "still typ"},
    "claw.node(id=ok)": {"id": "ok"},
    'claw.snapshot().find(text="Go")': {"text": "Go"},
    'claw.click("Sign in")': {"text_contains": "Sign in"},
    "Item(3)": {"text_contains": "Item(3)"},
}

# Code as it is typed, and what is read of it, as code again.
LOCATORS = {
    'claw.node(id="row").node(text="Bob")': 'clawperator.node(id="row").node(text="Bob")',
    'text="Bob", within=claw.node(id="row").first': (
        'clawperator.node(id="row").nth(0).node(text="Bob")'
    ),
    'claw.node(id="row", has=claw.node(text="Bob")).last': (
        'clawperator.node(id="row", has=clawperator.node(text="Bob")).nth(-1)'
    ),
    'claw.node(claw.node(id="a", has=claw.node(id="b")), has=claw.node(id="c").nth(1))': (
        'clawperator.node(clawperator.node(id="a", has=clawperator.node(id="b")), '
        'has=clawperator.node(id="c").nth(1))'
    ),
    'claw.click(claw.node(id="a").node(id="b"), within=claw.node(id="c"))': (
        'clawperator.node(id="c").node(id="a").node(id="b")'
    ),
    'expect(claw.node(id="row").node(text="Bob")).to_be_hidden(timeout=3)': (
        'clawperator.node(id="row").node(text="Bob")'
    ),
    'claw.node(id="row").nth(': 'clawperator.node(id="row")',
    'snapshot.within(id="row").find(text="Bob")': 'clawperator.node(id="row").node(text="Bob")',
}

REFUSED = {
    'txt="Go"': "Nodes are not matched by txt=",
    'text="a", text="b"': "text= is there twice",
    'text="a" and more': "A keyword such as text=",
    'text=""': "still empty",
    'text="Go", desc="\u3000"': "desc= must not be blank",
    f'text="{"x" * 513}"': "512 characters",
    'text_contains=re.compile("a")': "text_contains= takes no pattern",
    'text=re.compile("(?i)a")': "cannot be tried here",
    'text=re.compile("a", re.VERBOSE)': "re.VERBOSE cannot be tried here",
    'text=re.compile("a(")': "The pattern",
    'text="Go", id=""': "id= must not be empty",
    'id="go", text_contains=""': "text_contains= must not be empty",
    'claw.node(id="a").first.nth(1)': "one node already",
    'claw.node(claw.node(id="a").first, has=claw.node(id="b"))': "one node already",
    'claw.node(claw.node(id="a"), text="b")': "which is meant",
    "claw.node(text='a', within=rows)": "within= takes a locator",
    'claw.node(has=claw.node(id="a"))': "still empty",
    'claw.node(id="a") == 3': "Code such as .node(...)",
    'text=re.compile("a"': "should end with a bracket",
    'text=re.compile("")': "still empty",
}


def test_matchers_are_read_as_people_type_them(engine: Page) -> None:
    """Python's strings, calls copied from a test, and plain words; else the problem is named."""
    for typed, keywords in TYPED.items():
        found = engine.evaluate("(typed) => engine.readLocator(typed).locator", typed)
        assert found == {"matcher": keywords}, typed
    for typed, code in LOCATORS.items():
        found = engine.evaluate(
            "(typed) => engine.codeOf(engine.readLocator(typed).locator)", typed
        )
        assert found == code, typed
        again = engine.evaluate("(code) => engine.codeOf(engine.readLocator(code).locator)", code)
        assert again == code
    for typed, problem in REFUSED.items():
        found = engine.evaluate("(typed) => engine.readLocator(typed).problem", typed)
        assert problem in found, typed
    # An unknown role finds nothing, as in Python, where a misspelt one is an error.
    read = engine.evaluate("""engine.readLocator('role="butt"')""")
    assert read == {"locator": {"matcher": {"role": "butt"}}, "note": "role button?"}
    # What is not about the node is left out, and that is said.
    read = engine.evaluate("""engine.readLocator('claw.node(id="a").click()')""")
    assert read == {"locator": {"matcher": {"id": "a"}}, "note": "without .click()"}
    with pytest.raises(ConfigurationError, match="no role"):
        snapshots()["roles"].find(role="butt")


def test_what_is_half_typed_never_breaks_the_page(engine: Page) -> None:
    """Every beginning and every end of what people type is read, or refused with a reason."""
    broken = engine.evaluate(
        """(typed) => typed.flatMap((text) => [...Array(text.length + 1).keys()].flatMap((at) =>
          [text.slice(0, at), text.slice(at)].filter((part) => {
            const read = engine.readLocator(part);
            return part.trim() === "" ? read !== null
              : !(read.problem || engine.codeOf(read.locator));
          })))""",
        [*TYPED, *LOCATORS, *REFUSED],
    )

    assert broken == []


PATTERNS = [
    r"^Incr", r"\w+$", r"(?P<a>.)(?P=a)", r"[^\W\d_]{2,}", r"\bin\b", r"\d+", r"[]\[-]", r"a{,2}b?",
    r"\Aa", r"e\Z", r"x{}|{", r"[\w.-]+@\S+", r"(?:on|off)(?!\w)", r"(?<=\$)\d", r".", r"\.",
    r"\ |\-|\"", r"é|א", r"[ -\-]", r"[&!]|[a-]$", r"\W", r"\u0041|\x42", r"^\s", r"[\s\S]{30}",
    r"^$", r"^.$", r"\B", r"(?<!\w)(?!\w)", r"(?<=a|\u00e9)b?$", r"x{,}$", r"[\d\-]", r"(.)\1",
    r"i", r"[a-z]", r"[^a-z]", r"^ı", r"[İ]stan", r"\U0001f600|\a", r"(?:a|b)??$", r"[^\]i]",
]  # fmt: skip

# Python refuses these, too.
WRONG_PATTERNS = [
    r"[a--b]", r"[\w-a]", r"[b-a]", r"(?<n>a)", r"(?<=a+)b", r"(?<=a|bc)", r"(a\1)", r"\1(a)",
    r"\b*", r"^+", r"a{2}{3}", r"(?P<a>x)|(?P<a>y)", r"a)", r"[]", r"\q", r"a{3,2}", r"x**",
]  # fmt: skip

# Python takes these, and means something else than a browser would.
UNTRIED_PATTERNS = [
    r"(a)?\1", r"(?:(a)|b)*\1", r"(a)|\1", r"(?>a)", r"(?i:a)", r"\ud83d", r"(?=a)*", r"\061",
]  # fmt: skip


def test_patterns_find_what_python_finds(engine: Page) -> None:
    """A regular expression typed into the box means what it means to Python's re."""
    cases = []
    for flags in ("", "re.IGNORECASE", "re.I | re.DOTALL", "re.M"):
        for pattern, keyword in itertools.product(PATTERNS, ("text", "id", "desc")):
            if "I" in flags and pattern in (r"(?P<a>.)(?P=a)", r"(.)\1"):
                continue  # which is refused
            compiled = re.compile(pattern, eval(flags) if flags else 0)
            typed = f"{keyword}=re.compile({pattern!r}{f', {flags}' if flags else ''})"
            expected = [places(one, {keyword: compiled}) for one in snapshots().values()]
            cases.append([typed, expected])

    differing = engine.evaluate(
        """(cases) => cases.flatMap(([typed, expected]) => {
          const { locator } = engine.readLocator(typed);
          const found = [...trees.values()].map((tree) =>
            engine.locate(tree, locator).map((node) => node.place));
          return JSON.stringify(found) === JSON.stringify(expected) ? [] : [typed];
        })""",
        cases,
    )

    assert differing == []


@pytest.mark.filterwarnings("ignore:Possible set difference:FutureWarning")
def test_patterns_that_mean_something_else_are_refused(engine: Page) -> None:
    """What Python refuses, and what the two would understand differently."""
    for pattern in WRONG_PATTERNS:
        with pytest.raises(re.error):
            re.compile(pattern)
    typed = [f"text=re.compile({one!r})" for one in (*WRONG_PATTERNS, *UNTRIED_PATTERNS)]
    typed += [r"text=re.compile(r'(.)\1', re.I)", r"text=re.compile('(?P<a>.)(?P=a)', re.I)"]

    taken = engine.evaluate(
        "(typed) => typed.filter((one) => !engine.readLocator(one).problem?.startsWith("
        "'The pattern: '))",
        typed,
    )

    assert taken == []


def test_patterns_ignore_case_as_python_does(engine: Page) -> None:
    """Every letter, alone and in a class that is negated, with all its relatives."""
    turkish = {"\u0130", "\u0131"}
    relatives: dict[str, set[str]] = {one: {"i", *turkish} for one in turkish} | {"i": turkish}
    for one in (chr(code) for code in range(0x1C80) if chr(code).isalpha()):
        for other in {one.lower(), one.upper(), one.casefold()} - {one}:
            if len(other) == 1:
                relatives.setdefault(one, set()).add(other)
                relatives.setdefault(other, set()).add(one)
    cases = []
    for one, others in relatives.items():
        texts = sorted({one, "x", *others, *(far for near in others for far in relatives[near])})
        for pattern in (one, f"[^{one}]"):
            found = [bool(re.search(pattern, text, re.IGNORECASE)) for text in texts]
            cases.append([f"text=re.compile({pattern!r}, re.I)", texts, found])

    differing = engine.evaluate(
        """(cases) => cases.filter(([typed, texts, found]) => {
          const { regex } = engine.readLocator(typed).locator.matcher.text;
          return texts.some((text, place) => regex.test(text) !== found[place]);
        })""",
        cases,
    )

    assert differing == []


def test_code_that_is_copied_means_the_same(engine: Page) -> None:
    """A string of the page is one of Python, and shows what could mislead; so is a pattern."""
    for text in ('"', "\\", "a\nb\tc", "\u202e\u200b", "\0\x1b", "é\U0001f600"):
        code = engine.evaluate("engine.quoted", text)
        assert (eval(code), code.isprintable()) == (text, True)
        read = engine.evaluate("(code) => engine.readLocator(`text=${code}`).locator", code)
        assert read == {"matcher": {"text": text}}
    typed = r"""claw.node(id=re.compile(r"^a\d", I|re.M), role='button')"""
    code = engine.evaluate("(typed) => engine.codeOf(engine.readLocator(typed).locator)", typed)
    assert code == 'clawperator.node(id=re.compile("^a\\\\d", re.I | re.M), role="button")'


SUGGEST = (
    "(tree) => tree.nodes.map((node) => engine.suggestMatchers(node)"
    ".map(({ matcher, code, place, count }) => ({ matcher, code, place, count })))"
)


def test_suggested_matchers_find_the_node(engine: Page) -> None:
    """In Python each finds the very node, at the stated place among the stated number."""
    for name, snapshot in snapshots().items():
        suggested = engine.evaluate(f"(name) => ({SUGGEST})(trees.get(name))", name)
        for place, one in enumerate(snapshot.nodes):
            for matcher in suggested[place] if one.is_on_screen else ():
                found = places(snapshot, matcher["matcher"])
                assert (found[matcher["place"]], len(found)) == (place, matcher["count"])


NESTED = {
    'claw.node(id="row").node(text="Bob")': [5, 9],
    'claw.node(id="row").first.node(text="Bob")': [],
    'claw.node(id="row").node(text="Bob").last': [9],
    'claw.node(id="row").node(id="row")': [7],
    'claw.node(id="row", has=claw.node(text="Bob"))': [3, 6, 7],
    'claw.node(claw.node(id="row", has=claw.node(text="Bob")), has=claw.node(id="row"))': [6],
    'claw.node(id="row", has=claw.node(id="title").nth(1))': [6, 7],
    'claw.node(id="row", has=claw.node(id="row").first)': [6],
    'claw.node(id="row").node(id="title")': [2, 5, 8, 9],
}


def test_inside_means_strictly_inside_any(engine: Page) -> None:
    """Nested locators, within= and has= mean the nodes inside any match, each once."""
    title, row = "a:id/title", "a:id/row"
    looked_at = screen(
        node(node(id=title, text="Ann"), id=row),
        node(node(), node(id=title, text="Bob"), id=row),
        node(node(node(id=title, text="Cid"), node(id=title, text="Bob"), id=row), id=row),
    )

    found = engine.evaluate(
        """([data, typed]) => typed.map((one) =>
          engine.locate(new engine.Tree(data), engine.readLocator(one).locator)
            .map((node) => node.place))""",
        [tree_data(looked_at), list(NESTED)],
    )

    assert dict(zip(NESTED, found, strict=True)) == NESTED


def test_the_best_matcher_comes_first(engine: Page) -> None:
    """Unique ones before others, one keyword before two, and the place if it needs one."""
    looked_at = screen(
        node(text="Add", id="a:id/add", cls=BUTTON),
        node(text="Add", id="a:id/row", cls=BUTTON),
        node(text="Add", id="a:id/row", cls=TEXT),
    )

    suggested = engine.evaluate(
        f"(data) => ({SUGGEST})(new engine.Tree(data))", tree_data(looked_at)
    )

    assert [one["code"] for one in suggested[2][:2]] == [
        'clawperator.node(id="row", role="button")',
        'clawperator.node(id="row").nth(0)',
    ]
    assert suggested[1][0]["code"] == 'clawperator.node(id="add")'
