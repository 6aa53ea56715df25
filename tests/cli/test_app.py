"""The program: which command a command line calls, and what it prints and returns."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_clawperator.cli.app import COMPLETE, run
from pytest_clawperator.cli.command import ALIASES, COMMANDS, GROUPS
from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import Cli

TOP = Path(__file__).parents[2]


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, object]]:
    """Run a command line, and return its exit code and the JSON that it printed."""
    code = run(argv)
    return code, json.loads(capsys.readouterr().out)


def test_a_command_that_is_not_there_suggests_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A slip is told with the command that was meant."""
    code, told = answer(capsys, "devics")

    assert code == 1
    assert told["code"] == "UNKNOWN_COMMAND"
    assert told["suggestion"] == "devices"


def test_a_flag_that_is_not_there_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """A slip in a flag is told before anything is done."""
    code, told = answer(capsys, "devices", "--jsn")

    assert code == 1
    assert told["code"] == "USAGE"
    assert "'--jsn'. Did you mean '--json'?" in str(told["message"])


@pytest.mark.parametrize(
    ("argv", "code", "kind", "near"),
    [
        (["snap"], 1, "UNKNOWN_COMMAND", "snapshot"),
        (["action", "clik"], 1, "UNKNOWN_COMMAND", "action click"),
        (["action", "scroll"], 1, "UNKNOWN_COMMAND", "scroll"),
        (["observe", "tree"], 1, "UNKNOWN_COMMAND", None),
        (["emulator", "lst"], 0, "USAGE", "emulator list"),
        (["simulate", "stopp"], 1, "USAGE", "simulate stop"),
    ],
)
def test_a_slip_in_a_command_of_a_group_suggests_the_nearest(
    argv: list[str], code: int, kind: str, near: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command of two words is suggested whole; the exit codes are those of the reference."""
    exit_code, told = answer(capsys, *argv)

    assert (exit_code, told["code"], told.get("suggestion")) == (code, kind, near)
    assert near is None or f"Did you mean '{near}'?" in str(told["message"])


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_tells_what_is_in_it(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Alone and in its help it lists its commands, even if they are other spellings."""
    inside = [path for path in (*COMMANDS, *ALIASES) if path.startswith(f"{group} ")]

    code, told = answer(capsys, group)
    run([group, "--help"])

    first = inside[0].removeprefix(f"{group} ")
    assert code == 0
    assert first in str(told["message"])
    assert f"\n  {first} " in capsys.readouterr().out.partition("Commands:")[2]


@pytest.mark.parametrize("command", ["click", "read", "wait"])
def test_a_bare_word_is_no_element(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Who types only the text of an element is told the flag that it lacks."""
    code, told = answer(capsys, command, "Sign in")

    assert (code, told["code"]) == (1, "MISSING_SELECTOR")
    assert f'clawperator-py {command} --text "Sign in"' in str(told["hint"])


@pytest.mark.parametrize(
    ("argv", "step"),
    [
        (["snapshot", "--device"], "As in --device emulator-5554."),
        (["operator", "setup", "--apk"], "See `clawperator-py operator setup --help`."),
        (["snapshot", "screen"], "See `clawperator-py snapshot --help`."),
        (["wait", "--text", "Done", "--timeout", "5s"], "milliseconds, as in --timeout 30000"),
        (["sleep", "2s"], "milliseconds, as in: clawperator-py sleep 2000"),
        (["scroll-until", "About phone"], '--text "About phone"'),
    ],
)
def test_a_value_that_is_missing_or_wrong_has_a_next_step(
    argv: list[str], step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hint says what to type."""
    code, told = answer(capsys, *argv)

    assert code == 1
    assert step in str(told["hint"])


def test_options_alone_are_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a command the program says how to find one, and exits with 0 as published."""
    code, told = answer(capsys, "--json")

    assert (code, told["code"]) == (0, "USAGE")


def test_people_get_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """An error for people is one line with its code, and nothing is on stdout."""
    code = run(["devics", "--output", "pretty"])
    printed = capsys.readouterr()

    assert (code, printed.out) == (1, "")
    assert printed.err.startswith("UNKNOWN_COMMAND: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize("argv", [[], ["help"], ["--help"]])
def test_help_lists_every_command(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Help has a line for each command, without importing any of them."""
    code = run(argv)
    printed = capsys.readouterr().out

    assert code == 0
    assert [path for path in COMMANDS if f"\n  {path} " not in printed] == []


def test_help_begins_with_what_to_type_first(capsys: pytest.CaptureFixture[str]) -> None:
    """The first page has examples, the option for the version, and no arguments as options."""
    run(["--help"])
    first = capsys.readouterr().out
    run(["type", "--help"])
    typing = capsys.readouterr().out

    assert "\n  clawperator-py simulate\n" in first.partition("Examples:")[2]
    assert "\n  --version " in first
    assert "\n  [TEXT]" not in typing


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help_with_examples(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row of the table leads to a command that explains itself."""
    code = run([*path.split(" "), "--help"])
    printed = capsys.readouterr().out

    assert code == 0
    assert f"\n  clawperator-py {path}" in printed.partition("Examples:")[2]
    assert "--device" in printed.partition("Global options:")[2]


def test_aliases_lead_to_commands() -> None:
    """Other spellings are of commands that exist, and every group has some."""
    assert set(ALIASES.values()) <= COMMANDS.keys()
    paths = [*COMMANDS, *ALIASES]
    assert [group for group in GROUPS if not any(p.startswith(f"{group} ") for p in paths)] == []


@pytest.mark.parametrize(
    ("argv", "is_for_people"),
    [
        (["type", "pretty", "--device"], False),
        (["snapshot", "--output", "pretty", "--device"], True),
        (["snapshot", "--format", "json", "--device"], False),
    ],
)
def test_an_error_in_the_options_is_told_as_was_asked(
    argv: list[str], is_for_people: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output is known although the options cannot be read; a text is no option."""
    assert run(argv) == 1

    assert bool(capsys.readouterr().err) is is_for_people


def test_the_version_is_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts can compare what ``--version`` prints."""
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == "0.1.0"


def test_the_program_imports_no_command_and_no_rich() -> None:
    """Starting is quick: commands are imported when they run, rich when people read."""
    code = (
        "import sys; from pytest_clawperator.cli.app import run; run(['--version']);"
        "print(sorted(m for m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True
    )
    modules = ast.literal_eval(done.stdout.splitlines()[-1])

    heavy = {"rich", "pydantic", "pydantic_core", "lxml", "adbutils", "pytest"}
    assert heavy & {name.split(".")[0] for name in modules} == set()
    prefix = "pytest_clawperator.cli."
    ours = {name.removeprefix(prefix) for name in modules if name.startswith(prefix)}
    assert ours == {"app", "command", "options", "output"}


def test_a_missing_click_is_told_with_the_command_that_installs_it() -> None:
    """Who installed the package without the extra learns what to type."""
    code = (
        "import sys; sys.modules['click'] = None;"
        "from pytest_clawperator.cli.entry import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True)

    assert done.returncode == 1
    assert "pip install 'pytest-clawperator[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_module_is_the_program_too() -> None:
    """``python -m pytest_clawperator`` does the same."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest_clawperator", "--version"],
        cwd=TOP,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stdout.strip()) == (0, "0.1.0")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_that_it_understands(shell: str, cli: Cli) -> None:
    """The script is plain text in a pipe, and the shell itself finds no fault with it."""
    printed = cli("completion", shell)

    assert printed.code == 0
    assert f"{COMPLETE}={shell}_complete" in printed.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=printed.out, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("clawperator-py scr", {"screenshot", "scroll", "scroll-until", "scroll-and-click"}),
        ("clawperator-py packages l", {"list"}),
        ("clawperator-py click --text", {"--text", "--text-contains"}),
        ("clawperator-py --device x dev", {"devices"}),
    ],
)
def test_words_are_completed(
    words: str, offered: set[str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, commands of a group, options of a command, also after a global option."""
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))

    lines = cli().out.splitlines()

    assert {line.partition(",")[2] for line in lines} == offered


@pytest.mark.parametrize(("argv", "code"), [([], "MISSING_ARGUMENT"), (["tcsh"], "USAGE")])
def test_another_shell_is_refused(argv: list[str], code: str, cli: Cli) -> None:
    """The error says which shells there are."""
    printed = cli("completion", *argv)

    assert (printed.code, printed.json["code"]) == (1, code)
    assert "fish" in printed.out


def test_serials_of_connected_devices_are_completed(
    cli: Cli, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an adb server nothing is offered, and none is started."""
    monkeypatch.setenv(COMPLETE, "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "clawperator-py snapshot --device ")
    monkeypatch.setenv("COMP_CWORD", "3")
    offered = cli().out
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "1")

    assert f"plain,{simulator.serials[0]}" in offered.splitlines()
    assert cli().out.strip() == ""
