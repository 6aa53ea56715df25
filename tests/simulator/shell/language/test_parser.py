"""The grammar: which scripts are refused, and how."""

from __future__ import annotations

import pytest

from pytest_clawperator.simulator.shell.language.parser import Parser
from tests.simulator.shell.scripts import run

SYNTAX_ERRORS = [
    ("for; do", "unexpected ';'"),
    (")", "unexpected ')'"),
    ("a;;b", "unexpected ';;'"),
    ("a ; ; b", "unexpected ';'"),
    ("| a", "unexpected '|'"),
    ("a && ; b", "unexpected ';'"),
    ("a | | b", "unexpected '|'"),
    ("& a", "unexpected '&'"),
    ("fi", "unexpected 'fi'"),
    ("a; done", "unexpected 'done'"),
    ("}", "unexpected '}'"),
    ("()", "unexpected ')'"),
    ("(a) b", "unexpected 'b'"),
    ("if true; fi", "unexpected 'fi'"),
    ("if true; then fi", "unexpected 'fi'"),
    ("while true; do done", "unexpected 'done'"),
    ("for i a", "unexpected 'a'"),
    ("for i in a; b", "unexpected 'b'"),
    ("echo a(b)", "unexpected '('"),
    ("echo a |", "unexpected EOF"),
    ("echo a &&", "unexpected EOF"),
    ("echo >", "unexpected EOF"),
    ("!", "unexpected EOF"),
    ("if true", "unmatched 'if'"),
    ("if true; then (a", "unmatched '('"),
    ("while true; do a", "unmatched 'while'"),
    ("for i in a; do", "unmatched 'for'"),
    ("{ a", "unmatched '{'"),
    ("(a", "unmatched '('"),
    ("echo $(a", "unmatched '('"),
]


@pytest.mark.parametrize(("script", "message"), SYNTAX_ERRORS)
def test_syntax_errors_read_as_on_a_phone(script: str, message: str) -> None:
    """What is wrong is named, and nothing of that line runs."""
    assert run(script) == (1, "", f"/system/bin/sh: syntax error: {message}\n")


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("case a in a) echo b;; esac", "'case'"),
        ("function f { a; }", "'function'"),
        ("f() { a; }; f", "a function"),
        ("((1))", "'(('"),
        ("for a; do echo $a; done", "'for' without 'in'"),
        ("for a do echo $a; done", "'for' without 'in'"),
        ("for a\ndo echo $a; done", "'for' without 'in'"),
        ("[[ a && b ]] && echo no", "'&&' inside [[ ]]"),
        ("[[ -n a || b ]]", "'||' inside [[ ]]"),
        ("[[ a < b ]]", "'<' inside [[ ]]"),
        ("[[ ( a ) ]]", "'(' inside [[ ]]"),
        ("eval 'echo no'", "'eval'"),
        ("echo no; eval echo no", "'eval'"),
        ("x=$(unset y; echo no)", "'unset'"),
        ("time ls | cat", "'time'"),
        (". ./file", "'.'"),
        ("if true; then return 1; fi", "'return'"),
    ],
)
def test_unsupported_commands_are_named(script: str, what: str) -> None:
    """What a phone has and the simulated shell has not is refused by name; nothing runs."""
    message = f"syntax error: {what} is not supported by the simulated shell"

    assert run(script) == (1, "", f"/system/bin/sh: {message}\n")


def test_lines_before_a_syntax_error_run() -> None:
    """A script is read one line at a time."""
    assert run("echo before\necho same; )\necho after") == (
        1,
        "before\n",
        "/system/bin/sh: syntax error: unexpected ')'\n",
    )


def test_a_loop_variable_must_be_a_name() -> None:
    """``for`` takes only an identifier."""
    assert run("for 1 in a; do :; done").err == "/system/bin/sh: for: bad identifier\n"


def test_the_parser_knows_the_line_it_read_last() -> None:
    """Messages can name the line of a script."""
    parser = Parser("a\n\nif b\nthen c\nfi\nd")
    lines = []
    while parser.next() is not None:
        lines.append(parser.line)

    assert lines == [1, 5, 6]
