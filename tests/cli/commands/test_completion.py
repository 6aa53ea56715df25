"""Completion in the shells."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from pytest_clawperator.cli.app import COMPLETE
from pytest_clawperator.simulator import Simulator
from tests.cli.conftest import Cli


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
