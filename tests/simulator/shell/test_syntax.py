"""From text to commands: which scripts are read, which are refused, and in which words."""

from __future__ import annotations

from tests.simulator.shell.scripts import run

SYNTAX_ERRORS = {
    ")": "unexpected ')'",
    "a;;b": "unexpected ';;'",
    "a ; ; b": "unexpected ';'",
    "| a": "unexpected '|'",
    "a && ; b": "unexpected ';'",
    "a | | b": "unexpected '|'",
    "& a": "unexpected '&'",
    "fi": "unexpected 'fi'",
    "a; done": "unexpected 'done'",
    "}": "unexpected '}'",
    "()": "unexpected ')'",
    "(a) b": "unexpected 'b'",
    "if true; fi": "unexpected 'fi'",
    "if true; then fi": "unexpected 'fi'",
    "while true; do done": "unexpected 'done'",
    "echo a(b)": "unexpected '('",
    "echo a |": "unexpected EOF",
    "echo a &&": "unexpected EOF",
    "echo >": "unexpected EOF",
    "!": "unexpected EOF",
    "if true": "unexpected EOF",
    "if true; then (a": "unexpected EOF",
    "while true; do a": "unexpected EOF",
    "{ a": "unexpected EOF",
    "(a": "unexpected EOF",
    "echo $(a": "unexpected EOF",
}
UNSUPPORTED = {
    "echo $((1+2))": "'$(('",
    "echo $'a'": "$'...'",
    "echo `id`": "'`'",
    'echo "`id`"': "'`'",
    "cat <<EOF\na\nEOF": "'<<'",
    "cat <> f": "'<>'",
    "echo ${x:-y}": "'${x:-y}'",
    "echo ${#x}": "'${#x}'",
    "echo $1": "'$1'",
    'echo "$@"': "'$@'",
    "echo {a,b}": "'{a,b}'",
    'am broadcast {"a":1,"b":2}': "'{a,b}'",
    "sleep 9 & echo no": "'&'",
    "for i in 1 2; do echo $i; done": "'for'",
    "case a in a) echo b;; esac": "'case'",
    "function f { a; }": "'function'",
    "f() { a; }; f": "a function",
    "((1))": "'(('",
}


def test_syntax_errors_read_as_on_a_phone() -> None:
    """What is wrong is named, and nothing of that line runs."""
    for script, message in SYNTAX_ERRORS.items():
        expected = (1, "", f"/system/bin/sh: syntax error: {message}\n")
        assert run(script) == expected, script


def test_unsupported_syntax_is_named_and_nothing_runs() -> None:
    """What a phone's shell knows and this one does not is an error, never a guess."""
    for script, what in UNSUPPORTED.items():
        message = f"syntax error: {what} is not supported by the simulated shell"
        assert run(script) == (1, "", f"/system/bin/sh: {message}\n"), script


def test_an_open_quote_is_an_error() -> None:
    """A quote or brace without its end is reported."""
    for script in ("echo 'a", 'echo "a', 'echo "a\\', "echo ${a"):
        assert run(script) == (1, "", "/system/bin/sh: no closing quote\n"), script


def test_special_characters_count_only_where_they_mean_something() -> None:
    """Braces, dollars, digits and hashes are text unless they stand where they are special."""
    for script, out in {
        "echo {a} {} '{a,b}' a,b}": "{a} {} {a,b} a,b}\n",
        'echo $"a b" "$" $ "a$"': "a b $ $ a$\n",
        "echo 12>f; cat f; echo 2>f; cat f": "12\n\n",
        "echo a#b #c\n#d\necho e": "a#b\ne\n",
        'ec\\\nho joined "a\\\nb" && \\\necho more': "joined ab\nmore\n",
    }.items():
        assert run(script) == (0, out, ""), script


def test_lines_before_a_syntax_error_run() -> None:
    """A script is read one line at a time."""
    assert run("echo before\necho same; )\necho after") == (
        1,
        "before\n",
        "/system/bin/sh: syntax error: unexpected ')'\n",
    )
