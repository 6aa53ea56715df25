"""Running scripts: lists, loops, pipes, jobs, and their cancellation."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pytest_clawperator.simulator.shell.runner import spawn
from pytest_clawperator.simulator.shell.session import run_script
from pytest_clawperator.simulator.shell.shell import Invocation
from pytest_clawperator.simulator.shell.streams import Bytes
from tests.simulator.shell.scripts import (
    DEADLINE,
    FOLDER,
    Flow,
    Gate,
    Never,
    new_shell,
    real_sh,
    run,
    soon,
    with_gate,
)

SCRIPTS = [
    "echo a; echo b && echo c || echo d; false && echo e; false || echo f",
    "true; echo $?; false; echo $?; (exit 7); echo $?; exit 3",
    "! true; echo $?; ! false; echo $?; ! false && echo y",
    "if false; then echo a; elif true; then echo b; else echo c; fi",
    "if true\nthen echo b\nfi; if (false) then echo n; else echo m; fi",
    "for i in a 'b c' $nope d; do printf '<%s>' \"$i\"; done",
    "for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done; echo end $i",
    "while :; do break; done; echo $?; while false; do :; done; echo $?",
    "until [ -e f ]; do echo wait; touch f; done; while [ -e f ]; do rm f; done; echo $?",
    "for i in 1 2; do for j in 1 2; do [ $j = 2 ] && break; echo $i$j; done; done",
    "{ echo a; echo b; } | cat; (echo c; exit 2); echo $?",
    "x=1; (x=2; echo $x); echo $x; { x=3; }; echo $x; echo a | read x; echo $x",
    "a=1 b=2; echo $a$b; a=3 true; echo $a; a=4 sh -c 'echo $a'",
    "x=$(false); echo $?; x=$(printf 'q\\n\\n'); echo \"<$x>\"",
    'echo "$(echo "$(echo "a  b")")" $(echo ")")',
    'echo a | cat | cat | (read x; echo "[$x]")',
    "echo 'multi\nline' \"two\nlines\" # comment ' \" `\necho next #x\n#y\necho a#b",
    "echo a;echo b;\n\n\necho c;",
    "(echo sub) | cat; { echo group\n} | cat; ( (echo twice) )",
    "true & wait $!; echo $?; false & wait $!; echo $?; (exit 5) & wait; echo $?",
    "(sleep 0.02; echo late) & echo early; wait; echo end",
    "echo $(sleep 0.02 & echo x); { (sleep 0.02; echo b) & echo a; } | cat",
    "x='$y'; y=z; echo $x \"$x\" '$x'; echo \\$x \"\\$x\"",
    "$nope; echo $?; $nope echo words; x='echo a'; $x b",
    "exit 3 | cat; echo $?; echo a | exit 4; echo $?; nope 2>/dev/null; echo $?",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_run_as_in_the_shell_of_this_machine(script: str, tmp_path: Path) -> None:
    """The same script writes the same and ends with the same status."""
    assert run(script)[:2] == real_sh(script, tmp_path)[:2]


@pytest.mark.parametrize(
    "script",
    [
        "false; echo a",
        "false || echo a; ! true; echo b; false && true; echo c",
        "if false; then :; fi; while false; do :; done; until true; do :; done; echo a",
        "if { false; true; }; then echo a; fi",
        "{ false && true; }; echo a; { false; echo b; }; echo c",
        "(false; echo a); echo b",
        "(exit 3) || echo a; (exit 4); echo b",
        "true | false; echo a",
        "false | true; echo a",
        "x=$(false); echo a",
        "for i in 1 2; do echo $i; false; done; echo a",
        "true && false; echo a",
        "set +e; false; echo a; set -e; sh -c 'false; echo b'; false; echo c",
        "sh -c 'exit 5'; echo a",
    ],
)
def test_scripts_stop_at_a_failure_as_in_the_shell_of_this_machine(
    script: str, tmp_path: Path
) -> None:
    """After ``set -e``, a failing command ends the script unless it is a condition."""
    assert run(f"set -e; {script}")[:2] == real_sh(f"set -e; {script}", tmp_path)[:2]


CLIENTS = [
    ("{ getprop x; } 2>&1; echo mark:$?; { nope; } 2>&1; echo mark:$?", "<x>\nmark:0\n"),
    ("export ANDROID_LOG_TAGS=''; exec getprop x", "<x>\n"),
    ("while [[ -z $(getprop x) ]]; do sleep 1; done; getprop y", "<y>\n"),
    ("[ -e '/sdcard' ] && echo __PASS__", "__PASS__\n"),
    ("ls -t -1 /nope 2>&1 || echo _ERROR_", "ls: /nope: No such file or directory\n_ERROR_\n"),
    ("CLASSPATH=/data/x.jar getprop x", "<x>\n"),
    ("FOO=a BAR=b echo t", "t\n"),
    ("sh -c echo hello; echo world", "\nworld\n"),
    ("getprop x | grep '<' | cut -d '<' -f 2", "x>\n"),
    ("(\ngetprop x\n) </dev/null\necho nonce$?\nexit\n", "<x>\nnonce0\n"),
    ("read foo; echo $foo; read rc; exit $rc", "7\n"),
]


@pytest.mark.parametrize(("script", "out"), CLIENTS)
def test_idioms_of_adb_clients_work(script: str, out: str) -> None:
    """What adb, Appium, Mobly, adbutils and others send is understood."""

    async def getprop(invocation: Invocation) -> int:
        await invocation.out(f"<{invocation.args[1]}>\n")
        return 0

    assert run(script, b"7\n0\n", getprop=getprop).out.startswith(out)


def test_a_recording_script_stops_at_a_line_of_input() -> None:
    """A pushed script starts a job, waits for a line, and waits for the job's end."""
    script = "printf 'echo started $1 &\\nPID=$!\\nread ANY\\nwait\\necho over $PID $ANY\\n' > s; "

    assert run(script + "sh s film", b"now\n").out == "started film\nover 20002 now\n"


def test_spawn_runs_a_command_for_another() -> None:
    """A command can run others; what they change stays theirs."""

    async def outer(invocation: Invocation) -> int:
        return await spawn(invocation, ["sh", "-c", "cd /; pwd; exit 9"])

    assert run("outer; echo $?; pwd", outer=outer).out == f"/\n9\n{FOLDER}\n"


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
        "nohup gate",
        "gate & wait",
        "gate & while :; do :; done",
        "for i in 1 2 3; do gate; done",
    ],
)
def test_cancelling_a_run_cancels_everything_in_it(script: str) -> None:
    """No command, stage or job of a cancelled script goes on."""

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
    """The next write into a pipe that nobody reads ends a loop of builtins."""
    assert run("while :; do echo y; done | head -n 2; echo over").out == "y\ny\nover\n"


def test_a_fork_bomb_is_bounded() -> None:
    """Scripts that start themselves in pipes run out of processes, not the simulator."""
    ended = run("echo './f | ./f' > f; chmod +x f; ./f; echo survived")

    assert ended.out == "survived\n"
    assert "can't fork - try again" in ended.err


def test_an_endless_loop_lets_others_run() -> None:
    """A script that never waits does not take the whole simulator."""

    async def scenario() -> int:
        script = "while :; do :; done"
        work = asyncio.create_task(run_script(new_shell(), script, Bytes(), Flow(), Flow()))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        work.cancel()
        await asyncio.wait([work])
        return turns

    assert asyncio.run(asyncio.wait_for(scenario(), DEADLINE)) == 100
