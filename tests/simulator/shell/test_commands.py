"""The commands of the shell and its tools, and the table of all commands in the documents."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.phone.device import Device
from pytest_clawperator.simulator.phone.factory import DeviceOptions
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from tests.simulator.shell.scripts import FOLDER, run

DOCUMENT = Path(__file__).parents[3] / "docs" / "simulator.md"
ROW = re.compile(r"^\| (`[^|]+`) \| \S.* \| \S.* \|$", re.MULTILINE)


def test_the_documented_commands_are_those_of_the_phone() -> None:
    """Each command is in the table once, and the table has no other."""
    text = DOCUMENT.read_text(encoding="utf-8")
    chapter = text.split("## Shell commands\n")[1].split("\n## ")[0]
    documented = [name for cell in ROW.findall(chapter) for name in re.findall(r"`([^`]+)`", cell)]
    phone = Device(DeviceOptions(serial_number="SIM0001"))

    assert sorted(documented) == sorted(phone.make_shell().commands)


# Parts of the shell


def test_exit_ends_the_shell_with_a_status() -> None:
    """The status is the given one, or that of the last command, in one byte."""
    for script, status in {
        "exit 3": 3,
        "false; exit": 1,
        "exit 256": 0,
        "exit -1": 255,
        "(exit 7)": 7,
    }.items():
        assert run(f"{script}; exit").status == status, script


def test_cd_changes_the_folder() -> None:
    """Relative paths start there; without a folder it is the root."""
    script = "cd /data/local; pwd; cd tmp/..; pwd; cd ../app; pwd; cd; pwd; cd /data; echo $PWD"

    assert run(script).out == "/data/local\n/data/local\n/data/app\n/\n/data\n"


def test_export_passes_a_variable_on() -> None:
    """Exported variables reach other shells."""
    assert run("A=1; export A C=3; sh -c 'echo $A$C'").out == "13\n"
    assert run("exec sh -c 'echo $$; exit 4'; echo no") == (4, "20001\n", "")


def test_sh_runs_scripts_from_arguments_files_and_input() -> None:
    """Each runs in a new shell, with its own variables and exit status."""
    assert run("x=1; sh -c 'x=2; exit 3'; echo $? $x").out == "3 1\n"
    assert run("echo 'echo from a file' > s; sh s; sh /data/local/tmp/s").out == (
        "from a file\nfrom a file\n"
    )
    assert run("sh; echo $?", b"echo typed\nexit 5\n").out == "typed\n5\n"


def test_complaints_name_the_shell_and_its_part() -> None:
    """The status and the message are those of a phone."""
    for script, (status, message) in {
        "exit abc; echo no": (1, "exit: bad number: abc"),
        "cd nope": (2, f"cd: {FOLDER}/nope: No such file or directory"),
        "touch f; cd f": (2, f"cd: {FOLDER}/f: Not a directory"),
        "export 1=2; echo no": (1, "1: is not an identifier"),
        "sleep x": (1, "sleep: syntax error: x"),
        "cat nope": (1, "cat: nope: No such file or directory"),
    }.items():
        assert run(script) == (status, "", f"/system/bin/sh: {message}\n"), script


def test_brackets_compare_and_check() -> None:
    """Texts, numbers and files; what is not understood has status 2."""
    for condition, status in {
        "a": 0,
        "''": 1,
        "-n a": 0,
        "-z a": 1,
        "a = a": 0,
        "a != a": 1,
        "! a = a": 1,
        "9 -lt 26": 0,
        "36 -lt 26": 1,
        "2 -ge 2": 0,
        "-e /sdcard": 0,
        "-d /sdcard": 0,
        "-f /sdcard": 1,
        "-e nope": 1,
        "-e ''": 1,
        "a -lt 1": 2,
        "a -o b": 2,
    }.items():
        assert run(f"[ {condition} ]").status == status, condition
    assert run("[ a") == (2, "", "[: missing ]\n")


def test_echo_prints_its_arguments() -> None:
    """Backslashes are decoded unless ``-E`` forbids it; ``-n`` leaves the newline out."""
    for script, out in {
        "echo a  b": "a b\n",
        "echo -n a": "a",
        "echo 'a\\tb\\\\n'": "a\tb\\n\n",
        "echo -E 'a\\tb'": "a\\tb\n",
        "echo -ne 'a\\n'": "a\n",
        "echo -x -n": "-x -n\n",
    }.items():
        assert run(script) == (0, out, ""), script


# Tools


def test_tools_print_what_the_phone_has() -> None:
    """Time, user, storage and files."""
    for script, out in {
        "date '+%m-%d %H:%M:%S.000'": "03-28 10:00:00.000\n",
        "date +%s": "1774692000\n",
        "date": "Sat Mar 28 10:00:00 GMT 2026\n",
        "id": "uid=2000(shell) gid=2000(shell) context=u:r:shell:s0\n",
        "df -k /data | grep -c /dev/block": "1\n",
        "touch b a; mkdir -p d/e; ls": "a\nb\nd\n",
        "touch b a .h; ls -a; ls -d .": ".h\na\nb\n.\n",
        "touch a; mkdir d; touch d/x; ls d a": "a\nx\n",
        "echo 12345 > a; ls -l a": "-rw-r--r-- 1 shell shell        6 2026-03-28 10:00 a\n",
        "touch a b; mkdir d; rm a; rm -r d; rm -f nope; ls": "b\n",
        "echo 1 > a; echo 2 > b; cat a b": "1\n2\n",
        "echo 1 > a; echo 2 | cat a -": "1\n2\n",
    }.items():
        assert run(script) == (0, out, ""), script


def test_tools_report_what_is_wrong() -> None:
    """They name themselves, the file and the reason."""
    for script, message in {
        "ls nope": "ls: nope: No such file or directory",
        "rm nope": "rm: nope: No such file or directory",
        "mkdir d; rm d": "rm: d: Is a directory",
        "rm": 'rm: Needs 1 argument (see "rm --help")',
        "date 010203": "date: cannot set date: Operation not permitted",
        "ls -Q": "ls: Unknown option 'Q' (see \"ls --help\")",
    }.items():
        assert run(script) == (1, "", f"{message}\n"), script


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(sorted(set(SHELL_COMMANDS) - {"sh", "sleep", "exec"})),
    st.lists(
        st.sampled_from(["-", "--", "-n", "-c", "-f", "-e", "f", "/", ".", "", "(a*)*", "+%d"])
        | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
        max_size=4,
    ),
)
def test_no_arguments_break_a_tool(tool: str, arguments: list[str]) -> None:
    """Whatever a tool is called with, it ends with a status."""
    quoted = " ".join("'" + argument.replace("'", "'\\''") + "'" for argument in arguments)

    ended = run(f"echo a > f; {tool} {quoted}", b"line\n")

    assert 0 <= ended.status <= 255
    assert "internal error" not in ended.err


# grep


def test_grep_prints_the_lines_that_match() -> None:
    """What is printed is what the phone's prints."""
    text = "echo 'foo\nbar\nFoo bar\nbaz' > f; "
    for script, out in {
        "grep foo f; grep -i foo f; grep -v a f; grep -c ba f": "foo\nfoo\nFoo bar\nfoo\n3\n",
        "grep -n ba f": "2:bar\n3:Foo bar\n4:baz\n",
        "grep -E 'foo|baz' f; grep -F . f": "foo\nbaz\n",
        "grep 'o\\{2\\}$' f; grep '^[fF]oo' f": "foo\nfoo\nFoo bar\n",
        "grep -q foo f && echo y; grep zz f || echo $?": "y\n1\n",
    }.items():
        assert run(text + script)[1:] == (out, ""), script


def has(pattern: str, line: str, *, option: str = "") -> bool:
    """Whether ``grep`` finds a line."""
    ended = run(f"grep {option} -- '{pattern}'", f"{line}\n".encode())
    assert ended.status in (0, 1), ended.err
    return ended.status == 0


BASIC = [
    ("a\\{2\\}", "baa", "a{2}"),
    ("a{2}", "a{2}", "aa"),
    ("\\(ab\\)c", "xabc", "(ab)c"),
    ("a+b", "a+b", "aab"),
    ("a\\|b", "b", "|"),
    ("^a.c$", "abc", "abcd"),
    ("[[:digit:]][[:alpha:]_]", "1_", "1-"),
    ("\\.", ".", "a"),
    (".*Current.*shop.*=.*activity.*", "mCurrent shop x=1 activity", "shop activity"),
    ("^a.*b$", "axb", "axbc"),
]
EXTENDED = [
    ("mCurrentFocus|mFocusedApp", "  mFocusedApp=x", "focus"),
    ("(a|b)c?d", "bd", "d"),
    ("\\(a\\)", "(a)", "a"),
    ("v[0-9]+\\.[0-9]+", "v1.20", "v1x2"),
    ("t[0-9]+}$", "{x t12}", "t12"),
]


def test_expressions_are_basic_or_extended() -> None:
    """In basic ones operators need a backslash, in extended ones characters do."""
    for pattern, yes, no in BASIC:
        assert (has(pattern, yes), has(pattern, no)) == (True, False), pattern
    for pattern, yes, no in EXTENDED:
        found = has(pattern, yes, option="-E"), has(pattern, no, option="-E")
        assert found == (True, False), pattern


def test_an_expression_that_is_wrong_or_could_take_for_ever_is_refused() -> None:
    """The reason is named; the status is 2."""
    for options, message in {
        "": "no REGEX",
        "a nope": "nope: No such file or directory",
        "-E '(ab)*c'": "bad regex '(ab)*c': a group cannot be repeated in the simulated grep",
        "-E 'a*a*a*b'": "bad regex 'a*a*a*b': too many repetitions for the simulated grep",
        f"-E '{'a' * 201}'": f"bad regex '{'a' * 100}': too long for the simulated grep",
    }.items():
        assert run(f"grep {options}") == (2, "", f"grep: {message}\n"), options
    assert run("grep -E '('").status == 2
    for pattern in ("a*a*b", "a?a?a?a?a?a?b", "(a|a)(a|a)(a|a)b", ".*a.*a.*a.*a.*b", "a{99}b"):
        assert not has(pattern, "a" * 20_000, option="-E"), pattern
