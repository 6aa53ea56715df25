"""The arguments of tools."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.commands import TOOLS
from pytest_clawperator.simulator.shell.exits import CommandFailure
from pytest_clawperator.simulator.shell.tools.options import parse_options
from tests.simulator.shell.scripts import run


def test_options_flags_values_and_operands_are_told_apart() -> None:
    """Values may be attached or the next word, and ``--`` ends the options."""
    options = parse_options(
        ["x", "-ab", "-n5", "f", "-n", "7", "-", "--", "-c"], flags="ab", values="n"
    )

    assert options.flags == {"a", "b"}
    assert options.values == {"n": ["5", "7"]}
    assert options.operands == ["f", "-", "-c"]
    assert (options.number("n", 1), options.number("m", 1), "a" in options) == (7, 1, True)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-z"], "Unknown option 'z' (see \"x --help\")"),
        (["--all"], "Unknown option 'all' (see \"x --help\")"),
        (["-n"], 'Missing argument to -n (see "x --help")'),
        ([], 'Needs 2 arguments (see "x --help")'),
    ],
)
def test_bad_arguments_are_told_as_on_a_phone(args: list[str], message: str) -> None:
    """The message points to the tool's help."""
    with pytest.raises(CommandFailure) as caught:
        parse_options(["x", *args], values="n", least=2)

    assert caught.value.message == message


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(set(TOOLS) - {"sleep", "sh"})),
    st.lists(
        st.sampled_from(
            ["-", "--", "-n", "-c", "-f", "-l", "-e", "-1", "f", "/", ".", "", "(a*)*", "+3", "%d"]
        )
        | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
        max_size=4,
    ),
)
def test_no_arguments_break_a_tool(tool: str, arguments: list[str]) -> None:
    """Whatever a tool is called with, it ends with a status of its own."""
    quoted = " ".join("'" + argument.replace("'", "'\\''") + "'" for argument in arguments)

    ended = run(f"echo a > f; {tool} {quoted}", b"line\n")

    assert 0 <= ended.status <= 255
    assert "internal error" not in ended.err
