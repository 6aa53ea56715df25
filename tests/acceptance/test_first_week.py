"""Mistakes of the first week, each with the whole message that it must give on the terminal.

``first_week.txt`` has them: a title, the body of a test in four spaces, and what its failure
says. Serials, ports and counts of checks differ from run to run, so they stand as words there.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

# An inner run forgets what it imports, and this can be imported only once.
import pytest_clawperator.simulator.apps.load  # noqa: F401
from pytest_clawperator.simulator import Simulator
from tests.doubles.adb_server import FakeAdb, block

TOP = Path(__file__).parents[2]
PACKAGE = "com.example.bank"
APP = f"""\
package: {PACKAGE}
name: Bank
start: account
state: {{balance: 100, typed: "", ready: false, rows: {[*range(1, 31)]}}}
screens:
  account:
    title: Account
    items:
      - {{text: "Balance: ${{balance}}", id: balance}}
      - {{text: Pay, id: heading}}
      - {{button: Pay, id: pay, on_tap: {{navigate: payment}}}}
      - {{button: Close, id: close, on_tap: {{dialog: sure}}}}
      - {{button: Terms, id: terms, enabled_if: ready, on_tap: {{set: {{ready: true}}}}}}
  payment:
    title: Payment
    items:
      - {{text: Amount, id: label}}
      - {{field: In dollars, id: amount, bind: typed}}
      - {{button: Send, id: send, on_tap: {{after: 1500ms, do: {{back: true}}}}}}
      - {{button: Save, id: save, on_tap: {{toast: Saved}}}}
      - {{button: Break, id: break, on_tap: {{crash: "java.lang.IllegalStateException: no"}}}}
  statements:
    title: Statements
    items:
      - list: rows
        items:
          - {{row: "Statement {{item}}", summary: "This year", repeat: rows}}
dialogs:
  sure: {{title: Close your account?, buttons: [{{button: "No"}}]}}
links:
  - {{uri: "bank://payment", screen: payment}}
  - {{uri: "bank://statements", screen: statements}}
"""
HEAD = f"""\
import pytest

from pytest_clawperator import Clawperator, expect

pytestmark = [pytest.mark.claw_app("{PACKAGE}"), pytest.mark.claw_timeout(1)]
"""
PLUGINS = [
    *("-p", "no:cacheprovider", "-q", "-p", "pytest_clawperator.plugin"),
    *("-p", "tests.doubles.quick_phones"),
]
USES_DEVICE = "def test_one(clawperator): ...\n\ndef test_two(clawperator): ...\n"


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


def written(mistake: Mistake) -> str:
    """Return the test with a mistake; a body may begin with a decorator or its own fixture."""
    if "def " in mistake.body:
        return re.sub(r"^    ", "", mistake.body, flags=re.M).replace("test_it", mistake.name)
    return f"def {mistake.name}(clawperator: Clawperator) -> None:\n{mistake.body}"


def run_pytest(folder: Path, *options: str) -> str:
    """Run the tests of a folder as a beginner would; return the output."""
    kept = {name: text for name, text in os.environ.items() if "PYTEST" not in name}
    outside = {"CI": "", "COLUMNS": "80", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGINS, *options],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(TOP), **outside},
        capture_output=True,
        text=True,
        check=False,
    )
    return lasting(ran.stdout + ran.stderr, folder)


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return a function that runs the tests of a folder in this process."""
    for name in [name for name in os.environ if "PYTEST" in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("CI", "")
    pytester.makepyfile(test_one=USES_DEVICE)

    def run(*options: str) -> str:
        ran = pytester.runpytest_inprocess("-W", "default", *PLUGINS, *options)
        return lasting(f"{ran.stdout}\n{ran.stderr}", pytester.path)

    return run


def lasting(said: str, folder: Path) -> str:
    """Return what a run printed without what differs from run to run."""
    said = said.replace(f"{folder}{os.sep}", "")
    said = re.sub(r"127\.0\.0\.1:\d+", "PHONE", said)
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
    (folder / "bank.yaml").write_text(APP, encoding="utf-8")
    suite = "\n\n".join([HEAD, *map(written, MISTAKES)])
    (folder / "test_bank.py").write_text(suite, encoding="utf-8")
    return messages_in(
        run_pytest(folder, "--claw-device=sim", "--claw-sim-app=bank.yaml", "--tb=short")
    )


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.title)
def test_the_message_of_a_mistake(mistake: Mistake, messages: Mapping[str, str]) -> None:
    """The failure says what was found and what to do, whole lines of it."""
    assert messages.get(mistake.name, "it passed") == mistake.message


def test_there_are_thirty_mistakes() -> None:
    """There are thirty of them, besides those that need no phone."""
    assert len(MISTAKES) >= 30


def test_the_index_shows_a_failure_as_it_is(messages: Mapping[str, str]) -> None:
    """The failure on the first page of the documents is the one of the terminal."""
    page = (TOP / "docs" / "index.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^<!-- failure.*?-->\n```text\n(.*?)^```$", page, re.S | re.M)

    message = messages["test_a_letter_is_missing"].partition("[PHONE] ")[2]

    assert shown.rstrip("\n").replace("within 5 s", "within 1 s") == message


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["--claw-device=simulator"],
            "ERROR: --claw-device: 'simulator' is not a device. Did you mean sim? Allowed: auto",
        ),
        (
            ["--claw-device=sim:phone,tblet"],
            "ERROR: --claw-device: 'phone,tblet' names no simulated phones: `tblet` is nothing"
            " that a simulated phone can be; did you mean `tablet`?",
        ),
        (
            ["--claw-device=sim", "--claw-timeout=5000"],
            "ERROR: --claw-timeout: the value is at most 600 seconds, found 5000.0. Seconds, not"
            " milliseconds? 5000 ms are 5.",
        ),
        (
            ["--claw-device=sim", "--claw-sim-app=spoilt.yaml"],
            "ERROR: --claw-sim-app: spoilt.yaml:11:41: there is no screen `paymnt`; did you mean"
            " `payment`? known: account, payment, statements. docs/app-files.md describes every"
            " key of an app file.",
        ),
        (
            ["--claw-device=sim", "--claw-operator-apk", "operator.apk"],
            "ERROR: --claw-operator-apk: there is no file operator.apk",
        ),
        (
            ["--claw-device=auto", "--claw-sim-app=bank.yaml"],
            "ERROR: --claw-sim-app has no effect: this run has no simulated phones; add"
            " --claw-device sim, or leave it out",
        ),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_a_wrong_option_is_refused_before_anything_starts(
    run: Callable[..., str], options: list[str], line: str
) -> None:
    """The run ends immediately, with one line that says what is allowed."""
    Path("bank.yaml").write_text(APP, encoding="utf-8")
    spoilt = APP.replace("navigate: payment}}", "navigate: paymnt}}", 1)
    Path("spoilt.yaml").write_text(spoilt, encoding="utf-8")

    said = run(*options)

    assert line in said.replace("\n", " "), said


def test_two_phones_and_none_chosen(run: Callable[..., str]) -> None:
    """The phones are listed, with the option that chooses one."""
    with Simulator(devices=2, seed=6, time_scale=0.05) as phones:
        said = run(f"--claw-adb=127.0.0.1:{phones.adb_port}", "--tb=short")

    assert errors_of(said).splitlines() == [
        "pytest_clawperator.AmbiguousDeviceError: MULTIPLE_DEVICES_DEVICE_ID_REQUIRED:"
        " 2 devices are connected and none was chosen: PHONE, PHONE",
        "  hint: Choose one: --claw-device PHONE; or any: --claw-device auto; or all, with one"
        " worker each: -n 2 --claw-device auto.",
    ]


def test_a_phone_without_the_operator(run: Callable[..., str]) -> None:
    """The error names the option that installs it."""
    with Simulator(devices=1, seed=6, operator="absent") as phones:
        said = run(f"--claw-adb=127.0.0.1:{phones.adb_port}", "--tb=short")

    assert errors_of(said).splitlines() == [
        "pytest_clawperator.OperatorNotReadyError: [PHONE] OPERATOR_NOT_INSTALLED:"
        " the Operator app com.clawperator.operator is not installed",
        "  hint: Install com.clawperator.operator: --claw-operator-apk=path/to/operator.apk;"
        " or find out what is wrong with `pytest --claw-doctor`.",
    ]


def test_no_phone_at_all(run: Callable[..., str]) -> None:
    """All tests share one error, which names simulated phones."""
    answers = {"host:version": block("0029"), "host:devices": block("")}

    with FakeAdb(answers) as server:
        said = run(f"--claw-adb={server.server}", "--tb=short")

    assert errors_of(said).splitlines() == [
        "pytest_clawperator.NoDeviceError: NO_DEVICES: no device is connected",
        "  hint: Plug one in with USB debugging on (`adb devices` must call it `device`), or use"
        " simulated phones: --claw-device sim.",
    ]
    assert "1 error, 1 same error in" in said


def test_no_adb_program(run: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """If a server must be started and there is no program, the error says where to get one."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        monkeypatch.setenv("ADB_SERVER_SOCKET", f"tcp:127.0.0.1:{port}")
        monkeypatch.setenv("ADB_PATH", "/nowhere/adb")
        said = run("--tb=short")

    assert errors_of(said).splitlines() == [
        "pytest_clawperator.AdbUnavailableError: ADB_NOT_FOUND: ADB_PATH names '/nowhere/adb',"
        " which is not a file",
        "  hint: Correct ADB_PATH, or unset it to use the adb that ships with adbutils.",
    ]


@pytest.mark.parametrize(("ci", "outcome"), [("", "skipped"), ("true", "error")])
def test_no_device_meets_the_requirements(
    run: Callable[..., str], monkeypatch: pytest.MonkeyPatch, ci: str, outcome: str
) -> None:
    """A test that no device of the run fits is named with the reason; in CI it is an error."""
    marked = "import pytest\n\n@pytest.mark.claw_device(api=99)\ndef test_one(clawperator): ...\n"
    Path("test_one.py").write_text(marked, encoding="utf-8")

    monkeypatch.setenv("CI", ci)

    said = run("--claw-device=sim")

    assert "claw_device: api=99 is required, the device has 36" in said
    assert f"1 {outcome} in" in said
    assert ("--claw-strict makes it an error" in said) is (not ci)


def test_markers_are_checked_before_the_first_test(run: Callable[..., str]) -> None:
    """Every marker that makes no sense is named with how it is written."""
    marks = ["claw_ap('com.example.bank')", "claw_app()", "claw_timeout(5000)"]
    tests = [f"@pytest.mark.{mark}\ndef test_{i}(clawperator): ..." for i, mark in enumerate(marks)]
    Path("test_one.py").write_text("\n".join(["import pytest", *tests]), encoding="utf-8")

    said = run("--claw-device=sim")

    assert re.findall(r"^ERROR: (.*)$", said, re.M) == [
        "test_one.py::test_0: claw_ap('com.example.bank'): no such marker; did you mean claw_app?",
        "test_one.py::test_1: claw_app(): it is written claw_app(package, launch=True, stop=True,"
        ' clear=False, grant=[], missing="error")',
        "test_one.py::test_2: claw_timeout(5000): the value is at most 600 seconds, found 5000."
        " Seconds, not milliseconds? 5000 ms are 5.",
    ]
