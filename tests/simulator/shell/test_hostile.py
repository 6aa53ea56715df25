"""Scripts that only mean harm: they fail cleanly, and nothing else suffers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.shell.lexer import MAX_NESTING
from tests.simulator.shell.scripts import run

DEEP = 3 * MAX_NESTING


@pytest.mark.parametrize(
    "script",
    [
        "echo " + "$(" * DEEP + "echo" + ")" * DEEP,
        "(" * DEEP + "(echo a); b" + ")" * DEEP,
        "{ " * DEEP + "echo a" + "; }" * DEEP,
        "if " * DEEP + "true",
        'echo "$(' * DEEP,
        "echo " + "${a:-" * DEEP + "}" * DEEP,
        "echo $((" + "(" * DEEP + "1" + ")" * DEEP + "))",
        "[[ " + "( " * DEEP + "a" + " )" * DEEP + " ]]",
        "[ " + "\\( " * DEEP + "a" + " \\)" * DEEP + " ]",
        "f() { f; }; f",
        "f() { x=$(f); }; f; false",
        "a() { eval a; }; a",
        'x=\'sh -c "$x"\'; export x; sh -c "$x"',
        "echo '. ./f' > f; . ./f",
        "x=a; while :; do x=$x$x; done",
        "echo " + "{a,b}" * 30,
        "while :; do sleep 9 & done",
        "x=y; y=x; echo $((x))",
        "case",
        "echo ${1x}",
    ],
)
def test_scripts_that_exhaust_the_shell_fail_cleanly(script: str) -> None:
    """Endless nesting, recursion and growth end in a message and a failure."""
    ended = run(script)

    assert ended.status != 0
    assert ended.err


def test_a_fork_bomb_is_bounded() -> None:
    """Functions that call themselves in pipes run out of processes, not the simulator."""
    ended = run("f() { f | f; }; f; echo survived")

    assert ended.out == "survived\n"
    assert "can't fork - try again" in ended.err


def test_reasonable_nesting_works() -> None:
    """Scripts may nest well beyond what people write."""
    depth = MAX_NESTING - 4

    assert run("echo " + "$(echo " * depth + "deep" + ")" * depth).out == "deep\n"


@pytest.mark.parametrize(
    "script",
    [
        f"case {'a' * 20000} in {'*a' * 500}*b) ;; *) echo no;; esac",
        f"x={'a' * 20000}; echo ${{x%%*b*b*b}} | wc -c; echo ${{x//a/}}no",
        f"echo {'{' * 20000} | wc -c; echo no",
        f"echo {'a' * 3000} | grep -cE '(a+)+b|(a|a)*b'; echo no",
    ],
)
def test_patterns_take_time_in_proportion(script: str) -> None:
    """Patterns that make others try for ever are answered."""
    assert run(script).out.endswith("no\n")


PIECES = (
    *("if", "then", "else", "fi", "for", "in", "do", "done", "case", "esac", "function"),
    *("{", "}", "(", ")", "!", "[[", "]]", "((", "))", "$(", "$((", "${x", "${x:-", "`", "'", '"'),
    *(";", ";;", "&", "&&", "||", "|", "<<", "<<-", "<<<", ">", "<", "2>&1", "&>", "\n", "\\", "#"),
    *("a", "b=", "$x", "-f", "*", "=", "1", "{a,b}", "time", "exec", "eval", "read", "cat"),
)
SIGNS = "ab \t\n'\"\\$`;&|<>(){}[]#*?=~!%+-/:0129@^,"


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.sampled_from(SIGNS) | st.characters(exclude_categories=[]), max_size=40)
    | st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)
)
def test_no_text_breaks_the_shell(script: str) -> None:
    """Whatever comes over the wire, there is a status and no exception."""
    assert 0 <= run(script).status <= 255
