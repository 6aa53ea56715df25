"""The program: which command a command line calls, what it prints and what it refuses."""

from __future__ import annotations

import ast
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_clawperator.cli.app import COMPLETE
from pytest_clawperator.cli.command import ALIASES, COMMANDS, GROUPS
from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import TOP, Cli

UNKNOWN, USAGE, MISSING = "UNKNOWN_COMMAND", "USAGE", "MISSING_ARGUMENT"
INVALID, SELECTOR = "EXECUTION_VALIDATION_FAILED", "MISSING_SELECTOR"
CONFIGURATION, NO_SHELL = "CONFIGURATION_INVALID", "DEVICE_SHELL_UNAVAILABLE"

PAYLOAD = json.dumps(
    {
        "commandId": "c-1",
        "taskId": "t-1",
        "source": "test",
        "expectedFormat": "android-ui-automator",
        "timeoutMs": 30000,
        "actions": [{"id": "s", "type": "sleep", "params": {"durationMs": 1}}],
    }
)

#: Command lines that are refused before a device is looked for, with exit code and error code,
#: and a text that the answer contains.
REFUSED = [
    # Slips, with the nearest command; the exit codes are the published program's.
    ("devics", 1, UNKNOWN, "'devices'"),
    ("snap", 1, UNKNOWN, "'snapshot'"),
    ("action clik", 1, UNKNOWN, "'action click'"),
    ("action scroll", 1, UNKNOWN, "'scroll'"),
    ("observe tree", 1, UNKNOWN, ""),
    ("emulator lst", 0, USAGE, "'emulator list'"),
    ("simulate stopp", 1, USAGE, "'simulate stop'"),
    ("devices --jsn", 1, USAGE, "'--jsn'. Did you mean '--json'?"),
    ("--json", 0, USAGE, "--help"),
    # What a command lacks, or has too much of.
    ("click 'Sign in'", 1, SELECTOR, 'clawperator-py click --text "Sign in"'),
    ("read 'Sign in'", 1, SELECTOR, 'clawperator-py read --text "Sign in"'),
    ("wait 'Sign in'", 1, SELECTOR, 'clawperator-py wait --text "Sign in"'),
    ("snapshot --device", 1, USAGE, "As in --device emulator-5554."),
    ("snapshot screen", 1, USAGE, "See `clawperator-py snapshot --help`."),
    ("snapshot --xml --outline", 1, USAGE, "not both"),
    ("operator setup --apk", 1, USAGE, "See `clawperator-py operator setup --help`."),
    ("scroll-until 'About phone'", 1, MISSING, '--text "About phone"'),
    ("read --role text --all", 1, INVALID, "Pass --json"),
    ("click", 1, SELECTOR, "--text-contains"),
    ("click --text x --long --focus", 1, INVALID, ""),
    ("click --coordinate 1", 1, INVALID, ""),
    ("click --text x --timeout 5", 1, INVALID, ""),
    ("type --id x", 1, MISSING, ""),
    ("type two words --id x", 1, INVALID, "quotes"),
    ("press", 1, MISSING, "back, home or recents"),
    ("press home --key back", 1, INVALID, "not both"),
    ("press enter", 1, INVALID, ""),
    ("scroll", 1, MISSING, "down, up"),
    ("scroll north", 1, MISSING, ""),
    ("scroll up --direction down", 1, INVALID, ""),
    ("scroll up --container-id ''", 1, INVALID, ""),
    ("scroll up --timeout x", 1, INVALID, ""),
    ("scroll-and-click north --text x", 1, MISSING, ""),
    ("scroll-and-click", 1, SELECTOR, ""),
    ("open", 1, MISSING, ""),
    ("open a --app b", 1, INVALID, ""),
    ("close ''", 1, MISSING, ""),
    ("wait --text x --timeout 0", 1, INVALID, ""),
    ("wait --text x --timeout 5s", 1, INVALID, "milliseconds, as in --timeout 30000"),
    ("wait-for-nav --app a", 1, MISSING, "--timeout"),
    ("wait-for-nav --timeout 500", 1, MISSING, "--app"),
    ("wait-for-nav --app ' ' --timeout 5", 1, INVALID, ""),
    ("wait-for-nav --app a --timeout x", 1, INVALID, ""),
    ("sleep abc", 1, INVALID, ""),
    ("sleep -5", 1, INVALID, ""),
    ("sleep 2s", 1, INVALID, "milliseconds, as in: clawperator-py sleep 2000"),
    ("sleep", 1, MISSING, ""),
    ("sleep 1 --operator-package 'a;b'", 1, CONFIGURATION, ""),
    # Payloads.
    ("exec {bad", 1, INVALID, ""),
    ("exec []", 1, INVALID, ""),
    ("exec no-such-file.json", 1, INVALID, ""),
    ("exec nul\0byte", 1, INVALID, ""),
    ("exec {}", 1, INVALID, ""),
    (f"exec '{PAYLOAD}' --timeout abc", 1, INVALID, ""),
    (f"exec '{PAYLOAD}' --timeout -5", 1, INVALID, ""),
    ("record parse no-such-file", 1, "FILE_UNAVAILABLE", ""),
    # Commands that only print their usage, as published.
    ("packages", 0, USAGE, "packages list"),
    ("emulator start", 0, USAGE, "emulator start <name>"),
    *((f"skills {name}", 0, USAGE, f"skills {name}") for name in
      ("get", "search", "compile-artifact", "validate", "run", "new", "sync", "")),
    *((f"skills run x --timeout {time}", 1, INVALID, "") for time in ("0", "x", "Infinity", "-5")),
    # The service.
    ("serve --token a-long-token --insecure", 1, USAGE, "--insecure OR a token"),
    ("serve --token a-long-token --token-file f", 1, USAGE, "--token OR --token-file"),
    ("serve --token short", 1, CONFIGURATION, "too short"),
    ("serve --token-file /no/such/file", 1, CONFIGURATION, "cannot be read"),
    ("serve --host 'not an address'", 1, CONFIGURATION, "cannot listen"),
    *((f"serve --port {port}", 0, USAGE, "--port must be") for port in ("0", "65536", "x")),
    # Devices of another host, which only run executions.
    *((f"{name} --device http://127.0.0.1:1/x", 1, NO_SHELL, "--device SERIAL") for name in
      ("logs", "packages list", "leases", "record pull")),
    ("doctor --device http://127.0.0.1:3000", 1, USAGE, ""),
    ("doctor --timeout nonsense", 1, USAGE, ""),
    ("doctor --timeout 0", 1, USAGE, ""),
    ("completion", 1, MISSING, "fish"),
    ("completion tcsh", 1, USAGE, "fish"),
]  # fmt: skip


def test_a_wrong_command_line_is_refused_before_a_device_is_looked_for(
    offline: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer has its code and what to type instead."""
    registry = tmp_path / "skills-registry.json"
    registry.write_text('{"skills": []}')
    monkeypatch.setenv("CLAWPERATOR_SKILLS_REGISTRY", str(registry))

    for line, exit_code, code, text in REFUSED:
        printed = offline(*shlex.split(line))
        shown = " ".join(str(printed.json.get(key, "")) for key in ("message", "hint"))
        assert printed.error == (exit_code, code), f"{line}: {printed}"
        assert text in shown, f"{line}: {shown}"
        if "Did you mean '" in shown and code == UNKNOWN:
            assert f"'{printed.json['suggestion']}'" == text, line


def test_a_group_lists_its_commands(offline: Cli) -> None:
    """Alone and in its help, even if they are other spellings; every alias has its command."""
    assert set(ALIASES.values()) <= COMMANDS.keys()
    for group in GROUPS:
        inside = [path for path in (*COMMANDS, *ALIASES) if path.startswith(f"{group} ")]
        first = inside[0].removeprefix(f"{group} ")
        alone = offline(group)
        assert (alone.code, first in alone.json["message"]) == (0, True), group
        commands = offline(group, "--help").out.partition("Commands:")[2]
        assert f"\n  {first} " in commands, group


def test_errors_are_printed_for_the_reader_that_the_options_name(offline: Cli) -> None:
    """One line on stderr for people, also if the options cannot be parsed."""
    error = offline("devics", "--output", "pretty")

    assert (error.code, error.out) == (1, "")
    assert error.err.startswith("UNKNOWN_COMMAND: ")
    assert error.err.count("\n") == 1
    assert offline("snapshot", "--output", "pretty", "--device").err
    assert not offline("type", "pretty", "--device").err
    assert not offline("snapshot", "--format", "json", "--device").err


def test_help_lists_every_command_and_each_has_examples(offline: Cli) -> None:
    """A row of the table leads to a command that explains itself."""
    first, typing = offline("--help").out, offline("type", "--help").out

    assert offline().out == offline("help").out == first
    assert [path for path in COMMANDS if f"\n  {path} " not in first] == []
    assert "\n  clawperator-py simulate\n" in first.partition("Examples:")[2]
    assert "\n  --version " in first
    assert "\n  [TEXT]" not in typing
    for path in COMMANDS:
        shown = offline(*path.split(" "), "--help")
        assert shown.code == 0, path
        assert f"\n  clawperator-py {path}" in shown.out.partition("Examples:")[2], path
        assert "--device" in shown.out.partition("Global options:")[2], path


def test_the_program_imports_no_command_and_no_rich() -> None:
    """Commands are imported when they run, rich when people read."""
    code = (
        "import sys; from pytest_clawperator.cli.app import run; run(['--version']);"
        "print(sorted(m for m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True
    )
    version, modules = done.stdout.splitlines()

    loaded = ast.literal_eval(modules)
    heavy = {"rich", "pydantic", "pydantic_core", "lxml", "adbutils", "pytest"}
    assert version == "0.1.0"
    assert heavy & {name.split(".")[0] for name in loaded} == set()
    prefix = "pytest_clawperator.cli."
    ours = {name.removeprefix(prefix) for name in loaded if name.startswith(prefix)}
    assert ours == {"app", "command", "options", "output"}


def test_a_missing_click_is_reported_with_the_command_that_installs_it() -> None:
    """The extra is named, without a traceback."""
    code = (
        "import sys; sys.modules['click'] = None;"
        "from pytest_clawperator.cli.entry import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True)

    assert done.returncode == 1
    assert "pip install 'pytest-clawperator[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_that_it_understands(shell: str, offline: Cli) -> None:
    """The script is plain text in a pipe, and the shell parses it."""
    printed = offline("completion", shell)

    assert printed.code == 0
    assert f"{COMPLETE}={shell}_complete" in printed.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=printed.out, text=True, check=True)


def test_words_are_completed(
    cli: Cli, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, options and serials; without an adb server no serial is offered."""
    monkeypatch.setenv(COMPLETE, "bash_complete")

    def offered(words: str) -> set[str]:
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
        return {line.partition(",")[2] for line in cli().out.splitlines()}

    assert offered("clawperator-py packages l") == {"list"}
    assert offered("clawperator-py click --text") == {"--text", "--text-contains"}
    assert offered("clawperator-py --device x dev") == {"devices"}
    scrolls = {"scroll", "scroll-until", "scroll-and-click"}
    assert offered("clawperator-py scr") == {"screenshot", *scrolls}
    assert simulator.serials[0] in offered("clawperator-py snapshot --device ")
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "1")
    assert offered("clawperator-py snapshot --device ") <= {""}
