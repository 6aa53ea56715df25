"""``dd``."""

from __future__ import annotations

import asyncio

import pytest

from pytest_clawperator.simulator.filesystem import FileSystem
from pytest_clawperator.simulator.shell.commands import SHELL_COMMANDS
from pytest_clawperator.simulator.shell.shell import Shell
from tests.simulator.shell.scripts import run, run_in


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("dd if=/dev/zero of=f bs=3 count=2 status=none; stat -c %s f", "6\n"),
        ("dd if=/dev/zero bs=1k count=1 status=none | wc -c", "1024\n"),
        ("dd if=/dev/urandom of=f bs=1M count=3 status=none; stat -c %s f", "3145728\n"),
        ("echo 0123456789 > f; dd if=f bs=2 skip=2 count=2 status=none", "4567"),
        ("echo hello | dd status=none", "hello\n"),
        ("echo hello | dd of=/dev/null status=none; cat /dev/null", ""),
        ("echo longer > f; echo new | dd of=f status=none; cat f", "new\n"),
    ],
)
def test_so_many_blocks_are_copied(script: str, out: str) -> None:
    """Sizes may have units, and files that are not named are the standard ones."""
    assert run(script) == (0, out, "")


def test_random_bytes_are_never_the_same() -> None:
    """Two files of random bytes differ."""
    script = "for x in a b; do dd if=/dev/urandom bs=64 count=1 status=none | md5sum; done"

    first, second = run(script).out.split("\n")[:2]

    assert first != second


def test_it_reports_how_much_was_copied() -> None:
    """A block that is not full is counted behind the plus."""
    done = run("echo 12345 > f; dd if=f bs=4 of=g")

    assert done.err.startswith("1+1 records in\n1+1 records out\n6 bytes (6) copied, ")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("dd if=nope", "dd: nope: No such file or directory"),
        ("dd if=/dev/zero of=/system/x count=1", "dd: /system/x: Read-only file system"),
        ("dd bs=0", "dd: bs=0 is too small"),
        ("dd bs=many", "dd: not integer: many"),
        ("dd seek=3", "dd: bad arg seek=3; known are if, of, bs, count, skip, status"),
    ],
)
def test_it_says_what_it_cannot_do(script: str, message: str) -> None:
    """It names itself, and the file or the word."""
    assert run(script) == (1, "", message + "\n")


def test_a_copy_without_an_end_stops_at_a_full_disk() -> None:
    """A phone's storage is not endless, and the shell goes on."""
    files = FileSystem(clock=lambda: 0.0, capacity_bytes=1_000_000)
    shell = Shell(SHELL_COMMANDS, files)

    done = asyncio.run(run_in(shell, "cd /sdcard; dd if=/dev/zero of=f bs=1m; echo $?"))

    assert (done.out, done.err) == ("1\n", "dd: write: No space left on device\n")
