"""Golden screens: written, read, compared, and shown as a diff."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from xml.sax.saxutils import quoteattr

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.contracts.matchers import NodeMatcher
from pytest_clawperator.errors import ConfigurationError, ErrorCode
from pytest_clawperator.redaction import SECRETS
from pytest_clawperator.snapshot.golden import ANYTHING, ROLES, Golden, Item, Line, parse, render
from pytest_clawperator.snapshot.golden_diff import Alignment, compare, subtree_ends
from pytest_clawperator.snapshot.tree import Snapshot

FRAME = "android.widget.FrameLayout"
TEXT = "android.widget.TextView"


def node(kind: str, text: str = "", *inside: str, **attributes: str) -> str:
    """Write a node as a phone does; keywords are further attributes."""
    given = {"text": text, "class": kind, "bounds": "[0,0][100,100]"}
    given |= {name.replace("_", "-"): value for name, value in attributes.items()}
    written = " ".join(f"{name}={quoteattr(value)}" for name, value in given.items())
    return f"<node {written}>{''.join(inside)}</node>"


def screen(*nodes: str) -> Snapshot:
    """Make a snapshot of nodes in a frame."""
    return Snapshot.from_xml(f'<hierarchy rotation="0">{node(FRAME, "", *nodes)}</hierarchy>')


def texts(*names: str) -> Snapshot:
    """Make a snapshot of texts."""
    return screen(*(node(TEXT, name) for name in names))


def difference(golden: str, snapshot: Snapshot, *, exact: bool = False) -> str | None:
    """Compare, and give the diff as text."""
    found = compare(parse(golden), snapshot, exact=exact)
    return None if found is None else str(found)


SETTINGS = screen(
    node("androidx.appcompat.widget.Toolbar", "", node(TEXT, "Settings")),
    node(
        "androidx.recyclerview.widget.RecyclerView",
        "",
        node(FRAME, "", node(TEXT, "Wi-Fi"), node("android.widget.Switch", checkable="true")),
        node(FRAME, "", node(TEXT, "Version 16")),
    ),
    node("android.widget.Button", "OK", enabled="false"),
)
WRITTEN = """\
- toolbar:
  - title "Settings"
- list:
  - text "Wi-Fi"
  - switch [checked=false]
  - text "Version 16"
- button "OK" [disabled]
"""


class TestRendering:
    """A screen is written down as people read it."""

    def test_a_screen_is_written_without_mere_layout(self) -> None:
        """Off-screen and ignored nodes are left out with their content; states that hold stay."""
        hidden = node(TEXT, "hidden", node(TEXT, "inside"), bounds="[0,0][0,0]")
        on = {"checkable": "true", "checked": "true", "selected": "true", "focused": "true"}

        assert render(SETTINGS) == WRITTEN
        assert render(screen(hidden, node(TEXT, "shown"))) == '- text "shown"\n'
        for matcher in (NodeMatcher.of(role="list"), {"role": "list"}):
            written = render(SETTINGS, ignore=[matcher, {"text": "OK"}])
            assert written == '- toolbar:\n  - title "Settings"\n'
        assert render(screen(node(TEXT, "a", **on), node(TEXT, "b", checkable="true"))) == (
            '- text "a" [checked] [selected]\n- text "b" [checked=false]\n'
        )
        assert render(screen(node(FRAME))) == ""

    def test_secrets_are_compared_as_they_are(self) -> None:
        """Nothing else stands for a secret, and two secrets are two texts."""
        SECRETS.add("hunter2")
        SECRETS.add("swordfish")
        shown = texts("It is hunter2")

        assert compare(parse(render(shown)), shown) is None
        assert compare(parse('- text "It is [***]"'), shown) is not None
        assert compare(parse('- text "It is swordfish"'), shown) is not None
        assert shown != texts("It is swordfish")

    def test_screens_without_texts_are_compared_as_they_are(self) -> None:
        """Nothing is left of their layout that could differ."""
        one, same, other = (screen(node(FRAME, resource_id=name)) for name in "aab")

        assert one == same
        assert one != other

    @pytest.mark.parametrize(
        ("name", "written"),
        [
            ("a\nb\tc", r'- text "a\nb\tc"'),
            ('say "hi" \\o/', r'- text "say \"hi\" \\o/"'),
            ("non\u00a0breaking \u202etfel", r'- text "non\u00a0breaking \u202etfel"'),
            ("Größe 😀", '- text "Größe 😀"'),
            ("half \ud83d", r'- text "half \ud83d"'),
            ("key: value", """- 'text "key: value"'"""),
            ("it's #1 #2", """- 'text "it''s #1 #2"'"""),
            ("ends:", '- text "ends:"'),
        ],
    )
    def test_a_line_with_an_odd_name_is_yaml_and_read_back(self, name: str, written: str) -> None:
        """Whatever a name holds, its line is one line, is YAML, and is read as what it was."""
        snapshot = texts(name)

        golden = render(snapshot)

        assert golden == f"{written}\n"
        assert isinstance(yaml.safe_load(golden)[0], str)
        assert parse(golden).lines[0].name == name
        assert compare(parse(golden), snapshot, exact=True) is None

    def test_an_endless_nesting_is_written_flat(self) -> None:
        """A screen nested without end is written down flat from some depth on."""
        tower = node(TEXT, "top")
        for _ in range(1500):
            tower = f'<node text="x" class="{TEXT}" bounds="[0,0][9,9]">{tower}</node>'
        snapshot = screen(tower)

        golden = render(snapshot)

        assert golden.count("\n") == 1501
        assert compare(parse(golden), snapshot, exact=True) is None

    def test_every_role_can_be_read(self) -> None:
        """Whatever kind a node is of, the line that is written for it can be read."""
        kinds = [
            *("Button", "EditText", "AutoCompleteTextView", "Switch", "CheckBox", "RadioButton"),
            *("RecyclerView", "ListView", "GridView", "Toolbar", "TabLayout", "ImageView", "Chip"),
            *("BottomNavigationView", "ViewPager", "LinearLayout", "TextView", "View", "Spinner"),
            *("ToggleButton", "SeekBar", "ProgressBar", "CardView"),
        ]
        tabs = node("TabLayout", "", node(TEXT, "tab"))
        bar = node("Toolbar", "", node(TEXT, "title"))
        pressed = node("ImageView", "icon", clickable="true")
        snapshot = screen(*(node(kind, kind) for kind in kinds), tabs, bar, pressed)

        lines = parse(render(snapshot)).lines

        assert {line.role for line in lines} == set(ROLES) - {"unknown"}


class TestPartial:
    """Every line must be found, in this order, inside the line that it lies below."""

    def test_a_golden_need_not_mention_everything(self) -> None:
        """Lines may be left out; case, order, nesting, number and states of the others count."""
        for golden in (
            WRITTEN,
            '- text "Wi-Fi"',
            '- title "Settings"\n- switch\n- button "OK"',
            '- list:\n  - text "Version 16"',
            "- list:\n  - text /Version \\d+/",
            "- text /^version/i",
            "- text",
            "- switch [checked=false]",
            "- button [disabled] [selected=false]",
            "- toolbar\n- ...\n- button",
            "# a comment\n\n- toolbar:  # another\n    - title\r\n",
        ):
            assert difference(golden, SETTINGS) is None, golden
        for golden in (
            '- text "wi-fi"',
            '- text "Version"',
            '- button "Wi-Fi"',
            "- text /^Fi/",
            "- switch [checked]",
            "- button [disabled=false]",
            '- text "Version 16"\n- text "Wi-Fi"',
            '- toolbar:\n  - text "Wi-Fi"',
            "- switch\n- switch",
            '- text "Wi-Fi":\n  - switch',
        ):
            assert difference(golden, SETTINGS) is not None, golden

    def test_focus_counts_if_it_is_asked_for(self) -> None:
        """Focus is compared if the golden mentions it; ignored nodes are not found."""
        b = node(TEXT, "b", focusable="true")
        snapshot = screen(node(TEXT, "a", focused="true"), b)

        assert difference('- text "a" [focused]\n- text "b" [focused=false]', snapshot) is None
        assert difference('- text "b" [focused]', snapshot) is not None
        assert compare(parse('- text "a"'), snapshot, ignore=[{"text": "a"}]) is not None

    def test_a_state_that_a_node_cannot_be_in_is_not_matched(self) -> None:
        """What cannot be checked is not unchecked either; the difference says so."""
        snapshot = screen(node(TEXT, "Version"))

        for state, able in (("checked", "checkable"), ("focused", "focusable")):
            golden = f'- text "Version" [{state}=false]'
            assert difference(golden, screen(node(TEXT, "Version", **{able: "true"}))) is None
            for exact in (False, True):
                found = difference(golden, snapshot, exact=exact)
                assert found is not None
                assert f'+ - text "Version"  # cannot be {state}' in found
        assert difference('- text "Version" [selected=false] [disabled=false]', snapshot) is None


class TestExact:
    """With ``exact`` nothing else may be there."""

    def test_a_full_golden_and_dots_fit(self) -> None:
        """Dots stand for anything; a state that does not hold, and focus, need no mention."""
        for golden in (
            WRITTEN,
            WRITTEN.replace('"Version 16"', r"/Version \d+/"),
            WRITTEN.replace(" [checked=false]", ""),
            "- toolbar:\n  - ...\n- ...",
            '- ...\n- list:\n  - ...\n  - text "Version 16"\n- ...\n- button /K/ [disabled]\n- ...',
        ):
            assert difference(golden, SETTINGS, exact=True) is None, golden
        focused = screen(node(TEXT, "a", focused="true"))
        assert difference('- text "a"', focused, exact=True) is None

    def test_a_line_left_out_or_added_is_a_difference(self) -> None:
        """A line, a name or a state counts."""
        for old, new in (
            ('  - text "Wi-Fi"\n', ""),
            ('- text "Wi-Fi"', "- text"),
            (" [disabled]", ""),
            (" [disabled]", " [disabled] [selected]"),
            ("[checked=false]", "[checked]"),
            ('- toolbar:\n  - title "Settings"\n', "- toolbar\n- ...\n"),
            ("- button", "- ...\n- text\n- button"),
        ):
            golden = WRITTEN.replace(old, new)

            assert golden != WRITTEN
            assert difference(golden, SETTINGS, exact=True) is not None, new


class TestDiff:
    """A difference shows what was expected and what is there, side by side."""

    def test_a_missing_line_is_shown_with_what_is_around_it(self) -> None:
        """A missing line is shown among what is around it and what is there instead."""
        golden = '- list:\n  - text "WiFi"\n  - switch [checked]\n- text "gone":\n  - text "too"\n'

        assert difference(golden, SETTINGS) == (
            "4 of 5 golden lines are not there (- golden, + screen):\n"
            "  - list\n"
            '-   - text "WiFi"\n'
            '+   - text "Wi-Fi"\n'
            "-   - switch [checked]\n"
            "+   - switch [checked=false]\n"
            '- - text "gone"\n'
            '-   - text "too"\n'
            '+ - button "OK" [disabled]'
        )

    def test_unexpected_nodes_are_shown(self) -> None:
        """With exact, nodes that are too many are shown too, and dots where they are."""
        golden = '- ...\n- list:\n  - switch\n  - text "Version 17"\n- button "OK" [disabled]\n'

        assert difference(golden, SETTINGS, exact=True) == (
            "1 of 4 golden lines is not there, and 2 on the screen are not in the golden"
            " (- golden, + screen):\n"
            "  - ...\n"
            "  - list\n"
            '+   - text "Wi-Fi"\n'
            "    - switch\n"
            '-   - text "Version 17"\n'
            '+   - text "Version 16"\n'
            '  - button "OK" [disabled]'
        )
        assert difference('- text "a"', texts("a", "b"), exact=True) == (
            '1 on the screen is not in the golden (- golden, + screen):\n  - text "a"\n+ - text "b"'
        )

    def test_the_most_is_kept(self) -> None:
        """One line too many at the start does not upset the rest; a difference can be pickled."""
        golden = parse(render(texts("z", "a", "b", "c", "z")))

        found = compare(golden, texts("a", "b", "c", "z"))

        assert found is not None
        assert (found.missing, found.golden_lines) == (1, 5)
        assert pickle.loads(pickle.dumps(found)) == found

    def test_long_goldens_are_shortened(self) -> None:
        """What is as expected is left out, but for the neighbours and what is around."""
        rows = [node(TEXT, f"row {n}") for n in range(100)]
        snapshot = screen(node("ListView", "", *rows))
        golden = parse(render(snapshot).replace('"row 50"', '"now 50"'))

        found = compare(golden, snapshot)

        assert str(found) == (
            "1 of 101 golden lines is not there (- golden, + screen):\n"
            "  - list\n"
            "    (48 as expected)\n"
            '    - text "row 48"\n'
            '    - text "row 49"\n'
            '-   - text "now 50"\n'
            '+   - text "row 50"\n'
            '    - text "row 51"\n'
            '    - text "row 52"\n'
            "    (47 as expected)"
        )

    def test_the_likely_ones_among_many(self) -> None:
        """Among many other nodes those are shown that resemble what is missing."""
        names = [f"{n:02}-{n * 7919:05}" for n in range(30)]

        found = difference('- text "Total: 5 €"', texts(*names, "Total: 7 €"))

        assert found is not None
        assert """+ - text "Total: 7 €"\n+ (30 others)""" in found

    def test_odd_names_cannot_break_out_of_their_lines(self) -> None:
        """Names of the screen cannot break out of their lines, nor fill the report."""
        names = ["\x1b[31mred\n- text \u202e", "half \ud83d", "x" * 100_000]

        found = difference('- button "gone"', texts(*names))

        assert found is not None
        assert r'"\u001b[31mred\n- text \u202e"' in found
        assert len(found) < 1000
        assert found.encode().decode() == found

    def test_a_long_diff_is_cut_off(self) -> None:
        """A diff of thousands of lines ends with the number of the rest."""
        golden = render(texts(*(f"a{n}" for n in range(500))))

        found = difference(golden, texts(*(f"b{n}" for n in range(500))), exact=True)

        assert found is not None
        assert found.endswith("    (and 800 more lines)")


def test_a_golden_is_a_value() -> None:
    """It equals what it fits, on either side, and goldens of the same lines; it is its text."""
    golden = parse('- text "Wi-Fi"  # note')

    assert golden == SETTINGS
    assert SETTINGS == golden  # noqa: SIM300 - the sides are the point
    assert golden != texts("Bluetooth")
    assert golden == parse('\n- text "Wi-Fi"')
    assert hash(golden) == hash(parse('- text "Wi-Fi"'))
    assert golden != '- text "Wi-Fi"'
    for text in (
        WRITTEN,
        r"- text /a\/b\\\/c \d/i" + "\n",
        """- 'list "a: b''s"':\n  - 'text / #1/'\n""",
        "- text [checked=false] [focused]\n- ...\n",
    ):
        assert str(parse(text)) == text


names = st.sampled_from(["", "a", "b"])
roles = st.sampled_from(["text", "list"])


@st.composite
def trees(draw: st.DrawFn, *, dots: bool = False) -> tuple[Line, ...]:
    """Draw a few lines that make a tree."""
    lines: list[Line] = []
    for _ in range(draw(st.integers(1, 7))):
        above = lines[-1] if lines else None
        deepest = 0 if above is None else above.depth + (above.role != ANYTHING)
        role = draw(st.sampled_from(["text", "list", ANYTHING])) if dots else draw(roles)
        name = None if role == ANYTHING else (draw(names) or None)
        lines.append(Line(role, name, depth=draw(st.integers(0, deepest))))
    return tuple(lines)


def can_be(line: Line, item: Line, *, exact: bool) -> bool:
    """Whether a node may be taken for a line."""
    return line.role == item.role and (line.name == item.name or (line.name is None and not exact))


def level(ends: Sequence[int], start: int, end: int) -> list[int]:
    """Return the places of one level of a tree."""
    places = []
    while start < end:
        places.append(start)
        start = ends[start]
    return places


def fits_somehow(golden: Sequence[Line], shown: Sequence[Line], *, exact: bool) -> bool:
    """Try every way to take nodes for lines."""
    golden_ends = subtree_ends([line.depth for line in golden])
    shown_ends = subtree_ends([line.depth for line in shown])

    def pair(line: int, place: int) -> bool:
        inside = level(golden_ends, line + 1, golden_ends[line])
        return can_be(golden[line], shown[place], exact=exact) and fits(
            inside, place + 1, shown_ends[place]
        )

    def fits(lines: list[int], start: int, end: int) -> bool:
        if not lines:
            return start == end or not exact
        line, rest = lines[0], lines[1:]
        if golden[line].role == ANYTHING:
            starts = [*level(shown_ends, start, end), end] if exact else [start]
            return any(fits(rest, place, end) for place in starts)
        places = level(shown_ends, start, end)[:1] if exact else range(start, end)
        return any(pair(line, p) and fits(rest, shown_ends[p], end) for p in places)

    return fits(level(golden_ends, 0, len(golden)), 0, len(shown))


@given(golden=trees(dots=True), shown=trees(), exact=st.booleans())
def test_a_golden_fits_if_it_fits_in_any_way(
    golden: tuple[Line, ...], shown: tuple[Line, ...], exact: bool
) -> None:
    """The comparison finds a way to fit exactly where trying all ways finds one."""
    items = [Item(line, frozenset()) for line in shown]

    cost = Alignment(golden, items, exact=exact).cost

    assert (cost == 0) == fits_somehow(golden, shown, exact=exact)


@given(shown=trees(), data=st.data())
def test_a_golden_may_leave_out_lines(shown: tuple[Line, ...], data: st.DataObject) -> None:
    """A screen fits its own golden exactly, and partly whichever lines are left out."""
    items = [Item(line, frozenset()) for line in shown]
    ends = subtree_ends([line.depth for line in shown])
    kept = [place for place in range(len(shown)) if data.draw(st.booleans())]

    rest = [
        replace(shown[place], depth=sum(above < place < ends[above] for above in kept))
        for place in kept
    ]

    assert Alignment(shown, items, exact=True).cost == 0
    assert Alignment(rest, items, exact=False).cost == 0


@given(st.lists(st.text(st.characters(codec=None), max_size=20), max_size=5))
def test_any_names_survive(labels: list[str]) -> None:
    """Whatever names are on a screen, its golden is YAML and is read as what it was."""
    lines = tuple(Line("text", label or None) for label in labels)

    written = str(Golden(lines))

    assert len(yaml.safe_load(written) or []) == len(lines)
    assert not lines or parse(written).lines == lines


def golden_or_mistake(text: str) -> Golden | ConfigurationError:
    """Read a golden, or give the error."""
    try:
        return parse(text)
    except ConfigurationError as error:
        return error


@given(
    st.lists(
        st.sampled_from(
            [
                *("- ", "  ", "\n", "text", "list", '"', "/", "[", "]", "checked", "=", ":", "'"),
                *("...", "\\", "#", "a", "i", "\t", "\r", "(", '"x"', "\ud83d", "\x00"),
            ]
        ),
        max_size=30,
    ).map("".join)
    | st.text(max_size=60)
)
def test_any_text_is_a_golden_or_a_mistake(text: str) -> None:
    """Any text is a golden whose text is it again, or a mistake with a place."""
    outcome = golden_or_mistake(text)

    if isinstance(outcome, Golden):
        assert parse(str(outcome)) == outcome
    else:
        assert outcome.details["line"] >= 1
        assert outcome.details["column"] >= 1


TOWER = "".join(f"{' ' * n}- text:\n" for n in range(60))


class TestMistakes:
    """A mistake in a golden is reported with line, column and what is allowed."""

    @pytest.mark.parametrize(
        ("golden", "line", "column", "problem", "allowed"),
        [
            ("", 1, 1, "the golden is empty", '- button "OK"'),
            ("# only\n\n", 1, 1, "the golden is empty", '- button "OK"'),
            ("- ...\n# and more\n- ...", 1, 1, "any screen would match", "at least one"),
            ("button", 1, 1, "begins with '- '", '- button "OK"'),
            ("-button", 1, 1, "begins with '- '", '- button "OK"'),
            ("\t- button", 1, 1, "a tab indents it", "spaces"),
            ("-", 1, 2, "a role is missing", "textfield"),
            ('- "OK"', 1, 3, "a role is missing", "textfield"),
            ("- text\n- buton", 2, 3, "did you mean button?", "checkbox"),
            ("- listitem", 1, 3, "no such role", "checkbox"),
            ("- Button", 1, 3, "did you mean button?", "checkbox"),
            ('- text "a', 1, 8, "the quote is not closed", 'text in ""'),
            (r'- text "a\x"', 1, 8, "an invalid escape", r"\u0000"),
            ("- text /a", 1, 8, "the expression is not closed", "/expression/"),
            ("- text /a/x", 1, 8, "no such flag", "/expression/i"),
            ("- text /(/", 1, 8, "the expression cannot be used", "Python"),
            ("- text [checkd]", 1, 8, "did you mean checked?", "checked, disabled"),
            ("- text [checked", 1, 8, "the bracket is not closed", "[state]"),
            ("- text [checked=maybe]", 1, 8, "true or false", "[state=false]"),
            ('- text "a" "b"', 1, 12, "something follows", "name and states"),
            ("- text: Wi-Fi", 1, 9, "something follows", '- text "Wi-Fi"'),
            ("- text [checked] /a/", 1, 18, "something follows", "name and states"),
            ("- list\n  - text", 2, 3, "does not end in ':'", "indented"),
            ("- list:\n- text", 1, 1, "nothing lies below", "deeper lines"),
            ("- text\n- list:", 2, 1, "nothing lies below", "deeper lines"),
            ("- list:\n\t- text", 2, 1, "a tab indents it", "spaces"),
            ("- list:\n    - text\n  - text", 3, 3, "indented as no line above", "indented"),
            ("  - text\n- text", 2, 1, "indented as no line above", "indented"),
            ("- ...:\n  - text", 1, 6, "nothing lies inside ...", "- ..."),
            ("- 'text", 1, 3, "the single quote is not closed", '- button "OK"'),
            ("- 'text oops'", 1, 9, "something follows", '- button "OK"'),
            (TOWER, 51, 51, "nested too deeply", ""),
        ],
    )
    def test_a_mistake_is_shown_with_its_place_and_a_hint(
        self, golden: str, line: int, column: int, problem: str, allowed: str
    ) -> None:
        """The message has the place and the problem, the hint what would be right."""
        with pytest.raises(ConfigurationError) as caught:
            parse(golden)

        error = caught.value
        assert error.code == ErrorCode.GOLDEN_UNREADABLE
        assert f"line {line}, column {column} of the golden: " in error.message
        assert problem in error.message
        assert allowed in (error.hint or "")
        assert error.details == {"line": line, "column": column}
