"""Whatever a phone prints is read, and nothing else does harm."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pytest_clawperator.contracts.ecmascript import utf16_length
from pytest_clawperator.contracts.log import (
    MARKER,
    PIECE_LENGTH,
    LogEntry,
    snapshots_from_entries,
    snapshots_from_lines,
    snapshots_from_text,
)
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


def test_what_stands_around_does_no_harm() -> None:
    """Prologs of all kinds and log lines after the end are no part of the hierarchy."""
    for prolog in PROLOGS:
        for noise in ["", "\n", "\n" * 500, " UI hierchary dumped to: /dev/tty\n", "\nI/x <node>"]:
            body = re.sub(r"^<\?xml.*\n", "", hierarchy(node(text="a\nb")))

            snapshot = Snapshot.from_xml(prolog + body + noise)

            assert snapshot.nodes[1].text == "a\nb", (prolog, noise)
            assert len(snapshot) == 2, (prolog, noise)


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


HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<hierarchy rotation=\"0\">\n"


def logged_hierarchy(*texts: str) -> str:
    """Write a hierarchy as the Operator does: quotes and angle brackets escaped, newlines not."""
    escaped = (
        text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
        for text in texts
    )
    nodes = "".join(f'  <node index="0" text="{text}" bounds="[0,0][1,1]" />\n' for text in escaped)
    return HEAD + nodes + "</hierarchy>\n"


def operator(message: str, pid: int = 42, tag: str = "TaskScopeDefault") -> list[LogEntry]:
    """Log a message as the Operator's logger does: line by line, long lines in pieces."""
    lines = message.removesuffix("\n").split("\n")
    if utf16_length(message) < PIECE_LENGTH:
        return [LogEntry(pid, pid, "D", tag, line) for line in lines]
    entries = []
    for line in lines:
        units = line.encode("utf-16-le", "surrogatepass")
        pieces = [
            units[start : start + 2 * PIECE_LENGTH].decode("utf-16-le", "surrogatepass")
            for start in range(0, len(units), 2 * PIECE_LENGTH)
        ] or [""]
        entries += [LogEntry(pid, pid, "D", tag, piece) for piece in pieces]
    return entries


def dump(xml: str, **source: int | str) -> list[LogEntry]:
    """Log a hierarchy with its marker."""
    return operator(f"{MARKER}\n{xml}", **source)  # type: ignore[arg-type]  # pid and tag


def printed(entry: LogEntry) -> bytes:
    """Print an entry as the device does."""
    head = f"03-28 10:00:00.000 {entry.pid:5d} {entry.tid:5d} {entry.priority} {entry.tag:<8}: "
    return (head + entry.message).encode("utf-8", "surrogatepass")


def from_lines(entries: Iterable[LogEntry]) -> list[str]:
    """Read the hierarchies of process 42 from printed lines."""
    return snapshots_from_lines(map(printed, entries), pid=42)


Reader = Callable[[Iterable[LogEntry]], list[str]]


@pytest.fixture(
    scope="module", params=[snapshots_from_entries, from_lines], ids=["entries", "lines"]
)
def read(request: pytest.FixtureRequest) -> Reader:
    """Return each of the two readers that know whose line is whose."""
    reader: Reader = request.param
    return reader


NOISE = LogEntry(999, 999, "I", "SurfaceFlinger", "vsync")
TWIN = LogEntry(999, 999, "D", "TaskScopeDefault", "</hierarchy>")
STEP = LogEntry(42, 42, "D", "UiActionEngineDefault", "[UiActionEngine] step_success id=a")


class TestFromText:
    """The barest format, read as the reference reads it."""

    def test_a_dump_is_its_lines_with_their_indentation(self) -> None:
        """A dump is its lines, indentation kept."""
        text = f"D/TaskScopeDefault: {MARKER}\n" + "".join(
            f"D/TaskScopeDefault: {line}\n" for line in logged_hierarchy("a").splitlines()
        )

        assert snapshots_from_text(text) == [logged_hierarchy("a").strip()]

    def test_obfuscated_tags_do_not_matter(self) -> None:
        """A release build's tags are one letter; the text decides."""
        text = f"D/E       : {MARKER}\nD/E       : <hierarchy/>\nD/w       : [x]"

        assert snapshots_from_text(text) == ["<hierarchy/>"]

    def test_foreign_lines_are_taken_in(self) -> None:
        """Without a process id the reference cannot tell, and neither can this."""
        text = f"D/A: {MARKER}\nD/A: <hierarchy>\nI/B: noise\nD/A: </hierarchy>"

        assert snapshots_from_text(text) == ["<hierarchy>\nnoise\n</hierarchy>"]

    @pytest.mark.parametrize("indent", ["", " ", "    ", "\t", "\ufeff"])
    def test_a_bracket_ends_it(self, indent: str) -> None:
        """A message that begins with a bracket, however indented, is no part and ends the dump."""
        text = f"D/A: {MARKER}\nD/A: <a>\nD/A: {indent}[x] y\nD/A: </a>"

        assert snapshots_from_text(text) == ["<a>"]

    def test_a_bracket_inside_a_line_does_not_end_it(self) -> None:
        """Bounds are written in brackets."""
        text = f'D/A: {MARKER}\nD/A: <a b="[0,0]">\nD/A: x [y]\nD/A: </hierarchy>'

        assert snapshots_from_text(text) == ['<a b="[0,0]">\nx [y]\n</hierarchy>']

    @pytest.mark.parametrize("space", ["", " ", "   "])
    def test_text_after_the_marker(self, space: str) -> None:
        """What stands behind the marker is the first line, trimmed."""
        text = f"D/A: {MARKER}{space}<hierarchy>{space}\nD/A:   <a/>\nD/A: </hierarchy>"

        assert snapshots_from_text(text) == ["<hierarchy>\n  <a/>\n</hierarchy>"]

    def test_text_before_the_marker(self) -> None:
        """The marker may stand anywhere in a message; what is before it is dropped."""
        assert snapshots_from_text(f"D/A: x {MARKER} <a/>\nD/A: <b/>") == ["<a/>\n<b/>"]

    def test_marker_twice_in_a_line(self) -> None:
        """The first line is what stands between the two, and one dump is open."""
        text = f"D/A: {MARKER} <a/> {MARKER} <b/>\nD/A: <c/>"

        assert snapshots_from_text(text) == ["<a/>\n<c/>"]

    def test_a_marker_begins_the_next(self) -> None:
        """A dump without its end is over where the next begins; one without lines is none."""
        text = f"D/A: {MARKER}\nD/A: <a>\nD/A: {MARKER}\nD/A: {MARKER}\nD/A: <b>"

        assert snapshots_from_text(text) == ["<a>", "<b>"]

    @pytest.mark.parametrize("end", ["</hierarchy>", "   </hierarchy>  "])
    def test_nothing_follows_the_end(self, end: str) -> None:
        """The closing tag on a line of its own ends the dump."""
        text = f"D/A: {MARKER}\nD/A: <a>\nD/A: {end}\nD/A: after"

        assert snapshots_from_text(text) == [f"<a>\n{end}".rstrip()]

    @pytest.mark.parametrize("empty", ["D/A:", "D/A: ", "", "   ", "\t", "\r"])
    def test_empty_messages_are_dropped(self, empty: str) -> None:
        """A line without a message leaves no empty line behind."""
        text = f"D/A: {MARKER}\n{empty}\nD/A: <a>\n{empty}\n{empty}\nD/A: </a>\n{empty}"

        assert snapshots_from_text(text) == ["<a>\n</a>"]

    def test_a_message_of_spaces_is_kept(self) -> None:
        """One space belongs to the prefix; what is beyond it is a message."""
        text = f"D/A: {MARKER}\nD/A: <a>\nD/A:   \nD/A: </a>"

        assert snapshots_from_text(text) == ["<a>\n  \n</a>"]

    def test_a_line_with_a_prefix_loses_one_space(self) -> None:
        """A line with a prefix loses one space, a line without loses all around it."""
        text = f"D/A: {MARKER}\nD/A: <a>\nD/A:     <b/>\nD/A:\t<c/>\n     <d/>  \nD/A: </a>"

        assert snapshots_from_text(text) == ["<a>\n    <b/>\n\t<c/>\n<d/>\n</a>"]

    def test_a_tag_ends_at_the_first_colon(self) -> None:
        """A tag is whatever stands before the first colon."""
        for tag in [
            "",
            "Task Scope",
            "a.b-c_d$e/f",
            "Tag( 1234)",
            "[tag]",
            "E       ",
            "日本 ü",
            "#1, (x)!",
        ]:
            for priority in ["V", "D", "I", "W", "E", "F", "A", "S"]:
                prefix = f"{priority}/{tag}:"

                lines = (MARKER, "<a>", "  <b c='d: e'/>", "</hierarchy>")
                text = "\n".join(f"{prefix} {line}" for line in lines)

                assert snapshots_from_text(text) == ["<a>\n  <b c='d: e'/>\n</hierarchy>"], (
                    tag,
                    priority,
                )

    @pytest.mark.parametrize("prefix", ["d/A: ", "DD/A: ", "1/A: ", "D A: ", "x D/A: "])
    def test_what_is_no_prefix(self, prefix: str) -> None:
        """One capital letter and a slash begin a prefix; anything else is part of the message."""
        text = f"D/A: {MARKER}\n{prefix}  <a>"

        assert snapshots_from_text(text) == [f"{prefix}  <a>"]

    def test_carriage_returns_inside_survive(self) -> None:
        """Those inside survive, those at the ends are trimmed."""
        text = f"D/A: {MARKER}\r\nD/A: <a>\r\nD/A: </hierarchy>\r\nD/A: after\r\n"

        assert snapshots_from_text(text) == ["<a>\r\n</hierarchy>"]

    def test_a_log_without_a_marker_has_no_hierarchy(self) -> None:
        """A log without a marker has no hierarchy."""
        assert snapshots_from_text("") == []
        assert snapshots_from_text("D/A: <hierarchy/>") == []


class TestFromEntries:
    """Entries with a process id, where the reference is fragile."""

    def test_one_and_several(self, read: Reader) -> None:
        """Hierarchies come oldest first."""
        entries = [*dump(logged_hierarchy("a")), STEP, *dump(logged_hierarchy("b")), STEP]

        assert read(entries) == [logged_hierarchy("a").strip(), logged_hierarchy("b").strip()]

    def test_foreign_lines_between(self, read: Reader) -> None:
        """Lines of other processes, even under the same tag, are not part of a dump."""
        whole = dump(logged_hierarchy("a", "b", "c"))
        mixed = [noisy for entry in whole for noisy in (entry, NOISE, TWIN)]

        assert read(mixed) == [logged_hierarchy("a", "b", "c").strip()]

    def test_a_source_is_process_priority_and_tag(self, read: Reader) -> None:
        """A line that differs in one of the three is foreign: it neither joins nor ends a dump."""
        changes: list[dict[str, Any]] = [
            {"pid": 43},
            {"priority": "I"},
            {"priority": "V"},
            {"tag": "Other"},
            {"tag": ""},
        ]
        for change in changes:
            for message in ["noise", "[x]", "</hierarchy>", f"{MARKER}", '"']:
                foreign = LogEntry(42, 42, "D", "TaskScopeDefault", message)._replace(**change)
                mixed = [each for entry in dump(logged_hierarchy("a")) for each in (entry, foreign)]

                assert logged_hierarchy("a").strip() in read(mixed), (change, message)

    def test_threads_do_not_matter(self) -> None:
        """A process may go on in another thread."""
        entries = [entry._replace(tid=n) for n, entry in enumerate(dump(logged_hierarchy("a")))]

        assert snapshots_from_entries(entries) == [logged_hierarchy("a").strip()]

    def test_a_piece_that_begins_with_a_bracket(self, read: Reader) -> None:
        """After a line of full length the next message is its rest, whatever it looks like."""
        line = "x" * 4_000

        whole = operator(f"{MARKER}\n<hierarchy>\n{line}[0,0]\n</hierarchy>")

        assert whole[3].message == "[0,0]"
        assert read(whole) == [f"<hierarchy>\n{line}[0,0]\n</hierarchy>"]

    @pytest.mark.parametrize("length", [3_999, 4_001])
    def test_only_a_full_line_was_cut(self, read: Reader, length: int) -> None:
        """A line of any other length ended there, so a bracket after it ends the dump."""
        entries = [
            LogEntry(42, 42, "D", "TaskScopeDefault", message)
            for message in (MARKER, "<hierarchy>", "x" * length, "[0,0]", "</hierarchy>")
        ]

        assert read(entries) == ["<hierarchy>\n" + "x" * length]

    def test_a_line_of_three_pieces_is_one_line(self, read: Reader) -> None:
        """A line of three pieces is one line, and a bracket may begin each of them."""
        line = "x" * 4_000 + "[" + "y" * 3_999 + "[z"

        whole = operator(f"{MARKER}\n{line}\n</hierarchy>")

        assert [len(entry.message) for entry in whole[1:]] == [4_000, 4_000, 2, 12]
        assert read(whole) == [f"{line}\n</hierarchy>"]

    @pytest.mark.parametrize(
        "text",
        [
            "first\n[second]",
            f"first\n{MARKER}\nthird",
            "[Clawperator-Result] {}",
            "first\n[TaskScope] Logging UI tree\n",
            "a\n\n\nb",
            "first\n  </hierarchy>\nlast",
            'say "hi"\n[x]',
            "--------- beginning of crash",
        ],
    )
    def test_text_that_looks_like_log(self, read: Reader, text: str) -> None:
        """An attribute may hold anything, over several lines; the dump stays whole."""
        xml = logged_hierarchy("before", text, "after")

        assert read([*dump(xml), STEP]) == [xml.strip()]

    @pytest.mark.parametrize("filler", ["x", "😀", "é", '"', "a b "])
    def test_long_lines_are_put_together(self, read: Reader, filler: str) -> None:
        """A line that was cut into pieces is one line again."""
        xml = logged_hierarchy(filler * 9_000, "short")

        entries = dump(xml)

        assert max(utf16_length(entry.message) for entry in entries) == PIECE_LENGTH
        assert read(entries) == [xml.strip()]

    def test_two_processes_at_once(self) -> None:
        """Two dumps that are written at the same time are told apart."""
        first, second = dump(logged_hierarchy("a"), pid=1), dump(logged_hierarchy("b"), pid=2)
        mixed = [entry for pair in zip(first, second, strict=True) for entry in pair]

        assert snapshots_from_entries(mixed) == [
            logged_hierarchy("a").strip(),
            logged_hierarchy("b").strip(),
        ]

    def test_a_dump_that_stops(self, read: Reader) -> None:
        """A dump without its end is given as far as it came."""
        entries = [
            *dump(logged_hierarchy("a", "b"))[:-1],
            *operator("[TaskScope] UI operations completed"),
        ]

        (cut,) = read(entries)

        assert cut.startswith("<?xml")
        assert cut.endswith('text="b" bounds="[0,0][1,1]" />')

    def test_a_dump_cut_inside_a_value_does_not_swallow_the_next(self, read: Reader) -> None:
        """The log keeps 4,068 bytes of an entry; the rest of a value may be lost for ever."""
        cut = dump(logged_hierarchy("a", "lost"))[:4]
        cut.append(cut.pop()._replace(message='  <node index="0" text="lo'))

        found = read([*cut, *dump(logged_hierarchy("next")), STEP])

        assert found[-1] == logged_hierarchy("next").strip()
        assert len(found) == 2

    @pytest.mark.parametrize(
        ("last", "is_the_end"),
        [("</hierarchy>", True), ("  </hierarchy>  ", True), ("<a/></hierarchy>", False)],
    )
    def test_only_a_closing_tag_of_its_own_ends_it(
        self, read: Reader, last: str, is_the_end: bool
    ) -> None:
        """White space around the closing tag does not matter; other tags before it do."""
        lines = [MARKER, "<hierarchy>", last, "<b/>", "</hierarchy>"]

        found = read([entry for line in lines for entry in operator(line)])

        kept = lines[1:3] if is_the_end else lines[1:]
        assert found == ["\n".join(kept).strip()]

    def test_text_on_the_markers_own_line(self, read: Reader) -> None:
        """What stands after the marker is the hierarchy's first line."""
        entries = operator(f"{MARKER} <hierarchy>\n</hierarchy>")

        assert read(entries) == ["<hierarchy>\n</hierarchy>"]

    def test_marker_must_begin_the_message(self, read: Reader) -> None:
        """A message that merely quotes the marker opens nothing."""
        quoted = [LogEntry(42, 42, "D", "X", f"text={MARKER}"), *operator("<hierarchy/>", tag="X")]

        assert read(quoted) == []

    @given(st.lists(st.text(max_size=30), max_size=5))
    def test_any_text_survives(self, read: Reader, texts: list[str]) -> None:
        """Whatever is on the screen, the hierarchy in the log is the one that comes out."""
        shown = [text.replace("\r", "") for text in texts]
        xml = logged_hierarchy(*shown)

        assert read([*dump(xml), STEP]) == [xml.strip()]


def test_a_line_cut_in_a_value_does_not_swallow_what_follows() -> None:
    """After a raw ``<`` the value is over, so the next log line ends the hierarchy."""
    cut = ["<hierarchy>", '<node text="long', "<node />", "[TaskScope] something else", "<node />"]
    entries = [LogEntry(1, 1, "D", "T", message) for message in (MARKER, *cut)]

    found = snapshots_from_entries(entries)

    assert found == ["\n".join(cut[:3])]
