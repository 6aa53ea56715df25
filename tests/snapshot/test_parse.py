"""Whatever a phone prints is read, and nothing else does harm."""

from __future__ import annotations

import contextlib
import re
import warnings

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pytest_clawperator.errors import ClawperatorWarning, ErrorCode, SnapshotError
from pytest_clawperator.snapshot import parse as parsing
from pytest_clawperator.snapshot.tree import Snapshot
from tests.snapshot.screens import hierarchy, node, screen

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)
PROLOGS = [
    "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n",
    '<?xml version="1.0" encoding="UTF-8"?>',
    "\ufeff<?xml version='1.0' encoding='UTF-16'?>",
    "",
]


@given(ANY_TEXT)
@example("two\nlines")
@example("a\ttab\r\nand more")
@example("\x00\x01\x08\x0b\x1f\x7f\x85")
@example("half \ud83d characters \ude00, and a whole 😀")
@example("\ufffe\uffff")
@example("a>\nb")
@example("=\"'<&>")
def test_any_text_of_an_app_survives(text: str) -> None:
    """Whatever an app shows is what a test sees, although XML has no room for some of it."""
    # Halves that meet are one character.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assume(max(whole, default="") < "\U00100000")

    snapshot = screen(node(text=text, desc="other"))

    assert snapshot.nodes[1].text in (text, whole)
    assert snapshot.nodes[1].content_desc == "other"


@pytest.mark.parametrize("prolog", PROLOGS)
@pytest.mark.parametrize(
    "noise", ["", "\n", "\n" * 500, " UI hierchary dumped to: /dev/tty\n", "\nI/x <node>"]
)
def test_what_stands_around_does_no_harm(prolog: str, noise: str) -> None:
    """Prologs of all kinds and log lines after the end are no part of the hierarchy."""
    body = re.sub(r"^<\?xml.*\n", "", hierarchy(node(text="a\nb")))

    snapshot = Snapshot.from_xml(prolog + body + noise)

    assert snapshot.nodes[1].text == "a\nb"
    assert len(snapshot) == 2


def test_bytes_are_read_like_text() -> None:
    """Bytes are UTF-8, in which half characters may be printed as they are."""
    xml = hierarchy(node(text="Größe 😀 \ud83d"))

    snapshot = Snapshot.from_xml(xml.encode("utf-8", "surrogatepass"))

    assert snapshot.nodes[1].text == "Größe 😀 \ud83d"


def test_bytes_that_are_no_text_are_replaced() -> None:
    """A damaged byte costs its character, not the snapshot."""
    xml = hierarchy(node(text="a?b")).encode().replace(b"?b", b"\xffb")

    assert Snapshot.from_xml(xml).nodes[1].text == "a\ufffdb"


def test_references_to_halves_are_one_character() -> None:
    """Some phones print an emoji as two references, which XML forbids."""
    xml = hierarchy(node(text="smile")).replace("smile", "&#55357;&#56832; &#0;&#x1F;&#65;")

    assert Snapshot.from_xml(xml).nodes[1].text == "😀 \x00\x1fA"


def test_stand_ins_of_the_app_itself_are_kept() -> None:
    """Where an app shows private characters, control characters become question marks."""
    snapshot = screen(node(text="\U00100041\x01"))

    assert snapshot.nodes[1].text == "\U00100041\ufffd"


@pytest.mark.parametrize(
    "attributes",
    [
        "text='one\ntwo \"three'",
        'text="one\ntwo &quot;three" x="a>b"',
        'text="one\ntwo &quot;three"',
    ],
)
def test_handwritten_values_are_read(attributes: str) -> None:
    """Single quotes and raw angles are read although no phone prints them."""
    snapshot = Snapshot.from_xml(f"<hierarchy>\n<node\n\t{attributes}\n/></hierarchy>")

    assert snapshot.root.text == 'one\ntwo "three'


@pytest.mark.parametrize("cut", [30, 200, 500, 900, -20])
def test_a_hierarchy_that_breaks_off(cut: int) -> None:
    """What broke off is refused with what to do; asked for, it is read with a warning."""
    whole = hierarchy(node(text="first"), node(text="second\nline"))
    xml = whole[: whole.index("<hierarchy") + cut] if cut > 0 else whole[:cut]

    with pytest.raises(SnapshotError, match="partial=True") as caught:
        Snapshot.from_xml(xml)
    if cut > 500:
        with pytest.warns(ClawperatorWarning, match="breaks off"):
            snapshot = Snapshot.from_xml(xml, partial=True)
        assert snapshot.is_partial
        assert snapshot.find(text="first")

    assert caught.value.code == ErrorCode.SNAPSHOT_UNREADABLE


def test_a_whole_hierarchy_is_not_partial() -> None:
    """Allowing a partial hierarchy changes nothing for a whole one."""
    snapshot = Snapshot.from_xml(hierarchy(), partial=True)

    assert not snapshot.is_partial


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("", "no <hierarchy>"),
        ("Error: no root node", "no <hierarchy> in the text: 'Error"),
        ('<hierarchy rotation="0" />', "holds no node"),
        ('<hierarchy rotation="0">\n</hierarchy>', "holds no node"),
        ("<hierarchy><node></hierarchy>", "not well-formed"),
        ("<hierarchyx><node/></hierarchyx></hierarchy>", "not well-formed|holds no node"),
        ('<hierarchy><node a="1" a="2"/></hierarchy>', "not well-formed"),
        ("<hierarchy><node text='&boom;'/></hierarchy>", "not well-formed"),
    ],
)
def test_what_is_no_hierarchy_is_refused(xml: str, message: str) -> None:
    """Anything else is a clear error."""
    with pytest.raises(SnapshotError, match=message) as caught:
        Snapshot.from_xml(xml)

    assert caught.value.hint


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE x [<!ENTITY a "boom">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY a "<hierarchy>">]>',
        '<!DOCTYPE hierarchy SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
def test_document_types_are_refused(declaration: str, partial: bool) -> None:
    """No entity is ever defined, so none can name a file or explode."""
    xml = f"<?xml version='1.0'?>{declaration}<hierarchy><node text='&a;'/></hierarchy>"

    with pytest.raises(SnapshotError, match="document type"):
        Snapshot.from_xml(xml, partial=partial)


def test_a_document_type_in_another_encoding_is_not_seen_either() -> None:
    """Bytes are UTF-8, whatever their prolog says, so a declaration cannot hide."""
    xml = '<!DOCTYPE x [<!ENTITY a "boom">]><hierarchy><node text="&a;"/></hierarchy>'

    with pytest.raises(SnapshotError):
        Snapshot.from_xml(xml.encode("utf-16"))


def test_comments_are_no_nodes() -> None:
    """Comments and instructions are passed over."""
    xml = "<hierarchy><!-- <node/> --><?x y?><node><!-- x --><node text='a'/></node></hierarchy>"

    assert [found.text for found in Snapshot.from_xml(xml).nodes] == ["", "a"]


def test_size_is_bounded() -> None:
    """Past the limits the answer is a clear error, quickly."""
    many = "<hierarchy><node>" + "<node/>" * parsing.MAX_NODES + "</node></hierarchy>"
    quotes = ' a=""' * parsing.MAX_ATTRIBUTES
    attributes = f"<hierarchy><node {quotes} b=''/></hierarchy>"

    with pytest.raises(SnapshotError, match="larger than 30 MB"):
        Snapshot.from_xml(b"x" * (parsing.MAX_BYTES + 1))
    with pytest.raises(SnapshotError, match="more than 100,000 nodes"):
        Snapshot.from_xml(many, partial=True)
    with pytest.raises(SnapshotError, match="more than 2,000,000 attributes"):
        Snapshot.from_xml(attributes)


def test_as_much_as_is_allowed_is_read() -> None:
    """The largest hierarchy that is allowed can be searched."""
    many = "<node text='a'/>" * (parsing.MAX_NODES - 1)

    snapshot = Snapshot.from_xml(f"<hierarchy><node>{many}</node></hierarchy>")

    assert len(snapshot) == parsing.MAX_NODES
    assert snapshot.count(text="a") == parsing.MAX_NODES - 1


@pytest.mark.parametrize("depth", [1_000, 10_000, 90_000])
@pytest.mark.parametrize("partial", [False, True])
def test_depth_does_no_harm(depth: int, partial: bool) -> None:
    """A tower of nodes is read and walked, or refused; nothing overflows."""
    xml = "<hierarchy>" + "<node>" * depth + "</node>" * depth + "</hierarchy>"

    with warnings.catch_warnings(), contextlib.suppress(SnapshotError):
        warnings.simplefilter("ignore", ClawperatorWarning)
        snapshot = Snapshot.from_xml(xml, partial=partial)
        deepest = snapshot.nodes[-1]
        assert deepest.is_on_screen
        assert len(deepest.index_path) == len(snapshot) - 1
        assert not snapshot.find(text="absent")
    assert depth > 1_000 or len(snapshot) == depth


PIECES = st.sampled_from(
    [
        "<hierarchy",
        "<hierarchy rotation='9'>",
        "</hierarchy>",
        "<node",
        "<node>",
        '<node text="a\n',
        "</node>",
        "/>",
        ">",
        ' bounds="[1,2][3',
        ' bounds="[-1,2][3,4]"',
        ' index="x"',
        '"',
        "'",
        "&#55357;",
        "&amp;",
        "&",
        "<!DOCTYPE",
        "<![CDATA[",
        "<!--",
        "\x00",
        "\ud800",
        "\U0010ffff",
        "\n",
        "\t",
        "é",
    ]
)


@given(st.lists(PIECES | ANY_TEXT, max_size=40).map("".join), st.booleans())
def test_any_text_is_read_or_refused(xml: str, partial: bool) -> None:
    """Whatever comes in, a snapshot comes out, or a snapshot error."""
    _read_or_refuse(f"<hierarchy>{xml}</hierarchy>", partial)
    _read_or_refuse(xml, partial)


@given(st.binary(max_size=200), st.integers(0, 600), st.booleans())
def test_any_bytes_are_read_or_refused(garbage: bytes, at: int, partial: bool) -> None:
    """Damage anywhere in a hierarchy is survived."""
    xml = hierarchy(node(text="a\nb")).encode()

    _read_or_refuse(xml[:at] + garbage + xml[at + len(garbage) :], partial)
    _read_or_refuse(garbage, partial)


def _read_or_refuse(xml: str | bytes, partial: bool) -> None:
    with warnings.catch_warnings(), contextlib.suppress(SnapshotError):
        warnings.simplefilter("ignore", ClawperatorWarning)
        snapshot = Snapshot.from_xml(xml, partial=partial)
        for found in snapshot.nodes:
            assert repr(found).isprintable()
            assert found.index >= 0
        assert repr(snapshot.find(text="absent", role="button")).isprintable()


class TestCutLines:
    """A line that the device's log cut takes nothing else along."""

    LINES = (
        '<hierarchy rotation="0">',
        '  <node index="0" text="" class="android.widget.FrameLayout">',
        '    <node index="0" text="long long',
        '    <node index="1" text="OK" class="android.widget.Button" />',
        "  </node>",
        "</hierarchy>",
    )

    def test_the_nodes_around_are_there(self) -> None:
        """The cut node keeps what there is of it, and the next one is beside it."""
        parsed = parsing.parse("\n".join(self.LINES), partial=False)

        root = parsed.top[0]
        assert [node.get("text") for node in root] == ["long long", "OK"]
        assert parsed.is_partial

    def test_a_cut_parent_keeps_its_children(self) -> None:
        """A line that is indented further is inside the cut node."""
        lines = [*self.LINES]
        lines[2:3] = ['    <node index="0" text="long" resource-i', "      <node />", "    </node>"]

        parsed = parsing.parse("\n".join(lines), partial=False)

        assert [len(node) for node in parsed.top[0]] == [1, 0]

    def test_in_the_middle_of_a_character(self) -> None:
        """The bytes of half a character are left out."""
        data = "\n".join(self.LINES).encode().replace(b"long long", "long \u670d".encode()[:-1])

        parsed = parsing.parse(data, partial=False)

        assert parsed.top[0][0].get("text") == "long "

    def test_a_value_of_several_lines(self) -> None:
        """The cut may come in a later line of the value."""
        text = "\n".join(self.LINES).replace("long long", "one\ntwo")

        parsed = parsing.parse(text, partial=False)

        assert [node.get("text") for node in parsed.top[0]] == ["one\ntwo", "OK"]


#: Several hierarchies in one text, as tools write those of several windows or displays.
SEVERAL = {
    "one after the other": "{a}\n{b}\n",
    "each with its prolog": "<?xml version='1.0' ?>{a}<?xml version='1.0' ?>{b}",
    "windows of displays": '<displays><display id="0"><window>{a}</window>'
    '<window type="3">{b}</window></display></displays>',
    "with words between": "{a}\nUI hierchary dumped to: /dev/tty\n{b}\n",
    "with an empty one before": '<hierarchy rotation="0" />\n{a}{b}',
    "with an empty one between": '{a}<hierarchy rotation="0" />\n{b}',
}


@pytest.mark.parametrize("form", SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize("unfit", ["", "\x01"], ids=["clean", "with a control character"])
def test_no_hierarchy_of_several_is_lost(form: str, unfit: str) -> None:
    """All of them are read, each as a window of its own."""
    first, second = (
        f'<hierarchy rotation="0"><node text="{text}{unfit}" bounds="[0,0][9,9]"/></hierarchy>'
        for text in ("one", "two")
    )

    snapshot = Snapshot.from_xml(form.format(a=first, b=second))

    assert [root.text for root in snapshot.roots] == [f"one{unfit}", f"two{unfit}"]
    assert not snapshot.is_partial


def test_several_of_which_one_breaks_off_are_told_as_partial() -> None:
    """What is missing is not taken for absent without a word."""
    xml = '<hierarchy><node text="one"/></hierarchy>\n<hierarchy><node text="two"/><node te'

    with pytest.raises(SnapshotError, match="breaks off"):
        Snapshot.from_xml(xml)
    with pytest.warns(ClawperatorWarning, match="2 nodes could be read"):
        snapshot = Snapshot.from_xml(xml, partial=True)

    assert snapshot.is_partial


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-16", b""), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-16-le", b"")],
)
def test_utf16_of_a_windows_shell_is_read(encoding: str, mark: bytes) -> None:
    """PowerShell writes ``adb exec-out ... > screen.xml`` so."""
    xml = hierarchy(node(text="Grüße 😀"))

    snapshot = Snapshot.from_xml(mark + xml.encode(encoding))

    assert snapshot.find(text="Grüße 😀")
    assert "Grüße 😀" in snapshot.xml
