"""Tools about the user and the system."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.shell.scripts import run


@pytest.mark.parametrize(
    ("script", "out"),
    [
        (
            "whoami; id -u; id -un; id | cut -d ' ' -f 1,2",
            "shell\n2000\nshell\nuid=2000(shell) gid=2000(shell)\n",
        ),
        ("uname; uname -m; uname -sm", "Linux\naarch64\nLinux aarch64\n"),
        (
            "which ls cat /system/bin/ls; which nope cd || echo $?",
            "/system/bin/ls\n/system/bin/cat\n/system/bin/ls\n1\n",
        ),
        (
            "printf abc > f; md5sum f; md5sum -b f",
            "900150983cd24fb0d6963f7d28e17f72  f\n900150983cd24fb0d6963f7d28e17f72\n",
        ),
    ],
)
def test_the_system_describes_itself_as_a_phone(script: str, out: str) -> None:
    """User, kernel and programs are those of a phone."""
    assert run(script) == (0, out, "")


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=300))
def test_checksums_are_right_for_any_bytes(data: bytes) -> None:
    """What comes through a pipe is what was sent."""
    assert run("cat | md5sum", data).out == f"{hashlib.md5(data).hexdigest()}  -\n"


def test_the_free_storage_is_shown() -> None:
    """Used and free blocks make up the size, and what is written is no longer free."""
    script = f"df -k /data; echo {'x' * 2047} > /data/local/tmp/f; df /data"

    header, before, _, after = run(script).out.splitlines()

    size, used, free = (int(word) for word in before.split()[1:4])
    assert header.split()[:4] == ["Filesystem", "1K-blocks", "Used", "Available"]
    assert size == used + free
    assert int(after.split()[3]) == free - 2
