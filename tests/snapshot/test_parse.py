"""Everything a phone prints can be parsed, and no other input does harm."""

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
from pytest_clawperator.errors import (
    ClawperatorWarning,
    ErrorCode,
    NodeNotFoundError,
    SnapshotError,
)
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


def test_text_around_a_hierarchy_is_ignored() -> None:
    """Prologs of all kinds and log lines after the end are not part of the hierarchy."""
    for prolog in PROLOGS:
        for noise in ["", "\n", "\n" * 500, " UI hierchary dumped to: /dev/tty\n", "\nI/x <node>"]:
            body = re.sub(r"^<\?xml.*\n", "", hierarchy(node(text="a\nb")))

            snapshot = Snapshot.from_xml(prolog + body + noise)

            assert snapshot.nodes[1].text == "a\nb", (prolog, noise)
            assert len(snapshot) == 2, (prolog, noise)


def test_bytes_and_odd_characters_are_read() -> None:
    """Half characters survive as bytes and as references; a damaged byte costs a character."""
    halves = hierarchy(node(text="Größe 😀 \ud83d")).encode("utf-8", "surrogatepass")
    damaged = hierarchy(node(text="a?b")).encode().replace(b"?b", b"\xffb")
    references = hierarchy(node(text="smile")).replace("smile", "&#55357;&#56832; &#0;&#x1F;&#65;")
    # If an app shows private characters, control characters become question marks.
    private = hierarchy(node(text="\U00100041\x01"))
    for xml, text in (
        (halves, "Größe 😀 \ud83d"),
        (damaged, "a\ufffdb"),
        (references, "😀 \x00\x1fA"),
        (private, "\U00100041\ufffd"),
    ):
        assert Snapshot.from_xml(xml).nodes[1].text == text


def test_utf16_of_a_windows_shell_is_read() -> None:
    """PowerShell writes ``adb exec-out ... > screen.xml`` so, with or without a mark."""
    xml = hierarchy(node(text="Grüße 😀"))
    marks = {"utf-16": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    for encoding, mark in (*marks.items(), ("utf-16-le", b"")):
        snapshot = Snapshot.from_xml(mark + xml.encode(encoding))

        assert snapshot.find(text="Grüße 😀"), encoding
        assert "Grüße 😀" in snapshot.xml


def test_handwritten_hierarchies_are_read() -> None:
    """Single quotes, raw angles and comments are read although no phone prints them."""
    for attributes in (
        "text='one\ntwo \"three'",
        'text="one\ntwo &quot;three" x="a>b"',
        'text="one\ntwo &quot;three"',
    ):
        snapshot = Snapshot.from_xml(f"<hierarchy>\n<node\n\t{attributes}\n/></hierarchy>")
        assert snapshot.root.text == 'one\ntwo "three'
    xml = "<hierarchy><!-- <node/> --><?x y?><node><!-- x --><node text='a'/></node></hierarchy>"
    assert [found.text for found in Snapshot.from_xml(xml).nodes] == ["", "a"]


def test_a_hierarchy_that_breaks_off_is_refused_or_read_as_partial() -> None:
    """The refusal names the option with which it is read, with a warning."""
    whole = hierarchy(node(text="first"), node(text="second\nline"))
    begin = whole.index("<hierarchy")
    for xml in (*(whole[: begin + cut] for cut in (30, 200, 500, 900)), whole[:-20]):
        with pytest.raises(SnapshotError, match="partial=True") as caught:
            Snapshot.from_xml(xml)
        assert caught.value.code == ErrorCode.SNAPSHOT_UNREADABLE
    for xml in (whole[: begin + 900], whole[:-20]):
        with pytest.warns(ClawperatorWarning, match="breaks off"):
            snapshot = Snapshot.from_xml(xml, partial=True)
        assert snapshot.is_partial
        assert snapshot.find(text="first")
    assert not Snapshot.from_xml(whole, partial=True).is_partial


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
def test_anything_but_a_hierarchy_is_refused(xml: str, message: str) -> None:
    """Anything else is a clear error."""
    with pytest.raises(SnapshotError, match=message) as caught:
        Snapshot.from_xml(xml)

    assert caught.value.hint


def test_document_types_are_refused() -> None:
    """No entity is ever defined, so none can name a file or explode, in any encoding."""
    tree = "<hierarchy><node text='&a;'/></hierarchy>"
    for declaration in (
        '<!DOCTYPE x [<!ENTITY a "boom">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY a "<hierarchy>">]>',
        '<!DOCTYPE hierarchy SYSTEM "http://127.0.0.1:9/x.dtd">',
    ):
        for partial in (False, True):
            with pytest.raises(SnapshotError, match="document type"):
                Snapshot.from_xml(f"<?xml version='1.0'?>{declaration}{tree}", partial=partial)
        with pytest.raises(SnapshotError):
            Snapshot.from_xml(f"{declaration}{tree}".encode("utf-16"))


def test_size_is_bounded() -> None:
    """The largest hierarchy that is allowed can be searched; beyond the limits it is an error."""
    most = "<node text='a'/>" * (parsing.MAX_NODES - 1)
    quotes = ' a=""' * parsing.MAX_ATTRIBUTES
    for xml, message in (
        (b"x" * (parsing.MAX_BYTES + 1), "larger than 30 MB"),
        (f"<hierarchy><node>{most}<node/></node></hierarchy>", "more than 100,000 nodes"),
        (f"<hierarchy><node {quotes} b=''/></hierarchy>", "more than 2,000,000 attributes"),
    ):
        with pytest.raises(SnapshotError, match=message):
            Snapshot.from_xml(xml, partial=True)

    snapshot = Snapshot.from_xml(f"<hierarchy><node>{most}</node></hierarchy>")

    assert snapshot.count(text="a") == len(snapshot) - 1 == parsing.MAX_NODES - 1


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
        assert "absent" not in snapshot
    assert depth > 1_000 or len(snapshot) == depth


PIECES = st.sampled_from(
    [
        *("<hierarchy", "<hierarchy rotation='9'>", "</hierarchy>", "<node", "<node>", "</node>"),
        *('<node text="a\n', "/>", ">", ' bounds="[1,2][3', ' bounds="[-1,2][3,4]"', ' index="x"'),
        *('"', "'", "&#55357;", "&amp;", "&", "<!DOCTYPE", "<![CDATA[", "<!--"),
        *("\x00", "\ud800", "\U0010ffff", "\n", "\t", "é"),
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
        with pytest.raises(NodeNotFoundError) as missed:
            snapshot.find(text="absent", role="button")
        assert missed.value.message.isprintable()


CUT_LINES = (
    '<hierarchy rotation="0">',
    '  <node index="0" text="" class="android.widget.FrameLayout">',
    '    <node index="0" text="long long',
    '    <node index="1" text="OK" class="android.widget.Button" />',
    "  </node>",
    "</hierarchy>",
)


def test_a_cut_line_takes_nothing_else_along() -> None:
    """The cut node keeps what there is of it and its children; the next one is beside it."""
    cut = "\n".join(CUT_LINES)
    half = cut.encode().replace(b"long long", "long \u670d".encode()[:-1])
    for data, text in (
        (cut, "long long"),
        (half, "long "),
        (cut.replace("long long", "one\ntwo"), "one\ntwo"),
    ):
        parsed = parsing.parse(data, partial=False)
        assert [found.get("text") for found in parsed.top[0]] == [text, "OK"]
        assert parsed.is_partial
    lines = [*CUT_LINES]
    lines[2:3] = ['    <node index="0" text="long" resource-i', "      <node />", "    </node>"]
    parsed = parsing.parse("\n".join(lines), partial=False)
    assert [len(found) for found in parsed.top[0]] == [1, 0]


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


def test_no_hierarchy_of_several_is_lost() -> None:
    """All of them are read, each as a window of its own, with or without a control character."""
    for name, form in SEVERAL.items():
        for unfit in ("", "\x01"):
            first, second = (
                f'<hierarchy rotation="0"><node text="{text}{unfit}" bounds="[0,0][9,9]"/>'
                "</hierarchy>"
                for text in ("one", "two")
            )

            snapshot = Snapshot.from_xml(form.format(a=first, b=second))

            assert [root.text for root in snapshot.roots] == [f"one{unfit}", f"two{unfit}"], name
            assert not snapshot.is_partial


def test_several_of_which_one_breaks_off_are_partial() -> None:
    """What is missing is not silently taken for absent."""
    xml = '<hierarchy><node text="one"/></hierarchy>\n<hierarchy><node text="two"/><node te'

    with pytest.raises(SnapshotError, match="breaks off"):
        Snapshot.from_xml(xml)
    with pytest.warns(ClawperatorWarning, match="2 nodes could be read"):
        snapshot = Snapshot.from_xml(xml, partial=True)

    assert snapshot.is_partial


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


def logged(*messages: str) -> list[LogEntry]:
    """Log messages as they are, one line each."""
    return [LogEntry(42, 42, "D", "TaskScopeDefault", message) for message in messages]


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


# Messages after the marker under the tag D/A, and the hierarchies that they are.
MESSAGES: list[tuple[list[str], list[str]]] = [
    # Bounds are written in brackets; a message that begins with one, however indented, ends it.
    (['<a b="[0,0]">', "x [y]", "</hierarchy>"], ['<a b="[0,0]">\nx [y]\n</hierarchy>']),
    *((["<a>", f"{indent}[x] y", "</a>"], ["<a>"]) for indent in ("", " ", "    ", "\t", "\ufeff")),
    # A dump without its end is over where the next begins; one without lines is none.
    (["<a>", MARKER, MARKER, "<b>"], ["<a>", "<b>"]),
    # The closing tag in a line of its own ends the dump.
    (["<a>", "</hierarchy>", "after"], ["<a>\n</hierarchy>"]),
    (["<a>", "   </hierarchy>  ", "after"], ["<a>\n   </hierarchy>"]),
    # One space belongs to the prefix; what is beyond it is a message.
    (["<a>", "  ", "</a>"], ["<a>\n  \n</a>"]),
]
# Whole logs, and the hierarchies in them.
LOGS: list[tuple[str, list[str]]] = [
    ("", []),
    ("D/A: <hierarchy/>", []),
    # A release build's tags are one letter; the text decides.
    (f"D/E       : {MARKER}\nD/E       : <hierarchy/>\nD/w       : [x]", ["<hierarchy/>"]),
    # Without a process id the reference cannot recognize foreign lines, and neither can this.
    (
        f"D/A: {MARKER}\nD/A: <hierarchy>\nI/B: noise\nD/A: </hierarchy>",
        ["<hierarchy>\nnoise\n</hierarchy>"],
    ),
    # What follows the marker is the first line, trimmed; what is before it is dropped.
    *(
        (
            f"D/A: {MARKER}{space}<hierarchy>{space}\nD/A:   <a/>\nD/A: </hierarchy>",
            ["<hierarchy>\n  <a/>\n</hierarchy>"],
        )
        for space in ("", " ", "   ")
    ),
    (f"D/A: x {MARKER} <a/>\nD/A: <b/>", ["<a/>\n<b/>"]),
    (f"D/A: {MARKER} <a/> {MARKER} <b/>\nD/A: <c/>", ["<a/>\n<c/>"]),
    # A line without a message leaves no empty line behind.
    *(
        (f"D/A: {MARKER}\n{empty}\nD/A: <a>\n{empty}\n{empty}\nD/A: </a>\n{empty}", ["<a>\n</a>"])
        for empty in ("D/A:", "D/A: ", "", "   ", "\t", "\r")
    ),
    # A line with a prefix loses one space, a line without loses all around it.
    (
        f"D/A: {MARKER}\nD/A: <a>\nD/A:     <b/>\nD/A:\t<c/>\n     <d/>  \nD/A: </a>",
        ["<a>\n    <b/>\n\t<c/>\n<d/>\n</a>"],
    ),
    # One capital letter and a slash begin a prefix; anything else is part of the message.
    *(
        (f"D/A: {MARKER}\n{prefix}  <a>", [f"{prefix}  <a>"])
        for prefix in ("d/A: ", "DD/A: ", "1/A: ", "D A: ", "x D/A: ")
    ),
    # Carriage returns inside survive, those at the ends are trimmed.
    (
        f"D/A: {MARKER}\r\nD/A: <a>\r\nD/A: </hierarchy>\r\nD/A: after\r\n",
        ["<a>\r\n</hierarchy>"],
    ),
]


def test_the_barest_log_format_is_read_as_the_reference_reads_it() -> None:
    """A dump is its lines, indentation kept; a tag is anything before the first colon."""
    for messages, found in MESSAGES:
        text = "\n".join(f"D/A: {message}" for message in (MARKER, *messages))
        assert snapshots_from_text(text) == found, text
    for text, found in LOGS:
        assert snapshots_from_text(text) == found, text
    tags = (
        "",
        "Task Scope",
        "a.b-c_d$e/f",
        "Tag( 1234)",
        "[tag]",
        "E       ",
        "日本 ü",
        "#1, (x)!",
    )
    for tag in tags:
        for priority in "VDIWEFAS":
            lines = (MARKER, *logged_hierarchy("d: e").splitlines())
            text = "".join(f"{priority}/{tag}: {line}\n" for line in lines)
            assert snapshots_from_text(text) == [logged_hierarchy("d: e").strip()], (tag, priority)


class TestFromEntries:
    """Entries with a process id, where the reference is fragile."""

    def test_hierarchies_come_oldest_first_without_foreign_lines(self, read: Reader) -> None:
        """Lines of other processes, even under the same tag, are left out; threads may change."""
        entries = [*dump(logged_hierarchy("a")), STEP, *dump(logged_hierarchy("b", "c")), STEP]
        expected = [logged_hierarchy("a").strip(), logged_hierarchy("b", "c").strip()]
        mixed = [noisy for entry in entries for noisy in (entry, NOISE, TWIN)]
        threads = [entry._replace(tid=n) for n, entry in enumerate(entries)]

        assert read(entries) == read(mixed) == snapshots_from_entries(threads) == expected

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

    def test_a_piece_may_begin_with_a_bracket(self, read: Reader) -> None:
        """After a line of full length the next message is its rest, whatever it looks like."""
        for line, lengths in (
            ("x" * 4_000 + "[0,0]", [4_000, 5]),
            ("x" * 4_000 + "[" + "y" * 3_999 + "[z", [4_000, 4_000, 2]),
        ):
            whole = operator(f"{MARKER}\n{line}\n</hierarchy>")

            assert [len(entry.message) for entry in whole[1:]] == [*lengths, 12]
            assert read(whole) == [f"{line}\n</hierarchy>"]

    def test_only_a_full_line_was_cut(self, read: Reader) -> None:
        """A line of any other length ended there, so a bracket after it ends the dump."""
        for length in (3_999, 4_001):
            messages = (MARKER, "<hierarchy>", "x" * length, "[0,0]", "</hierarchy>")

            assert read(logged(*messages)) == ["<hierarchy>\n" + "x" * length]

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

    def test_long_lines_are_put_together(self, read: Reader) -> None:
        """A line that was cut into pieces is one line again."""
        for filler in ("x", "😀", "é", '"', "a b "):
            xml = logged_hierarchy(filler * 9_000, "short")
            entries = dump(xml)

            assert max(utf16_length(entry.message) for entry in entries) == PIECE_LENGTH
            assert read(entries) == [xml.strip()], filler

    def test_two_dumps_that_are_written_together_are_separated(self) -> None:
        """Lines of two processes may alternate."""
        first, second = dump(logged_hierarchy("a"), pid=1), dump(logged_hierarchy("b"), pid=2)
        mixed = [entry for pair in zip(first, second, strict=True) for entry in pair]

        assert snapshots_from_entries(mixed) == [
            logged_hierarchy("a").strip(),
            logged_hierarchy("b").strip(),
        ]

    def test_a_dump_that_stops_is_read_as_far_as_it_came(self, read: Reader) -> None:
        """The log keeps 4,068 bytes of an entry; a cut value does not swallow what follows."""
        whole = dump(logged_hierarchy("a", "b"))
        stopped = read([*whole[:-1], *operator("[TaskScope] UI operations completed")])
        cut = [*whole[:3], whole[3]._replace(message='  <node index="0" text="lo')]
        before_next = read([*cut, *dump(logged_hierarchy("next")), STEP])
        lines = ("<hierarchy>", '<node text="long', "<node />", "[TaskScope] else", "<node />")

        assert [xml[:5] for xml in stopped] == ["<?xml"]
        assert stopped[0].endswith('text="b" bounds="[0,0][1,1]" />')
        assert len(before_next) == 2
        assert before_next[-1] == logged_hierarchy("next").strip()
        # After a raw ``<`` the value is over, so the next log line ends the hierarchy.
        assert read(logged(MARKER, *lines)) == ["\n".join(lines[:3])]

    def test_a_closing_tag_in_its_own_line_ends_it(self, read: Reader) -> None:
        """White space around it does not matter; the marker must begin its message."""
        rest = ["<b/>", "</hierarchy>"]
        for last, kept in (
            ("</hierarchy>", []),
            ("  </hierarchy>  ", []),
            ("<a/></hierarchy>", rest),
        ):
            found = read(logged(MARKER, "<hierarchy>", last, *rest))
            assert found == ["\n".join(["<hierarchy>", last, *kept]).strip()]
        assert read(logged(f"{MARKER} <hierarchy>", "</hierarchy>")) == [
            "<hierarchy>\n</hierarchy>"
        ]
        assert read(logged(f"text={MARKER}", "<hierarchy/>")) == []

    @given(st.lists(st.text(max_size=30), max_size=5))
    def test_any_text_survives(self, read: Reader, texts: list[str]) -> None:
        """Whatever is on the screen, the hierarchy in the log is the one that comes out."""
        shown = [text.replace("\r", "") for text in texts]
        xml = logged_hierarchy(*shown)

        assert read([*dump(xml), STEP]) == [xml.strip()]
