"""Running scripts: lists, loops, pipes, redirections, standard input, and cancellation."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.runner import run_input, run_script
from pytest_clawperator.simulator.shell.shell import MAX_NESTING, Invocation, Shell
from pytest_clawperator.simulator.shell.streams import Bytes, Collected
from tests.simulator.shell.scripts import (
    DEADLINE,
    NOON,
    Ended,
    Flow,
    Gate,
    Never,
    new_shell,
    real_sh,
    run,
    run_in,
    soon,
    with_gate,
)

SCRIPTS = [
    "echo a; echo b && echo c || echo d; false && echo e; false || echo f",
    "true; echo $?; false; echo $?; (exit 7); echo $?; exit 3",
    "! true; echo $?; ! false; echo $?; ! false && echo y",
    "if false; then echo a; elif true; then echo b; else echo c; fi",
    "if true\nthen echo b\nfi; if (false) then echo n; else echo m; fi",
    "while false; do true; done; echo $?",
    "until [ -e f ]; do echo wait; touch f; done; while [ -e f ]; do rm f; done; echo $?",
    "{ echo a; echo b; } | cat; (echo c; exit 2); echo $?",
    "x=1; (x=2; echo $x); echo $x; { x=3; }; echo $x",
    "a=1 b=2; echo $a$b; a=3 true; echo $a; a=4 sh -c 'echo $a'",
    'x=$(false); echo $?; x=$(echo q; echo; echo); echo "<$x>"',
    'echo "$(echo "$(echo "a  b")")" $(echo ")")',
    "echo a | cat | cat | grep a",
    "echo 'multi\nline' \"two\nlines\" # comment ' \" `\necho next #x\n#y\necho a#b",
    "echo a;echo b;\n\n\necho c;",
    "(echo sub) | cat; { echo group\n} | cat; ( (echo twice) )",
    "x='$y'; y=z; echo $x \"$x\" '$x'; echo \\$x \"\\$x\"",
    "$nope; echo $?; $nope echo words; x='echo a'; $x b",
    "exit 3 | cat; echo $?; echo a | exit 4; echo $?; nope 2>/dev/null; echo $?",
    "echo one > f; echo two >> f; cat f; cat < f; cat < f > g; cat g; echo 3 > f; cat f",
    "echo out; echo err >&2; { echo a; echo b >&2; } 2>&1 | cat; (echo c >&2) 2>/dev/null",
    "echo a 2>&1 >f | cat; cat f; echo x > f 2>&1; cat f",
    "cat nope 2>/dev/null; echo $?; echo a > no/such || echo failed; echo $?",
    "x=f; echo a > $x; echo b > 'a b'; cat f a*b; > empty; cat empty",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_run_as_in_the_shell_of_this_machine(script: str, tmp_path: Path) -> None:
    """The same script writes the same and ends with the same status."""
    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


CLIENTS = {
    "{ getprop x; } 2>&1; echo mark:$?; { nope; } 2>&1; echo mark:$?": "<x>\nmark:0\n",
    "export ANDROID_LOG_TAGS=''; exec getprop x": "<x>\n",
    "(\ngetprop x\n) </dev/null\necho nonce$?\nexit\n": "<x>\nnonce0\n",
    "getprop x </dev/null 2>&1; echo mark:$?\n": "<x>\nmark:0\n",
    'if [ "$(getprop x)" = "<x>" ]; then getprop y; else getprop z; fi': "<y>\n",
    "exec sh -c 'echo $$ > f.pid; exec cat f.pid'": "20001\n",
    "FOO=a BAR=b echo t": "t\n",
}


@pytest.mark.parametrize(("script", "out"), CLIENTS.items())
def test_idioms_of_hosts_work(script: str, out: str) -> None:
    """What adb, this package and adbutils send is understood."""

    async def getprop(invocation: Invocation) -> int:
        await invocation.out(f"<{invocation.args[1]}>\n")
        return 0

    assert run(script, getprop=getprop).out.startswith(out)


def test_both_outputs_can_go_to_one_file() -> None:
    """``&>`` takes standard output and standard error."""
    assert run("{ echo a; echo b >&2; } &>f; cat f") == (0, "a\nb\n", "")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("cat < nope", "can't open nope: No such file or directory"),
        ("cat < ''", "can't open : No such file or directory"),
        ("echo > no/such", "can't create no/such: No such file or directory"),
        ("echo > .", "can't create .: Is a directory"),
        ("echo > /system/x", "can't create /system/x: Read-only file system"),
        ("echo a >&5", ">&5 : bad file descriptor"),
        ("echo a >&x", ">&x : illegal file descriptor name"),
        ("{ echo a; } < nope", "can't open nope: No such file or directory"),
    ],
)
def test_what_cannot_be_opened_is_reported(script: str, message: str) -> None:
    """The command does not run; the file and the reason are named."""
    assert run(script) == (1, "", f"/system/bin/sh: {message}\n")


def test_a_full_disk_fails_the_command_that_writes() -> None:
    """No space is the command's failure, in its words."""
    full = False

    async def scenario() -> list[Ended]:
        nonlocal full
        shell = Shell(SHELL_COMMANDS, FileSystem(clock=lambda: NOON, is_full=lambda: full))
        await run_in(shell, "echo ok > /sdcard/g")
        full = True
        appended = await run_in(shell, "echo a >> /sdcard/g")
        return [appended, await run_in(shell, "echo a > /sdcard/h")]

    appended, created = asyncio.run(scenario())
    reason = "No space left on device"
    assert appended == (1, "", f"echo: write: {reason}\n")
    assert created == (1, "", f"/system/bin/sh: can't create /sdcard/h: {reason}\n")


def test_a_command_that_is_not_there_answers_as_on_a_phone() -> None:
    """Its status is 127; a file that is not a program has 126."""
    for name in ("nope", "/system/bin/nope", "/nope", "./nope", "awk", "dd", "eval", "stat", "tr"):
        message = f"/system/bin/sh: {name}: inaccessible or not found\n"
        assert run(name) == (127, "", message), name
    assert run("touch f; ./f") == (
        126,
        "",
        "/system/bin/sh: ./f: can't execute: Permission denied\n",
    )
    assert run("/system/bin/echo hi").out == "hi\n"


@pytest.mark.parametrize("script", ["echo first; gate", "{ echo first; gate; } | cat | cat"])
def test_output_flows_while_the_command_runs(script: str) -> None:
    """What was written is there before the script ends, through pipes too."""

    async def scenario(gate: Gate) -> None:
        flow = Flow()
        work = asyncio.create_task(run_script(new_shell(gate=gate), script, Bytes(), flow, flow))
        await flow.until(b"first")
        assert not work.done()
        gate.opened.set()
        assert await asyncio.wait_for(work, DEADLINE) == 0
        assert flow.data == b"first\npassed\n"

    with_gate(scenario)


@pytest.mark.parametrize(
    "script",
    [
        "gate",
        "gate | cat",
        "cat | gate | cat",
        "x=$(gate)",
        "(gate)",
        "{ gate; } > f",
        "sh -c gate",
        "while true; do gate; done",
    ],
)
def test_cancelling_a_run_cancels_everything_in_it(script: str) -> None:
    """No command or stage of a cancelled script goes on."""

    async def scenario(gate: Gate) -> None:
        shell = new_shell(gate=gate)
        work = asyncio.create_task(run_script(shell, script, Never(), Flow(), Flow()))
        await soon(gate.reached.wait())
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(work, DEADLINE)
        assert gate.cancelled

    with_gate(scenario)


def test_a_reader_that_stops_ends_the_writer() -> None:
    """The next write into a pipe whose reader is gone ends a loop of builtins."""
    assert run("while true; do echo y; done | grep -q y; echo over").out == "over\n"


def test_a_pipeline_has_a_limit() -> None:
    """A script with thousands of stages runs out of processes, not the simulator."""
    assert run("echo a" + " | cat" * 255).out == "a\n"
    assert run("echo a" + " | cat" * 256).err == "/system/bin/sh: can't fork - try again\n"


def test_an_endless_loop_lets_others_run() -> None:
    """A script that never waits does not take the whole simulator."""

    async def scenario() -> int:
        script = "while true; do true; done"
        work = asyncio.create_task(run_script(new_shell(), script, Bytes(), Flow(), Flow()))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        work.cancel()
        await asyncio.wait([work])
        return turns

    assert asyncio.run(asyncio.wait_for(scenario(), DEADLINE)) == 100


# Scripts that come line by line


def typed(text: bytes) -> Ended:
    """Run what comes on standard input."""

    async def scenario() -> Ended:
        out, err = Collected(), Collected()
        work = run_input(new_shell(), Bytes(text), out, err)
        status = await asyncio.wait_for(work, DEADLINE)
        return Ended(status, out.data.decode(), err.data.decode("utf-8", "replace"))

    return asyncio.run(scenario())


def test_a_script_on_standard_input_runs_line_by_line() -> None:
    """A command may have several lines; messages name the line that was read last."""
    script = b"echo a\nif true\nthen\necho b\nfi\n'no\npe'\nexit 4\necho no\n"

    assert typed(script) == (
        4,
        "a\nb\n",
        "/system/bin/sh: <stdin>[7]: no\npe: inaccessible or not found\n",
    )


def test_a_command_reads_the_rest_of_the_script() -> None:
    """Lines are run as they come, and a command may take those behind it."""
    assert typed(b"echo a\ncat\nfor cat\n") == (0, "a\nfor cat\n", "")


def test_a_script_without_its_end_is_an_error() -> None:
    """When the input ends inside a command, that is reported with the line."""
    assert typed(b"echo a\nif true\n") == (
        1,
        "a\n",
        "/system/bin/sh: <stdin>[2]: syntax error: unexpected EOF\n",
    )


def test_input_that_ends_early_is_not_an_error() -> None:
    """Empty lines, comments and a last line without its end are fine."""
    for text in (b"", b"\n\n", b"# only a comment", b"echo a\\"):
        assert typed(text)[::2] == (0, ""), text


def test_variables_and_folder_last_between_runs() -> None:
    """One shell can run several scripts, as an interactive one does."""

    async def scenario() -> Ended:
        shell = new_shell()
        await run_in(shell, "x=1; export y=2; cd /data")
        assert (shell.cwd, shell.env["y"]) == ("/data", "2")
        return await run_in(shell, "echo $x$y; pwd")

    assert asyncio.run(scenario()).out == "12\n/data\n"


# Scripts that only mean harm

DEEP = 3 * MAX_NESTING


@pytest.mark.parametrize(
    "script",
    [
        "echo " + "$(" * DEEP + "echo" + ")" * DEEP,
        "( " * DEEP + "echo a" + ")" * DEEP,
        "{ " * DEEP + "echo a" + "; }" * DEEP,
        "if " * DEEP + "true",
        'echo "$(' * DEEP,
        "[ " + "! " * 20_000 + "a = b = c ]",
        'x=\'sh -c "$x"\'; export x; sh -c "$x"',
        "echo 'sh ./f' > f; sh ./f",
        "x=aaaaaaaa; while true; do x=$x$x; done",
        "exec " * 20_000 + "true",
        "case",
        "echo ${1x}",
    ],
    ids=lambda script: script[:20],
)
def test_scripts_that_exhaust_the_shell_fail_cleanly(script: str) -> None:
    """Endless nesting, recursion and growth end in a message and a failure."""
    ended = run(script)

    assert ended.status != 0
    assert ended.err


def test_reasonable_nesting_works() -> None:
    """Scripts may nest well beyond what people write."""
    depth = MAX_NESTING - 4

    assert run("echo " + "$(echo " * depth + "deep" + ")" * depth).out == "deep\n"


def test_long_runs_of_one_sign_are_answered() -> None:
    """A hundred thousand of any sign are a script like any other."""
    for sign in [*"{[($'\"\\*;&|<>#!`~ \n", "$(", "${", "[[", "&&", "é", "\x01"]:
        assert 0 <= run(f"echo a{sign * (100_000 // len(sign))}").status <= 255, sign


PIECES = (
    *("if", "then", "else", "fi", "for", "in", "do", "done", "case", "esac", "function"),
    *("{", "}", "(", ")", "!", "[[", "]]", "((", "))", "$(", "$((", "${x", "${x}", "`", "'", '"'),
    *(";", ";;", "&", "&&", "||", "|", "<<", ">", "<", "2>&1", "&>", "\n", "\\", "#"),
    *("a", "b=", "$x", "-f", "*", "=", "1", "{a,b}", "exec", "cat", "[", "]"),
)
SIGNS = "ab \t\n'\"\\$`;&|<>(){}[]#*?=~!%+-/:0129@^,"


@settings(max_examples=50, deadline=None)
@given(
    st.text(st.sampled_from(SIGNS) | st.characters(exclude_categories=[]), max_size=40)
    | st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)
)
def test_no_text_breaks_the_shell(script: str) -> None:
    """Whatever comes over the wire, there is a status and no exception."""
    assert 0 <= run(script).status <= 255


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_on_standard_input_break_the_shell(data: bytes) -> None:
    """Binary input ends in a status, too."""
    assert 0 <= typed(data).status <= 255
