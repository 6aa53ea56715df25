"""Shells as processes: signals and traps."""

from __future__ import annotations

import pytest

from tests.doubles.simulator.android_phone import Phone


@pytest.mark.parametrize(
    ("script", "status", "out"),
    [
        ("echo a; kill $$; sleep 100; echo b", 143, "a\n"),
        ("kill -9 $$; sleep 100", 137, ""),
        ("kill -9 $$; echo no", 137, ""),
        ("pkill -9 -x sh; echo no", 137, ""),
        ("sleep 100 & kill -9 $!; wait $!; echo $?", 0, "137\n"),
        ("kill -0 $$ && echo there", 0, "there\n"),
        ("kill -WINCH $$; kill -28 $$; echo on", 0, "on\n"),
        ("sh -c 'kill $$; sleep 100'; echo $?", 0, "143\n"),
    ],
)
def test_a_signal_ends_a_shell(script: str, status: int, out: str) -> None:
    """Its status tells which; those that end nothing are harmless."""
    done = Phone().run(script)

    assert (done.status, done.out) == (status, out)


@pytest.mark.parametrize(
    ("script", "status", "out"),
    [
        ("trap 'echo bye' EXIT; echo hi; exit 3", 3, "hi\nbye\n"),
        ("trap 'exit 4' EXIT; exit 3", 4, ""),
        ("trap 'echo got; exit 4' TERM; kill $$; sleep 100", 4, "got\n"),
        ("trap 'echo got' SIGHUP INT; kill -2 $$; sleep 100", 0, "got\n"),
        ("trap '' TERM; kill $$; echo on", 0, "on\n"),
        ("trap 'echo no' TERM; kill -9 $$; sleep 100", 137, ""),
        ("trap 'echo no' EXIT; trap - EXIT; echo on", 0, "on\n"),
        ("trap 'echo bye' EXIT; (exit 1); echo on", 0, "on\nbye\n"),
        (
            "trap 'echo bye' EXIT TERM; trap",
            0,
            "trap -- 'echo bye' EXIT\ntrap -- 'echo bye' TERM\nbye\n",
        ),
    ],
)
def test_a_trap_runs_in_place_of_the_end(script: str, status: int, out: str) -> None:
    """What was noted for a signal runs when it comes, what was noted for the end at the end."""
    done = Phone().run(script)

    assert (done.status, done.out) == (status, out)


def test_a_trap_for_an_unknown_signal_ends_the_script() -> None:
    """Nobody waits for a signal that never comes."""
    done = Phone().run("trap 'echo no' SIGNAL; echo on")

    assert (done.status, done.out, done.err) == (
        1,
        "",
        "/system/bin/sh: trap: bad signal 'SIGNAL'\n",
    )
