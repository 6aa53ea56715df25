"""Mistakes of the first week, each with the whole message that it must give on the terminal.

``first_week.txt`` has them: a title, the body of a test in four spaces, and what its failure
says. Serials, ports and counts of checks differ from run to run, so they stand as words there.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

# An inner run forgets what it imports, and this can be imported only once.
import pytest_clawperator.simulator.apps.load  # noqa: F401
from tests.doubles.pytest_process import TOP, run_pytest

PACKAGE = "com.example.bank"
BANK = Path(__file__).parent / "apps" / "bank.yaml"
HEAD = f"""\
import pytest

from pytest_clawperator import Clawperator, expect

pytestmark = [pytest.mark.claw_app("{PACKAGE}"), pytest.mark.claw_timeout(1)]
"""


class Mistake(NamedTuple):
    """What a beginner writes, and what the failure says."""

    title: str
    body: str
    message: str

    @property
    def name(self) -> str:
        """The name of its test."""
        return "test_" + re.sub(r"\W+", "_", self.title)


def mistakes() -> list[Mistake]:
    """Read the mistakes."""
    text = Path(__file__).with_name("first_week.txt").read_text(encoding="utf-8")
    parts = re.findall(r"^## ([^\n]+)\n((?:    [^\n]*\n)+)(.*?)(?=^## |\Z)", text, re.S | re.M)
    return [Mistake(title, body, message.strip("\n")) for title, body, message in parts]


MISTAKES = mistakes()
assert len(MISTAKES) >= 30


def written(mistake: Mistake) -> str:
    """Return the test with a mistake; a body may begin with a decorator or its own fixture."""
    if "def " in mistake.body:
        return re.sub(r"^    ", "", mistake.body, flags=re.M).replace("test_it", mistake.name)
    return f"def {mistake.name}(clawperator: Clawperator) -> None:\n{mistake.body}"


def lasting(said: str, folder: Path) -> str:
    """Return what a run printed without what differs from run to run."""
    said = said.replace(f"{folder}{os.sep}", "")
    said = re.sub(r"127\.0\.0\.1:\d+", "PHONE", said)
    said = re.sub(r"\b1\.\d s\b", "1.0 s", said)  # a busy machine waits a little longer
    return re.sub(r"\d+ × ([^,\n]*) in", r"N × \1 in", said)


def messages_in(said: str) -> Mapping[str, str]:
    """Return the messages of the tests that failed, by their names."""
    sections = re.split(r"^_{3,} (?:ERROR at setup of )?(\w+) _{3,}$", said, flags=re.M)
    pairs = zip(sections[1::2], sections[2::2], strict=True)
    return {name: errors_of(text) for name, text in pairs}


def errors_of(said: str) -> str:
    """Return the lines that pytest marks as an error; a hint may stand below them unmarked."""
    return "\n".join(re.findall(r"^(?:E   ?|    (?=  hint: ))(.*)$", said, re.M))


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Run all mistakes on one phone, and return the message of each."""
    folder = tmp_path_factory.mktemp("week")
    suite = "\n\n".join([HEAD, *map(written, MISTAKES)])
    (folder / "test_bank.py").write_text(suite, encoding="utf-8")
    options = ("-q", "--claw-device=sim", f"--claw-sim-app={BANK}", "--tb=short")
    ran = run_pytest(*options, folder=folder, columns=80)
    return messages_in(lasting(ran.stdout + ran.stderr, folder))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_the_message_of_a_mistake(mistake: Mistake, messages: Mapping[str, str]) -> None:
    """The failure says what was found and what to do, whole lines of it."""
    assert messages.get(mistake.name, "it passed") == mistake.message


def test_the_index_shows_a_failure_as_it_is(messages: Mapping[str, str]) -> None:
    """The failure on the first page of the documents is the one of the terminal."""
    page = (TOP / "docs" / "index.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^<!-- failure.*?-->\n```text\n(.*?)^```$", page, re.S | re.M)

    message = messages["test_a_letter_is_missing"].partition("[PHONE] ")[2]

    assert shown.rstrip("\n").replace("within 5 s", "within 1 s") == message


def test_no_adb_program(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a server must be started and there is no program, the error says where to get one."""
    pytester.makepyfile("def test_one(clawperator): ...")
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        monkeypatch.setenv("ADB_SERVER_SOCKET", f"tcp:127.0.0.1:{port}")
        monkeypatch.setenv("ADB_PATH", "/nowhere/adb")
        ran = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--tb=short")

    assert errors_of(str(ran.stdout)).splitlines() == [
        "pytest_clawperator.AdbUnavailableError: ADB_NOT_FOUND: ADB_PATH names '/nowhere/adb',"
        " which is not a file",
        "  hint: Correct ADB_PATH, or unset it to use the adb that ships with adbutils.",
    ]
