"""The document about the command line: its examples print what it shows, and it misses nothing."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_clawperator.cli import global_options
from pytest_clawperator.cli.table import ALIASES, COMMANDS
from tests.cli.conftest import Cli, Printed

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "command-line.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
PROGRAM = "clawperator-py "
# What is another one each time: ports, ids, durations, emulators of others, widths of columns.
CHANGING = (
    (re.compile(r"127\.0\.0\.1:[0-9]+"), "127.0.0.1:PORT"),
    (re.compile(r"-[0-9]{13}-[0-9a-z]{7}"), "-ID"),
    (re.compile(r"_[0-9]{13}"), "_ID"),
    (re.compile(r"\b[0-9]+\.[0-9] s\b"), "SECONDS"),
    (re.compile(r", emulator-[0-9]+|emulator-[0-9]+, "), ""),
    (re.compile(r" {2,}"), "  "),
)


class Example(NamedTuple):
    """A command line of the document, and what it shows below it."""

    command: str
    shown: str


def examples() -> Iterator[Example]:
    """Yield the command lines in the document."""
    for block in re.findall(r"^```console\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield Example(command, shown)


EXAMPLES = list(examples())
OURS = [one.command for one in EXAMPLES if one.command.startswith(PROGRAM)]


def words_of(command: str) -> list[str]:
    """Return the words of a command line that belong to the program."""
    words = shlex.split(command.removeprefix(PROGRAM))
    ends = [place for place, word in enumerate(words) if word in ("|", ">")]
    return words[: min(ends, default=len(words))]


def plain(text: str) -> str:
    """Return an output without what is another one each time, and without others' emulators."""
    text = "\n".join(line for line in text.split("\n") if not line.startswith("emulator-"))
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.rstrip().split("\n"))


def until_there(cli: Cli, words: list[str]) -> Printed:
    """Run a command line; what it waits for takes its time, though the Operator's is shortened."""
    deadline = time.monotonic() + 20
    printed = cli(*words)
    while words[0] == "wait" and printed.code and time.monotonic() < deadline:
        printed = cli(*words)
    return printed


def test_the_examples_print_what_is_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the order of the document, as a person at a terminal would."""
    monkeypatch.setattr(global_options, "default_output", lambda: "pretty")
    shown = [one for one in EXAMPLES if one.shown and one.command in OURS]

    for one in shown:
        printed = until_there(cli, words_of(one.command))
        expected, dots, _ = plain(one.shown).partition("\n...")
        found = plain(printed.out + printed.err)
        assert (found[: len(expected)] if dots else found) == expected, one.command
    assert len(shown) >= 12


@pytest.mark.parametrize("example", OURS)
def test_the_examples_name_commands_that_are_there(example: str) -> None:
    """Also those that are not run here; a slip in one is there on purpose."""
    words = words_of(example)
    named = {" ".join(words[:count]) for count in (1, 2)}

    assert named & {*COMMANDS, *ALIASES, "--help", "clik"}


def test_every_command_is_documented() -> None:
    """The table has every command, and none that is not."""
    told = re.findall(r"^\| `([a-z][a-z -]*)` \| \S.* \|$", TEXT, re.MULTILINE)

    assert sorted(told) == sorted(COMMANDS)
