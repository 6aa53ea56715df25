"""Scripts: which are accepted, and how they run, compared with the shell of this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_clawperator.simulator.files import FileSystem
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.runner import run_input, run_script
from pytest_clawperator.simulator.shell.shell import MAX_NESTING, Invocation, Shell
from pytest_clawperator.simulator.shell.streams import Bytes, Collected, TextTooLong, decode, encode
from tests.simulator.shell.scripts import (
    DEADLINE,
    FOLDER,
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
    "if true\nthen echo b\nfi; if (false) then echo n; else echo m; fi",
    "while false; do true; done; echo $?",
    "until [ -e f ]; do echo wait; touch f; done; while [ -e f ]; do rm f; done; echo $?",
    "{ echo a; echo b; } | cat; (echo c; exit 2); echo $?",
    "x=1; (x=2; cd /; echo $x; pwd); echo $x; { x=3; }; echo $x",
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
    'echo {a} {} \'{a,b}\' a,b} "$" $ "a$"; echo 12>f; cat f; echo 2>f; cat f',
    'ec\\\nho joined "a\\\nb" && \\\necho more',
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_run_as_in_the_shell_of_this_machine(script: str, tmp_path: Path) -> None:
    """The same script writes the same and ends with the same status."""
    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


CLIENTS = {
    "{ getprop x; } 2>&1; echo mark:$?; { nope; } 2>&1; echo mark:$?": "<x>\nmark:0\n",
    "export ANDROID_LOG_TAGS=''; exec getprop x": "<x>\n",
    "(\ngetprop x\n) </dev/null\necho nonce$?\nexit\n": "<x>\nnonce0\n",
    "{\ngetprop x\n} </dev/null\n": "<x>\n",
    "getprop x </dev/null 2>&1; echo mark:$?\n": "<x>\nmark:0\n",
    'if [ "$(getprop x)" = "<x>" ]; then getprop y; else getprop z; fi': "<y>\n",
    "getprop x | { sleep 0.01; getprop y; }": "<y>\n",
    "exec sh -c 'echo $$ > f.pid; exec cat f.pid'": "20001\n",
    "FOO=a BAR=b echo t": "t\n",
    "echo $$ $PWD; echo $USER ${HOME} [$nope]": f"20000 {FOLDER}\nshell / []\n",
}


@pytest.mark.parametrize(("script", "out"), CLIENTS.items())
def test_idioms_of_hosts_work(script: str, out: str) -> None:
    """What adb, this package and adbutils send is understood."""

    async def getprop(invocation: Invocation) -> int:
        await invocation.out(f"<{invocation.args[1]}>\n")
        return 0

    assert run(script, getprop=getprop).out.startswith(out)


# Words

VARIABLES = "x='a b'; y=; z='*'; w=' lead  trail '; n='1\n2'; "
text_characters = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0'")
    | st.sampled_from(' \t\n$`"\\;&|<>()#*?[]{}=~!😀é'),
    max_size=6,
)
single_quoted = text_characters.map(lambda text: f"'{text}'")
escaped = st.sampled_from(list(" $`\"'\\;&|<>()#*?[]{}~!a😀\n")).map(lambda key: "\\" + key)
bare = st.sampled_from(["a", "b1", "-", "=", "a=b", "%", "é", "😀", "a#b", "]", "}", ",", "."])
names = st.sampled_from(["x", "y", "z", "w", "n", "u"])
parameters = names.map("${}".format) | names.map("${{{}}}".format)


@st.composite
def double_quoted(draw: st.DrawFn, depth: int) -> str:
    """Draw a word in double quotes, with everything that means something inside them."""
    plain = st.text(st.sampled_from("ab '#*;&|(){}~é😀\t\n"), max_size=3)
    slashed = st.sampled_from(['\\"', "\\$", "\\`", "\\\\", "\\\n", "\\a", "\\ ", "\\'"])
    inner = [plain, slashed, parameters, st.just("$ ")]
    if depth:
        inner.append(substitution(depth - 1))
    return '"' + "".join(draw(st.lists(st.one_of(inner), max_size=3))) + '"'


@st.composite
def substitution(draw: st.DrawFn, depth: int) -> str:
    """Draw a command substitution."""
    words = draw(st.lists(whole_word(depth), max_size=2))
    return f"$(show {' '.join(words)})"


@st.composite
def whole_word(draw: st.DrawFn, depth: int) -> str:
    """Draw a word made of pieces that touch."""
    pieces = [single_quoted, escaped, bare, parameters, double_quoted(depth), st.just('""')]
    if depth:
        pieces.append(substitution(depth - 1))
    return "".join(draw(st.lists(st.one_of(pieces), min_size=1, max_size=3)))


async def show(invocation: Invocation) -> int:
    """Print each argument in angle brackets."""
    await invocation.out("".join(f"<{argument}>" for argument in invocation.args[1:]))
    return 0


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(whole_word(2), max_size=4))
def test_words_expand_as_in_the_shell_of_this_machine(words: list[str], tmp_path: Path) -> None:
    """Any mixture of quotes, escapes and expansions gives the same arguments."""
    script = f"{VARIABLES}show {' '.join(words)}"
    function = "show() { test $# = 0 || printf '<%s>' \"$@\"; }\n"

    assert run(script, show=show).out == real_sh(function + script, tmp_path).out


def test_a_large_argument_quoted_by_a_host_arrives_whole() -> None:
    """Sixty thousand characters are one argument, whatever they are."""
    for filler in ("x", "'", '\\"', "😀", "$(", "`", "\n"):
        value = filler * (60_000 // len(filler))
        quoted = "'" + value.replace("'", "'\"'\"'") + "'"

        assert run(f"show {quoted} b", show=show).out == f"<{value}><b>", filler


def test_wildcards_expand_to_the_files_that_match() -> None:
    """Names come sorted, hidden ones only if asked for; without a match the word stays."""
    make = "touch b a .h c.txt; mkdir d; touch d/x d/y; "
    for words, out in {
        "*": "<a><b><c.txt><d>",
        ".h*": "<.h>",
        "?": "<a><b><d>",
        "*/x d/*": "<d/x><d/x><d/y>",
        "'*' \\* \"?\"": "<*><*><?>",
        "no*pe *.txt [ab]": "<no*pe><c.txt><[ab]>",
        "/data/local/tmp/d/*": "</data/local/tmp/d/x></data/local/tmp/d/y>",
        "*" * 300: "<a><b><c.txt><d>",
    }.items():
        assert run(f"{make}show {words}", show=show) == (0, out, ""), words


# Errors


def test_syntax_errors_read_as_on_a_phone() -> None:
    """What is wrong is named, and nothing of that line runs."""
    for script, message in {
        ")": "unexpected ')'",
        "a;;b": "unexpected ';;'",
        "| a": "unexpected '|'",
        "a && ; b": "unexpected ';'",
        "a; done": "unexpected 'done'",
        "}": "unexpected '}'",
        "(a) b": "unexpected 'b'",
        "if true; then fi": "unexpected 'fi'",
        "while true; do done": "unexpected 'done'",
        "echo a(b)": "unexpected '('",
        "echo >\n": "unexpected newline",
        "echo a |": "unexpected EOF",
        "echo >": "unexpected EOF",
        "if true; then (a": "unexpected EOF",
        "{ a": "unexpected EOF",
        "echo $(a": "unexpected EOF",
    }.items():
        expected = (1, "", f"/system/bin/sh: syntax error: {message}\n")
        assert run(script) == expected, script
    for script in ("echo 'a", 'echo "a', 'echo "a\\', "echo ${a"):
        assert run(script) == (1, "", "/system/bin/sh: no closing quote\n"), script
    assert run("echo before\necho same; )\necho after").out == "before\n"


def test_unsupported_syntax_is_named_and_nothing_runs() -> None:
    """What a phone's shell knows and this one does not is an error, never a guess."""
    for script, what in {
        "echo $((1+2))": "'$(('",
        "echo $'a'": "'$''",
        "echo `id`": "'`'",
        'echo "`id`"': "'`'",
        "cat <<EOF\na\nEOF": "'<<'",
        "cat <> f": "'<>'",
        "echo a &> f": "'&>'",
        "echo ${x:-y}": "'${x:-y}'",
        "echo $1": "'$1'",
        'echo "$@"': "'$@'",
        'am broadcast {"a":1,"b":2}': "'{a,b}'",
        "sleep 9 & echo no": "'&'",
        "for i in 1 2; do echo $i; done": "'for'",
        "! true": "'!'",
    }.items():
        message = f"syntax error: {what} is not supported by the simulated shell"
        assert run(script) == (1, "", f"/system/bin/sh: {message}\n"), script


def test_what_cannot_be_opened_is_reported() -> None:
    """The command does not run; the file and the reason are named."""
    for script, message in {
        "cat < nope": "can't open nope: No such file or directory",
        "cat < ''": "can't open : No such file or directory",
        "echo > no/such": "can't create no/such: No such file or directory",
        "echo > .": "can't create .: Is a directory",
        "echo > /system/x": "can't create /system/x: Read-only file system",
        "echo a >&5": ">&5 : bad file descriptor",
        "{ echo a; } < nope": "can't open nope: No such file or directory",
    }.items():
        assert run(script) == (1, "", f"/system/bin/sh: {message}\n"), script


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
    """Its status is 127."""
    for name in ("nope", "/system/bin/nope", "./nope", "awk", "dd", "eval", "stat", "tr"):
        message = f"/system/bin/sh: {name}: inaccessible or not found\n"
        assert run(name) == (127, "", message), name
    assert run("/system/bin/echo hi").out == "hi\n"


def test_a_failing_command_ends_with_a_message_and_nothing_else() -> None:
    """A bug in a command, or one that wants too much memory, does not end the shell."""

    async def fail(invocation: Invocation) -> int:
        raise TextTooLong if invocation.args[1] == "greedy" else KeyError("oops")

    internal = "fail: internal error of the simulated command\n"
    assert run("fail badly; echo $?", fail=fail) == (0, "1\n", internal)
    assert run("fail greedy; echo $?", fail=fail) == (0, "1\n", "fail: Out of memory\n")


# Streams


def test_a_command_gets_its_streams_and_the_shell() -> None:
    """An invocation has the arguments, redirected streams, and the environment of the call."""
    seen: list[object] = []

    async def probe(invocation: Invocation) -> int:
        seen.extend([invocation.args, invocation.shell.env["A"], await invocation.stdin.read()])
        await invocation.out("out é\n")
        await invocation.err("err\n")
        return 300

    ended = run("echo given > g; A='1 2' probe x > f < g; echo \"$? $A\"; cat f", probe=probe)

    assert seen == [["probe", "x"], "1 2", b"given\n"]
    assert ended == (0, "44 \nout é\n", "err\n")


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


def test_a_slow_reader_holds_the_writer_back() -> None:
    """A pipe holds only so much."""

    async def scenario(gate: Gate) -> None:
        written = 0

        async def flood(invocation: Invocation) -> int:
            nonlocal written
            while True:
                await invocation.stdout.write(b"x" * 1024)
                written += 1

        shell = new_shell(gate=gate, flood=flood)
        work = asyncio.create_task(run_script(shell, "flood | gate", Bytes(), Flow(), Flow()))
        await soon(gate.reached.wait())
        for _ in range(1000):
            await asyncio.sleep(0)
        assert written < 200
        gate.opened.set()
        await asyncio.wait_for(work, DEADLINE)

    with_gate(scenario)


def test_a_reader_that_stops_ends_the_writer() -> None:
    """The next write into a pipe whose reader is gone ends a loop of builtins."""
    assert run("while true; do echo y; done | grep -q y; echo over").out == "over\n"


def test_any_bytes_pass_a_pipe_unchanged() -> None:
    """Neither size nor invalid UTF-8 matters; half a surrogate pair becomes a question mark."""
    data = bytes(range(256)) * 1000

    assert encode(run("cat | cat", data).out) == data
    assert encode(decode(data)) == data
    assert encode("a\ud83d") == b"a?"


@pytest.mark.parametrize(
    "script",
    [
        "gate",
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


def test_an_endless_loop_lets_others_run() -> None:
    """A script that never waits does not take the whole simulator."""

    async def scenario() -> None:
        script = "while true; do true; done"
        work = asyncio.create_task(run_script(new_shell(), script, Bytes(), Flow(), Flow()))
        for _ in range(100):
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait([work])

    asyncio.run(asyncio.wait_for(scenario(), DEADLINE))


def test_a_program_takes_signals_while_it_runs() -> None:
    """It is listed under the process id of its shell; once it has ended, no signal reaches it."""

    async def scenario() -> None:
        shell = new_shell()
        work = asyncio.create_task(run_in(shell, "sleep 99; echo $?"))
        while not shell.jobs.programs():
            await asyncio.sleep(0)
        (program,) = shell.jobs.programs()
        assert (program.name, program.pid) == ("sleep", shell.pid)
        assert shell.jobs.send(shell.pid, 0)
        assert shell.jobs.send(shell.pid, 2)
        assert (await asyncio.wait_for(work, DEADLINE)).out == "130\n"
        assert not shell.jobs.send(shell.pid, 2)

    asyncio.run(scenario())


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
    """A command may have several lines, and may read those behind it."""
    script = b"echo a\nif true\nthen\necho b\nfi\n'no\npe'\nexit 4\necho no\n"
    missing = "/system/bin/sh: no\npe: inaccessible or not found\n"

    assert typed(script) == (4, "a\nb\n", missing)
    assert typed(b"x=1; cd /data\necho $x\npwd\ncat\nfor cat\n") == (0, "1\n/data\nfor cat\n", "")
    unfinished = "/system/bin/sh: syntax error: unexpected EOF\n"
    assert typed(b"echo a\nif true\n") == (1, "a\n", unfinished)
    for text in (b"", b"\n\n", b"# only a comment", b"echo a\\"):
        assert typed(text)[::2] == (0, ""), text


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
        'x=\'sh -c "$x"\'; export x; sh -c "$x"',
        "echo 'sh ./f' > f; sh ./f",
        "x=aaaaaaaa; while true; do x=$x$x; done",
        "exec " * 20_000 + "true",
    ],
    ids=lambda script: script[:20],
)
def test_scripts_that_exhaust_the_shell_fail_cleanly(script: str) -> None:
    """Endless nesting, recursion and growth end in a message and a failure."""
    ended = run(script)

    assert ended.status != 0
    assert ended.err


def test_reasonable_nesting_and_long_runs_of_one_sign_are_answered() -> None:
    """Scripts may nest well beyond what people write, and hold a hundred thousand of any sign."""
    depth = MAX_NESTING - 4

    assert run("echo " + "$(echo " * depth + "deep" + ")" * depth).out == "deep\n"
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
    assert 0 <= typed(encode(script)).status <= 255
