"""``ls`` and ``stat``."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulator.shell.scripts import FOLDER, new_shell, run, run_in


@pytest.mark.parametrize(
    ("script", "out"),
    [
        (
            "mkdir -p a/b; touch a/f a/.h; ls a; ls -A a; ls -d a; ls -1 a",
            "b\nf\n.h\nb\nf\na\nb\nf\n",
        ),
        ("mkdir d; touch d/f e; ls; ls d e", "d\ne\ne\n\nd:\nf\n"),
        ("ls -a /data/local; ls nope 2>/dev/null || echo $?", ".\n..\ntmp\n1\n"),
        (
            "ls -ld /sdcard | cut -d ' ' -f 1,3,4,8-",
            "lrwxrwxrwx root root /sdcard -> /storage/emulated/0\n",
        ),
        ("printf hi > f; stat -c '%n %s %F %Y %%' f", "f 2 regular file 1774692000 %\n"),
        (
            "stat -c %F . /dev/null; printf hi > f; stat f -c %X",
            "directory\ncharacter special file\n1774692000\n",
        ),
    ],
)
def test_listings_read_as_on_a_phone(script: str, out: str) -> None:
    """Names, kinds and owners are those of the phone."""
    assert run(script) == (0, out, "")


def test_long_listings_are_aligned_and_sorted_by_time() -> None:
    """``ls -lt`` shows the newest first, in columns."""

    async def scenario() -> str:
        shell = new_shell()
        shell.files.write(f"{FOLDER}/old", b"", mtime=0)
        shell.files.write(f"{FOLDER}/new", b"x" * 100, mtime=1_577_934_240)
        return (await run_in(shell, "ls -lt; ls -t -1")).out

    assert asyncio.run(scenario()).splitlines() == [
        "total 4",
        "-rw-r--r-- 1 shell shell 100 2020-01-02 03:04 new",
        "-rw-r--r-- 1 shell shell   0 1970-01-01 00:00 old",
        "new",
        "old",
    ]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("ls nope", "ls: nope: No such file or directory"),
        ("stat -c %s nope", "stat: 'nope': No such file or directory"),
        ("stat -c %q .", "stat: bad %q"),
        ("stat .", "stat: only -c FORMAT is supported by the simulated tool"),
    ],
)
def test_missing_files_are_reported(script: str, message: str) -> None:
    """The tool names itself, the file and the reason."""
    assert run(script) == (1, "", message + "\n")
