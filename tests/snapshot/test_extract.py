"""Hierarchies come out of the log whole, whoever else was writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.contracts.ecmascript import utf16_length
from pytest_clawperator.contracts.log import PIECE_LENGTH, LogEntry
from pytest_clawperator.snapshot.extract import (
    MARKER,
    snapshots_from_entries,
    snapshots_from_lines,
    snapshots_from_text,
)

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<hierarchy rotation=\"0\">\n"


def hierarchy(*texts: str) -> str:
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
            f"D/TaskScopeDefault: {line}\n" for line in hierarchy("a").splitlines()
        )

        assert snapshots_from_text(text) == [hierarchy("a").strip()]

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

    @pytest.mark.parametrize(
        "tag",
        ["", "Task Scope", "a.b-c_d$e/f", "Tag( 1234)", "[tag]", "E       ", "日本 ü", "#1, (x)!"],
    )
    @pytest.mark.parametrize("priority", ["V", "D", "I", "W", "E", "F", "A", "S"])
    def test_a_tag_ends_at_the_first_colon(self, priority: str, tag: str) -> None:
        """A tag is whatever stands before the first colon."""
        prefix = f"{priority}/{tag}:"

        text = f"{prefix} {MARKER}\n{prefix} <a>\n{prefix}   <b c='d: e'/>\n{prefix} </hierarchy>"

        assert snapshots_from_text(text) == ["<a>\n  <b c='d: e'/>\n</hierarchy>"]

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
        entries = [*dump(hierarchy("a")), STEP, *dump(hierarchy("b")), STEP]

        assert read(entries) == [hierarchy("a").strip(), hierarchy("b").strip()]

    def test_foreign_lines_between(self, read: Reader) -> None:
        """Lines of other processes, even under the same tag, are not part of a dump."""
        whole = dump(hierarchy("a", "b", "c"))
        mixed = [noisy for entry in whole for noisy in (entry, NOISE, TWIN)]

        assert read(mixed) == [hierarchy("a", "b", "c").strip()]

    @pytest.mark.parametrize(
        "change",
        [{"pid": 43}, {"priority": "I"}, {"priority": "V"}, {"tag": "Other"}, {"tag": ""}],
    )
    @pytest.mark.parametrize("message", ["noise", "[x]", "</hierarchy>", f"{MARKER}", '"'])
    def test_a_source_is_process_priority_and_tag(
        self, read: Reader, change: dict[str, Any], message: str
    ) -> None:
        """A line that differs in one of the three is foreign: it neither joins nor ends a dump."""
        foreign = LogEntry(42, 42, "D", "TaskScopeDefault", message)._replace(**change)
        mixed = [each for entry in dump(hierarchy("a")) for each in (entry, foreign)]

        assert hierarchy("a").strip() in read(mixed)

    def test_threads_do_not_matter(self) -> None:
        """A process may go on in another thread."""
        entries = [entry._replace(tid=n) for n, entry in enumerate(dump(hierarchy("a")))]

        assert snapshots_from_entries(entries) == [hierarchy("a").strip()]

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
        xml = hierarchy("before", text, "after")

        assert read([*dump(xml), STEP]) == [xml.strip()]

    @pytest.mark.parametrize("filler", ["x", "😀", "é", '"', "a b "])
    def test_long_lines_are_put_together(self, read: Reader, filler: str) -> None:
        """A line that was cut into pieces is one line again."""
        xml = hierarchy(filler * 9_000, "short")

        entries = dump(xml)

        assert max(utf16_length(entry.message) for entry in entries) == PIECE_LENGTH
        assert read(entries) == [xml.strip()]

    def test_two_processes_at_once(self) -> None:
        """Two dumps that are written at the same time are told apart."""
        first, second = dump(hierarchy("a"), pid=1), dump(hierarchy("b"), pid=2)
        mixed = [entry for pair in zip(first, second, strict=True) for entry in pair]

        assert snapshots_from_entries(mixed) == [hierarchy("a").strip(), hierarchy("b").strip()]

    def test_a_dump_that_stops(self, read: Reader) -> None:
        """A dump without its end is given as far as it came."""
        entries = [
            *dump(hierarchy("a", "b"))[:-1],
            *operator("[TaskScope] UI operations completed"),
        ]

        (cut,) = read(entries)

        assert cut.startswith("<?xml")
        assert cut.endswith('text="b" bounds="[0,0][1,1]" />')

    def test_a_dump_cut_inside_a_value_does_not_swallow_the_next(self, read: Reader) -> None:
        """The log keeps 4,068 bytes of an entry; the rest of a value may be lost for ever."""
        cut = dump(hierarchy("a", "lost"))[:4]
        cut.append(cut.pop()._replace(message='  <node index="0" text="lo'))

        found = read([*cut, *dump(hierarchy("next")), STEP])

        assert found[-1] == hierarchy("next").strip()
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
        xml = hierarchy(*shown)

        assert read([*dump(xml), STEP]) == [xml.strip()]


def test_a_line_cut_in_a_value_does_not_swallow_what_follows() -> None:
    """After a raw ``<`` the value is over, so the next log line ends the hierarchy."""
    cut = ["<hierarchy>", '<node text="long', "<node />", "[TaskScope] something else", "<node />"]
    entries = [LogEntry(1, 1, "D", "T", message) for message in (MARKER, *cut)]

    found = snapshots_from_entries(entries)

    assert found == ["\n".join(cut[:3])]
