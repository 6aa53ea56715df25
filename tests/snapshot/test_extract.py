"""Hierarchies come out of the log whole, whoever else was writing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clawperator.contracts.ecmascript import utf16_length
from pytest_clawperator.contracts.log import LogEntry
from pytest_clawperator.snapshot.extract import (
    MARKER,
    PIECE_LENGTH,
    snapshots_from_entries,
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


NOISE = LogEntry(999, 999, "I", "SurfaceFlinger", "vsync")
TWIN = LogEntry(999, 999, "D", "TaskScopeDefault", "</hierarchy>")
STEP = LogEntry(42, 42, "D", "UiActionEngineDefault", "[UiActionEngine] step_success id=a")


class TestFromText:
    """The barest format, read as the reference reads it."""

    def test_one(self) -> None:
        """A dump is its lines, indentation kept."""
        text = f"D/TaskScopeDefault: {MARKER}\n" + "".join(
            f"D/TaskScopeDefault: {line}\n" for line in hierarchy("a").splitlines()
        )

        assert snapshots_from_text(text) == [hierarchy("a").strip()]

    def test_obfuscated_tags(self) -> None:
        """A release build's tags are one letter; the text decides."""
        text = f"D/E       : {MARKER}\nD/E       : <hierarchy/>\nD/w       : [x]"

        assert snapshots_from_text(text) == ["<hierarchy/>"]

    def test_foreign_lines_are_taken_in(self) -> None:
        """Without a process id the reference cannot tell, and neither can this."""
        text = f"D/A: {MARKER}\nD/A: <hierarchy>\nI/B: noise\nD/A: </hierarchy>"

        assert snapshots_from_text(text) == ["<hierarchy>\nnoise\n</hierarchy>"]

    def test_nothing(self) -> None:
        """A log without a marker has no hierarchy."""
        assert snapshots_from_text("") == []
        assert snapshots_from_text("D/A: <hierarchy/>") == []


class TestFromEntries:
    """Entries with a process id, where the reference is fragile."""

    def test_one_and_several(self) -> None:
        """Hierarchies come oldest first."""
        entries = [*dump(hierarchy("a")), STEP, *dump(hierarchy("b")), STEP]

        assert snapshots_from_entries(entries) == [hierarchy("a").strip(), hierarchy("b").strip()]

    def test_foreign_lines_between(self) -> None:
        """Lines of other processes, even under the same tag, are not part of a dump."""
        whole = dump(hierarchy("a", "b", "c"))
        mixed = [noisy for entry in whole for noisy in (entry, NOISE, TWIN)]

        assert snapshots_from_entries(mixed) == [hierarchy("a", "b", "c").strip()]

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
    def test_text_that_looks_like_log(self, text: str) -> None:
        """An attribute may hold anything, over several lines; the dump stays whole."""
        xml = hierarchy("before", text, "after")

        assert snapshots_from_entries([*dump(xml), STEP]) == [xml.strip()]

    @pytest.mark.parametrize("filler", ["x", "😀", "é", '"', "a b "])
    def test_long_lines_are_put_together(self, filler: str) -> None:
        """A line that was cut into pieces is one line again."""
        xml = hierarchy(filler * 9_000, "short")

        entries = dump(xml)

        assert max(utf16_length(entry.message) for entry in entries) == PIECE_LENGTH
        assert snapshots_from_entries(entries) == [xml.strip()]

    def test_two_processes_at_once(self) -> None:
        """Two dumps that are written at the same time are told apart."""
        first, second = dump(hierarchy("a"), pid=1), dump(hierarchy("b"), pid=2)
        mixed = [entry for pair in zip(first, second, strict=True) for entry in pair]

        assert snapshots_from_entries(mixed) == [hierarchy("a").strip(), hierarchy("b").strip()]

    def test_a_dump_that_stops(self) -> None:
        """A dump without its end is given as far as it came."""
        entries = [
            *dump(hierarchy("a", "b"))[:-1],
            *operator("[TaskScope] UI operations completed"),
        ]

        (cut,) = snapshots_from_entries(entries)

        assert cut.startswith("<?xml")
        assert cut.endswith('text="b" bounds="[0,0][1,1]" />')

    def test_a_dump_cut_inside_a_value_does_not_swallow_the_next(self) -> None:
        """The log keeps 4,068 bytes of an entry; the rest of a value may be lost for ever."""
        cut = dump(hierarchy("a", "lost"))[:4]
        cut.append(cut.pop()._replace(message='  <node index="0" text="lo'))

        found = snapshots_from_entries([*cut, *dump(hierarchy("next")), STEP])

        assert found[-1] == hierarchy("next").strip()
        assert len(found) == 2

    def test_text_on_the_markers_own_line(self) -> None:
        """What stands after the marker is the hierarchy's first line."""
        entries = operator(f"{MARKER} <hierarchy>\n</hierarchy>")

        assert snapshots_from_entries(entries) == ["<hierarchy>\n</hierarchy>"]

    def test_marker_must_begin_the_message(self) -> None:
        """A message that merely quotes the marker opens nothing."""
        quoted = [LogEntry(42, 42, "D", "X", f"text={MARKER}"), *operator("<hierarchy/>", tag="X")]

        assert snapshots_from_entries(quoted) == []

    @given(st.lists(st.text(max_size=30), max_size=5))
    def test_any_text_survives(self, texts: list[str]) -> None:
        """Whatever is on the screen, the hierarchy in the log is the one that comes out."""
        shown = [text.replace("\r", "") for text in texts]
        xml = hierarchy(*shown)

        assert snapshots_from_entries([*dump(xml), STEP]) == [xml.strip()]
