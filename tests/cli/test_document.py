"""The document about the command line: its examples print what it shows, and it misses nothing."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_clawperator.cli import options
from pytest_clawperator.cli.command import ALIASES, COMMANDS
from tests.cli.conftest import Cli, Printed
from tests.doubles.simulator.sdk_bench import SdkBench

DOCUMENT = Path(__file__).parents[2] / "docs" / "command-line.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
PROGRAM = "clawperator-py "
# What differs each time: ports, ids, durations, other emulators, widths of columns.
CHANGING = (
    # A system image is downloaded only once.
    (re.compile(r"^(?:installing )?system-images;.*\n", re.MULTILINE), ""),
    (re.compile(r"127\.0\.0\.1:[0-9]+"), "127.0.0.1:PORT"),
    (re.compile(r"-[0-9]{13}-[0-9a-z]{7}"), "-ID"),
    (re.compile(r"_[0-9]{13}"), "_ID"),
    (re.compile(r"\b[0-9]+\.[0-9] s\b"), "SECONDS"),
    (re.compile(r", emulator-[0-9]+|emulator-[0-9]+, "), ""),
    (re.compile(r"\bafter [0-9]+ s\b"), "after SECONDS"),
    (re.compile(r"\bemulator-[0-9]{4,5}\b"), "emulator-PORT"),
    (re.compile(r"\b(x86_64|arm64-v8a)\b"), "ABI"),
    (re.compile(r"\b[0-9]+ +127\."), "PROCESS  127."),
    (re.compile(r"process [0-9]+"), "process PROCESS"),
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
    """Return an output without what differs each time, and without other emulators."""
    text = "\n".join(line for line in text.split("\n") if not line.startswith("emulator-"))
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.rstrip().split("\n"))


def until_there(cli: Cli, words: list[str]) -> Printed:
    """Run a command line; repeat a wait, because the Operator's pauses are shortened."""
    deadline = time.monotonic() + 20
    printed = cli(*words)
    while words[0] == "wait" and printed.code and time.monotonic() < deadline:
        printed = cli(*words)
    return printed


@pytest.fixture
def anywhere(
    cli: Cli, bench: SdkBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Cli]:
    """Return the function that runs command lines in a new folder, emulators with an SDK."""
    monkeypatch.setattr(options, "default_output", lambda: "pretty")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> Printed:
        with monkeypatch.context() as patched:
            if words[0] in ("emulator", "provision"):
                for name, value in bench.sdk.environment.items():
                    patched.setenv(name, value)
            return cli(*words)

    yield call
    cli("simulate", "stop", "--all")


def test_the_examples_print_what_is_shown(anywhere: Cli) -> None:
    """Run in the order of the document, as a person at a terminal would."""
    shown = [one for one in EXAMPLES if one.shown and one.command in OURS]

    for one in shown:
        printed = until_there(anywhere, words_of(one.command))
        expected, dots, _ = plain(one.shown).partition("\n...")
        found = plain(printed.err + printed.out)
        assert (found[: len(expected)] if dots else found) == expected, one.command
    assert len(shown) >= 12


def test_every_command_is_documented() -> None:
    """The table has every command and no other; the examples name commands that exist."""
    listed = re.findall(r"^\| `([a-z][a-z -]*)` \| \S.* \|$", TEXT, re.MULTILINE)

    assert sorted(listed) == sorted(COMMANDS)
    for example in OURS:
        words = words_of(example)
        named = {" ".join(words[:count]) for count in (1, 2)}
        assert named & {*COMMANDS, *ALIASES, "--help", "clik"}, example  # a slip on purpose
