"""``--help`` of the small tools."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import Phone


@pytest.mark.parametrize("tool", ["ls", "cat", "grep", "ps", "pidof", "pkill", "md5sum"])
def test_a_tool_that_is_there_explains_itself_with_success(tool: str) -> None:
    """Clients ask so whether a tool is there."""
    ended = Phone().run(f"{tool} --help")

    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(f"usage: {tool} ")


@pytest.mark.parametrize(("tool", "option"), [("pgrep", "-f"), ("ps", "-A")])
def test_a_client_learns_which_options_there_are(tool: str, option: str) -> None:
    """Appium looks for an option at the beginning of a line, and for the status."""
    lines = Phone().out(f"{tool} --help; echo $?").splitlines()

    assert lines[-1] == "0"
    assert any(line.startswith(f"{option}\t") for line in lines)


def test_what_is_printed_is_no_option() -> None:
    """Echo prints whatever it is given."""
    assert Phone().out("echo --help") == "--help\n"


def test_help_beside_other_arguments_is_an_argument() -> None:
    """Only a tool that is asked for nothing else explains itself."""
    assert Phone().run("grep --help x").status != 0
